"""Rows of reports by the names of their columns, and reports as a pit manager reads them, for tests."""

import datetime as dt
from typing import Any

from audits.reports.report_kind import ReportKind, ReportRequest
from games.access.gate import capacities
from games.models import Casino, Staff, Table


def named(report: ReportKind, *names: str) -> list[tuple[Any, ...]]:
    """Return the rows of a report, cut down to these columns; all of them, where none is named."""
    every = [column.name for column in report.columns]
    places = [every.index(name) for name in names or every]
    found = list(report.counted_rows())
    assert all(len(row) == len(every) for row in found)
    return [tuple(row[place] for place in places) for row in found]


def asked_in_post(
    actor: Staff, first: dt.date, last: dt.date, casino: Casino | None = None, table: Table | None = None
) -> ReportRequest:
    """Return what a person asks for in their permanent post, whether or not it may make reports."""
    return ReportRequest(actor, capacities(actor)[0], first, last, casino or actor.casino, table)
