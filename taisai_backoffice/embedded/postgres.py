"""The PostgreSQL of a home: created once, started and stopped here, reached over loopback with SCRAM."""

import os
import shlex
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg import sql

from taisai_backoffice.embedded.account import reachable_folder, server_account, server_binaries
from taisai_backoffice.embedded.errors import EmbeddedServerError
from taisai_backoffice.embedded.home import Home
from taisai_backoffice.embedded.machine import free_port, live_process

DATABASE = "taisai"
ROLES = ("owner", "app")
RESTART_SECONDS = 10
#: Reads an array as it is in the server's memory: `array_send` would call a function for each element.
ARRAY_BYTES = """
CREATE FUNCTION taisai_array_bytes(anyarray) RETURNS bytea
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'byteasend'
"""

CONFIGURATION = """
# Set by the back office's launcher.
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
timezone = 'UTC'
log_timezone = 'UTC'
jit = off
# The rounds of a busy day fit in memory; unused memory is never allocated.
shared_buffers = 512MB
"""


class Postgres:
    """One server with one database and two roles: `owner` migrates, `app` does everything else."""

    name = "PostgreSQL"

    def __init__(self, home: Home, options: tuple[str, ...] = ()) -> None:
        self.home = home
        self.options = options
        self.account = server_account()
        self._binaries: Path | None = None

    @property
    def link(self) -> Path:
        """Return the data folder in the home, or a link to where the server's account can reach it."""
        return self.home.path / "postgres"

    @property
    def data(self) -> Path:
        return self.link.resolve()

    @property
    def log(self) -> Path:
        return self.data / "server.log"

    def start(self) -> None:
        """Start the server, creating it first if necessary, and wait until it answers."""
        if self.is_running():
            self._ensure_roles()  # the process that started it may have been killed before this step
            return
        if not self.link.exists():
            self._initialise()
        deadline = time.monotonic() + RESTART_SECONDS
        while (fault := self._try_to_start()) is not None:
            if time.monotonic() > deadline:  # a server that was just killed may still hold its files
                raise EmbeddedServerError(f"PostgreSQL did not start: {fault} Its log is {self.log}.")
            time.sleep(0.3)
        self._ensure_roles()

    def stop(self) -> None:
        if self.is_running():
            self._control("stop", "-m", "fast", "-w", "-t", "60")

    def is_running(self) -> bool:
        return self.pid() is not None

    def pid(self) -> int | None:
        """Return the server's process if the pid file names one that is really PostgreSQL."""
        lines = self._pid_file()
        process = live_process(lines[0], "postgres", self.data) if lines else None
        return process.pid if process else None

    def port(self) -> int:
        return int(self._pid_file()[3])

    def url(self, role: str, database: str = DATABASE) -> str:
        return f"postgresql://{role}:{quote(self.password(role))}@127.0.0.1:{self.port()}/{database}?sslmode=disable"

    def password(self, role: str) -> str:
        return self.home.secret(f"postgres-{role}")

    def remove(self) -> None:
        """Stop the server and delete all its data, for throwaway homes."""
        self.stop()
        if self.link.is_symlink():
            shutil.rmtree(self.data.parent)
        shutil.rmtree(self.home.path)

    def _pid_file(self) -> list[str]:
        try:
            return (self.data / "postmaster.pid").read_text().splitlines()
        except OSError:
            return []

    def _initialise(self) -> None:
        """Run initdb in a draft folder and rename it when complete; if killed, the next start begins again."""
        folder = reachable_folder(self.home, self.account)
        for left in folder.glob("postgres.new.*"):
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        draft = Path(tempfile.mkdtemp(prefix="postgres.new.", dir=folder))
        self.account.give(draft)
        password = draft.with_name(f"{draft.name}.password")
        password.touch(mode=0o600)
        password.write_text(self.password("postgres"))
        self.account.give(password)
        result = self.account.run(
            self._program("initdb"), "--pgdata", draft, "--username", "postgres", "--pwfile", password,
            "--auth", "scram-sha-256", "--encoding", "UTF8", "--locale-provider", "builtin",
            "--builtin-locale", "C.UTF-8", "--locale", "C", capture_output=True,
        )  # fmt: skip
        password.unlink()
        if result.returncode != 0:
            raise EmbeddedServerError(f"PostgreSQL could not be set up in {folder}: {result.stderr.strip()}")
        with (draft / "postgresql.conf").open("a") as configuration:
            configuration.write(CONFIGURATION)
        # outside the home there may be data of a deleted home; it is not ours to delete
        data = self.link if folder == self.home.path else folder / draft.name.replace("postgres.new", "data")
        draft.rename(data)
        if data != self.link:
            self.link.symlink_to(data)

    def _try_to_start(self) -> str | None:
        options = [f"-p {free_port()}", *(f"-c {shlex.quote(option)}" for option in self.options)]
        return self._control("start", "-w", "-t", "60", "-l", str(self.log), "-o", " ".join(options))

    def _control(self, *arguments: str) -> str | None:
        """Run pg_ctl and return its error. Its output goes to a file, since the server would keep a pipe open."""
        with tempfile.TemporaryFile("w+") as output:
            result = self.account.run(
                self._program("pg_ctl"), "-D", self.data, *arguments,
                stdin=None, stdout=output, stderr=output, env=_plain_environment(),
            )  # fmt: skip
            output.seek(0)
            return None if result.returncode == 0 else " ".join(output.read().split())

    def _program(self, name: str) -> Path:
        if self._binaries is None:
            self._binaries = server_binaries(self.home, self.account)
        return self._binaries / name

    def _ensure_roles(self) -> None:
        """Create the two roles, the database and its function, if they are missing."""
        with self._superuser() as connection:
            known = {row[0] for row in connection.execute("SELECT rolname FROM pg_roles")}
            for role in ROLES:
                if role not in known:
                    statement = sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}")
                    connection.execute(statement.format(sql.Identifier(role), self.password(role)))
            if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone() is None:
                create_database(connection, DATABASE)
        with self._superuser(DATABASE) as connection:
            if connection.execute("SELECT to_regprocedure('taisai_array_bytes(anyarray)')").fetchone() == (None,):
                connection.execute(ARRAY_BYTES)

    def _superuser(self, database: str = "postgres") -> "psycopg.Connection[tuple[Any, ...]]":
        """Connect as superuser, retrying while the server is starting."""
        deadline = time.monotonic() + RESTART_SECONDS
        while True:
            try:
                return psycopg.connect(self.url("postgres", database), autocommit=True)
            except psycopg.OperationalError as error:
                if time.monotonic() > deadline:
                    raise EmbeddedServerError(f"PostgreSQL does not answer: {error} Its log is {self.log}.") from None
                time.sleep(0.2)


def create_database(
    connection: "psycopg.Connection[tuple[object, ...]]", name: str, template: str = "template0"
) -> None:
    """Create a database that `owner` owns and `app` may only use."""
    database = sql.Identifier(name)
    connection.execute(
        sql.SQL("CREATE DATABASE {} OWNER owner TEMPLATE {} STRATEGY wal_log").format(
            database, sql.Identifier(template)
        )
    )
    connection.execute(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(database))
    connection.execute(sql.SQL("GRANT CONNECT ON DATABASE {} TO app").format(database))


def _plain_environment() -> dict[str, str]:
    """Return the environment without the caller's PG* variables, which would mislead the server."""
    return {key: value for key, value in os.environ.items() if not key.startswith("PG")}
