"""The report of void rounds: by the round's record and by corrective action, as many as the daily results count."""

from typing import Any

import pytest
from django.utils import timezone

from audits.models import DaySummary
from audits.reconciliation.services.arrivals import arrivals_take
from audits.reports.kinds.voids import Voids
from games.models import Round, Staff, Table
from tests.audits.decided import executed, incident_about, ruled, settled_as, voided
from tests.audits.files import played
from tests.audits.reports.asking import DAY, DAY_STARTS, asked_by, column_of, queries_of, rows_of
from tests.conftest import House
from tests.games.engine.oracle import V6
from tests.games.floor_setup import HOUR, MINUTE, NOON, SECOND, ready_table, sign
from tests.games.rounds.samples import bet

Kinds = list[tuple[str, dict[str, Any]]]
#: On 1, 3, 6: seat 1 wins, seat 2 loses.
BETS = [bet("seat-1", "small", "100", net="100"), bet("seat-2", "big", "60", net="-60")]
PENDING = [bet("seat-1", "small", "100"), bet("seat-2", "big", "60")]
UNSETTLED: Kinds = [("place-bets", {}), ("no-more-bets", {}), ("result", {"dice": [1, 3, 6]})]
BEGUN: Kinds = [("place-bets", {}), ("no-more-bets", {}), ("tumbler", {"tumbles": 3})]
COCKED: Kinds = [*BEGUN, ("die-not-flat", {})]
COMPLIANCE, PIT_MANAGER = "compliance", "pit-manager"


@pytest.fixture
def table(house: House, clock: Any) -> Table:
    clock.move_to(NOON - 48 * HOUR)
    found = ready_table(house, "TS-01", layout="C", limits=sign())
    clock.move_to(NOON)
    return found


def a_round(table: Table, ref: str = "R-1", bets: Any = BETS, minutes: int = 5, **more: Any) -> Round:
    return played(table, timezone.now() - minutes * MINUTE, ref, bets, **more)


def voids(house: House, role: str = COMPLIANCE, **more: Any) -> Voids:
    return Voids(asked_by(house[role], **more))


def call_off(by: str | None = "PIT-SUPERVISOR", rule: str = "5.5.2") -> tuple[str, dict[str, Any]]:
    return ("void", {"rule": rule} | ({"by": by} if by else {}))


def test_a_round_called_off_at_the_table_to_the_cell(house: House, table: Table) -> None:
    Staff.objects.filter(pk=house["pit-supervisor"].pk).update(name="陈美玲")
    a_round(table, bets=PENDING, kinds=[*COCKED, call_off()], dealer="DEALER", supervisor="PIT-SUPERVISOR")
    report = voids(house)
    assert rows_of(report) == [
        {
            "round_ref": "R-1", "table": "TS-01", "gaming_day": DAY, "started_at": NOON - 5 * MINUTE,
            "voided": "Called off at the table", "rules": [f"{V6}#5.5.2"], "rulings": [], "incident": None,
            "order": None, "voided_at": NOON - 5 * MINUTE + 4 * SECOND, "voided_by": "PIT-SUPERVISOR 陈美玲",
            "ordered_by": None, "after_settlement": False, "dealer": "DEALER Person DEALER",
            "supervisor": "PIT-SUPERVISOR 陈美玲", "bets": 2, "stakes": 16_000, "returned": 16_000, "players_net": 0,
            "source": "floor",
        }
    ]  # fmt: skip
    assert (report.totals() or ())[-5:] == (2, 16_000, 16_000, 0, None)


