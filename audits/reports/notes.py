"""Notes on a report: the rulebooks in its period, and those for which the casino has no approval on record."""

import datetime as dt
from collections.abc import Iterable

from django.db.backends.postgresql.psycopg_any import DateTimeTZRange

from audits.reports.report_kind import ReportRequest
from games.engine.rules.loader import rulebook
from games.floor.approval import approval_notice
from games.floor.moments import day_bounds
from games.labels.rules import rulebook_title
from games.models import Casino, Table, TableAssignment


def approval_notes(request: ReportRequest) -> list[str]:
    """Return the notices about approval for the casinos and rulebooks in the period of the report."""
    return [note for casino, tables in _by_casino(request) for note in _notes(casino, _played(casino, tables, request))]


def rulebooks_of(request: ReportRequest) -> list[str]:
    """List the ids of the rulebooks in force in the period of the report."""
    return sorted({id_ for casino, tables in _by_casino(request) for id_ in _played(casino, tables, request)})


def table_notes(table: Table, day: dt.date) -> list[str]:
    """Return the notes for one table and gaming day. The caller has checked that the reader may see them."""
    return _notes(table.casino, _rulebooks(table.casino, [table], day, day))


def _by_casino(request: ReportRequest) -> list[tuple[Casino, Iterable[Table]]]:
    tables = Table.objects.order_by().filter(request.capacity.within(Table))
    if request.casino is not None:
        tables = tables.filter(casino=request.casino)
    if request.table is not None:
        tables = tables.filter(pk=request.table.pk)
    casinos = Casino.objects.filter(pk__in=tables.values("casino"))
    return [(casino, tables.filter(casino=casino)) for casino in casinos]


def _played(casino: Casino, tables: Iterable[Table], request: ReportRequest) -> Iterable[str]:
    return _rulebooks(casino, tables, request.first, request.last)


def _rulebooks(casino: Casino, tables: Iterable[Table], first: dt.date, last: dt.date) -> Iterable[str]:
    period = DateTimeTZRange(day_bounds(casino, first)[0], day_bounds(casino, last)[1])
    played = TableAssignment.objects.filter(table__in=tables, during__overlap=period)
    return played.order_by("rulebook").values_list("rulebook", flat=True).distinct()


def _notes(casino: Casino, rulebooks: Iterable[str]) -> list[str]:
    notices = [(id_, approval_notice(rulebook(id_), casino)) for id_ in rulebooks]
    return [f"{casino}: {rulebook_title(id_)}. {notice}" for id_, notice in notices if notice]
