"""Reports of one shift: what began in it and nothing else, also where the last shift ends in the next gaming day."""

import datetime as dt
from typing import Any

import pytest

from audits.incidents.services.shifts import shift_add
from audits.incidents.shifts import shift_bounds
from audits.reports.registry import REPORTS
from audits.reports.report_kind import ReportKind, ReportRequest
from audits.reports.services.production import pending_settle, report_take
from audits.reports.services.reports import report_ask
from games.access.gate import capacities
from games.models import Outbox, Round, Table
from tests.audits.decided import incident_about, ruled, settled_as
from tests.audits.files import seen
from tests.audits.playing import BORDER, COCKED_EVENTS, DAY, UNDERPAID, drain, played, record
from tests.audits.reports.columns import named
from tests.conftest import House
from tests.games.floor_setup import HOUR, MINUTE, NOON
from tests.games.rounds.samples import bet


def of_shift(house: House, kind: str, shift: str) -> ReportKind:
    reader = house["compliance"]
    window = shift_bounds(house.casino, DAY, shift)
    return REPORTS[kind](ReportRequest(reader, capacities(reader)[0], DAY, DAY, house.casino, None, window))


@pytest.fixture
def two_shifts(house: House, table: Table) -> None:
    """In each of two shifts a round that is underpaid and then corrected, a void one, and an entry in the log."""
    for begins, number in ((BORDER + HOUR, 1), (NOON - 2 * HOUR, 11)):
        record(
            played(f"R-{number}", UNDERPAID, at=begins),
            played(f"R-{number + 1}", bet(), at=begins + 2 * MINUTE, events=COCKED_EVENTS),
        )
        round_ = Round.objects.select_related("table").get(ref=f"R-{number}")
        settled_as(house, ruled(house, incident_about(house, table, round_, account=f"About {round_.ref}")), round_)
        seen(house, summary=f"Near {round_.ref}", at=begins, table=table)
    record(played("R-21", UNDERPAID, at=NOON - HOUR))
    drain()


@pytest.mark.parametrize(
    ("kind", "column", "day", "swing"),
    [
        ("discrepancies", "round_ref", [], ["R-21"]),
        ("voids", "round_ref", ["R-2"], ["R-12"]),
        ("corrections", "round_ref", ["R-1"], ["R-11"]),
        ("log", "summary", ["Near R-1"], ["Near R-11"]),
        ("disputes", "incident", [], []),
        ("incidents", "account", [], ["About R-1", "About R-11"]),  # by the time at which they were reported
    ],
)
@pytest.mark.usefixtures("two_shifts")
def test_a_report_of_a_shift_has_the_rows_of_that_shift(
    house: House, kind: str, column: str, day: list[str], swing: list[str]
) -> None:
    assert [row[0] for row in named(of_shift(house, kind, "Day"), column)] == day
    assert [row[0] for row in named(of_shift(house, kind, "Swing"), column)] == swing
    assert named(of_shift(house, kind, "Night"), column) == []


def test_a_nil_report_counts_the_rounds_of_its_shift(house: House, two_shifts: None) -> None:
    sentences = [of_shift(house, "discrepancies", shift).nil() for shift in ("Day", "Swing", "Night")]
    assert sentences == [f"No discrepancies were found in {count} rounds." for count in (2, 3, 0)]


def test_a_shift_that_ends_in_the_next_gaming_day_is_whole(house: House, table: Table, clock: Any) -> None:
    """Shifts from 04:00 and 16:00: the early one of a gaming day ends at 16:00 on the next."""
    for name, hour in (("Early", 4), ("Late", 16)):
        shift_add(actor=house["compliance"], casino=house.casino, name=name, starts=dt.time(hour), reason="Our own")
    next_day = BORDER + 24 * HOUR  # 06:00 on the 16th
    clock.move_to(next_day + 12 * HOUR)
    record(played("R-1", UNDERPAID, at=next_day - HOUR), played("R-2", UNDERPAID, at=next_day + HOUR))
    record(played("R-3", UNDERPAID, at=next_day + 11 * HOUR), played("R-4", UNDERPAID, at=next_day - 3 * HOUR))
    run = report_ask(
        actor=house["compliance"], kind="discrepancies", format="csv", first=DAY, last=DAY, casino=house.casino,
        shift="Early",
    )  # fmt: skip
    made = report_take(key=run.pk)
    assert made is not None
    assert (made.state, made.row_count) == ("done", 2)
    early = of_shift(house, "discrepancies", "Early")
    assert [row[0] for row in named(early, "round_ref")] == ["R-1", "R-2"]
    assert [row[0] for row in named(of_shift(house, "discrepancies", "Late"), "round_ref")] == ["R-4"]
    record(played("R-5", UNDERPAID, at=next_day + 2 * HOUR))
    pending_settle(house["compliance"], early.request)
    assert not Outbox.objects.exists()
