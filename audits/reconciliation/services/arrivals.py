"""Reconcile the rounds in the outbox, one table and gaming day at a time."""

import datetime as dt
import time
from collections.abc import Iterable, Iterator
from functools import cached_property

from django.db import OperationalError, connection, transaction
from django.utils import timezone
from psycopg import errors

from audits.models import DaySummary, Run
from audits.reconciliation.day import BusyError, DayResult, reconcile_waiting
from audits.reconciliation.services.faults import DeferredFaults
from games.database.sql import query_rows
from games.engine.play.findings import VERSION
from games.models import Casino, Table

SYSTEM = "The system"
WAITING = """
SELECT r.table_id, r.gaming_day FROM games_outbox o JOIN games_round r ON r.id = o.round_id
GROUP BY r.table_id, r.gaming_day ORDER BY min(o.id)
"""
#: How many seconds to wait for another worker on the same day. The next sweep comes soon.
PATIENCE = 3.0
PAUSE = 0.1

TableDay = tuple[int, dt.date]


class ArrivalRun:
    """A run over arrivals, created lazily with its first finding."""

    def __init__(self, casino: Casino, who: str = SYSTEM) -> None:
        self.casino, self.who = casino, who

    @cached_property
    def _run(self) -> Run:
        now = timezone.now()
        return Run.objects.create(
            kind=Run.Kind.ARRIVAL, casino=self.casino, state=Run.State.DONE, engine=VERSION, who=self.who,
            started_at=now, ended_at=now,
        )  # fmt: skip

    def run(self) -> Run:
        return self._run


def arrivals_take(*, only: Iterable[TableDay] | None = None, who: str = SYSTEM) -> DayResult:
    """Reconcile what is in the outbox, or only the given tables and days. Safe to repeat."""
    total, faults = DayResult(), DeferredFaults()
    wanted = None if only is None else set(only)
    places = [place for place in waiting() if wanted is None or place in wanted]
    for wait in (False, True):
        busy = []
        for place in places:
            with faults:
                done = _take_patiently(place, who) if wait else _take(place, who)
                if done is None:
                    busy.append(place)
                else:
                    _add(total, done)
        places = busy
    faults.raise_all()
    return total


def waiting() -> list[TableDay]:
    """List the tables and days with rounds in the outbox, the longest waiting first."""
    return query_rows(WAITING)


def _take_patiently(place: TableDay, who: str) -> DayResult | None:
    """Try repeatedly for a few seconds. Waiting for the lock itself would fill the server's log with time-outs."""
    until = time.monotonic() + PATIENCE
    while (done := _take(place, who)) is None and time.monotonic() < until:
        time.sleep(PAUSE)
    return done


def _take(place: TableDay, who: str) -> DayResult | None:
    """Reconcile one table's day; None if another worker is at work on it."""
    table_id, day = place
    summary_ensure(place)
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(f"SET LOCAL lock_timeout = '{PATIENCE:.0f}s'")  # for all other locks
            table = Table.objects.select_related("casino").get(pk=table_id)
            return reconcile_waiting(table, day, ArrivalRun(table.casino, who).run)
    except BusyError:
        return None
    except OperationalError as error:
        if isinstance(error.__cause__, errors.LockNotAvailable):
            return None
        raise


def summary_ensure(place: TableDay) -> None:
    """Create the row of a daily result if it is missing.

    Call it outside a longer transaction: two workers that create the same row would wait for each other's end.
    """
    table_id, day = place
    if not DaySummary.objects.filter(table=table_id, gaming_day=day).exists():
        summaries_ensure([place])


def summaries_ensure(places: Iterable[TableDay]) -> None:
    """Create the rows of daily results that are missing."""
    new = [DaySummary(table_id=table_id, gaming_day=day) for table_id, day in places]
    DaySummary.objects.bulk_create(new, ignore_conflicts=True)


def _add(total: DayResult, done: DayResult) -> None:
    total.rounds += done.rounds
    total.bets += done.bets


def outbox_of(days: Iterator[dt.date] | Iterable[dt.date], table: Table | None = None) -> list[TableDay]:
    """List the tables with rounds of these days in the outbox."""
    wanted = set(days)
    return [(key, day) for key, day in waiting() if day in wanted and (table is None or key == table.pk)]
