"""Closing a gaming day: at its closing time one last run, and the figures are frozen."""

import datetime as dt
from collections.abc import Iterator

from django.db import connection
from django.utils import timezone

from audits.models import COUNTS, FIGURES, ClosedSummary, DayClose, DaySummary, Run
from games.floor.moments import day_bounds, gaming_day
from games.models import Casino
from games.rounds.services.recording import BOOKS_OPEN_FOR

#: The most days that are closed at a time. After an import of years the rest follow later.
BATCH = 10
#: Days with rounds and without a closing run, the oldest first.
UNCLOSED = """
SELECT DISTINCT s.gaming_day FROM audits_daysummary s JOIN games_table t ON t.id = s.table_id
WHERE t.casino_id = %s AND s.gaming_day < %s AND NOT EXISTS (
    SELECT 1 FROM audits_run c WHERE c.casino_id = t.casino_id AND c.gaming_day = s.gaming_day
    AND c.kind = 'close' AND c.state <> 'cancelled')
ORDER BY s.gaming_day LIMIT %s
"""


def days_to_close(now: dt.datetime | None = None) -> Iterator[tuple[Casino, dt.date]]:
    """Yield the gaming days whose closing time has come and that have no closing run."""
    moment = now or timezone.now()
    for casino in Casino.objects.all():
        until = gaming_day(casino, moment)  # the current day is not over
        with connection.cursor() as cursor:
            cursor.execute(UNCLOSED, [casino.pk, until, BATCH])
            days = [day for (day,) in cursor.fetchall()]
        for day in days:
            if day_bounds(casino, day)[1] + BOOKS_OPEN_FOR <= moment:
                yield casino, day


def day_freeze(run: Run) -> DayClose:
    """Freeze the figures of a gaming day, in the transaction that ends its closing run."""
    if run.casino is None or run.gaming_day is None:
        raise ValueError(f"Run {run} has no gaming day.")  # a constraint excludes it, too
    close = DayClose.objects.create(casino=run.casino, gaming_day=run.gaming_day, run=run)
    summaries = DaySummary.objects.filter(table__casino=run.casino, gaming_day=run.gaming_day)
    names = (*FIGURES, *COUNTS, "kinds")
    ClosedSummary.objects.bulk_create(
        ClosedSummary(close=close, table_id=summary.table_id, **{name: getattr(summary, name) for name in names})
        for summary in summaries
    )
    return close
