"""The base class of reports: name, purpose, typed columns, rows and totals.

A report is one class. It yields rows as tuples in the order of its columns and knows nothing of files, which
`audits.exports` writes. It reads only what the person who requested it may see, in the capacity of the request.
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
SUM_BLOCK = 1000
Bounds = tuple[dt.datetime, dt.datetime]


class Shelf(StrEnum):
    """The heading under which a report is listed, by its purpose."""

    REGULATOR = "For the regulator"
    SHIFT = "For the shift"
    AUDIT = "For audit"


@dataclass(frozen=True)
class ReportRequest:
    """A request for a report: by whom and in which capacity, for which gaming days, casino and table.

    `casino` is None only for people of no single casino who request all of them.
    """

    actor: Actor
    capacity: Capacity
    first: dt.date
    last: dt.date
    casino: Casino | None = None
    table: Table | None = None
    #: The hours of the shift, for a report of one shift.
    window: Bounds | None = None

    @property
    def timezone(self) -> ZoneInfo:
        """Return the casino's time zone, or UTC for several casinos."""
        return ZoneInfo(self.casino.timezone if self.casino else "UTC")

    def bounds(self) -> Bounds:
        """Return the begin and end of the period: of its gaming days by the casino's clock, or of the shift."""
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
        """Return the last gaming day that rows can have: the last shift of a day may end in the next gaming day."""
        return self.last if self.window is None else self.last + dt.timedelta(days=1)

    def period_of(self, started: str) -> Q:
        """Return the condition on rows with a gaming day: within the days, or begun within the shift."""
        days = Q(gaming_day__gte=self.first, gaming_day__lte=self.last_reached)
        if self.window is None:
            return days
        begins, ends = self.window
        return days & Q(**{f"{started}__gte": begins, f"{started}__lt": ends})


class ReportKind:
    """The base of all reports. `rows` is read once, in one database snapshot; `totals` is called after it."""

    #: Templates use the class itself, not an instance.
    do_not_call_in_templates = True

    kind: ClassVar[str]
    title: ClassVar[str]
    shelf: ClassVar[Shelf]
    #: Who reads the report and why, in one or two sentences.
    about: ClassVar[str]
    #: The actions (games/access/roles.toml) that a person needs to read its rows, besides making reports.
    needs: ClassVar[tuple[str, ...]]
    columns: ClassVar[tuple[Column, ...]]
    #: Rules or sections of documents that require it, as people cite them.
    rules: ClassVar[tuple[str, ...]] = ()
    #: Columns with totals.
    summed: ClassVar[tuple[str, ...]] = ()
    #: Rows may be confidential. Only people who may see confidential records then get the file.
    can_be_confidential: ClassVar[bool] = False
    #: The report is about findings or results: pending rounds of its period are reconciled first.
    reconciles: ClassVar[bool] = True
    #: Its rows change only when a day of its period is reconciled again.
    rests_on_days: ClassVar[bool] = False
    #: What people call its rows, for a report without rows: "No discrepancies were found in 1,240 rounds."
    things: ClassVar[str]

    def __init__(self, request: ReportRequest) -> None:
        self.request = request
        self._sums: dict[int, int] = {}

    def rows(self) -> Iterator[Row]:
        """Yield the rows in the order of the columns."""
        raise NotImplementedError

    def counted_rows(self) -> Iterator[Row]:
        """Yield the rows, and add up the columns with totals."""
        positions = [index for index, column in enumerate(self.columns) if column.name in self.summed]
        self._sums = dict.fromkeys(positions, 0)
        remaining = self.rows()
        while block := list(islice(remaining, SUM_BLOCK)):
            for index in positions:
                self._sums[index] += sum(row[index] or 0 for row in block)
            yield from block

    def totals(self) -> Row | None:
        """Return the row of totals; None for a report without totals."""
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
        """Return the notes of the report."""
        return ()

    # --- Its reach ---

    def within(self, queryset: QuerySet[M]) -> QuerySet[M]:
        """Restrict a queryset to what the person may see, and to the requested casino and table."""
        model = queryset.model
        reachable = queryset.filter(self.request.capacity.within(model))
        table_path = getattr(model, "table_path", None)
        casino_path = f"{table_path}__casino" if table_path else getattr(model, "casino_path", None)
        if table_path == "pk":
            casino_path = "casino"
        if self.request.casino is not None and casino_path:
            reachable = reachable.filter(**{casino_path: self.request.casino})
        if self.request.table is not None and table_path:
            reachable = reachable.filter(**{table_path: self.request.table.pk})
        return reachable

    def rounds(self) -> int:
        """Return the number of rounds on record in the period, from daily results, or counted for a shift."""
        if self.request.window is not None:
            return self.within(Round.objects.filter(self.request.period_of("started_at"))).count()
        days = self.within(
            DaySummary.objects.filter(gaming_day__gte=self.request.first, gaming_day__lte=self.request.last)
        )
        return int(days.order_by().aggregate(rounds=Sum("rounds"))["rounds"] or 0)
