"""The throwaway servers of a test run, and databases to work in: loaded before Django (pyproject: -p tests.servers).

One PostgreSQL and one Valkey for the whole run. A template database is migrated once by `owner`; every xdist worker,
and every test that commits, gets a clone of it and works as `app`. Nothing is ever flushed.
"""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from taisai_backoffice.embedded.database import migrate
from taisai_backoffice.embedded.home import PROJECT, Home
from taisai_backoffice.embedded.lease import Lease
from taisai_backoffice.embedded.postgres import DATABASE, Postgres, create_database
from taisai_backoffice.embedded.valkey import Valkey

#: Tests may lose everything in a power failure: they run on servers that do not wait for the disk.
FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=200")
RUN = "TAISAI_TEST_HOME"


def servers() -> tuple[Postgres, Valkey]:
    """The servers of this test run."""
    home = Home(Path(os.environ[RUN]))
    return Postgres(home), Valkey(home)


def database_url(name: str, role: str = "app") -> str:
    return servers()[0].url(role, name)


@contextmanager
def clone() -> Iterator[str]:
    """A database of one's own, migrated and empty, for as long as it is needed."""
    name = f"clone_{uuid.uuid4().hex}"
    create_clone(name)
    try:
        yield name
    finally:
        drop(name)


def create_clone(name: str) -> None:
    with _superuser() as connection:
        create_database(connection, name, template=DATABASE)


def drop(name: str) -> None:
    with _superuser() as connection:
        connection.execute(psycopg.sql.SQL("DROP DATABASE {} WITH (FORCE)").format(psycopg.sql.Identifier(name)))


def _superuser() -> "psycopg.Connection[tuple[object, ...]]":
    return psycopg.connect(database_url("postgres", "postgres"), autocommit=True)


def _start() -> None:
    """The first process of a run starts the servers, and tells the others where they are by the environment."""
    folder = Path(tempfile.mkdtemp(prefix="taisai-test-"))
    folder.chmod(0o755)
    home = Home(folder / "home")
    os.environ |= {RUN: str(home.path), "TAISAI_HOME": str(home.path)}
    postgres, valkey = Postgres(home, options=FAST), Valkey(home)
    leases = [Lease.take(postgres, prepare=lambda: migrate(postgres)), Lease.take(valkey)]

    def stop() -> None:
        for lease in leases:
            lease.give_back()
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(stop)
    os.environ |= {"BROKER_URL": valkey.url()}
    for name in ("TAISAI_ENV", "DEBUG", "ALLOWED_HOSTS", "SECRET_KEY", "STATIC_ROOT", "PORT", "HOST"):
        os.environ.pop(name, None)
    os.environ |= {"DATABASE_URL": database_url(DATABASE)}
    subprocess.run([sys.executable, PROJECT / "manage.py", "collectstatic", "--noinput", "-v0"], check=True)


if RUN not in os.environ:
    _start()
#: Every process works in a clone, also the one that only hands out tests: a connection to the template blocks clones.
WORKER_DATABASE = f"worker_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"
create_clone(WORKER_DATABASE)
os.environ |= {
    "DATABASE_URL": database_url(WORKER_DATABASE),
    "DATABASE_OWNER_URL": database_url(WORKER_DATABASE, "owner"),
}
