"""The pit for which each gaming day of a table counts: where the table was when the day began."""

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby

from django.db.models import QuerySet

from games.floor.moments import day_starts, gaming_day
from games.models import Casino, Table, TableAssignment


@dataclass
class PitDays:
    """Spans of gaming days of tables in pits, as columns for a query. The last day is not included."""

    table_ids: list[int] = field(default_factory=list)
    pit_ids: list[int] = field(default_factory=list)
    first_days: list[dt.date] = field(default_factory=list)
    until: list[dt.date] = field(default_factory=list)

    def columns(self) -> tuple[list[int], list[int], list[dt.date], list[dt.date]]:
        return self.table_ids, self.pit_ids, self.first_days, self.until


def pit_days(tables: QuerySet[Table], only_pit: int | None = None) -> PitDays:
    """Return the pits for which the gaming days of these tables count. Defaults to all pits.

    Days up to the start of a table's first assignment count for the pit of that assignment.
    """
    assignments = (
        TableAssignment.objects.filter(table__in=tables).select_related("table__casino").order_by("table", "during")
    )
    days = PitDays()
    for table_id, of_table in groupby(assignments, key=lambda assignment: assignment.table_id):
        for pit_id, first_day, until in _spans(list(of_table)):
            if only_pit in (None, pit_id):
                days.table_ids.append(table_id)
                days.pit_ids.append(pit_id)
                days.first_days.append(first_day)
                days.until.append(until)
    return days


def _spans(assignments: list[TableAssignment]) -> Iterator[tuple[int, dt.date, dt.date]]:
    casino = assignments[0].table.casino
    firsts = [dt.date.min, *(first_day(casino, later.starts_at) for later in assignments[1:]), dt.date.max]
    for assignment, begins, until in zip(assignments, firsts, firsts[1:], strict=False):
        if begins < until:
            yield assignment.pit_id, begins, until


def first_day(casino: Casino, moment: dt.datetime) -> dt.date:
    """Return the first gaming day that begins at a moment or after it."""
    day = gaming_day(casino, moment)
    return day if day_starts(casino, day) == moment else day + dt.timedelta(days=1)
