"""Throwaway homes for tests that start servers of their own and kill them, and what is alive in such a home."""

import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random

import psutil

from taisai_backoffice.embedded.home import Home
from taisai_backoffice.embedded.postgres import ROLES, Postgres
from taisai_backoffice.embedded.valkey import Valkey
from taisai_backoffice.run import last_lines
from tests import servers
from tests.patience import wait_for

#: What the surroundings say about servers, ports and homes: a throwaway home is to know nothing of it.
SURROUNDINGS = {"DATABASE_URL", "DATABASE_OWNER_URL", "BROKER_URL", "TAISAI_TEST_HOME", "STATIC_ROOT", "HOST", "PORT"}

#: Below the ports that the system hands out for outgoing connections: nobody takes one between the look and the use.
QUIET_PORTS = range(20000, 32000)


@contextmanager
def throwaway_home(mode: int = 0o755) -> Iterator[Home]:
    """A home below a folder of this mode; at the end its servers are stopped and nothing of it is left."""
    folder = Path(tempfile.mkdtemp(prefix="taisai-test-"))
    folder.chmod(mode)
    home = Home(folder / "home")
    home.prepare()
    try:
        yield home
    except Exception as error:
        for log in (Postgres(home).log, Valkey(home).log, *sorted((home.path / "logs").glob("*.log"))):
            error.add_note(f"The end of {log}:\n{last_lines(log)}")
        raise
    finally:
        Valkey(home).stop()
        Postgres(home).remove()
        shutil.rmtree(folder)


@contextmanager
def migrated_home() -> Iterator[Home]:
    """A throwaway home with a copy of this run's own server: for tests that begin after the first start."""
    with throwaway_home() as home:
        copy_server(servers.servers()[0], Postgres(home))
        (home.path / "migrated").touch()
        yield home


def copy_server(source: Postgres, target: Postgres) -> None:
    """Copy a running server byte by byte, with its passwords: in a second what a migration does in fifteen."""
    for role in ("postgres", *ROLES):
        shutil.copy2(source.home.folder("secrets") / f"postgres-{role}", target.home.folder("secrets"))
    target.link.mkdir(mode=0o700)
    target.account.give(target.link)
    copied = target.account.run(
        target._program("pg_basebackup"), "--pgdata", target.link, "--dbname", source.url("postgres", "postgres"),
        "--checkpoint", "fast", "--no-sync", capture_output=True,
    )  # fmt: skip
    assert copied.returncode == 0, copied.stderr
    target.log.unlink()


def bare_environment(home: Home, **more: str) -> dict[str, str]:
    """The environment of somebody who has set nothing but the home, and what is said here."""
    return {key: value for key, value in os.environ.items() if key not in SURROUNDINGS} | {
        "TAISAI_HOME": str(home.path),
        **more,
    }


def processes_of(home: Home) -> list[psutil.Process]:
    """All that is at work in a home, told by arguments, working folder or environment."""
    marks = (str(home.path), str(Postgres(home).data))
    return [
        process
        for process in psutil.process_iter()
        if any(mark in trace for trace in _traces(process) for mark in marks)
    ]


def programs_of(home: Home) -> set[str]:
    """The names of what is at work in a home; what ends while we look is not."""
    names = set()
    for process in processes_of(home):
        with suppress(psutil.Error):
            names.add(process.name())
    return names


def _traces(process: psutil.Process) -> list[str]:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return []
        return [*process.cmdline(), process.cwd(), *process.environ().values()]
    except (psutil.Error, OSError):  # gone while we looked, or somebody else's
        return []


def verify_nothing_left(home: Home) -> None:
    """A server that was told to stop may take a moment to be gone."""
    wait_for(lambda: not processes_of(home), lambda: f"still at work: {processes_of(home)}", seconds=20)


def quiet_port() -> int:
    while True:
        port = Random().choice(QUIET_PORTS)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port
