"""The home folder: everything that the product stores on this machine is below it."""

import os
import secrets
import tempfile
from pathlib import Path

from taisai_backoffice.embedded.errors import EmbeddedServerError

PROJECT = Path(__file__).resolve().parent.parent.parent


class Home:
    """A folder with the local servers' data, secrets, logs and locks."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def from_environment(cls) -> "Home":
        given = os.environ.get("TAISAI_HOME")
        return cls(Path(given).expanduser().resolve() if given else PROJECT / "var")

    def folder(self, name: str) -> Path:
        """Return a private folder of the home, created if missing."""
        self.prepare()
        folder = self.path / name
        folder.mkdir(mode=0o700, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise EmbeddedServerError(f"{folder} belongs to another account; set TAISAI_HOME to a folder of your own.")
        return folder

    def prepare(self) -> None:
        """Create the home. Others may pass through it (PostgreSQL's account must), but not list it."""
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
        """Return a secret of this home, created at random on first use."""
        path = self.folder("secrets") / name
        if not path.exists():
            _create_once(path, secrets.token_urlsafe(length))
        return path.read_text().strip()


def _create_once(path: Path, content: str) -> None:
    """Create a file at most once: of two processes one wins, and no one reads a half-written file."""
    handle, draft = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(content)
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        Path(draft).unlink()
