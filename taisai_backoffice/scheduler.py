"""The scheduler of periodic tasks: django-celery-beat's, which would die with the database, made to wait for it."""

import time
from typing import Any

import structlog
from django.db import InterfaceError, OperationalError, connection
from django_celery_beat.schedulers import DatabaseScheduler

log = structlog.get_logger(__name__)

#: Between two tries while the database is away.
PAUSE_SECONDS = 2.0
OUTAGES = (OperationalError, InterfaceError)


class PatientScheduler(DatabaseScheduler):
    """Reads its schedule when the database is there, and skips what falls into an outage: the next sweep finds it."""

    def setup_schedule(self) -> None:
        database_wait()
        super().setup_schedule()

    def tick(self, *arguments: Any, **named: Any) -> float:
        try:
            return float(super().tick(*arguments, **named) or 0.0)
        except OUTAGES as error:
            log.warning("schedule not read", error=str(error))
            connection.close()
            self._initial_read = self._schedule is None
            return PAUSE_SECONDS


def database_wait() -> None:
    """Return when the database answers."""
    while True:
        try:
            connection.ensure_connection()
            return
        except OUTAGES as error:
            log.warning("waiting for the database", error=str(error))
            connection.close()
            time.sleep(PAUSE_SECONDS)
