"""Reports as people ask for them, for tests."""

import datetime as dt
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext

from audits.reports.report_kind import ReportKind, ReportRequest
from games.access.gate import Actor, capacity_for
from games.models import Casino, Staff, Table
from tests.games.floor_setup import NOON

#: The gaming day of NOON in the casino of the tests.
DAY = dt.date(2026, 11, 15)
#: Its first moment: 06:00 in Singapore.
DAY_STARTS = NOON.replace(day=14, hour=22)


def asked_by(
    actor: Actor, first: dt.date = DAY, last: dt.date | None = None, casino: Casino | None = None,
    table: Table | None = None,
) -> ReportRequest:  # fmt: skip
    """A report of some gaming days, as this person asks for it: of their own casino, where none is named."""
    standing = capacity_for(actor, "report.export")
    assert standing is not None, f"{actor} makes no reports"
    own = actor.casino if isinstance(actor, Staff) else None
    return ReportRequest(actor, standing, first, last or first, casino or own, table)


def rows_of(report: ReportKind) -> list[dict[str, Any]]:
    """The rows by the names of the columns; every row has a value for each."""
    names = [column.name for column in report.columns]
    return [dict(zip(names, row, strict=True)) for row in report.counted_rows()]


def column_of(report: ReportKind, name: str) -> list[Any]:
    return [row[name] for row in rows_of(report)]


def queries_of(report: ReportKind) -> int:
    """How many queries it takes to read all rows."""
    with CaptureQueriesContext(connection) as queries:
        list(report.counted_rows())
    return len(queries)
