"""The report of exports: who exported which data as a file."""

from collections.abc import Iterator
from typing import Any

from audits.exports.document import Column, ColumnKind, Row
from audits.reports.report_kind import ReportKind, Shelf
from games.models import AccessRecord

CHUNK = 5000


class Exports(ReportKind):
    """One row for each export on record, the earliest first."""

    kind, title, things = "exports", "Exports", "exports"
    shelf = Shelf.AUDIT
    about = "For audit and compliance: who exported which data, in which post, when and through which page or command."
    needs = ("accessrecord.view",)
    reconciles = False
    columns = (
        Column("at", "Time", ColumnKind.MOMENT, 17), Column("casino", "Casino", width=9),
        Column("number", "Staff number", width=12), Column("who", "Name and post", width=34),
        Column("what", "What", width=44), Column("through", "Page, call or command", width=32),
    )  # fmt: skip

    def rows(self) -> Iterator[Row]:
        begins, ends = self.request.bounds()
        made = self.within(AccessRecord.objects.filter(kind=AccessRecord.Kind.EXPORT, at__gte=begins, at__lt=ends))
        values: Any = made.order_by("at", "id").values_list(
            "at", "casino__code", "staff__number", "who", "thing", "door"
        )
        yield from values.iterator(CHUNK)

    def nil(self) -> str:
        return "No data was exported in the period."
