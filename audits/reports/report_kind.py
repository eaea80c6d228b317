"""The shape of a report: what it is called, who reads it and why, its typed columns, its rows and its totals.

A report is one class. It yields rows as tuples in the order of its columns and knows nothing of files: `audits.exports`
writes them. It sees what the person who asked for it may see, by the capacity in which they asked.
"""

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import ClassVar, TypeVar
from zoneinfo import ZoneInfo

from django.db.models import Model, Q, QuerySet, Sum

from audits.exports.document import Chart, Column, Row
from audits.models import DaySummary
from games.access.gate import Actor, Capacity
from games.floor.moments import day_bounds
from games.models import Casino, Round, Table

M = TypeVar("M", bound=Model)
SUMMED_AT_ONCE = 1000
Bounds = tuple[dt.datetime, dt.datetime]


class Shelf(StrEnum):
    """Where a report is found, by the task it serves."""

    REGULATOR = "For the regulator"
    SHIFT = "For the shift"
    AUDIT = "For audit"


@dataclass(frozen=True)
class ReportRequest:
    """A report as it was asked for: by whom and in which capacity, of which gaming days, casino and table.

    `casino` is None only for people of no single casino who asked for all of them.
    """

    actor: Actor
    standing: Capacity
    first: dt.date
    last: dt.date
    casino: Casino | None = None
    table: Table | None = None
    #: The hours of one shift, where a report is of that alone.
    window: Bounds | None = None

    @property
    def timezone(self) -> ZoneInfo:
        """The casino's clock; UTC for a report over several casinos."""
        return ZoneInfo(self.casino.timezone if self.casino else "UTC")

    def bounds(self) -> Bounds:
        """Return the moments at which the period begins and ends: its gaming days by the casino's clock, or a shift."""
        if self.window is not None:
            return self.window
        if self.casino is None:
            return (
                dt.datetime.combine(self.first, dt.time.min, dt.UTC),
                dt.datetime.combine(self.last + dt.timedelta(days=1), dt.time.min, dt.UTC),
            )
        return day_bounds(self.casino, self.first)[0], day_bounds(self.casino, self.last)[1]

    @property
    def last_reached(self) -> dt.date:
        """The last gaming day in which rows can lie: the last shift of a day may end in the next gaming day."""
        return self.last if self.window is None else self.last + dt.timedelta(days=1)

    def period_of(self, started: str) -> Q:
        """Return the condition on rows with a gaming day: of the days asked for, or begun in the shift asked for."""
        days = Q(gaming_day__gte=self.first, gaming_day__lte=self.last_reached)
        if self.window is None:
            return days
        begins, ends = self.window
        return days & Q(**{f"{started}__gte": begins, f"{started}__lt": ends})


class ReportKind:
    """The base of all reports. `rows` is read once, in one database snapshot; `totals` is asked for after it."""

    #: Templates show the class itself.
    do_not_call_in_templates = True

    kind: ClassVar[str]
    title: ClassVar[str]
    shelf: ClassVar[Shelf]
    #: Who reads it and why, in one or two sentences.
    about: ClassVar[str]
    #: The actions (games/access/roles.toml) that a person needs to read its rows, beside making reports at all.
    needs: ClassVar[tuple[str, ...]]
    columns: ClassVar[tuple[Column, ...]]
    #: Rules or sections of the documents that it answers to, as people cite them.
    rules: ClassVar[tuple[str, ...]] = ()
    #: Columns that are added up in the totals row.
    summed: ClassVar[tuple[str, ...]] = ()
    #: Rows may be about what is confidential: a file then stays with those who may see that.
    can_be_confidential: ClassVar[bool] = False
    #: The report is about findings or results: what is pending in its period is reconciled first.
    reconciles: ClassVar[bool] = True
    #: Its rows change only where a day of its period is reconciled anew.
    rests_on_days: ClassVar[bool] = False
    #: How people call its rows, for the sentence of a nil report: "No discrepancies were found in 1,240 rounds."
    things: ClassVar[str]

    def __init__(self, asked: ReportRequest) -> None:
        self.asked = asked
        self._sums: dict[int, int] = {}

    def rows(self) -> Iterator[Row]:
        raise NotImplementedError

    def counted_rows(self) -> Iterator[Row]:
        """Yield the rows and add up the columns that have totals."""
        positions = [index for index, column in enumerate(self.columns) if column.name in self.summed]
        self._sums = dict.fromkeys(positions, 0)
        remaining = self.rows()
        while block := list(islice(remaining, SUMMED_AT_ONCE)):
            for index in positions:
                self._sums[index] += sum(row[index] or 0 for row in block)
            yield from block

    def totals(self) -> Row | None:
        """Return the row of totals; None where nothing is added up."""
        if not self._sums:
            return None
        return tuple(self._sums.get(index) for index in range(len(self.columns)))

    def nil(self) -> str:
        """Return the sentence of a report without rows."""
        rounds = self.rounds()
        return f"No {self.things} were found in {rounds:,} round{'' if rounds == 1 else 's'}."

    def charts(self) -> tuple[Chart, ...]:
        return ()

    def notes(self) -> tuple[str, ...]:
        """Return what the report has to say beside its rows."""
        return ()

    # --- What it may read ---

    def within(self, queryset: QuerySet[M]) -> QuerySet[M]:
        """Return what of a list the person who asked may see, of the casino and table asked for."""
        model = queryset.model
        found = queryset.filter(self.asked.standing.within(model))
        table_path = getattr(model, "table_path", None)
        casino_path = f"{table_path}__casino" if table_path else getattr(model, "casino_path", None)
        if table_path == "pk":
            casino_path = "casino"
        if self.asked.casino is not None and casino_path:
            found = found.filter(**{casino_path: self.asked.casino})
        if self.asked.table is not None and table_path:
            found = found.filter(**{table_path: self.asked.table.pk})
        return found

    def rounds(self) -> int:
        """Return how many rounds of the period are on record, by the day's figures; of a shift they are counted."""
        if self.asked.window is not None:
            return self.within(Round.objects.filter(self.asked.period_of("started_at"))).count()
        days = self.within(DaySummary.objects.filter(gaming_day__gte=self.asked.first, gaming_day__lte=self.asked.last))
        return int(days.order_by().aggregate(rounds=Sum("rounds"))["rounds"] or 0)
