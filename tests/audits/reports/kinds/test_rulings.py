"""The report of rulings: posts, precedents, standing ones and what they set."""

import datetime as dt
from typing import Any

import pytest
from django.utils import timezone

from audits.models import Ruling
from audits.reports.kinds.rulings import Rulings
from audits.rulings.services.rulings import ruling_make, ruling_supersede, ruling_withdraw
from games.access.models.acting_appointment import ALL_PITS
from games.access.services.acting_appointments import duty_grant
from games.floor.moments import gaming_day
from games.models import Staff, Table
from games.settlement_policies.services import Setting
from tests.audits.decided import draft, incident_about, ruled, standing
from tests.audits.reports.asking import DAY, DAY_STARTS, asked_by, column_of, queries_of, rows_of
from tests.conftest import House
from tests.games.engine.oracle import V6
from tests.games.floor_setup import HOUR, MICROSECOND, MINUTE, NOON, ready_table, sign

COMPLIANCE, PIT_MANAGER = "compliance", "pit-manager"
TOMORROW = DAY + dt.timedelta(days=1)


@pytest.fixture
def table(house: House, clock: Any) -> Table:
    clock.move_to(NOON - 48 * HOUR)
    found = ready_table(house, "TS-01", layout="C", limits=sign())
    clock.move_to(NOON)
    return found


def rulings(house: House, role: str = COMPLIANCE, **more: Any) -> Rulings:
    return Rulings(asked_by(house[role], **more))


def interpreted(house: House, table: Table, account: str = "Over-full.", **more: Any) -> Ruling:
    incident = incident_about(house, table, account=account)
    return ruling_make(actor=house["shift-manager"], incident=incident, draft=standing(**more))


def test_a_ruling_to_the_cell(house: House, table: Table) -> None:
    Staff.objects.filter(pk=house["shift-manager"].pk).update(name="陈美玲")
    incident = incident_about(house, table)
    ruling = ruled(house, incident, decision="赔付大。", rules=[f"{V6}#5.14"])
    assert rows_of(rulings(house)) == [
        {
            "number": "RU-2026-000001", "casino": "RWS", "pit": "P1", "table": "TS-01", "incident": incident.number,
            "made_at": NOON, "ruled_by": "SHIFT-MANAGER 陈美玲, shift manager", "post": "Shift manager",
            "kind": "Not covered by the rules", "situation": "Other: no rule covers it",
            "rulebook": "Tai Sai (RWS), Game Rules, version 6", "rules": [f"{V6}#5.14"],
            "question": "Who is owed what?", "decision": "赔付大。", "reasoning": "The recording shows it.",
            "scope": "This case", "effective_from": None, "effective_to": None, "state": "In force", "sets": None,
            "follows": None, "departs_from": None, "departure": None, "replaces": None, "replaced_by": None,
            "override": None,
        }
    ]  # fmt: skip
    assert ruling.number == "RU-2026-000001"


def test_an_acting_post_and_an_override_are_named(house: House) -> None:
    """By the real clock: the database asks by its own whether the appointment is in force."""
    now = timezone.now()
    duty_grant(
        actor=house["casino-manager"], staff=house[PIT_MANAGER], post="shift-manager", casino=house.casino,
        pit=ALL_PITS, starts_at=now, ends_at=now + HOUR, reason="Shift manager ill",
    )  # fmt: skip
    incident = incident_about(house, ready_table(house, layout="C", limits=sign()), role=PIT_MANAGER)
    ruling = ruling_make(actor=house[PIT_MANAGER], incident=incident, draft=draft(override="The others are away"))
    (row,) = rows_of(rulings(house, first=gaming_day(house.casino, ruling.made_at)))
    assert (row["post"], row["override"]) == ("Acting shift manager", "The others are away")


def test_precedents_and_what_standing_ones_set(house: House, table: Table, clock: Any) -> None:
    first = interpreted(house, table, setting=Setting("filled", 500))
    clock.shift(MINUTE)
    follower = interpreted(house, table, "Again.", follows=first)
    clock.shift(MINUTE)
    other = ruling_make(
        actor=house["shift-manager"], incident=incident_about(house, table, account="Once more."),
        draft=draft(
            kind="interpretation", rules=[f"{V6}#5.1.2"], departs_from=follower, departure="A tournament"
        ),
    )  # fmt: skip
    rows = {row["number"]: row for row in rows_of(rulings(house))}
    assert rows[first.number]["sets"] == (
        "in an over-full box, cut the larger bets, until the box holds exactly what it may; "
        "round a cut stake down to 5.00"
    )
    assert (rows[first.number]["scope"], rows[first.number]["effective_from"]) == ("Standing, from a moment on", NOON)
    assert (rows[follower.number]["follows"], rows[follower.number]["sets"]) == (first.number, None)
    assert (rows[other.number]["departs_from"], rows[other.number]["departure"]) == (follower.number, "A tournament")
    assert column_of(rulings(house, PIT_MANAGER), "sets") == [None] * 3  # settlement policies are not the pit's


