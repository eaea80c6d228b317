"""What a report says beside its rows: under which rules was played, where the casino has no approval for them."""

import datetime as dt
from collections.abc import Iterable

from django.db.backends.postgresql.psycopg_any import DateTimeTZRange

from audits.reports import Asked
from games.approval import approval_notice
from games.engine.loader import rulebook
from games.models import Casino, Table, TableAssignment
from games.moments import day_bounds
from games.services.gate import within_reach


def approval_notes(asked: Asked) -> list[str]:
    """Return a sentence for each casino and rulebook in force in the period of the report, where one must be said."""
    tables = within_reach(asked.actor, "report.export", Table.objects.order_by())
    if asked.table is not None:
        tables = tables.filter(pk=asked.table.pk)
    casinos = Casino.objects.filter(pk__in=tables.values("casino"))
    return [note for casino in casinos for note in _of_casino(casino, tables.filter(casino=casino), asked)]


def table_notes(table: Table, day: dt.date) -> list[str]:
    """Return the same for one table and gaming day, for a page whose reader was let in already."""
    return _notes(table.casino, _rulebooks(table.casino, [table], day, day))


def _of_casino(casino: Casino, tables: Iterable[Table], asked: Asked) -> list[str]:
    return _notes(casino, _rulebooks(casino, tables, asked.first, asked.last))


def _rulebooks(casino: Casino, tables: Iterable[Table], first: dt.date, last: dt.date) -> Iterable[str]:
    period = DateTimeTZRange(day_bounds(casino, first)[0], day_bounds(casino, last)[1])
    played = TableAssignment.objects.filter(table__in=tables, during__overlap=period)
    return played.order_by("rulebook").values_list("rulebook", flat=True).distinct()


def _notes(casino: Casino, rulebooks: Iterable[str]) -> list[str]:
    books = [rulebook(id_) for id_ in rulebooks]
    said = [(book, approval_notice(book, casino)) for book in books]
    return [f"{casino}: {book.title}, version {book.version}. {notice}" for book, notice in said if notice]
