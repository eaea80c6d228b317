"""A home with the demonstration floor, and databases that start as copies of it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from taisai_backoffice.embedded.database import migrate, urls
from taisai_backoffice.embedded.home import PROJECT, Home
from taisai_backoffice.embedded.lease import Lease
from taisai_backoffice.embedded.postgres import DATABASE, Postgres, create_database


class Floor:
    """A running PostgreSQL whose database has the demonstration floor and no rounds yet."""

    def __init__(self, home: Home, postgres: Postgres) -> None:
        self.home, self.postgres = home, postgres
        self.environment = os.environ | urls(postgres) | {"TAISAI_HOME": str(home.path)}
        self.environment["DJANGO_SETTINGS_MODULE"] = "taisai_backoffice.settings"

    def manage(self, *arguments: str) -> str:
        command = [sys.executable, PROJECT / "manage.py", *arguments]
        return subprocess.run(command, env=self.environment, check=True, stdout=subprocess.PIPE, text=True).stdout

    def copy(self, name: str, template: str = DATABASE) -> dict[str, str]:
        """Create a separate database, and yield it as a process environment. The template must have no connections."""
        with psycopg.connect(self.postgres.url("postgres", "postgres"), autocommit=True) as connection:
            create_database(connection, name, template=template)
            connection.execute("CHECKPOINT")  # so that its creation is not measured
        own = {
            "DATABASE_URL": self.postgres.url("app", name),
            "DATABASE_OWNER_URL": self.postgres.url("owner", name),
        }
        return self.environment | own

    def drop(self, name: str) -> None:
        with psycopg.connect(self.postgres.url("postgres", "postgres"), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
            connection.execute("CHECKPOINT")  # pending writes of this database must not slow the next one


@contextmanager
def demonstration(home: Home) -> Iterator[Floor]:
    postgres = Postgres(home)
    lease = Lease.take(postgres, prepare=lambda: migrate(postgres))
    try:
        floor = Floor(home, postgres)
        floor.manage("demonstration")
        yield floor
    finally:
        lease.give_back()
