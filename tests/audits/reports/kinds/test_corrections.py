"""The report of corrections: a row a bet that changed, adding up to the daily results, and the money since."""

import datetime as dt
from typing import Any

import pytest
from django.utils import timezone

from audits.models import Consequence, DaySummary
from audits.reconciliation.services.arrivals import arrivals_take
from audits.reports.kinds.corrections import Corrections
from audits.rulings.services.corrective_actions import Basis, affected_void, repayment_mark, result_amend
from audits.rulings.services.discretions import discretion_record, discretion_settle
from games.models import Round, Staff, Table
from tests.audits.decided import REASON, executed, incident_about, ruled, settled_as, voided
from tests.audits.files import played
from tests.audits.reports.asking import DAY, asked_by, column_of, queries_of, rows_of
from tests.conftest import House
from tests.games.engine.oracle import DIVISION_9, V6
from tests.games.floor_setup import HOUR, MINUTE, NOON, ready_table, sign
from tests.games.rounds.samples import bet

#: On 1, 3, 6: seat 1 wins, seat 2 loses.
BETS = [bet("seat-1", "small", "100", net="100"), bet("座位二", "big", "60", net="-60")]
PENDING = [bet("seat-1", "small", "100"), bet("seat-2", "big", "60")]
UNSETTLED: list[tuple[str, dict[str, Any]]] = [
    ("place-bets", {}), ("no-more-bets", {}), ("result", {"dice": [1, 3, 6]}),
]  # fmt: skip
COMPLIANCE, PIT_MANAGER = "compliance", "pit-manager"
ORDERED, EXECUTED = "SHIFT-MANAGER 陈美玲, shift manager", "CASINO-MANAGER Person CASINO-MANAGER, casino manager"


@pytest.fixture
def table(house: House, clock: Any) -> Table:
    Staff.objects.filter(pk=house["shift-manager"].pk).update(name="陈美玲")
    clock.move_to(NOON - HOUR)
    found = ready_table(house, "TS-01", layout="C", limits=sign())
    clock.move_to(NOON)
    return found


def a_round(table: Table, ref: str = "R-1", bets: Any = BETS, minutes: int = 5, **more: Any) -> Round:
    return played(table, timezone.now() - minutes * MINUTE, ref, bets, **more)


def corrections(house: House, role: str = COMPLIANCE, **more: Any) -> Corrections:
    return Corrections(asked_by(house[role], **more))


def mark(house: House, order: Consequence, player: str, what: str, **more: Any) -> None:
    repayment_mark(actor=house[PIT_MANAGER], repayment=order.repayments.get(player=player), what=what, **more)


def house_result(table: Table) -> int:
    arrivals_take()
    return DaySummary.objects.get(table=table).house_recorded


def test_a_bet_that_was_settled_otherwise_to_the_cell(house: House, table: Table, clock: Any) -> None:
    one = a_round(table)
    incident = incident_about(house, table, one)
    ruling = ruled(house, incident)
    order = settled_as(house, ruling, one, dice=[6, 6, 5])
    clock.shift(MINUTE)
    mark(house, order, "座位二", "told")
    clock.shift(MINUTE)
    mark(house, order, "座位二", "paid")
    by = "PIT-MANAGER Person PIT-MANAGER, pit manager"
    head = {
        "round_ref": "R-1", "table": "TS-01", "gaming_day": DAY, "ordinal": 1, "order": str(order.pk),
        "incident": incident.number, "decision": ruling.number, "kind": "Amended settlement",
        "rules": [f"{V6}#5.14"], "ordered_by": ORDERED, "corrected_at": NOON, "corrected_by": EXECUTED,
        "source": "floor",
    }  # fmt: skip
    report = corrections(house)
    assert rows_of(report) == [
        head | {
            "bet": 1, "player": "seat-1", "box": "small", "stake": 10_000, "old_net": 10_000, "new_net": -10_000,
            "difference": -20_000, "direction": "Recovery", "amount": 20_000, "told_at": None, "told_by": None,
            "paid_at": None, "paid_by": None, "state": "Patron not told, not recovered",
        },
        head | {
            "bet": 2, "player": "座位二", "box": "big", "stake": 6_000, "old_net": -6_000, "new_net": 6_000,
            "difference": 12_000, "direction": "Refund", "amount": 12_000, "told_at": NOON + MINUTE, "told_by": by,
            "paid_at": NOON + 2 * MINUTE, "paid_by": by, "state": "Paid",
        },
    ]  # fmt: skip
    totals = dict(zip([column.name for column in report.columns], report.totals() or (), strict=True))
    assert {name: total for name, total in totals.items() if total is not None} == {
        "old_net": 4_000, "new_net": -4_000, "difference": -8_000,
    }  # fmt: skip


