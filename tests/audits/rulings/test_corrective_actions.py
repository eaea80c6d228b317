"""What follows from incidents and rulings: corrections beside the rounds, what players get back, the books after."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.db.utils import DatabaseError
from django.utils import timezone

from audits.models import (
    Consequence,
    ConsequenceDecision,
    Correction,
    DaySummary,
    Finding,
    Incident,
    IncidentRound,
    Repayment,
    RepaymentMark,
)  # fmt: skip
from audits.reconciliation.later_decisions import later_decisions_of
from audits.reconciliation.services.arrivals import arrivals_take
from audits.reconciliation.services.runs import part_take, run_start
from audits.rulings.services.corrective_actions import (  # fmt: skip
    Basis,
    affected_void,
    consequence_decline,
    marks_of,
    repayment_mark,
    result_amend,
    round_settle,
    rounds_void,
    table_suspend_for,
)
from audits.rulings.services.rulings import ruling_supersede
from games.access.gate import Denied
from games.history.audited_save import OvertakenError
from games.models import Denial, LedgerLeaf, LiveRound, Outbox, Round, Table
from tests.audits.decided import REASON, draft, executed, incident_about, ruled, settled_as, voided
from tests.audits.files import played
from tests.conftest import OPERATOR, House
from tests.games.engine.oracle import V6
from tests.games.floor_setup import HOUR, MINUTE, NOON, open_table, ready_table, sign
from tests.games.live.playing import Player
from tests.games.rounds.samples import bet

#: On 1, 3, 6: seat 1 wins, seat 2 loses.
BETS = [bet("seat-1", "small", "100", net="100"), bet("seat-2", "big", "60", net="-60")]
UNSETTLED: list[tuple[str, dict[str, Any]]] = [
    ("place-bets", {}),
    ("no-more-bets", {}),
    ("result", {"dice": [1, 3, 6]}),
]
PENDING = [bet("seat-1", "small", "100"), bet("seat-2", "big", "60")]


@pytest.fixture
def table(house: House, clock: Any) -> Table:
    clock.move_to(NOON - HOUR)
    found = ready_table(house, "TS-01", layout="C", limits=sign())
    clock.move_to(NOON)
    return found


def a_round(table: Table, ref: str = "R-1", bets: Any = BETS, minutes: int = 5, **more: Any) -> Round:
    return played(table, timezone.now() - minutes * MINUTE, ref, bets, **more)


def owed(order: Consequence) -> dict[str, int]:
    return dict(order.repayments.values_list("player", "amount"))


def figures(table: Table) -> dict[str, int]:
    names = (
        "rounds",
        "settled",
        "voids",
        "unfinished",
        "turnover",
        "house_recorded",
        "house_expected",
        "discrepancies",
    )
    summary = DaySummary.objects.get(table=table)
    return {name: getattr(summary, name) for name in names}


# --- Void ---


def test_5_6_a_void_after_settlement_takes_two_people(house: House, table: Table) -> None:
    one, later = a_round(table), a_round(table, "R-2", minutes=2)
    arrivals_take()
    incident = incident_about(house, table, one, situation="dice-damaged")
    order = voided(house, incident, one, rule="5.6")
    assert (order.needs_second, order.is_waiting, order.rules) == (True, True, [f"{V6}#5.6"])
    assert not Correction.objects.exists()
    with pytest.raises(Denied, match="second person must execute"):
        executed(house, order, "shift-manager")
    with pytest.raises(Denied):
        executed(house, order, "pit-manager")
    with pytest.raises(OvertakenError, match="waiting for a second person"):
        voided(house, incident, one, rule="5.6")
    executed(house, order)
    correction = Correction.objects.get()
    assert (correction.deltas, correction.nets, correction.is_void) == ([-10_000, 6_000], [0, 0], True)
    assert owed(order) == {"seat-1": -10_000, "seat-2": 6_000}
    with pytest.raises(OvertakenError, match="executed by CASINO-MANAGER"):
        executed(house, order)
    with pytest.raises(OvertakenError, match="already void"):
        voided(house, incident, one, rule="5.6")
    assert [row.round_id for row in Outbox.objects.all()] == [one.pk]
    arrivals_take()
    assert figures(table) == {
        "rounds": 2, "settled": 1, "voids": 1, "unfinished": 0, "turnover": 16_000, "house_recorded": -4_000,
        "house_expected": -4_000, "discrepancies": 0,
    }  # fmt: skip
    later.refresh_from_db()  # 5.8: it stands
    assert later_decisions_of([later.pk]) == {}


def test_the_second_person_may_decline(house: House, table: Table) -> None:
    one = a_round(table)
    order = voided(house, incident_about(house, table, one, situation="dice-damaged"), one, rule="5.6")
    consequence_decline(actor=house["casino-manager"], consequence=order, reason="The dice were whole")
    with pytest.raises(OvertakenError, match="declined"):
        executed(house, order)
    assert not Correction.objects.exists()
    assert voided(house, order.incident, one, rule="5.6").is_waiting  # it can be ordered anew


def test_5_5_a_settled_round_is_voided_by_another_rule_only_after_a_ruling(house: House, table: Table) -> None:
    one = a_round(table)
    incident = incident_about(house, table, one)
    with pytest.raises(ValidationError, match="requires a ruling first"):
        voided(house, incident, one, rule="5.5.1")
    with pytest.raises(ValidationError, match=r"no rule 9\.9"):
        voided(house, incident, one, rule="9.9")
    ruling = ruled(house, incident, kind="confirmation", rules=[f"{V6}#5.5.1"])
    order = executed(house, voided(house, incident, one, ruling=ruling))
    assert (order.rules, Correction.objects.get().rules) == ([f"{V6}#5.14"], ["5.14"])


def test_a_supervisor_voids_what_is_not_settled_by_a_rule_that_says_so(house: House, table: Table) -> None:
    one = a_round(table, bets=PENDING, kinds=UNSETTLED)
    incident = incident_about(house, table, one, situation="die-not-flat")
    order = voided(house, incident, one, role="pit-supervisor", rule="5.5.2")
    assert order.is_executed
    assert owed(order) == {}  # nobody had paid anything yet
    arrivals_take()
    assert (figures(table)["voids"], figures(table)["unfinished"]) == (1, 0)
    assert not Finding.objects.filter(kind="unfinished", lapsed_at=None).exists()
    other = a_round(table, "R-2")
    for role in ("pit-supervisor", "pit-manager", "surveillance", "compliance", "administrator"):
        with pytest.raises(Denied):
            voided(house, incident, other, role=role, rule="5.6")


def test_who_dealt_neither_orders_nor_executes(house: House, table: Table) -> None:
    one, two = a_round(table, dealer="SHIFT-MANAGER"), a_round(table, "R-2", supervisor="CASINO-MANAGER")
    incident = incident_about(house, table, one, two, situation="dice-damaged")
    with pytest.raises(Denied, match="dealt or supervised"):
        voided(house, incident, one, rule="5.6")
    order = voided(house, incident, two, rule="5.6")
    with pytest.raises(Denied, match="dealt or supervised"):
        executed(house, order)
    assert Denial.objects.filter(action="consequence.order", casino=house.casino).count() == 2


def test_5_6_all_rounds_since_the_last_good_inspection(house: House, clock: Any) -> None:
    clock.move_to(NOON - HOUR)
    table = ready_table(house, "TS-01", layout="C", limits=sign())
    clock.move_to(NOON)
    rounds = [a_round(table, f"R-{number}", minutes=9 - number) for number in range(5)]
    void = a_round(table, "R-V", kinds=[("place-bets", {}), ("void", {"rule": "5.5.2"})], bets=PENDING, minutes=3)
    incident = incident_about(house, table, situation="dice-damaged")
    order = affected_void(actor=house["shift-manager"], basis=Basis(incident, rule="5.6"), reason=REASON)
    assert order.round_ids == sorted(round_.pk for round_ in rounds)
    assert void.pk not in order.round_ids
    executed(house, order)
    assert owed(order) == {"seat-1": -50_000, "seat-2": 30_000}
    assert {repayment.rounds for repayment in Repayment.objects.all()} == {5}
    assert IncidentRound.objects.filter(incident=incident).count() == 5
    assert LedgerLeaf.objects.filter(kind="correction").count() == 5


# --- Settled otherwise ---


def test_a_ruling_settles_a_round_by_other_dice(house: House, table: Table) -> None:
    one = a_round(table)
    incident = incident_about(house, table, one, situation="wrong-result-entered", facts={"settled": "yes"})
    with pytest.raises(ValidationError, match="requires a ruling"):
        round_settle(actor=house["shift-manager"], basis=Basis(incident), round=one, reason=REASON, dice=[6, 6, 5])
    ruling = ruled(house, incident)
    order = settled_as(house, ruling, one, dice=[6, 6, 5])
    assert Correction.objects.get().nets == [-10_000, 6_000]
    assert owed(order) == {"seat-1": -20_000, "seat-2": 12_000}
    with pytest.raises(OvertakenError, match="already settled this way"):
        settled_as(house, ruling, one, dice=[6, 6, 5])
    arrivals_take()
    assert figures(table)["house_recorded"] == figures(table)["house_expected"] == 4_000
    assert figures(table)["discrepancies"] == 0


def test_a_ruling_decides_on_single_bets_and_the_rules_on_the_others(house: House, table: Table) -> None:
    wrong = [bet("seat-1", "small", "100", net="0"), bet("seat-2", "big", "60", net="-60")]
    one = a_round(table, bets=wrong)
    arrivals_take()
    assert Finding.objects.filter(lapsed_at=None).get().kind == "unpaid-winner"
    ruling = ruled(house, incident_about(house, table, one))
    order = settled_as(house, ruling, one, nets={1: 0})  # seat 2's chip was moved by the dealer
    assert Correction.objects.get().nets == [10_000, 0]
    assert owed(order) == {"seat-1": 10_000, "seat-2": 6_000}
    arrivals_take()
    assert not Finding.objects.filter(lapsed_at=None, category="discrepancy").exists()
    assert figures(table)["house_expected"] == figures(table)["house_recorded"] == -10_000


def test_a_settlement_by_which_every_stake_goes_back_is_ordered_as_a_void(house: House, table: Table) -> None:
    one = a_round(table)
    ruling = ruled(house, incident_about(house, table, one))
    with pytest.raises(ValidationError, match="which is a void"):
        settled_as(house, ruling, one, nets={0: 0, 1: 0})
    assert not Correction.objects.exists()
    order = settled_as(house, ruling, one, dice=[6, 6, 5])
    assert (order.rules, order.needs_second) == ([f"{V6}#5.14"], True)


def test_a_void_that_waits_is_not_executed_once_its_ruling_was_superseded(house: House, table: Table) -> None:
    one = a_round(table)
    ruling = ruled(house, incident_about(house, table, one))
    order = voided(house, ruling.incident, one, ruling=ruling)
    ruling_supersede(actor=house["shift-manager"], ruling=ruling, draft=draft(decision="The round stands."))
    with pytest.raises(OvertakenError, match="no longer in force"):
        executed(house, order)
    assert not Correction.objects.exists()


def test_5_4_without_a_result_every_bet_is_decided(house: House, table: Table) -> None:
    dark: list[tuple[str, dict[str, Any]]] = [
        ("place-bets", {}), ("no-more-bets", {}), ("interruption", {"known_dice": "2,?,?"}),
    ]  # fmt: skip
    one = a_round(table, bets=PENDING, kinds=dark)
    ruling = ruled(house, incident_about(house, table, one))
    with pytest.raises(ValidationError, match="a net for every bet"):
        settled_as(house, ruling, one, nets={0: 0})
    settled_as(house, ruling, one, nets={0: 0, 1: 0})
    arrivals_take()
    assert (figures(table)["settled"], figures(table)["unfinished"]) == (1, 0)


def test_a_correction_of_a_correction(house: House, table: Table) -> None:
    one = a_round(table)
    ruling = ruled(house, incident_about(house, table, one))
    settled_as(house, ruling, one, dice=[6, 6, 5])
    again = ruling_supersede(actor=house["casino-manager"], ruling=ruling, draft=draft(decision="The first was right."))
    house.people["third"] = house.hire("M-3", "shift-manager")
    with pytest.raises(OvertakenError, match="no longer in force"):
        settled_as(house, ruling, one, dice=[1, 1, 2])
    order = settled_as(house, again, one, second="third", dice=[1, 3, 6])
    assert [(correction.ordinal, correction.nets) for correction in Correction.objects.all()] == [
        (1, [-10_000, 6_000]),
        (2, [10_000, -6_000]),
    ]
    assert owed(order) == {"seat-1": 20_000, "seat-2": -12_000}
    executed(house, voided(house, again.incident, one, ruling=again), "third")
    assert Correction.objects.get(ordinal=3).nets == [0, 0]
    settled_as(house, again, one, second="third")  # and by its own dice once more
    arrivals_take()
    assert (figures(table)["settled"], figures(table)["house_recorded"]) == (1, -4_000)
    assert figures(table)["discrepancies"] == 0


@pytest.mark.parametrize("dice", [[1, 2], [0, 1, 2], [1, 2, 7], [1, 2, "x"], [1, 2, 3, 4]])
def test_dice_that_cannot_be_are_refused(house: House, table: Table, dice: list[Any]) -> None:
    one = a_round(table)
    ruling = ruled(house, incident_about(house, table, one))
    with pytest.raises(ValidationError, match="dice"):
        settled_as(house, ruling, one, dice=dice)
    with pytest.raises(ValidationError, match="no bet 3"):
        settled_as(house, ruling, one, nets={2: 0})
    assert not Consequence.objects.exists()


# --- An amended result, a suspended table ---


def test_3_8_a_result_is_amended_before_settlement(house: House, table: Table) -> None:
    one = a_round(table, bets=PENDING, kinds=UNSETTLED)
    incident = incident_about(house, table, one, situation="wrong-result-entered", facts={"settled": "no"})
    basis = Basis(incident)
    supervisor = house["pit-supervisor"]
    order = result_amend(actor=supervisor, basis=basis, round=one, dice=[2, 2, 3], reason=REASON)
    assert (order.rules, Correction.objects.get().dice) == ([f"{V6}#3.8"], [2, 2, 3])
    with pytest.raises(OvertakenError, match="already has these dice"):
        result_amend(actor=supervisor, basis=basis, round=one, dice=[2, 2, 3], reason=REASON)
    arrivals_take()
    assert figures(table)["unfinished"] == 1
    settled_as(house, ruled(house, incident, kind="confirmation", rules=[f"{V6}#3.8"]), one)
    assert Correction.objects.get(ordinal=2).nets == [10_000, -6_000]
    settled = a_round(table, "R-2")
    with pytest.raises(ValidationError, match="requires a ruling"):
        result_amend(actor=supervisor, basis=basis, round=settled, dice=[2, 2, 3], reason=REASON)


def test_3_8_a_round_in_play_gets_the_event_itself(house: House, clock: Any) -> None:
    player = Player(open_table(house, "TS-07", layout="C", limits=sign()))
    player.open()
    player.do("place-bets")
    player.bet("seat-1", "small", "100")
    player.do("no-more-bets")
    player.do("tumbler", tumbles=3)
    player.do("result", dice=[1, 3, 6])
    incident = incident_about(house, player.table, situation="wrong-result-entered", facts={"settled": "no"})
    live = LiveRound.objects.get(pk=player.key)
    order = result_amend(actor=house["pit-supervisor"], basis=Basis(incident), live=live, dice=[1, 3, 5], reason=REASON)
    assert (order.decision.live_round, order.is_executed) == (live, True)
    assert [step.kind for step in live.steps.all()][-1] == "result-amended"


def test_7_2_a_round_in_play_is_amended_with_the_authority_of_whoever_ordered_it(house: House, clock: Any) -> None:
    player = Player(open_table(house, "TS-09", rulebook="division-9-2008", layout="1"))
    player.open()
    player.do("tumbler", tumbles=3)
    player.do("place-bets")
    player.bet("seat-1", "small", "100")
    player.do("no-more-bets")
    player.do("result", dice=[6, 6, 5])
    incident = incident_about(house, player.table, situation="wrong-result-entered", facts={"settled": "no"})
    live = LiveRound.objects.get(pk=player.key)
    result_amend(actor=house["pit-supervisor"], basis=Basis(incident), live=live, dice=[1, 3, 6], reason=REASON)
    player.do("settled", nets=[{"player": "seat-1", "box": "small", "net": "100"}])
    arrivals_take()
    recorded = Round.objects.get()
    assert [event.get("by") for event in recorded.events if event["kind"] == "result-amended"] == ["PIT-SUPERVISOR"]
    assert not Finding.objects.filter(kind="amendment-without-authority").exists()


def test_7_4_a_table_is_suspended(house: House, clock: Any) -> None:
    table = open_table(house, "TS-08", layout="C", limits=sign())
    incident = incident_about(house, table)
    order = table_suspend_for(actor=house["pit-manager"], basis=Basis(incident), reason="The dome is cracked")
    table.refresh_from_db()
    assert order.decision.step is not None
    assert (table.state, order.decision.step.kind) == ("suspended", "suspend")
    with pytest.raises(OvertakenError):
        table_suspend_for(actor=house["pit-manager"], basis=Basis(incident), reason="Again")
    with pytest.raises(Denied):
        table_suspend_for(actor=house["surveillance"], basis=Basis(incident), reason="x")


# --- What players get ---


def test_a_patron_is_told_and_paid_and_a_slip_is_taken_back(house: House, table: Table) -> None:
    one = a_round(table)
    order = settled_as(house, ruled(house, incident_about(house, table, one)), one, dice=[6, 6, 5])
    repayment = order.repayments.get(player="seat-2")

    def mark(what: str, role: str = "pit-manager", note: str = "") -> RepaymentMark:
        return repayment_mark(actor=house[role], repayment=repayment, what=what, note=note)

    mark("told")
    with pytest.raises(OvertakenError):
        mark("told")
    mark("paid")
    assert marks_of(repayment) == {"told": True, "paid": True}
    with pytest.raises(ValidationError, match="Give a reason for reversing"):
        mark("not-paid")
    mark("not-paid", note="The wrong patron")
    with pytest.raises(OvertakenError):
        mark("not-paid", note="Again")
    assert marks_of(repayment) == {"told": True, "paid": False}
    for role in ("pit-supervisor", "surveillance", "compliance", "auditor"):
        with pytest.raises(Denied):
            mark("paid", role)


# --- Rounds of others ---


def test_rounds_of_another_casino_are_left_alone(house: House, table: Table) -> None:
    stranger = house.hire("M-ELSE", "shift-manager", house.other)
    one = a_round(table)
    incident = incident_about(house, table, one)
    with pytest.raises(Denied):
        rounds_void(actor=stranger, basis=Basis(incident, rule="5.6"), rounds=[one], reason=REASON)
    with pytest.raises(ValidationError, match="at least one"):
        rounds_void(actor=stranger, basis=Basis(incident, rule="5.6"), rounds=[], reason=REASON)


# --- By SQL ---


def test_the_database_asks_for_two_people_and_for_books_that_follow(house: House, table: Table) -> None:
    one = a_round(table)
    incident = incident_about(house, table, one, situation="dice-damaged")
    order = voided(house, incident, one, rule="5.6")

    def write(statement: str, *values: Any) -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement, values)

    decide = (
        "INSERT INTO audits_consequencedecision (consequence_id, ordered_by_id, needs_second, outcome, by_id, who, at,"
        " reason) VALUES (%s, %s, %s, 'executed', %s, 'x', now(), 'x')"
    )
    correct = (
        "INSERT INTO audits_correction (consequence_id, round_id, ordinal, table_id, gaming_day, deltas, nets, is_void,"
        " is_settled, is_decided, rules, who, at) VALUES (%s, %s, %s, %s, %s, %s::bigint[], %s::bigint[], true, false,"
        " false, '{}', 'x', now())"
    )
    with pytest.raises(DatabaseError, match="consequence_decided_by_another"):
        write(decide, order.pk, order.by_id, True, order.by_id)
    with pytest.raises(DatabaseError, match="second person"):
        write(decide, order.pk, order.by_id, True, house["pit-manager"].pk)
    with pytest.raises(DatabaseError, match="Nobody has decided"):
        write(correct, order.pk, one.pk, 1, table.pk, one.gaming_day, [-10_000, 6_000], [0, 0])
    executed(house, order)
    with pytest.raises(DatabaseError, match="does not follow"):
        write(correct, order.pk, one.pk, 2, table.pk, one.gaming_day, [-10_000, 6_000], [0, 0])
    with pytest.raises(DatabaseError, match="does not follow"):
        write(correct, order.pk, one.pk, 3, table.pk, one.gaming_day, [0, 0], [0, 0])
    for name in ("consequence", "consequencedecision", "correction", "repayment"):
        with pytest.raises(DatabaseError):
            write(f"DELETE FROM audits_{name}")


def test_the_database_asks_for_two_people_where_a_correction_settled_the_round(house: House, table: Table) -> None:
    one = a_round(table, bets=PENDING, kinds=UNSETTLED)
    incident = incident_about(house, table, one)
    settled_as(house, ruled(house, incident), one)
    other = a_round(table, "R-2", bets=PENDING, kinds=UNSETTLED)
    order = voided(house, incident, other, role="pit-supervisor", rule="5.5.2")
    values: dict[str, Any] = {
        "round": one, "ordinal": 2, "table": table, "gaming_day": one.gaming_day, "deltas": [-10_000, 6_000],
        "nets": [0, 0], "is_void": True, "who": "x",
    }  # fmt: skip
    with pytest.raises(DatabaseError, match="is not about round"), transaction.atomic():
        Correction.objects.create(consequence=order, **values)
    alone = Consequence.objects.create(
        casino=house.casino, incident=incident, kind="void", round_ids=[one.pk], reason="x", amount=16_000,
        by=house["shift-manager"], who="x",
    )  # fmt: skip
    ConsequenceDecision.objects.create(
        consequence=alone, ordered_by=alone.by, needs_second=False, outcome="executed", by=alone.by, who="x", reason="x"
    )
    with pytest.raises(DatabaseError, match="takes two people"), transaction.atomic():
        Correction.objects.create(consequence=alone, **values)


def test_a_day_run_finds_the_same_after_a_correction(house: House, table: Table) -> None:
    one = a_round(table)
    arrivals_take()
    order = voided(house, incident_about(house, table, one, situation="dice-damaged"), one, rule="5.6")
    executed(house, order)
    arrivals_take()
    before = figures(table)
    run = run_start(actor=OPERATOR, casino=house.casino, day=one.gaming_day)
    for part in run.parts.all():
        part_take(key=part.pk)
    assert figures(table) == before
    assert Incident.objects.get(pk=order.incident_id).consequences.get() == order
