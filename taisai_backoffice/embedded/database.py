"""The embedded database for a command that needs one: leased once a process, migrated when the home is new."""

import functools
import os
import subprocess
import sys

from taisai_backoffice.embedded.errors import EmbeddedServerError
from taisai_backoffice.embedded.home import PROJECT, Home
from taisai_backoffice.embedded.lease import Lease, end_on_signals
from taisai_backoffice.embedded.postgres import Postgres


@functools.cache
def leased_postgres() -> Postgres:
    """The server of the home, running until this process ends."""
    postgres = Postgres(Home.from_environment())
    end_on_signals()
    lease = Lease.take(postgres, prepare=lambda: migrate_new_home(postgres))
    lease.give_back_at_exit()
    return postgres


def urls(postgres: Postgres) -> dict[str, str]:
    """The variables with which every other program finds this database, just as in production."""
    return {"DATABASE_URL": postgres.url("app"), "DATABASE_OWNER_URL": postgres.url("owner")}


def migrate_new_home(postgres: Postgres) -> None:
    """The mark is set after the fact: a migration that was cut short is taken up again."""
    mark = postgres.home.path / "migrated"
    if mark.exists():
        return
    migrate(postgres)
    mark.touch()


def migrate(postgres: Postgres) -> None:
    result = subprocess.run(
        [sys.executable, PROJECT / "manage.py", "migrate", "--verbosity", "0"],
        env=os.environ | urls(postgres), capture_output=True, text=True, check=False,
    )  # fmt: skip
    if result.returncode != 0:
        raise EmbeddedServerError(f"The database could not be migrated: {result.stderr.strip()}")
