"""`make run`: start the whole product on this machine, up to a login page, until Ctrl-C.

Where DATABASE_URL or BROKER_URL is set, that server is used and none is started here. With PLAY=no nothing is played
on the demonstration floor.
"""

import ctypes
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Protocol

from taisai_backoffice.embedded.database import urls
from taisai_backoffice.embedded.errors import EmbeddedServerError
from taisai_backoffice.embedded.home import PROJECT, Home
from taisai_backoffice.embedded.lease import Lease
from taisai_backoffice.embedded.postgres import Postgres
from taisai_backoffice.embedded.valkey import Valkey

READY_SECONDS = 120
STOP_SECONDS = 20
WATCH_SECONDS = 0.5
PR_SET_PDEATHSIG = 1
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
DEFAULT_PORT = 8000
LAST_PORT = 65535


class RunError(Exception):
    """The product cannot run, or stopped running; the message says why."""


class Watched(Protocol):
    """A part that must stay alive as long as the product runs."""

    name: str

    @property
    def log(self) -> Path: ...
    def is_running(self) -> bool: ...


class ProcessPart:
    """One process of the product: web server, worker or scheduler. `is_shown`: its output is shown."""

    def __init__(
        self, name: str, command: list[str], environment: dict[str, str], log: Path, *, is_shown: bool = False
    ) -> None:
        self.name = name
        self.log = log
        with log.open("ab") as output:
            self.process = subprocess.Popen(
                command, cwd=PROJECT, env=environment, stdin=subprocess.DEVNULL, stdout=None if is_shown else output,
                stderr=output, start_new_session=True, preexec_fn=_die_with_parent,  # noqa: PLW1509  started from the only thread
            )  # fmt: skip

    def is_running(self) -> bool:
        return self.process.poll() is None

    def stop(self) -> None:
        """Ask the process to finish; after a while, kill it and whatever it left behind."""
        if self.is_running():
            self.process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(STOP_SECONDS)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def _die_with_parent() -> None:
    """End a part if this program is killed (Linux; elsewhere the parts would stay)."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


@contextmanager
def step(title: str) -> Iterator[None]:
    """Print what is being done and how long it took."""
    print(f"  {title:<34}", end="", flush=True)
    started = time.monotonic()
    try:
        yield
    except BaseException:
        print("failed", flush=True)
        raise
    print(f"{time.monotonic() - started:5.1f} s", flush=True)


class Product:
    """All servers and parts of one `make run`, and how to reach them."""

    def __init__(self, home: Home, host: str, port: int, stack: ExitStack) -> None:
        self.home = home
        self.host, self.port = host, port
        self.stack = stack
        self.environment = os.environ | {"TAISAI_HOME": str(home.path)}
        self.embedded_database = not os.environ.get("DATABASE_URL")
        self.watched: list[Watched] = []
        self.playing: ProcessPart | None = None

    @property
    def address(self) -> str:
        return f"http://{'localhost' if self.host in ('127.0.0.1', '0.0.0.0') else self.host}:{self.port}/"  # noqa: S104

    def start(self) -> None:
        self._claim_home()
        self._claim_port()
        if self.embedded_database:
            postgres = Postgres(self.home)
            self._lease(postgres)
            self.environment |= urls(postgres)
        if not os.environ.get("BROKER_URL"):
            valkey = Valkey(self.home)
            self._lease(valkey)
            self.environment["BROKER_URL"] = valkey.url()
        self._prepare()
        self._start_parts()

    def watch(self) -> None:
        """Wait until a part stops, and raise with its name."""
        while True:
            for part in self.watched:
                if not part.is_running():
                    raise RunError(f"{part.name} has stopped. The end of its log, {part.log}:\n{last_lines(part.log)}")
            time.sleep(WATCH_SECONDS)

    def ask_parts_to_end(self) -> None:
        """Ask all parts to end at once; then wait for each."""
        for part in (*self.watched, self.playing):
            if isinstance(part, ProcessPart) and part.is_running():
                part.process.terminate()

    def _claim_home(self) -> None:
        lock = self.stack.enter_context((self.home.folder("locks") / "run").open("a+"))
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise RunError(
                f"make run is already running on {self.home.path}, at {lock.read().strip() or 'another port'}; "
                "stop it, or set TAISAI_HOME to another folder."
            ) from None
        lock.truncate(0)
        lock.write(self.address)
        lock.flush()

    def _claim_port(self) -> None:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((self.host, self.port))
            except OSError as error:
                raise RunError(
                    f"Port {self.port} on {self.host} cannot be used ({error.strerror}); stop what is using it, "
                    f"or choose another: PORT={self.port + 1 if self.port < LAST_PORT else DEFAULT_PORT} make run."
                ) from None

    def _lease(self, server: Postgres | Valkey) -> None:
        with step(server.name):
            self.stack.callback(Lease.take(server).give_back)
        self.watched.append(server)

    def _prepare(self) -> None:
        if self.environment.get("DATABASE_OWNER_URL"):
            with step("Database tables"):
                self._manage("migrate", "--verbosity", "0")
            (self.home.path / "migrated").touch()
            del self.environment["DATABASE_OWNER_URL"]  # from here on nothing can change the tables
        else:
            with step("Database tables, checked only"):
                self._manage("migrate", "--check", "--database", "default")
        with step("Static files"):
            self._manage("collectstatic", "--noinput", "--verbosity", "0")
        if self.embedded_database:
            with step("Demonstration"):
                self.logins = json.loads(self._manage("demonstration", "--json"))

    def _manage(self, *arguments: str) -> str:
        result = subprocess.run(
            [sys.executable, PROJECT / "manage.py", *arguments],
            env=self.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if result.returncode != 0:
            raise RunError(f"manage.py {arguments[0]} failed:\n{result.stderr.strip() or result.stdout.strip()}")
        return result.stdout

    def _start_parts(self) -> None:
        with step("Web server, worker, scheduler"):
            self._part("Worker", celery_command("worker", "--concurrency", "2"))
            self._part("Scheduler", celery_command("beat", "--pidfile", ""))
            self._part("Web server", web_command(self.host, self.port))
            self._wait_until_ready()

    def _part(self, name: str, command: list[str]) -> None:
        part = ProcessPart(name, command, self.environment, self._log(name))
        self.stack.callback(part.stop)
        self.watched.append(part)

    def _log(self, name: str) -> Path:
        return self.home.folder("logs") / f"{name.lower().replace(' ', '-')}.log"

    def demonstrate(self) -> None:
        """Play the last days and some tables live while the site is up. It may end; nothing depends on it."""
        if not self.embedded_database or os.environ.get("PLAY") == "no":
            return
        host = "127.0.0.1" if self.host == "0.0.0.0" else self.host  # noqa: S104
        address = ["--address", f"http://{host}:{self.port}", "--host", known_host()]
        command = [sys.executable, str(PROJECT / "manage.py"), "demonstration_play", *address]
        self.playing = ProcessPart(
            "Demonstration", command, self.environment, self._log("Demonstration"), is_shown=True
        )
        self.stack.callback(self.playing.stop)

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while (state := self._readiness()) != "ready":
            for part in self.watched:
                if not part.is_running():
                    raise RunError(
                        f"{part.name} did not start. The end of its log, {part.log}:\n{last_lines(part.log)}"
                    )
            if time.monotonic() > deadline:
                raise RunError(f"The site did not become ready in {READY_SECONDS} s: {state}.")
            time.sleep(0.2)

    def _readiness(self) -> str:
        try:
            host = "127.0.0.1" if self.host == "0.0.0.0" else self.host  # noqa: S104
            request = urllib.request.Request(f"http://{host}:{self.port}/readyz", headers={"Host": known_host()})
            with urllib.request.urlopen(request, timeout=5) as answer:
                return str(json.load(answer)["status"])
        except urllib.error.HTTPError as error:
            return error.read().decode(errors="replace")
        except OSError as error:
            return str(error)


def known_host() -> str:
    """Return a host name that the site answers to."""
    return (os.environ.get("ALLOWED_HOSTS") or "localhost").split(",")[0].strip().lstrip(".").replace("*", "localhost")


def web_command(host: str, port: int, workers: int = 2) -> list[str]:
    return [
        str(Path(sys.executable).with_name("granian")), "--interface", "rsgi", "--host", host, "--port", str(port),
        "--workers", str(workers), "--workers-kill-timeout", "5", "--respawn-failed-workers", "--no-ws",
        "taisai_backoffice.server:application",
    ]  # fmt: skip


def celery_command(*arguments: str) -> list[str]:
    return [str(Path(sys.executable).with_name("celery")), "-A", "taisai_backoffice", *arguments, "--loglevel", "INFO"]


def last_lines(path: Path, count: int = 15) -> str:
    try:
        return "\n".join(path.read_text(errors="replace").splitlines()[-count:])
    except OSError:
        return "(no log)"


def welcome(product: Product) -> None:
    print(f"\n  Tai Sai back office: {product.address}\n", flush=True)
    for login in getattr(product, "logins", []):
        print(f"    {login['role']:<16} {login['number']:<6} {login['password']}")
    print(f"\n  Logs and data: {product.home.path}\n  Ctrl-C stops everything.\n", flush=True)


def interrupted(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def port_from_environment() -> int:
    text = os.environ.get("PORT") or str(DEFAULT_PORT)
    if not text.isdecimal() or not 1 <= int(text) <= LAST_PORT:
        raise RunError(f"PORT is {text!r}; set it to a number from 1 to {LAST_PORT}.")
    return int(text)


def main() -> int:
    for number in STOPS:  # a shell's background job would ignore SIGINT
        signal.signal(number, interrupted)
    try:
        with ExitStack() as stack:
            host = os.environ.get("HOST") or "127.0.0.1"
            product = Product(Home.from_environment(), host, port_from_environment(), stack)
            print("Starting the Tai Sai back office", flush=True)
            try:
                product.start()
                welcome(product)
                product.demonstrate()
                product.watch()
            finally:
                for number in STOPS:  # a second Ctrl-C does not interrupt the stopping
                    signal.signal(number, signal.SIG_IGN)
                product.ask_parts_to_end()
    except KeyboardInterrupt:
        print("\nStopped.")
        return 0
    except (RunError, EmbeddedServerError) as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
