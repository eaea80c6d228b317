"""The report of disputes: what the law asks for, when and by whom it was done, and whether in time."""

import datetime as dt
from typing import Any

import pytest

from audits.incidents.services.disputes import dispute_mark, dispute_raise, dispute_resolve
from audits.models import Dispute
from audits.reports.kinds.disputes import Disputes
from games.models import Staff
from tests.audits.files import opened
from tests.audits.reports.asking import DAY_STARTS, asked_by, column_of, queries_of, rows_of
from tests.conftest import House
from tests.games.floor_setup import HOUR, MICROSECOND, MINUTE, NOON, SECOND, bare_table

pytestmark = pytest.mark.usefixtures("clock")
COMPLIANCE, PIT_MANAGER = "compliance", "pit-manager"
WEEK = dt.timedelta(days=7)


def disputes(house: House, role: str = COMPLIANCE, **more: Any) -> Disputes:
    return Disputes(asked_by(house[role], **more))


def raised(
    house: House, account: str = "A quarrel.", role: str = "pit-supervisor", at: dt.datetime = NOON, **more: Any
) -> Dispute:
    incident = opened(house, role, account, **more)
    return dispute_raise(
        actor=house[role], incident=incident, patron=f"P-{account}", raised_at=at, reason="Does not accept it"
    )


def marked(house: House, dispute: Dispute, mark: str, at: dt.datetime, role: str = COMPLIANCE) -> None:
    dispute_mark(actor=house[role], dispute=dispute, mark=mark, at=at, reason="By letter")


def test_a_dispute_to_the_cell(house: House, clock: Any) -> None:
    Staff.objects.filter(pk=house["pit-supervisor"].pk).update(name="陈美玲")
    dispute = raised(house, "七", table=bare_table(house), at=NOON - HOUR)
    clock.shift(HOUR)
    marked(house, dispute, "notified_at", NOON + MINUTE)
    marked(house, dispute, "patron_told_at", NOON + 2 * MINUTE, PIT_MANAGER)
    dispute_resolve(actor=house["shift-manager"], dispute=dispute, reason="Paid as a gesture")
    assert rows_of(disputes(house)) == [
        {
            "incident": "IN-2026-000001", "casino": "RWS", "pit": "P1", "table": "TS-01", "patron": "P-七",
            "raised_at": NOON - HOUR, "raised_by": "PIT-SUPERVISOR 陈美玲, pit supervisor",
            "law": "Casino Control Act (Singapore), section 111", "due_at": NOON - HOUR + WEEK,
            "notified_at": NOON + MINUTE, "notified_by": "COMPLIANCE Person COMPLIANCE, compliance",
            "patron_told_at": NOON + 2 * MINUTE, "patron_told_by": "PIT-MANAGER Person PIT-MANAGER, pit manager",
            "resolved_at": NOON + HOUR, "resolved_by": "SHIFT-MANAGER Person SHIFT-MANAGER, shift manager",
            "resolution": "Paid as a gesture", "status": "Resolved", "in_time": True,
        }
    ]  # fmt: skip


def test_open_notified_overdue_and_late(house: House, clock: Any) -> None:
    _, overdue, late, notified = (raised(house, account) for account in ("1", "2", "3", "4"))
    marked(house, notified, "notified_at", NOON)
    marked(house, notified, "patron_told_at", NOON)
    marked(house, overdue, "notified_at", NOON)
    assert [(row["status"], row["in_time"]) for row in rows_of(disputes(house))] == [
        ("Open", None), ("Open", None), ("Open", None), ("Notified", True),
    ]  # fmt: skip
    clock.move_to(NOON + WEEK - SECOND)
    assert column_of(disputes(house), "status") == ["Open", "Open", "Open", "Notified"]
    clock.move_to(NOON + WEEK + SECOND)
    dispute_resolve(actor=house[COMPLIANCE], dispute=late, reason="Agreed, but late")
    assert [(row["status"], row["in_time"]) for row in rows_of(disputes(house))] == [
        ("Overdue", False), ("Overdue", False), ("Resolved", False), ("Notified", True),
    ]  # fmt: skip


def test_in_the_order_in_which_they_were_raised_then_the_number(house: House) -> None:
    for account, hours in (("1", 1), ("2", 2), ("3", 1)):
        raised(house, account, at=NOON - hours * HOUR)
    assert column_of(disputes(house), "patron") == ["P-2", "P-1", "P-3"]


def test_nothing_of_another_casino_or_pit(house: House) -> None:
    house.people["there"] = house.hire("SM-ELSE", "shift-manager", house.other)
    raised(house, "Elsewhere", "there", casino=house.other, pit=house.other_pit)
    raised(house, "P2", "shift-manager", pit=house.pits["P2"])
    raised(house, "P1")
    assert column_of(disputes(house), "patron") == ["P-P2", "P-P1"]
    assert column_of(disputes(house, PIT_MANAGER), "patron") == ["P-P1"]


def test_of_one_table(house: House) -> None:
    here, there = bare_table(house), bare_table(house, "TS-02")
    for place in (here, there):
        raised(house, place.code, table=place)
    assert column_of(disputes(house, table=there), "patron") == ["P-TS-02"]


def test_the_period_is_gaming_days_by_the_casinos_clock(house: House, clock: Any) -> None:
    clock.move_to(DAY_STARTS + 48 * HOUR)
    for moment in (DAY_STARTS - MICROSECOND, DAY_STARTS, DAY_STARTS + 24 * HOUR - MICROSECOND, DAY_STARTS + 24 * HOUR):
        raised(house, moment.isoformat(), at=moment)
    assert column_of(disputes(house), "raised_at") == [DAY_STARTS, DAY_STARTS + 24 * HOUR - MICROSECOND]


def test_a_period_without_disputes_says_so(house: House) -> None:
    report = disputes(house)
    assert (rows_of(report), report.nil()) == ([], "No disputes were raised in the period.")


def test_many_disputes_take_as_many_queries_as_one(house: House) -> None:
    marked(house, raised(house, "1"), "notified_at", NOON)
    before = queries_of(disputes(house))
    for number in range(2, 6):
        marked(house, raised(house, str(number)), "notified_at", NOON)
    report = disputes(house)
    assert (queries_of(report), len(rows_of(report))) == (before, 5)