def test_a_mark_that_was_a_slip_counts_no_longer(house: House, table: Table, clock: Any) -> None:
    one = a_round(table)
    order = settled_as(house, ruled(house, incident_about(house, table, one)), one, dice=[6, 6, 5])

    def state() -> tuple[Any, ...]:
        row = rows_of(corrections(house))[0]
        return row["state"], row["told_at"], row["paid_at"]

    mark(house, order, "seat-1", "told")
    assert state() == ("Patron told, not recovered", NOON, None)
    mark(house, order, "seat-1", "paid")
    assert state() == ("Recovered", NOON, NOON)
    clock.shift(MINUTE)
    mark(house, order, "seat-1", "not-paid", note="The wrong patron")
    mark(house, order, "seat-1", "not-told", note="The wrong patron")
    assert state() == ("Patron not told, not recovered", None, None)
    mark(house, order, "seat-1", "paid")
    assert state() == ("Recovered", None, NOON + MINUTE)


def test_the_differences_of_a_day_are_what_the_house_result_changed_by(house: House, table: Table) -> None:
    rounds = [a_round(table, f"R-{number}", minutes=9 - number) for number in range(3)]
    pending = a_round(table, "R-P", PENDING, minutes=4, kinds=UNSETTLED)
    before = house_result(table)
    ruling = ruled(house, incident_about(house, table, *rounds, pending))
    settled_as(house, ruling, rounds[0], nets={0: 0})
    executed(house, voided(house, ruling.incident, rounds[0], ruling=ruling))  # a correction of a correction
    settled_as(house, ruling, rounds[1], dice=[6, 6, 5])
    settled_as(house, ruling, pending, dice=[2, 2, 3])
    after = house_result(table)
    report = corrections(house)
    differences = column_of(report, "difference")
    assert sum(differences) == before - after != 0
    assert all(row["new_net"] - row["old_net"] == row["difference"] for row in rows_of(report))
    assert [(row["round_ref"], row["ordinal"], row["bet"]) for row in rows_of(report)] == [
        ("R-0", 1, 1), ("R-0", 2, 2), ("R-1", 1, 1), ("R-1", 1, 2), ("R-P", 1, 1), ("R-P", 1, 2),
    ]  # fmt: skip


def test_a_correction_that_moves_no_money_is_one_row(house: House, table: Table) -> None:
    amended, void = (a_round(table, f"R-{number}", PENDING, kinds=UNSETTLED) for number in (1, 2))
    wrong = incident_about(house, table, amended, situation="wrong-result-entered", facts={"settled": "no"})
    result_amend(actor=house[PIT_MANAGER], basis=Basis(wrong), round=amended, dice=[2, 2, 3], reason=REASON)
    flat = incident_about(house, table, void, situation="die-not-flat")
    voided(house, flat, void, role="pit-supervisor", rule="5.5.2")
    names = ("round_ref", "kind", "decision", "rules", "bet", "player", "old_net", "new_net", "difference", "state")
    assert [tuple(row[name] for name in names) for row in rows_of(corrections(house))] == [
        ("R-1", "Amended result", None, [f"{V6}#3.8"], None, None, 0, 0, 0, "Nothing due"),
        ("R-2", "Void of a round", None, [f"{V6}#5.5.2"], None, None, 0, 0, 0, "Nothing due"),
    ]  # fmt: skip


def test_what_evens_out_for_a_player_is_not_due(house: House, table: Table) -> None:
    both = [bet("seat-1", "small", "100", net="100"), bet("seat-1", "big", "100", net="-100")]
    one = a_round(table, bets=both)
    executed(house, voided(house, incident_about(house, table, one, situation="dice-damaged"), one, rule="5.6"))
    rows = rows_of(corrections(house))
    assert [(row["difference"], row["direction"], row["state"]) for row in rows] == [
        (-10_000, None, "Nothing due"), (10_000, None, "Nothing due"),
    ]  # fmt: skip


