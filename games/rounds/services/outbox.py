"""The outbox of rounds to reconcile, and the messages that start a reconciliation."""

import datetime as dt
import time
from collections.abc import Iterable

import structlog
from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone
from kombu.exceptions import OperationalError

from games.models import Outbox, Table
from taisai_backoffice.celery import app

log = structlog.get_logger(__name__)

#: What waits longer than this waits for a worker, not for a message: no more messages are sent for it.
BACKLOG = dt.timedelta(seconds=30)
#: Seconds until the next attempt if the broker cannot be reached: each attempt delays recording.
SILENCE = 20.0
_silent_until = [0.0]
AGAIN = """
INSERT INTO games_outbox (round_id, at, again)
SELECT id, %s, true FROM games_round WHERE table_id = %s AND started_at >= %s
ON CONFLICT (round_id) DO NOTHING
"""


THESE_AGAIN = """
INSERT INTO games_outbox (round_id, at, again) SELECT unnest(%s::bigint[]), %s, true ON CONFLICT (round_id) DO NOTHING
"""


def reconciliation_wake() -> None:
    """Start a reconciliation after the commit. If the broker cannot be reached, the periodic sweep finds the rounds."""
    oldest = Outbox.objects.order_by("pk").values_list("at", flat=True).first()
    if oldest is None or oldest < timezone.now() - BACKLOG:
        return
    _send(settings.WAKE_TASK)


def warnings_wake() -> None:
    """After the commit, have audits make findings of new warnings of rounds in play. The periodic sweep does, too."""
    _send(settings.WARNING_TASK)


def _send(task: str) -> None:
    if time.monotonic() < _silent_until[0]:
        return
    try:
        app.send_task(task, ignore_result=True, expires=60)
    except OperationalError as error:
        _silent_until[0] = time.monotonic() + SILENCE
        log.warning("reconciliation not woken", task=task, error=str(error))


def requeue_since(table: Table, since: dt.datetime) -> None:
    """Queue the rounds since a moment again, as their terms have changed. The caller locks the table's row."""
    with connection.cursor() as cursor:
        cursor.execute(AGAIN, [timezone.now(), table.pk, since])
        is_waiting = cursor.rowcount > 0
    if is_waiting:
        transaction.on_commit(reconciliation_wake)


def requeue(keys: Iterable[int]) -> None:
    """Queue rounds again after a decision about them."""
    listed = sorted(keys)
    if listed:
        with connection.cursor() as cursor:
            cursor.execute(THESE_AGAIN, [listed, timezone.now()])
        transaction.on_commit(reconciliation_wake)
