"""The report of exports: who took which data out, in order of time."""

import datetime as dt
from typing import Any

import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audits.reports.kinds.exports import Exports
from audits.reports.reach import is_read_by
from audits.reports.registry import REPORTS
from audits.reports.report_kind import ReportKind
from games.access.gate import capacities, entry_point
from games.access.services.access_records import export_made, search_made
from games.models import Staff
from tests.audits.playing import BORDER, DAY
from tests.audits.reports.asking import asked_by
from tests.audits.reports.columns import named
from tests.conftest import OPERATOR, House
from tests.games.floor_setup import HOUR, MICROSECOND, NOON

ONE_DAY = dt.timedelta(days=1)


def exported(actor: Any, what: str, at: dt.datetime, casino: Any = None) -> None:
    said = entry_point.set("command report")
    try:
        with time_machine.travel(at, tick=False):
            export_made(actor, what, casino)
    finally:
        entry_point.reset(said)


def report(house: House, actor: Staff | None = None) -> ReportKind:
    return Exports(asked_by(actor or house["compliance"], DAY, DAY))


def test_every_export_to_the_cell_the_earliest_first(house: House) -> None:
    exported(house["auditor"], "report daily, 2026-11-15, all tables, csv", NOON)
    exported(OPERATOR, "report breaches, 2026-11-15, TS-01, json", NOON - HOUR, house.casino)
    exported(house["auditor"], "report daily, 2026-11-15, all tables, csv", NOON)  # each one counts
    with time_machine.travel(NOON, tick=False):
        search_made(house["auditor"], "rounds of player M-1")  # no export
    daily = (
        NOON, "RWS", "AUDITOR", "AUDITOR Person AUDITOR, auditor", "report daily, 2026-11-15, all tables, csv",
        "command report",
    )  # fmt: skip
    assert named(report(house)) == [
        (NOON - HOUR, "RWS", None, "Operator of the machine", "report breaches, 2026-11-15, TS-01, json",
         "command report"),
        daily, daily,
    ]  # fmt: skip


def test_the_gaming_day_bounds_the_period_and_another_casino_is_absent(house: House) -> None:
    for name, at in (("before", BORDER - MICROSECOND), ("first", BORDER), ("last", BORDER + ONE_DAY - MICROSECOND),
                     ("after", BORDER + ONE_DAY)):  # fmt: skip
        exported(house["compliance"], name, at)
    foreign = house.hire("LONDON", "compliance", casino=house.other)
    exported(foreign, "elsewhere", NOON)
    exported(foreign, "of this casino", NOON, house.casino)
    assert named(report(house), "what") == [("first",), ("of this casino",), ("last",)]
    assert named(report(house, foreign), "what") == [("elsewhere",)]


def test_nil_and_who_may_read_it(house: House) -> None:
    nil = report(house)
    assert named(nil) == []
    assert nil.nil() == "No data was exported in the period."
    assert nil.totals() is None
    readers = {role for role in house.people if is_read_by(REPORTS["exports"], capacities(house[role])[0])}
    assert readers == {"compliance", "auditor"}


def test_one_query_however_many_there_are(house: House) -> None:
    for number in range(5):
        exported(house["compliance"], f"file {number}", NOON)
    with CaptureQueriesContext(connection) as seen:
        asked = report(house)
        before = len(seen)
        assert len(list(asked.rows())) == 5
    assert len(seen) - before <= 1  # a server-side cursor is not counted
