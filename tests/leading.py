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
    before = dict(settings)
    connections["default"].close()
    settings.update(database(database_url, "DATABASE_URL"))
    try:
        with sending_to(broker_url):
            yield
    finally:
        connections["default"].close()
        settings.update(before)


@contextmanager
def sending_to(broker_url: str) -> Iterator[None]:
    """Tasks go to this broker."""
    before = app.conf.broker_url
    _send_to(broker_url)
    try:
        yield
    finally:
        _send_to(before)


def _send_to(broker_url: str) -> None:
    """Both of its addresses: the one to write to follows the other only as long as nobody has set it."""
    app.conf.broker_url = app.conf.broker_write_url = broker_url
    app._after_fork()  # forgets its connections, as it does in a new process
