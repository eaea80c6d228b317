"""The home folder: everything the product keeps on this machine lives below it."""

import os
import secrets
import tempfile
from pathlib import Path

from taisai_backoffice.embedded.errors import EmbeddedServerError

PROJECT = Path(__file__).resolve().parent.parent.parent


class Home:
    """A folder with the local servers' data, their secrets, logs and locks."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def from_environment(cls) -> "Home":
        given = os.environ.get("TAISAI_HOME")
        return cls(Path(given).expanduser().resolve() if given else PROJECT / "var")

    def folder(self, name: str) -> Path:
        """A private folder of the home, made if it is not there."""
        self.prepare()
        folder = self.path / name
        folder.mkdir(mode=0o700, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise EmbeddedServerError(f"{folder} belongs to another account; set TAISAI_HOME to a folder of your own.")
        return folder

    def prepare(self) -> None:
        """Others may pass through (the account that PostgreSQL runs under must), but not look around."""
        try:
            self.path.mkdir(mode=0o711, parents=True, exist_ok=True)
            usable = os.access(self.path, os.W_OK | os.X_OK)
        except OSError:
            usable = False
        if not usable:
            raise EmbeddedServerError(
                f"The home folder {self.path} cannot be written; set TAISAI_HOME to a folder of your own."
            )

    def secret(self, name: str, length: int = 48) -> str:
        """A secret of this home, made at random when first asked for and kept from then on."""
        path = self.folder("secrets") / name
        if not path.exists():
            _create_once(path, secrets.token_urlsafe(length))
        return path.read_text().strip()


def _create_once(path: Path, content: str) -> None:
    """Two processes at once: one of them wins, and nobody ever reads a half-written file."""
    handle, draft = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(content)
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        Path(draft).unlink()
