"""Closing a gaming day: at its closing time one last run, and the figures are frozen."""

import datetime as dt
from collections.abc import Iterator

from django.db.models import Exists, OuterRef
from django.utils import timezone

from audits.models import COUNTS, FIGURES, ClosedSummary, DayClose, DaySummary, Run
from games.floor.moments import day_bounds, gaming_day
from games.models import Casino
from games.rounds.services.recording import BOOKS_OPEN_FOR

#: The most days that are closed at a time. After an import of years the rest follow later.
BATCH = 10


def days_to_close(now: dt.datetime | None = None) -> Iterator[tuple[Casino, dt.date]]:
    """Yield the gaming days whose closing time has come and that have no closing run."""
    moment = now or timezone.now()
    for casino in Casino.objects.all():
        until = gaming_day(casino, moment)  # the current day is not over
        for day in _unclosed(casino, until):
            if day_bounds(casino, day)[1] + BOOKS_OPEN_FOR <= moment:
                yield casino, day


def _unclosed(casino: Casino, until: dt.date) -> list[dt.date]:
    """Return the days with rounds that no close covers, the oldest first."""
    closes = Run.objects.filter(casino=casino, gaming_day=OuterRef("gaming_day"), kind=Run.Kind.CLOSE)
    begun = closes.exclude(state=Run.State.CANCELLED)
    days = DaySummary.objects.filter(~Exists(begun), table__casino=casino, gaming_day__lt=until)
    return list(days.order_by("gaming_day").values_list("gaming_day", flat=True).distinct()[:BATCH])


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
