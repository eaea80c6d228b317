"""The scheduler of periodic tasks: django-celery-beat's, made to wait for the database instead of dying with it."""

import time
from typing import Any

import structlog
from django.db import InterfaceError, OperationalError, connection
from django_celery_beat.schedulers import DatabaseScheduler, ModelEntry

log = structlog.get_logger(__name__)

#: Seconds between two attempts while the database is away.
PAUSE_SECONDS = 2.0
OUTAGES = (OperationalError, InterfaceError)


class PatientEntry(ModelEntry):
    """A task of the schedule. The library logs errors here and then drops the task for good; this class retries."""

    @classmethod
    def from_entry(cls, name: str, app: Any = None, **entry: Any) -> Any:
        while True:
            try:
                return super().from_entry(name, app=app, **entry)
            except OUTAGES as error:
                _wait_again(error)


class PatientScheduler(DatabaseScheduler):
    """Read the schedule when the database is there, and skip runs during an outage: the next sweep catches up."""

    Entry = PatientEntry

    def setup_schedule(self) -> None:
        """Read and complete the schedule; start again if the database goes away meanwhile."""
        database_wait()
        while True:
            try:
                super().setup_schedule()
                return
            except OUTAGES as error:
                self._initial_read = True
                _wait_again(error)

    def tick(self, *arguments: Any, **named: Any) -> float:
        try:
            return float(super().tick(*arguments, **named) or 0.0)
        except OUTAGES as error:
            log.warning("schedule not read", error=str(error))
            connection.close()
            self._initial_read = self._schedule is None
            return PAUSE_SECONDS


def database_wait() -> None:
    """Return once the database answers."""
    while True:
        try:
            connection.ensure_connection()
            return
        except OUTAGES as error:
            log.warning("waiting for the database", error=str(error))
            connection.close()
            time.sleep(PAUSE_SECONDS)


def _wait_again(error: Exception) -> None:
    """Wait for a database that went away in the middle of an operation."""
    log.warning("database lost", error=str(error))
    connection.close()
    database_wait()