def test_a_settled_round_that_was_voided_by_an_order_to_the_cell(house: House, table: Table) -> None:
    one = a_round(table)
    incident = incident_about(house, table, one, situation="dice-damaged")
    order = voided(house, incident, one, rule="5.6")
    assert rows_of(voids(house)) == []  # it waits for a second person
    executed(house, order)
    assert rows_of(voids(house)) == [
        {
            "round_ref": "R-1", "table": "TS-01", "gaming_day": DAY, "started_at": NOON - 5 * MINUTE,
            "voided": "Corrective action", "rules": [f"{V6}#5.6"], "rulings": [], "incident": incident.number,
            "order": str(order.pk), "voided_at": NOON,
            "voided_by": "CASINO-MANAGER Person CASINO-MANAGER, casino manager",
            "ordered_by": "SHIFT-MANAGER Person SHIFT-MANAGER, shift manager", "after_settlement": True,
            "dealer": None, "supervisor": None, "bets": 2, "stakes": 16_000, "returned": 16_000, "players_net": 0,
            "source": "floor",
        }
    ]  # fmt: skip


def test_void_by_a_ruling_of_an_order_and_of_an_event(house: House, table: Table) -> None:
    by_order = a_round(table, minutes=9)
    by_event = a_round(table, "R-2", PENDING, kinds=[*BEGUN, call_off("SHIFT-MANAGER", "ruling")])
    ruling = ruled(house, incident_about(house, table, by_order))
    executed(house, voided(house, ruling.incident, by_order, ruling=ruling))
    other = ruled(house, incident_about(house, table, by_event, account="Another."))
    rows = rows_of(voids(house))
    assert [(row["voided"], row["rules"], row["rulings"]) for row in rows] == [
        ("Corrective action", [f"{V6}#5.14"], [ruling.number]),
        ("Called off at the table", [f"{V6}#5.14"], [other.number]),
    ]  # fmt: skip


def test_void_by_its_own_events_and_paid_all_the_same(house: House, table: Table) -> None:
    one = a_round(table, kinds=[*COCKED, ("result", {"dice": [1, 3, 6]}), ("settled", {})])
    (row,) = rows_of(voids(house))
    assert (row["voided"], row["rules"], row["voided_by"]) == ("Void by the rules", [f"{V6}#5.5.2"], None)
    assert row["voided_at"] == NOON - 5 * MINUTE + 3 * SECOND  # when the die did not lie flat
    assert [row[name] for name in ("after_settlement", "stakes", "returned", "players_net")] == [
        True, 16_000, 10_000, 4_000,
    ]  # fmt: skip
    ruling = ruled(
        house, incident_about(house, table, one, situation="die-not-flat"), kind="confirmation", rules=[f"{V6}#5.5.2"]
    )
    order = executed(house, voided(house, ruling.incident, one, ruling=ruling))
    (row,) = rows_of(voids(house))
    assert (row["voided"], row["order"], row["rulings"]) == ("Void by the rules", str(order.pk), [ruling.number])
    assert (row["returned"], row["players_net"]) == (16_000, 0)


def test_refused_and_withdrawn_bets_were_not_on_the_felt(house: House, table: Table) -> None:
    start = NOON - 5 * MINUTE
    bets = [
        bet("seat-1", "small", "100"), bet("seat-2", "big", "60", refused=True),
        bet("seat-3", "big", "70", withdrawn=start.isoformat()),
    ]  # fmt: skip
    a_round(table, bets=bets, kinds=[*COCKED, call_off(None)])
    (row,) = rows_of(voids(house))
    assert [row[name] for name in ("bets", "stakes", "returned", "voided_by")] == [1, 10_000, 10_000, None]


def test_somebody_who_is_not_on_record_is_named_as_sent(house: House, table: Table) -> None:
    a_round(table, bets=PENDING, kinds=[*COCKED, call_off("X-99")])
    a_round(table, "R-2", PENDING, minutes=3, kinds=[*COCKED, call_off("pit-supervisor")])
    assert column_of(voids(house), "voided_by") == ["X-99", "PIT-SUPERVISOR Person PIT-SUPERVISOR"]


