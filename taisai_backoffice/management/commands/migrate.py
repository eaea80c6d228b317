"""Django's migrate, run as the owner of the tables: the application's role cannot change the structure."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.core.management.commands.migrate import Command as MigrateCommand
from django.db import connections

ADVISORY_LOCK = 7_241_500  # any number that is not used elsewhere


class Command(MigrateCommand):
    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.set_defaults(database="owner")

    def execute(self, *args: Any, **options: Any) -> str | None:
        if options["database"] not in connections:
            raise CommandError(
                "DATABASE_OWNER_URL is missing; set it to the role that owns the tables, for this command only."
            )
        return super().execute(*args, **options)

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate under a lock: a second process waits and finds nothing to do."""
        with connections[options["database"]].cursor() as cursor, rarer_collections():
            cursor.execute("SELECT pg_advisory_lock(%s)", [ADVISORY_LOCK])
            try:
                super().handle(*args, **options)
            finally:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [ADVISORY_LOCK])


@contextmanager
def rarer_collections() -> Iterator[None]:
    """Collect garbage less often: a first migration builds models by the ten thousand, and is a fifth quicker so."""
    usual = gc.get_threshold()
    gc.set_threshold(200_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
