"""The embedded database for a command: leased once per process, migrated if the home is new."""

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
    """Return the home's server, running until this process ends."""
    postgres = Postgres(Home.from_environment())
    end_on_signals()
    lease = Lease.take(postgres, prepare=lambda: migrate_new_home(postgres))
    lease.give_back_at_exit()
    return postgres


def urls(postgres: Postgres) -> dict[str, str]:
    """Return the environment variables with which other programs find this database, as in production."""
    return {"DATABASE_URL": postgres.url("app"), "DATABASE_OWNER_URL": postgres.url("owner")}


def migrate_new_home(postgres: Postgres) -> None:
    """Migrate a new home and mark it afterwards: an interrupted migration is run again."""
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
