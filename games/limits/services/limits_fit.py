"""Whether the limits of a table fit every layout that it has while they are in force."""

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from django.core.exceptions import ValidationError

from games.engine.json_input import misfits
from games.engine.rules.loader import rulebook
from games.engine.signs.limits import Limits
from games.floor.moments import as_text
from games.limits.periods import limit_periods
from games.models import Table, TableAssignment


@dataclass(frozen=True)
class InForce:
    """Limits from one moment to another; the last ones have no end."""

    limits: Limits
    starts_at: dt.datetime
    ends_at: dt.datetime | None


def verify_fit(table: Table, *, with_limits: Limits | None = None, starts_at: dt.datetime | None = None) -> None:
    """All that is on record of a table, and in addition limits that are only proposed."""
    if faults := list(misfits_of(table, with_limits=with_limits, starts_at=starts_at)):
        raise ValidationError(faults)


def misfits_of(
    table: Table, *, with_limits: Limits | None = None, starts_at: dt.datetime | None = None
) -> Iterator[str]:
    sets = {period.starts_at: period.limit_set.sheet.limits() for period in limit_periods(table)}
    if with_limits is not None and starts_at is not None:
        sets[starts_at] = with_limits
    assignments = list(table.assignments.order_by("during"))
    for period in _periods(sets):
        met = [assignment for assignment in assignments if _meet(period, assignment)]
        moment = as_text(period.starts_at, table.casino)
        if not met:
            yield f"{table}: limits from {moment}: the table has no layout while they are in force; assign one first."
            continue
        book = rulebook(met[0].rulebook)
        if period.starts_at < book.in_force_from:
            yield (
                f"{table}: limits from {moment}: {book.id} is in force from {book.in_force_from.isoformat()}; "
                f"begin then or later."
            )
        for assignment in met:
            book = rulebook(assignment.rulebook)
            layout = book.layouts[assignment.layout]
            for where, key, fault in misfits(book, layout, period.limits.by_key, period.limits.differential):
                yield f"{table}: limits from {moment}: {where}.{key}: {fault}"


def _periods(sets: dict[dt.datetime, Limits]) -> Iterable[InForce]:
    starts = sorted(sets)
    ends = dict(pairwise(starts))
    return [InForce(sets[start], start, ends.get(start)) for start in starts]


def _meet(one: InForce, assignment: TableAssignment) -> bool:
    begins_in_time = assignment.during.upper is None or one.starts_at < assignment.during.upper
    return begins_in_time and (one.ends_at is None or assignment.starts_at < one.ends_at)
