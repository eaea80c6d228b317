"""Bets that the operator decides on under Division 9 (4.3, 4.9), and where the documents leave no room for it."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import DatabaseError, transaction

from audits.incidents.services.incidents import incident_change
from audits.models import Consequence, ConsequenceDecision, Correction, DaySummary, Discretion, Finding, Incident
from audits.reconciliation.services.arrivals import arrivals_take
from audits.rulings.corrections.standing_nets import standing_nets_of
from audits.rulings.services.corrective_actions import Basis, consequence_execute, rounds_void
from audits.rulings.services.discretions import discretion_record, discretion_settle
from games.access.gate import Denied
from games.history.audited_save import OvertakenError
from games.models import Round, Table
from tests.audits.decided import executed, incident_about, ruled, settled_as
from tests.audits.files import leaves, played
from tests.audits.playing import day_run
from tests.conftest import House
from tests.games.engine.oracle import DIVISION_9
from tests.games.floor_setup import MINUTE, NOON, ready_table, sign
from tests.games.rounds.samples import bet

#: On 1, 3, 6 small wins. Seat 2's chips lay on big and were paid as if they lay on small; seat 3 was paid too little.
BETS = [
    bet("seat-1", "small", "100", net="100"), bet("seat-2", "big", "60", net="60"),
    bet("seat-3", "small", "80", net="50"),
]  # fmt: skip
ORDER: list[tuple[str, dict[str, Any]]] = [
    ("tumbler", {"tumbles": 3}), ("place-bets", {}), ("no-more-bets", {}), ("result", {"dice": [1, 3, 6]}),
    ("settled", {}),
]  # fmt: skip


@pytest.fixture
def table(house: House, clock: Any) -> Table:
    clock.move_to(NOON)
    return ready_table(house, "D9-01", rulebook=DIVISION_9, layout="1", limits=sign())


def a_round(table: Table, bets: Any = None, ref: str = "R-1", **more: Any) -> Round:
    kinds = {} if table.code != "D9-01" else {"kinds": ORDER}
    return played(table, NOON - 5 * MINUTE, ref, BETS if bets is None else bets, **kinds, **more)


def decided(house: House, incident: Incident, round_: Round | None, bet: int | None = 2) -> Discretion:
    return discretion_record(
        actor=house["pit-manager"], incident=incident, round=round_, bet=bet if round_ else None,
        decision="It counts where it was placed.", reason="The recording shows the dealer move it",
    )  # fmt: skip


def paid(house: House, made: Discretion, nets: dict[int, int], role: str = "shift-manager", **more: Any) -> Consequence:
    """Ordered by one person, and executed by a second one."""
    order = discretion_settle(actor=house[role], discretion=made, nets=nets, reason="As decided", **more)
    assert order.is_waiting
    return executed(house, order)


def discrepancies(round_: Round) -> list[tuple[str | None, str]]:
    found = Finding.objects.filter(round=round_, category="discrepancy", lapsed_at=None)
    return sorted(found.values_list("player", "kind"))


def test_4_9_a_bet_that_was_paid_by_discretion_is_no_finding_and_cites_the_rule(house: House, table: Table) -> None:
    one = a_round(table)
    arrivals_take()
    assert discrepancies(one) == [("seat-2", "paid-loser"), ("seat-3", "underpaid")]
    incident = incident_about(house, table, one, situation="chips-moved")
    assert (incident.advice or {})["action"] == "discretion"
    made = decided(house, incident, one)
    assert (made.rule, made.bet) == (f"{DIVISION_9}#4.9", 2)
    order = paid(house, made, {1: 6_000})
    assert (order.kind, order.rules, order.is_executed) == ("discretion", [f"{DIVISION_9}#4.9"], True)
    correction = Correction.objects.get()
    assert (correction.deltas, correction.decided) == ([0, 0, 0], [False, True, False])  # it was paid so already
    (books,) = standing_nets_of([one])
    assert books.recorded().expected()[1] == (6_000, ("4.9",))
    arrivals_take()
    assert discrepancies(one) == [("seat-3", "underpaid")]  # all other bets stay by the rules
    day_run(table, one.gaming_day)
    assert discrepancies(one) == [("seat-3", "underpaid")]  # and a run of the day finds the same
    summary = DaySummary.objects.get(table=table)
    assert (summary.house_recorded, summary.house_expected) == (-21_000, -24_000)
    (leaf,) = leaves("consequence", order.pk)
    assert made.pk in leaf
    with pytest.raises(OvertakenError, match="already settled this way"):
        paid(house, made, {1: 6_000})


def test_4_9_a_bet_that_was_collected_is_paid_afterwards(house: House, table: Table) -> None:
    one = a_round(table, [BETS[0], bet("seat-2", "big", "60", net="-60")])
    incident = incident_about(house, table, one, situation="chips-moved")
    order = paid(house, decided(house, incident, one), {1: 6_000})
    assert dict(order.repayments.values_list("player", "amount")) == {"seat-2": 12_000}
    arrivals_take()
    assert discrepancies(one) == []


def test_4_3_a_wager_on_the_line_is_paid_by_the_same_kind_of_record(house: House, table: Table) -> None:
    one = a_round(table)
    incident = incident_about(house, table, one, situation="line-touching")
    order = paid(house, decided(house, incident, one), {1: 6_000})
    assert (order.rules, Correction.objects.get().rules) == ([f"{DIVISION_9}#4.3"], ["4.3"])


def test_4_9_a_bet_that_the_house_placed_is_decided_unless_it_was_a_call_bet(house: House, table: Table) -> None:
    bets = [BETS[0], BETS[1] | {"house_placed": True}, BETS[2] | {"house_placed": True, "call": True}]
    one = a_round(table, bets)
    incident = incident_about(house, table, one, situation="house-placed-wrongly")
    with pytest.raises(ValidationError, match="Choose the round"):
        decided(house, incident, None)
    with pytest.raises(ValidationError, match="Enter the bet"):
        decided(house, incident, one, bet=None)
    with pytest.raises(ValidationError, match="not placed by the house"):
        decided(house, incident, one, bet=1)
    with pytest.raises(ValidationError, match=r"call bet: 4\.9 excludes these"):
        decided(house, incident, one, bet=3)
    made = decided(house, incident, one, bet=2)
    with pytest.raises(ValidationError, match="leave bet 3 to the rules"):
        paid(house, made, {1: 6_000, 2: 8_000})
    assert paid(house, made, {1: 6_000}).is_executed


@pytest.mark.parametrize(("situation", "rule"), [("chips-moved", "5.9"), ("house-placed-wrongly", "5.13")])
def test_5_9_5_13_version_6_leaves_no_room(house: House, clock: Any, situation: str, rule: str) -> None:
    clock.move_to(NOON)
    table = ready_table(house, "TS-01", layout="C", limits=sign())
    one = a_round(table)
    incident = incident_about(house, table, one, situation=situation)
    with pytest.raises(ValidationError, match=rf"Rules? {rule} decides this .*no room"):
        decided(house, incident, one)
    with pytest.raises(ValidationError, match="ask for a ruling"):
        decided(house, incident_about(house, table, one, situation="line-touching"), one)


@pytest.mark.parametrize("situation", ["bet-misplaced", "other", "late-bet", "dice-damaged"])
def test_4_9_does_not_speak_of_other_situations(house: House, table: Table, situation: str) -> None:
    one = a_round(table)
    with pytest.raises(ValidationError, match=r"leaves only this to the operator: 4\.9"):
        decided(house, incident_about(house, table, one, situation=situation), one)
    assert not Discretion.objects.exists()


def test_4_9_is_asked_again_when_the_settlement_is_ordered(house: House, table: Table) -> None:
    one = a_round(table)
    incident = incident_about(house, table, one, situation="chips-moved")
    made = decided(house, incident, one)
    change = {"situation": "bet-misplaced"}
    incident_change(actor=house["surveillance"], incident=incident, changes=change, reason="The player did it")
    with pytest.raises(ValidationError, match=r"4\.6 decides this"):
        paid(house, made, {1: 6_000})


def test_4_7_a_refused_bet_is_not_settled_at_all(house: House, table: Table) -> None:
    one = a_round(table, [BETS[0], bet("seat-2", "big", "60", refused=True)])
    incident = incident_about(house, table, one, situation="chips-moved")
    with pytest.raises(ValidationError, match="was refused"):
        decided(house, incident, one)
    with pytest.raises(ValidationError, match="There is no bet 9"):
        decided(house, incident, one, bet=9)


def test_who_orders_it_and_what_takes_two_people(house: House, table: Table) -> None:
    one = a_round(table, [BETS[1]], dealer="CASINO-MANAGER")
    incident = incident_about(house, table, one, situation="chips-moved")
    made = decided(house, incident, one, bet=1)
    for role in ("pit-supervisor", "pit-manager", "surveillance", "compliance", "casino-manager"):
        with pytest.raises(Denied):
            paid(house, made, {0: -6_000}, role)
    with pytest.raises(ValidationError, match="which is a void"):
        paid(house, made, {0: 0})
    with pytest.raises(Denied, match="dealt or supervised"):
        paid(house, made, {0: -6_000})  # the casino manager dealt the round, and is no second person
    order = Consequence.objects.get()
    with pytest.raises(Denied, match="which this person ordered"):
        executed(house, order, "shift-manager")
    third = house.hire("M-3", "shift-manager")
    consequence_execute(actor=third, consequence=order, reason="Seen")
    assert Correction.objects.get().nets == [-6_000]


def test_4_9_who_decided_by_discretion_does_not_execute(house: House, table: Table) -> None:
    one = a_round(table)
    incident = incident_about(house, table, one, situation="chips-moved")
    made = discretion_record(
        actor=house["casino-manager"], incident=incident, round=one, bet=2, decision="It counts.", reason="Seen"
    )
    with pytest.raises(Denied, match="rests on this person's own decision"):
        paid(house, made, {1: 5_000})
    assert not Correction.objects.exists()


def test_4_9_what_discretion_pays_beyond_the_rules_is_found_with_both_amounts(house: House, table: Table) -> None:
    one = a_round(table)
    made = decided(house, incident_about(house, table, one, situation="chips-moved"), one)
    paid(house, made, {1: 6_000})
    arrivals_take()
    found = Finding.objects.get(category="by-ruling", lapsed_at=None)
    assert (found.kind, found.expected, found.recorded, found.amount) == ("above-rules", -6_000, 6_000, 12_000)
    assert (found.player, found.rules) == ("seat-2", [f"{DIVISION_9}#4.9", f"discretion no. {made.pk}"])


def test_a_void_round_and_one_of_another_table_have_nothing_to_decide(house: House, table: Table) -> None:
    one = a_round(table)
    incident = incident_about(house, table, one, situation="chips-moved")
    made = decided(house, incident, one)
    basis = Basis(incident, ruled(house, incident))
    order = rounds_void(actor=house["shift-manager"], basis=basis, rounds=[one], reason="x")
    consequence_execute(actor=house["casino-manager"], consequence=order, reason="x")
    with pytest.raises(ValidationError, match="void: every stake is returned"):
        paid(house, made, {1: 6_000})
    other = a_round(ready_table(house, "TS-01", layout="C", limits=sign()), ref="R-9")
    with pytest.raises(ValidationError, match="not played at the table"):
        decided(house, incident, other)


def test_a_decision_by_a_ruling_stays_beside_a_later_discretion(house: House, table: Table) -> None:
    one = a_round(table)
    incident = incident_about(house, table, one, situation="chips-moved")
    settled_as(house, ruled(house, incident), one, nets={2: 4_000})
    paid(house, decided(house, incident, one), {1: 6_000})
    assert Correction.objects.get(ordinal=2).nets == [10_000, 6_000, 4_000]
    arrivals_take()
    assert discrepancies(one) == []


def test_the_database_changes_nothing_but_the_bets_that_were_decided(house: House, table: Table) -> None:
    one = a_round(table)
    incident = incident_about(house, table, one, situation="chips-moved")
    made = decided(house, incident, one)
    order = discretion_settle(actor=house["shift-manager"], discretion=made, nets={1: 6_000}, reason="As decided")
    ConsequenceDecision.objects.create(
        consequence=order, ordered_by=order.by, needs_second=True, outcome="executed", by=house["casino-manager"],
        who="x", reason="x",
    )  # fmt: skip
    for decided_bets in ([False, True, False], [True, True], None):
        with pytest.raises(DatabaseError, match="only the bets that were decided"), transaction.atomic():
            Correction.objects.create(
                consequence=order, round=one, ordinal=1, table=table, gaming_day=one.gaming_day,
                deltas=[-1_000, 0, 0], nets=[9_000, 6_000, 5_000], is_settled=True, is_decided=True,
                decided=decided_bets, who="x",
            )  # fmt: skip
    values = {"casino": house.casino, "incident": incident, "reason": "x", "by": house["shift-manager"], "who": "x"}
    with pytest.raises(DatabaseError, match="consequence_by_a_discretion"), transaction.atomic():
        Consequence.objects.create(kind="discretion", round_ids=[one.pk], **values)
    elsewhere = incident_about(house, table, one, situation="chips-moved", account="Another one.")
    with pytest.raises(DatabaseError, match="about another incident"), transaction.atomic():
        Consequence.objects.create(
            kind="discretion", round_ids=[one.pk], discretion=made, **values | {"incident": elsewhere}
        )
    with pytest.raises(DatabaseError, match="may not order"), transaction.atomic():
        Consequence.objects.create(
            kind="discretion", round_ids=[one.pk], discretion=made, **values | {"by": house["pit-manager"]}
        )
    made.pk, made.round = None, None
    with pytest.raises(DatabaseError, match="discretion_bet_of_a_round"), transaction.atomic():
        made.save(force_insert=True)
