"""This process's Django and Celery, led to other servers for a while."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connections

from taisai_backoffice.celery import app
from taisai_backoffice.environment import database


@contextmanager
def led_to(*, database_url: str, broker_url: str) -> Iterator[None]:
    """What is recorded goes to this database, and what it wakes to this broker."""
    settings = connections.databases["default"]
    before, broker_before = dict(settings), app.conf.broker_url
    connections["default"].close()
    settings.update(database(database_url, "DATABASE_URL"))
    _send_to(broker_url)
    try:
        yield
    finally:
        connections["default"].close()
        settings.update(before)
        _send_to(broker_before)


def _send_to(broker_url: str) -> None:
    app.conf.broker_url = broker_url
    app._after_fork()  # forgets its connections, as it does in a new process