def test_the_amount_is_of_the_order_and_the_difference_of_the_bet(house: House, table: Table) -> None:
    for number in range(3):
        a_round(table, f"R-{number}", BETS[:1], minutes=9 - number)
    incident = incident_about(house, table, situation="dice-damaged")
    executed(house, affected_void(actor=house["shift-manager"], basis=Basis(incident, rule="5.6"), reason=REASON))
    rows = rows_of(corrections(house))
    assert [(row["difference"], row["amount"]) for row in rows] == [(-10_000, 30_000)] * 3
    assert {row["kind"] for row in rows} == {"Void of all affected rounds"}


def test_4_9_by_discretion(house: House, table: Table) -> None:
    there = ready_table(house, "TS-09", rulebook=DIVISION_9, layout="1", limits=sign())
    one = a_round(there)
    incident = incident_about(house, there, one, situation="chips-moved")
    discretion = discretion_record(
        actor=house[PIT_MANAGER], incident=incident, round=one, bet=2, decision="Returned", reason="Seen on camera"
    )
    order = discretion_settle(
        actor=house["shift-manager"], discretion=discretion, nets={1: 0}, reason=REASON, round=one
    )
    executed(house, order)
    (row,) = rows_of(corrections(house))
    assert (row["decision"], row["bet"], row["difference"]) == (f"discretion no. {discretion.pk}", 2, 6_000)
    assert (row["kind"], row["rules"]) == ("Amended settlement by discretion", [f"{DIVISION_9}#4.9"])


def test_an_order_that_waits_or_is_of_another_day_is_absent(house: House, table: Table, clock: Any) -> None:
    one = a_round(table)
    incident = incident_about(house, table, one, situation="dice-damaged")
    order = voided(house, incident, one, rule="5.6")
    report = corrections(house)
    assert (rows_of(report), report.nil()) == ([], "No rounds of the period were corrected.")
    clock.shift(24 * HOUR)
    executed(house, order)
    assert column_of(corrections(house), "corrected_at") == [NOON + 24 * HOUR] * 2  # of the round's own day
    tomorrow = DAY + dt.timedelta(days=1)
    assert rows_of(corrections(house, first=tomorrow)) == []


def test_another_pit_sees_its_own_tables_and_not_whose_order_it_was(house: House, table: Table) -> None:
    there = ready_table(house, "TS-02", pit="P2", layout="C", limits=sign())
    own, other = a_round(table), a_round(there, "R-2")
    incident = incident_about(house, table, own, other)
    ruling = ruled(house, incident)
    for one in (own, other):
        settled_as(house, ruling, one, dice=[6, 6, 5])
    manager = house.hire("PM-2", PIT_MANAGER, pit=house.pits["P2"])
    rows = rows_of(Corrections(asked_by(manager)))
    assert {row["table"] for row in rows} == {"TS-02"}
    hidden = ("order", "incident", "decision", "ordered_by", "direction", "amount", "told_at", "state")
    assert {row[name] for row in rows for name in hidden} == {None}
    assert sum(row["difference"] for row in rows) == -8_000
    assert {row["table"] for row in rows_of(corrections(house, PIT_MANAGER))} == {"TS-01"}
    assert {row["table"] for row in rows_of(corrections(house, table=there))} == {"TS-02"}
    stranger = house.hire("C-ELSE", COMPLIANCE, house.other)
    assert rows_of(Corrections(asked_by(stranger))) == []


def test_many_corrections_take_as_many_queries_as_one(house: House, table: Table) -> None:
    def one_more(number: int) -> None:
        one = a_round(table, f"R-{number}", minutes=9 - number)
        order = settled_as(
            house, ruled(house, incident_about(house, table, one, account=f"No. {number}.")), one, dice=[6, 6, 5]
        )
        mark(house, order, "seat-1", "told")

    one_more(0)
    before = queries_of(corrections(house))
    for number in range(1, 5):
        one_more(number)
    report = corrections(house)
    assert (queries_of(report), len(rows_of(report))) == (before, 10)