def test_a_standing_one_is_listed_while_it_is_in_force(house: House, table: Table, clock: Any) -> None:
    clock.move_to(NOON - 24 * HOUR)
    first = interpreted(house, table)
    ruled(house, incident_about(house, table, account="One case."))
    clock.move_to(NOON)
    assert column_of(rulings(house), "number") == [first.number]
    later = ruling_supersede(
        actor=house["casino-manager"], ruling=first, draft=standing(effective_from=NOON + 24 * HOUR)
    )
    rows = rows_of(rulings(house))
    assert [(row["number"], row["state"], row["effective_to"]) for row in rows] == [
        (first.number, "In force", NOON + 24 * HOUR), (later.number, "To come", None),
    ]  # fmt: skip
    clock.move_to(NOON + 72 * HOUR)
    in_two_days = TOMORROW + dt.timedelta(days=1)
    assert column_of(rulings(house, first=TOMORROW), "number") == [first.number, later.number]
    assert column_of(rulings(house, first=in_two_days), "number") == [later.number]
    (row, _) = rows_of(rulings(house))
    assert (row["state"], row["replaced_by"]) == ("Superseded", later.number)


def test_a_withdrawal_names_what_it_takes_away(house: House, table: Table, clock: Any) -> None:
    first = interpreted(house, table)
    clock.shift(MINUTE)
    later = ruling_withdraw(actor=house["casino-manager"], ruling=first, reason="It was wrong")
    rows = rows_of(rulings(house))
    assert [(row["state"], row["replaces"], row["replaced_by"], row["effective_to"]) for row in rows] == [
        ("Withdrawn", None, later.number, NOON + MINUTE), ("Withdrawal", first.number, None, None),
    ]  # fmt: skip
    assert rows_of(rulings(house, first=TOMORROW)) == []


def test_one_that_was_replaced_before_it_began_was_never_in_force(house: House, table: Table, clock: Any) -> None:
    first = interpreted(house, table, effective_from=NOON + 48 * HOUR)
    second = ruling_supersede(
        actor=house["casino-manager"], ruling=first, draft=standing(effective_from=NOON + 24 * HOUR)
    )
    clock.move_to(NOON + 96 * HOUR)
    assert column_of(rulings(house, first=TOMORROW, last=DAY + dt.timedelta(days=3)), "number") == [second.number]


def test_a_precedent_of_another_pit_is_not_named(house: House, table: Table) -> None:
    there = ready_table(house, "TS-02", pit="P2", layout="C", limits=sign())
    first = interpreted(house, there)
    own = interpreted(house, table, "Again.", follows=first)
    assert [(row["number"], row["follows"]) for row in rows_of(rulings(house, PIT_MANAGER))] == [(own.number, None)]
    assert column_of(rulings(house), "follows") == [None, first.number]
    assert column_of(rulings(house, table=there), "number") == [first.number]


def test_nothing_of_another_casino(house: House, table: Table) -> None:
    ruled(house, incident_about(house, table))
    stranger = house.hire("C-ELSE", COMPLIANCE, house.other)
    assert rows_of(Rulings(asked_by(stranger))) == []


def test_the_period_is_gaming_days_by_the_casinos_clock(house: House, table: Table, clock: Any) -> None:
    for moment in (DAY_STARTS - MICROSECOND, DAY_STARTS, DAY_STARTS + 24 * HOUR - MICROSECOND, DAY_STARTS + 24 * HOUR):
        clock.move_to(moment)
        ruled(house, incident_about(house, table, account=moment.isoformat()))
    assert column_of(rulings(house), "made_at") == [DAY_STARTS, DAY_STARTS + 24 * HOUR - MICROSECOND]


def test_rulings_of_the_same_moment_are_in_order_of_their_numbers(house: House, table: Table) -> None:
    for account in ("One.", "Two.", "Three."):
        ruled(house, incident_about(house, table, account=account))
    assert column_of(rulings(house), "number") == [f"RU-2026-00000{number}" for number in (1, 2, 3)]


def test_a_period_without_rulings_says_so(house: House, table: Table) -> None:
    report = rulings(house)
    assert rows_of(report) == []
    assert report.nil() == "No rulings were made in the period, and no standing interpretation was in force."


def test_many_rulings_take_as_many_queries_as_one(house: House, table: Table) -> None:
    first = interpreted(house, table, setting=Setting("filled"))
    before = queries_of(rulings(house))
    for number in range(4):
        interpreted(house, table, f"No. {number}.", departs_from=first, departure="Another case")
        first = Ruling.objects.latest("pk")
    report = rulings(house)
    assert (queries_of(report), len(rows_of(report))) == (before, 5)
