"""The base of reports whose records lie in a casino or pit and name a table only where there is one."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import ClassVar, TypeVar

from django.db.models import Model, QuerySet

from audits.reports.report_kind import ReportKind

M = TypeVar("M", bound=Model)
T = TypeVar("T")
#: Records that are read together, with what belongs to them.
CHUNK = 500


class PlacedReport(ReportKind):
    """Reads the records of a period within reach, in chunks."""

    reconciles = False
    #: The path from a record to its table.
    table_field: ClassVar[str] = "table"

    def placed(self, queryset: QuerySet[M]) -> QuerySet[M]:
        """Return what of a list is within reach, and at the table asked for."""
        found = self.within(queryset)
        return found if self.asked.table is None else found.filter(**{self.table_field: self.asked.table})

    def in_period(self, queryset: QuerySet[M], field: str) -> QuerySet[M]:
        """Return the records whose moment lies in the gaming days asked for."""
        starts_at, ends_at = self.asked.bounds()
        return queryset.filter(**{f"{field}__gte": starts_at, f"{field}__lt": ends_at})

    def shows(self, action: str, thing: Model | None) -> bool:
        """Return whether a related record may be named to the person who asked. Asks no database."""
        standing = self.asked.standing
        return thing is not None and action in standing.role.may and standing.covers(action, thing)


def batches(rows: Iterable[T], size: int = CHUNK) -> Iterator[list[T]]:
    """Yield rows in lists of a size, for what is read once for all of them."""
    remaining = iter(rows)
    while batch := list(islice(remaining, size)):
        yield batch


def code_of(place: Model | None) -> str | None:
    """Return the code of a casino, pit or table, for a cell."""
    return getattr(place, "code", None)
