"""One snapshot of the database for everything that a report reads."""

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction
from django.utils import timezone

ISOLATION = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"


@contextmanager
def snapshot() -> Iterator[dt.datetime]:
    """Read everything inside the block in one snapshot, and return its moment. Inside a transaction, use that one."""
    if connection.in_atomic_block:
        yield timezone.now()
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(ISOLATION)
        yield timezone.now()