def test_as_many_as_the_daily_results_count(house: House, table: Table) -> None:
    healed, void, plain = (a_round(table, f"R-{number}", minutes=20 - number) for number in range(3))
    a_round(table, "R-E", PENDING, minutes=9, kinds=[*COCKED, call_off()])
    a_round(table, "R-L", minutes=7, kinds=[*UNSETTLED, ("settled", {}), call_off()])  # too late: it stands
    a_round(table, "R-I", PENDING, minutes=5, kinds=[*BEGUN, ("interruption", {"known_dice": "2,?,?"})])
    ruling = ruled(house, incident_about(house, table, healed, void))
    for one in (healed, void):
        executed(house, voided(house, ruling.incident, one, ruling=ruling))
    settled_as(house, ruling, healed)
    arrivals_take()
    assert column_of(voids(house), "round_ref") == [void.ref, "R-E"]
    assert DaySummary.objects.get(table=table).voids == 2
    assert plain.ref not in column_of(voids(house), "round_ref")


def test_rounds_of_the_same_start_are_in_order_of_their_refs(house: House, table: Table) -> None:
    there = ready_table(house, "TS-02", layout="C", limits=sign())
    a_round(there, "R-2", PENDING, kinds=[*COCKED, call_off()])
    a_round(table, "R-1", PENDING, kinds=[*COCKED, call_off()])
    a_round(table, "R-9", PENDING, minutes=8, kinds=[*COCKED, call_off()])
    assert column_of(voids(house), "round_ref") == ["R-9", "R-1", "R-2"]


def test_another_pit_sees_its_own_tables_and_not_whose_order_it_was(house: House, table: Table) -> None:
    there = ready_table(house, "TS-02", pit="P2", layout="C", limits=sign())
    own, other = a_round(table), a_round(there, "R-2")
    ruling = ruled(house, incident_about(house, table, own, other))
    executed(house, voided(house, ruling.incident, own, other, ruling=ruling))
    manager = house.hire("PM-2", PIT_MANAGER, pit=house.pits["P2"])
    (row,) = rows_of(Voids(asked_by(manager)))
    assert (row["table"], row["voided"]) == ("TS-02", "Corrective action")
    assert [row[name] for name in ("order", "incident", "ordered_by", "rulings")] == [None, None, None, []]
    assert column_of(voids(house, PIT_MANAGER), "rulings") == [[ruling.number]]
    assert column_of(voids(house), "table") == ["TS-01", "TS-02"]
    assert column_of(voids(house, table=there), "table") == ["TS-02"]
    stranger = house.hire("C-ELSE", COMPLIANCE, house.other)
    assert rows_of(Voids(asked_by(stranger))) == []


def test_the_period_is_the_gaming_day_of_the_round(house: House, table: Table, clock: Any) -> None:
    clock.move_to(DAY_STARTS + 25 * HOUR)
    for ref, start in (
        ("R-1", DAY_STARTS - SECOND), ("R-2", DAY_STARTS), ("R-3", DAY_STARTS + 24 * HOUR - SECOND),
        ("R-4", DAY_STARTS + 24 * HOUR),
    ):  # fmt: skip
        played(table, start, ref, PENDING, kinds=[*COCKED, call_off()])
    assert column_of(voids(house), "round_ref") == ["R-2", "R-3"]


def test_a_period_without_voids_says_so_with_the_rounds(house: House, table: Table) -> None:
    a_round(table)
    arrivals_take()
    report = voids(house)
    assert (rows_of(report), report.nil()) == ([], "No void rounds were found in 1 round.")


def test_many_voids_take_as_many_queries_as_one(house: House, table: Table) -> None:
    def two_more(number: int) -> None:
        a_round(table, f"E-{number}", PENDING, minutes=30 - number, kinds=[*BEGUN, call_off("SHIFT-MANAGER", "ruling")])
        one = a_round(table, f"R-{number}", minutes=20 - number)
        ruling = ruled(house, incident_about(house, table, one, account=f"No. {number}."))
        executed(house, voided(house, ruling.incident, one, ruling=ruling))

    two_more(0)
    before = queries_of(voids(house))
    for number in range(1, 4):
        two_more(number)
    report = voids(house)
    assert (queries_of(report), len(rows_of(report))) == (before, 8)
