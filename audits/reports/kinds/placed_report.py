"""The base class of reports whose records have a casino or pit, but not always a table."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import ClassVar, TypeVar

from django.db.models import Model, QuerySet

from audits.reports.report_kind import ReportKind

M = TypeVar("M", bound=Model)
T = TypeVar("T")
#: How many records are read together, with their related records.
CHUNK = 500


class PlacedReport(ReportKind):
    """A report that reads the records of a period within reach, in chunks."""

    reconciles = False
    #: The path from a record to its table.
    table_field: ClassVar[str] = "table"

    def placed(self, queryset: QuerySet[M]) -> QuerySet[M]:
        """Restrict a queryset to what is within reach, and to the requested table."""
        reachable = self.within(queryset)
        return reachable if self.request.table is None else reachable.filter(**{self.table_field: self.request.table})

    def in_period(self, queryset: QuerySet[M], field: str) -> QuerySet[M]:
        """Restrict a queryset to records with a moment in the requested gaming days."""
        starts_at, ends_at = self.request.bounds()
        return queryset.filter(**{f"{field}__gte": starts_at, f"{field}__lt": ends_at})

    def shows(self, action: str, thing: Model | None) -> bool:
        """Say whether the person may see a related record, without a query."""
        capacity = self.request.capacity
        return thing is not None and action in capacity.role.may and capacity.covers(action, thing)


def batches(rows: Iterable[T], size: int = CHUNK) -> Iterator[list[T]]:
    """Yield rows in lists of a size, so that related records are read once for each list."""
    remaining = iter(rows)
    while batch := list(islice(remaining, size)):
        yield batch


def code_of(place: Model | None) -> str | None:
    """Return the code of a casino, pit or table, for a cell."""
    return getattr(place, "code", None)
