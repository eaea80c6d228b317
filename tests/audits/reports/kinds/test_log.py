"""The report of the daily log: by gaming day and shift, addenda after their entry, and nothing confidential leaks."""

import datetime as dt
from typing import Any

import pytest

from audits.incidents.services.log import handover_sign, handover_take, log_addendum
from audits.models import Handover
from audits.reports.kinds.log import Log
from games.models import Staff
from tests.audits.files import opened, seen
from tests.audits.reports.asking import DAY, DAY_STARTS, asked_by, column_of, queries_of, rows_of
from tests.conftest import House
from tests.games.floor_setup import HOUR, MICROSECOND, MINUTE, NOON, bare_table

pytestmark = pytest.mark.usefixtures("clock")
COMPLIANCE, PIT_MANAGER = "compliance", "pit-manager"


def log(house: House, role: str = COMPLIANCE, **more: Any) -> Log:
    return Log(asked_by(house[role], **more))


def test_an_entry_to_the_cell(house: House) -> None:
    Staff.objects.filter(pk=house["surveillance"].pk).update(name="陈美玲")
    entry = seen(
        house, summary="三号位大声数数。", table=bare_table(house), location="Row 2", camera="C-17", at=NOON - MINUTE,
        time_code="19:59:07:12", recording="NVR 4", keep_until=dt.date(2026, 12, 15), was_monitored=True,
    )  # fmt: skip
    incident = opened(house, "surveillance", entry=entry)
    assert rows_of(log(house)) == [
        {
            "gaming_day": DAY, "shift": "Swing", "at": NOON - MINUTE, "number": str(entry.pk), "type": "Entry",
            "adds_to": None, "casino": "RWS", "pit": "P1", "table": "TS-01", "location": "Row 2",
            "summary": "三号位大声数数。", "camera": "C-17", "time_code": "19:59:07:12", "monitored": True,
            "recording": "NVR 4", "keep_until": dt.date(2026, 12, 15), "incidents": [incident.number],
            "confidential": False, "department": "Surveillance",
            "written_by": "SURVEILLANCE 陈美玲, surveillance", "recorded_at": NOON,
        }
    ]  # fmt: skip


def test_by_shift_and_addenda_follow_their_entry(house: House, clock: Any) -> None:
    for hours, words in ((-1, "Late."), (-13, "Early."), (-13, "Early, too.")):
        entry = seen(house, summary=words, at=NOON + hours * HOUR)
        clock.shift(MINUTE)
        if words == "Early.":
            first = entry
    clock.shift(HOUR)
    addendum = log_addendum(actor=house["surveillance"], entry=first, summary="It was seat 5.")
    rows = rows_of(log(house))
    assert [(row["shift"], row["type"], row["summary"]) for row in rows] == [
        ("Day", "Entry", "Early."), ("Day", "Addendum", "It was seat 5."), ("Day", "Entry", "Early, too."),
        ("Swing", "Entry", "Late."),
    ]  # fmt: skip
    assert (rows[1]["number"], rows[1]["adds_to"]) == (str(addendum.pk), str(first.pk))


def signed(house: House, role: str = "surveillance", **more: Any) -> Handover:
    return handover_sign(actor=house[role], casino=house.casino, watch="Seat 3", **more)


def test_handovers_stand_where_they_were_signed(house: House, clock: Any) -> None:
    opened(house)
    seen(house, summary="Before.")
    clock.shift(MINUTE)
    handover = signed(house)
    clock.shift(MINUTE)
    handover_take(actor=house.hire("S-2", "surveillance"), handover=handover, remarks="Seat 3 has left.")
    seen(house, summary="After.", at=NOON + 3 * MINUTE)
    rows = rows_of(log(house))
    assert [(row["type"], row["summary"]) for row in rows] == [
        ("Entry", "Before."), ("Handover", "Seat 3 (open: 1 incident, 0 findings)"),
        ("Handover taken", "Seat 3 has left."), ("Entry", "After."),
    ]  # fmt: skip
    assert rows[2]["written_by"] == "S-2 Person S-2, surveillance"
    assert (rows[2]["adds_to"], rows[2]["at"]) == (str(handover.pk), NOON + 2 * MINUTE)


def test_confidential_rows_are_absent_for_the_pit(house: House, clock: Any) -> None:
    entry = seen(house, summary="Zebra at seat 3.", is_confidential=True, pit=house.pits["P1"])
    log_addendum(actor=house["surveillance"], entry=entry, summary="The zebra again.")
    handover = signed(house, is_confidential=True)
    handover_take(actor=house.hire("S-2", "surveillance"), handover=handover, remarks="The zebra is here.")
    seen(house, summary="Plain.", pit=house.pits["P1"])
    for role in (COMPLIANCE, "auditor"):
        marks = [(row["type"], row["confidential"]) for row in rows_of(log(house, role))]
        assert marks == [
            ("Entry", True), ("Addendum", True), ("Entry", False), ("Handover", True), ("Handover taken", True),
        ]  # fmt: skip
    for role in (PIT_MANAGER, "casino-manager"):
        assert column_of(log(house, role), "summary") == ["Plain."]


def test_an_incident_of_another_pit_is_not_named(house: House) -> None:
    entry = seen(house, summary="In the house.")
    there = opened(house, "surveillance", pit=house.pits["P2"], entry=entry)
    assert column_of(log(house, PIT_MANAGER), "incidents") == [[]]
    assert column_of(log(house), "incidents") == [[there.number]]


def test_nothing_of_another_casino_or_pit(house: House) -> None:
    house.people["there"] = house.hire("S-ELSE", "surveillance", house.other)
    seen(house, "there", "Elsewhere.", casino=house.other)
    seen(house, summary="In the other pit.", pit=house.pits["P2"])
    seen(house, summary="In the house.")
    seen(house, summary="In the pit.", pit=house.pits["P1"])
    assert column_of(log(house), "summary") == ["In the other pit.", "In the house.", "In the pit."]
    assert column_of(log(house, PIT_MANAGER), "summary") == ["In the house.", "In the pit."]


def test_of_one_table_without_handovers(house: House) -> None:
    here, there = bare_table(house), bare_table(house, "TS-02")
    for place in (here, there):
        seen(house, summary=f"At {place}.", table=place)
    signed(house)
    assert column_of(log(house, table=there), "summary") == ["At TS-02."]


def test_the_period_is_gaming_days(house: House, clock: Any) -> None:
    clock.move_to(DAY_STARTS + 48 * HOUR)
    for moment in (DAY_STARTS - MICROSECOND, DAY_STARTS, DAY_STARTS + 24 * HOUR - MICROSECOND, DAY_STARTS + 24 * HOUR):
        seen(house, at=moment)
    assert column_of(log(house), "at") == [DAY_STARTS, DAY_STARTS + 24 * HOUR - MICROSECOND]
    assert column_of(log(house, last=DAY + dt.timedelta(days=1)), "shift") == ["Day", "Night", "Day"]


def test_an_empty_log_says_so(house: House) -> None:
    report = log(house)
    assert (rows_of(report), report.nil()) == ([], "The log has no entries in the period.")


def test_many_entries_take_as_many_queries_as_one(house: House) -> None:
    def one_more(number: int) -> None:
        entry = seen(house, summary=f"No. {number}.")
        opened(house, "surveillance", f"No. {number}.", entry=entry)

    one_more(1)
    signed(house)
    before = queries_of(log(house))
    for number in range(2, 6):
        one_more(number)
    report = log(house)
    assert (queries_of(report), len(rows_of(report))) == (before, 6)
