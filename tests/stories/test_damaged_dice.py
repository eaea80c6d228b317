"""A cracked die is found at 23:10: every round of its set is affected, before and after 22:00, at two tables."""

import datetime as dt
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import DatabaseError, transaction

from audits.incidents.affected_rounds import affected_of
from audits.incidents.serializers import incident_document
from audits.incidents.services.incidents import incident_change
from audits.models import Consequence, Correction, DaySummary, Incident
from audits.reconciliation.services.arrivals import arrivals_take
from audits.rulings.corrections.damage import Narrowing
from audits.rulings.services import corrective_actions
from audits.rulings.services.corrective_actions import Basis, affected_void, consequence_execute, rounds_void
from games.access.gate import Denied
from games.floor.services.dice import dice_fit, dice_inspect, dice_remove
from games.models import DiceSet, Round, Table
from tests.audits.decided import incident_about, ruled
from tests.audits.files import leaves, played
from tests.conftest import House
from tests.games.engine.oracle import DIVISION_9
from tests.games.floor_setup import HOUR, MINUTE, NOON, SECOND, bare_table, fit_since, put_sign, ready_table, sign
from tests.games.floor_setup import dice_of as new_dice
from tests.games.live.playing import Player
from tests.games.rounds.samples import bet

#: 20:00 by the casino's clock is NOON.
LAST_GOOD, MOVED, CRACKED, FOUND = NOON, NOON + HOUR, NOON + 2 * HOUR, NOON + 3 * HOUR + 10 * MINUTE
REMOVED = FOUND + 5 * MINUTE
BETS = [bet("seat-1", "small", "100", net="100"), bet("seat-2", "big", "60", net="-60")]


@pytest.fixture
def first(house: House, clock: Any) -> Table:
    """With a set that was found good at 20:00, and taken to the second table at 21:00."""
    clock.move_to(LAST_GOOD - HOUR)
    table = ready_table(house, "TS-01", layout="C", limits=sign())
    clock.move_to(LAST_GOOD)
    dice_inspect(actor=house["pit-supervisor"], dice_set=dice_of(table), result="good", seal_found="S-D-TS-01")
    return table


@pytest.fixture
def second(house: House, first: Table, clock: Any) -> Table:
    clock.move_to(MOVED)
    table = bare_table(house, "TS-02", layout="C")
    put_sign(table)
    moved = dice_of(first)
    dice_remove(actor=house["shift-manager"], table=first, reason="To the second table")
    dice_fit(actor=house["shift-manager"], dice_set=moved, table=table, reason="From the first table")
    return table


@pytest.fixture
def rounds(first: Table, second: Table, clock: Any) -> dict[str, Round]:
    clock.move_to(REMOVED)
    return {
        ref: played(table, at, ref, BETS)
        for ref, table, at in (
            ("GOOD", first, LAST_GOOD - MINUTE),  # before the inspection: it stands
            ("A-1", first, LAST_GOOD + 30 * MINUTE),
            ("A-2", first, MOVED + 30 * MINUTE),  # the set had gone: it stands
            ("B-1", second, CRACKED - 10 * MINUTE),
            ("B-2", second, CRACKED + 10 * MINUTE),
            ("B-3", second, FOUND + 2 * MINUTE),  # found, and played on
        )
    }


@pytest.fixture
def incident(house: House, second: Table, rounds: dict[str, Round]) -> Incident:
    return incident_about(
        house, second, situation="dice-damaged", account="A die is cracked.", occurred_from=CRACKED, occurred_to=FOUND
    )


def dice_of(table: Table) -> DiceSet:
    return table.dice_fits.latest("during").dice_set


def refs(order: Consequence) -> list[str]:
    return list(Round.objects.filter(pk__in=order.round_ids).order_by("started_at").values_list("ref", flat=True))


def by_5_6(house: House, incident: Incident, **narrowed: Any) -> Consequence:
    return affected_void(
        actor=house["shift-manager"], basis=Basis(incident, rule="5.6"), reason="A crack in a die",
        narrowed=Narrowing(**narrowed),
    )  # fmt: skip


def figures(incident: Incident) -> dict[str, Any]:
    found = affected_of(incident)
    assert found is not None
    return found


def moments(found: dict[str, Any]) -> list[tuple[str, str, str | None]]:
    return [(one["what"], one["at"][11:16], one["table"]) for one in found["timeline"]]


def test_5_6_all_rounds_of_the_set_are_void_at_both_tables(
    house: House, first: Table, second: Table, incident: Incident, clock: Any
) -> None:
    dice_remove(actor=house["shift-manager"], table=second, reason="A crack")
    found = figures(incident)
    assert moments(found) == [
        ("fitted", "19:00", "TS-01"), ("last-good-inspection", "20:00", "TS-01"), ("removed", "21:00", "TS-01"),
        ("fitted", "21:00", "TS-02"), ("incident", "22:00", None), ("found", "23:10", None),
        ("removed", "23:15", "TS-02"),
    ]  # fmt: skip
    assert [one["ref"] for one in found["rounds"]] == ["A-1", "B-1", "B-2", "B-3"]
    one = {"settled": 1, "stakes": "160.00", "refunds": "60.00", "recoveries": "100.00"}
    two = {"settled": 2, "stakes": "320.00", "refunds": "120.00", "recoveries": "200.00"}
    assert (found["before"], found["after"]) == ({"rounds": 2, **two}, {"rounds": 2, **two})
    assert found["tables"][0] == {"table": "TS-01", "rulebook": "rws-tai-sai-v6", "rounds": 1, **one}
    assert (found["tables"][1]["rounds"], found["in_place"], found["total"]) == (3, False, "-160.00")
    assert incident_document(house["compliance"], incident)["affected"] == found
    order = by_5_6(house, incident)
    assert (refs(order), order.needs_second, order.narrowing) == (["A-1", "B-1", "B-2", "B-3"], True, "")
    consequence_execute(actor=house["casino-manager"], consequence=order, reason="Seen with my own eyes")
    arrivals_take()
    voids = {
        day_summary.table.code: (day_summary.rounds, day_summary.voids)
        for day_summary in DaySummary.objects.select_related("table")
    }
    assert voids == {"TS-01": (3, 1), "TS-02": (3, 3)}
    after = figures(incident)  # nothing is left to give back
    assert (after["count"], after["total"], after["before"]["refunds"]) == (4, "0.00", "0.00")


def test_5_6_a_set_that_is_still_in_place_reaches_until_now_and_names_the_round_in_play(
    house: House, second: Table, incident: Incident, clock: Any
) -> None:
    Table.objects.filter(pk=second.pk).update(state="open")
    player = Player(Table.objects.get(pk=second.pk))
    player.open()
    player.do("place-bets")
    clock.shift(MINUTE)
    played(second, REMOVED, "B-4", BETS)
    found = figures(incident)
    assert (found["count"], found["in_place"], found["to"]) == (5, True, "2026-11-15T23:16:00+08:00")
    assert [one["table"] for one in found["in_play"]] == ["TS-02"]
    assert moments(found)[-1] == ("still-fitted", "23:16", "TS-02")


def test_5_6_a_good_inspection_afterwards_takes_nothing_back_and_ends_it_for_later_fittings(
    house: House, first: Table, second: Table, incident: Incident, clock: Any
) -> None:
    boss, dice = house["shift-manager"], dice_of(second)
    dice_remove(actor=boss, table=second, reason="A crack")
    clock.shift(10 * MINUTE)
    dice_inspect(actor=house["pit-supervisor"], dice_set=dice, result="good", seal_found="S-D-TS-01")
    dice_fit(actor=boss, dice_set=dice, table=first, reason="Found good")
    clock.shift(10 * MINUTE)
    played(first, REMOVED + 15 * MINUTE, "A-3", BETS)
    found = figures(incident)
    assert (found["count"], found["to"]) == (4, "2026-11-15T23:15:00+08:00")
    assert ("inspected-good", "23:25", None) in moments(found)


def test_5_6_a_set_that_goes_on_to_another_table_without_an_inspection_is_still_in_use(
    house: House, first: Table, second: Table, incident: Incident, clock: Any
) -> None:
    boss, dice = house["shift-manager"], dice_of(second)
    dice_remove(actor=boss, table=second, reason="To the first table")
    dice_fit(actor=boss, dice_set=dice, table=first, reason="Back again")
    clock.shift(10 * MINUTE)
    played(first, REMOVED + 5 * MINUTE, "A-3", BETS)
    assert [one["ref"] for one in figures(incident)["rounds"]] == ["A-1", "B-1", "B-2", "B-3", "A-3"]


def test_5_6_rounds_count_by_the_fittings_although_none_was_known_when_they_were_recorded(
    house: House, clock: Any
) -> None:
    clock.move_to(NOON)
    table = bare_table(house, "TS-01", layout="C")
    put_sign(table)
    early = played(table, NOON - 10 * MINUTE, "R-1", BETS)
    assert early.dice_set is None
    fit_since(house, table, NOON - HOUR)  # the set was there all the time
    found = figures(incident_about(house, table, situation="dice-damaged"))
    assert ([one["ref"] for one in found["rounds"]], found["last_good"]) == (["R-1"], None)
    assert found["from"] == "2026-11-15T19:00:00+08:00"  # never inspected: since it was fitted


def test_5_6_the_damaged_set_is_the_one_there_when_the_damage_was_found(house: House, first: Table, clock: Any) -> None:
    """Set A went out at 20:30, B was found cracked at 21:10; the incident began at 20:00."""
    clock.move_to(NOON + 30 * MINUTE)
    dice_remove(actor=house["shift-manager"], table=first, reason="Worn")
    dice_fit(actor=house["shift-manager"], dice_set=new_dice(house, "D-B"), table=first, reason="In its place")
    clock.move_to(NOON + 70 * MINUTE)
    of_a = played(first, NOON + 10 * MINUTE, "A-1", BETS)
    of_b = played(first, NOON + HOUR, "B-1", BETS)
    incident = incident_about(
        house, first, situation="dice-damaged", occurred_from=NOON, occurred_to=NOON + 70 * MINUTE
    )
    found = figures(incident)
    assert (found["dice_set"], [one["ref"] for one in found["rounds"]]) == ("D-B", ["B-1"])
    assert str(by_hand(house, incident, of_b).dice_set) == str(DiceSet.objects.get(code="D-B"))
    with pytest.raises(ValidationError, match="not played with dice set D-B"):
        by_hand(house, incident, of_a)


def test_5_6_of_two_sets_exchanged_when_the_damage_was_found_it_is_the_one_that_went(
    house: House, first: Table, clock: Any
) -> None:
    clock.move_to(NOON + 30 * MINUTE)
    dice_remove(actor=house["shift-manager"], table=first, reason="Cracked")
    dice_fit(actor=house["shift-manager"], dice_set=new_dice(house, "D-B"), table=first, reason="In its place")
    incident = incident_about(house, first, situation="dice-damaged", occurred_from=NOON + 30 * MINUTE)
    assert figures(incident)["dice_set"] == "D-TS-01"


@pytest.mark.parametrize("is_played", [False, True])
def test_5_6_a_set_that_was_taken_out_is_meant_unless_a_round_was_played_since(
    house: House, first: Table, clock: Any, is_played: bool
) -> None:
    clock.move_to(NOON + 30 * MINUTE)
    dice_remove(actor=house["shift-manager"], table=first, reason="To be looked at")
    clock.move_to(NOON + 2 * HOUR)
    played(first, NOON + 10 * MINUTE, "OLD", BETS)
    if is_played:
        played(first, NOON + HOUR, "NEW", BETS)  # with which dice is not on record
    incident = incident_about(house, first, situation="dice-damaged", occurred_from=NOON + 90 * MINUTE)
    if not is_played:
        assert [one["ref"] for one in figures(incident)["rounds"]] == ["OLD"]
        return
    assert "rounds may have been played with other dice" in figures(incident)["explain"]
    with pytest.raises(ValidationError, match="Record the fitting"):
        by_5_6(house, incident)
    with pytest.raises(ValidationError, match="Record the fitting"):
        by_hand(house, incident, Round.objects.get(ref="NEW"))
    assert not Consequence.objects.exists()


def test_5_6_a_round_that_was_on_during_the_good_inspection_is_affected(house: House, first: Table, clock: Any) -> None:
    clock.move_to(NOON + HOUR)
    dice_remove(actor=house["shift-manager"], table=first, reason="Cracked")
    clock.move_to(NOON + 2 * HOUR)
    for ref, at in (
        ("OVER", LAST_GOOD - 4 * SECOND),  # settled at the very moment
        ("ON", LAST_GOOD - 3 * SECOND),
        ("LAST", NOON + HOUR - SECOND),  # begun before the set was taken out
        ("AFTER", NOON + HOUR),
    ):
        played(first, at, ref, BETS)
    incident = incident_about(
        house, first, situation="dice-damaged", occurred_from=NOON + 30 * MINUTE, occurred_to=NOON + HOUR
    )
    assert [one["ref"] for one in figures(incident)["rounds"]] == ["ON", "LAST"]
    assert refs(by_5_6(house, incident)) == ["ON", "LAST"]


# --- Narrowed ---


def test_5_6_whoever_orders_it_may_narrow_it_with_a_reason_that_stays(house: House, incident: Incident) -> None:
    order = by_5_6(house, incident, starts_at=CRACKED, ends_at=FOUND, reason="The recording shows it crack at 22:00")
    assert (refs(order), order.narrowing) == (["B-2"], "The recording shows it crack at 22:00")
    kept = (order.radius_from, order.radius_to, order.affected_from, order.affected_to)
    assert kept == (LAST_GOOD, REMOVED, CRACKED, FOUND)
    (leaf,) = leaves("consequence", order.pk)
    assert order.narrowing in leaf
    with pytest.raises(DatabaseError), transaction.atomic():
        Consequence.objects.filter(pk=order.pk).update(narrowing="Another reason")


@pytest.mark.parametrize(
    ("narrowed", "field"),
    [
        ({"starts_at": CRACKED}, "narrowing"),
        ({"starts_at": LAST_GOOD - MINUTE, "reason": "x"}, "from"),
        ({"ends_at": REMOVED + MINUTE, "reason": "x"}, "to"),
        ({"starts_at": FOUND, "ends_at": CRACKED, "reason": "x"}, "to"),
        ({"reason": "For no reason"}, "narrowing"),
    ],
)
def test_5_6_only_a_part_of_the_radius_and_only_with_a_reason(
    house: House, incident: Incident, narrowed: dict[str, Any], field: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        by_5_6(house, incident, **narrowed)
    assert list(caught.value.message_dict) == [field]
    assert not Consequence.objects.exists()


@pytest.mark.parametrize(
    "change",
    [
        {"affected_from": CRACKED},
        {"affected_from": LAST_GOOD - MINUTE, "narrowing": "x"},
        {"affected_to": REMOVED + MINUTE, "narrowing": "x"},
        {"affected_to": None},
        {"kind": "void"},
        {"dice_set": None},
    ],
)
def test_the_database_keeps_a_narrowed_order_within_its_radius(
    house: House, incident: Incident, change: dict[str, Any]
) -> None:
    order = by_5_6(house, incident)
    for name, value in {"pk": None, **change}.items():
        setattr(order, name, value)
    with (
        pytest.raises(DatabaseError, match=r"consequence_narrowed_within_the_radius|a dice set on record"),
        transaction.atomic(),
    ):
        order.save(force_insert=True)


def test_more_rounds_than_one_order_takes_are_for_several(
    house: House, incident: Incident, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corrective_actions, "MOST_ROUNDS", 3)
    with pytest.raises(ValidationError, match="several orders, each for a part"):
        by_5_6(house, incident)
    assert len(by_5_6(house, incident, ends_at=CRACKED, reason="The first of two orders").round_ids) == 2


# --- Refused ---


def test_5_6_needs_an_incident_about_damaged_dice(house: House, second: Table, rounds: dict[str, Round]) -> None:
    other = incident_about(house, second, rounds["B-1"], situation="other")
    for order in (by_5_6, by_hand):
        with pytest.raises(ValidationError, match="correct the situation"):
            order(house, other)
    incident_change(
        actor=house["surveillance"], incident=other, changes={"situation": "dice-damaged"}, reason="It was cracked"
    )
    assert by_hand(house, Incident.objects.get(pk=other.pk), rounds["B-1"]).is_waiting


def test_5_6_needs_a_dice_set_on_record(house: House, clock: Any) -> None:
    clock.move_to(NOON)
    bare = bare_table(house, "TS-03", layout="C")
    put_sign(bare)
    one = played(bare, NOON - MINUTE, "C-1", BETS)
    incident = incident_about(house, bare, one, situation="dice-damaged")
    with pytest.raises(ValidationError, match="Record the fitting"):
        by_5_6(house, incident)
    with pytest.raises(ValidationError, match="Record the fitting"):
        by_hand(house, incident, one)


def test_5_6_reaches_no_round_of_other_dice(house: House, incident: Incident, rounds: dict[str, Round]) -> None:
    for ref in ("GOOD", "A-2"):
        with pytest.raises(ValidationError, match=r"5\.6 does not reach it"):
            by_hand(house, incident, rounds[ref])


def test_5_6_an_order_is_not_executed_once_the_incident_is_about_something_else(
    house: House, incident: Incident
) -> None:
    order = by_5_6(house, incident)
    incident_change(
        actor=house["surveillance"], incident=incident, changes={"situation": "other"}, reason="It was a shadow"
    )
    with pytest.raises(ValidationError, match="correct the situation"):
        consequence_execute(actor=house["casino-manager"], consequence=order, reason="Agreed")
    assert not Correction.objects.exists()


def test_who_may_not_void_is_refused_before_anything_is_said(house: House, incident: Incident) -> None:
    for role in ("pit-manager", "surveillance", "compliance"):
        with pytest.raises(Denied):
            affected_void(actor=house[role], basis=Basis(incident, rule="5.6"), reason="x")


def test_division_9_is_silent_on_damaged_dice_and_asks_for_a_ruling(house: House, clock: Any) -> None:
    clock.move_to(NOON - HOUR)
    table = ready_table(house, "D9-01", rulebook=DIVISION_9, layout="1", limits=sign())
    clock.move_to(NOON)
    one = played(table, NOON - MINUTE, "D-1", BETS)
    incident = incident_about(house, table, one, situation="dice-damaged")
    with pytest.raises(ValidationError, match="have the incident ruled on"):
        by_5_6(house, incident)
    basis = Basis(incident, ruled(house, incident))
    order = affected_void(actor=house["shift-manager"], basis=basis, reason="As ruled")
    assert (refs(order), order.needs_second) == (["D-1"], True)


def by_hand(house: House, incident: Incident, *rounds: Round) -> Consequence:
    chosen = list(rounds) or [round_.round for round_ in incident.rounds.all()]
    return rounds_void(
        actor=house["shift-manager"], basis=Basis(incident, rule="5.6"), rounds=chosen, reason="A crack in a die"
    )


def test_the_clock_of_this_story() -> None:
    assert FOUND.astimezone(dt.timezone(8 * HOUR)).strftime("%H:%M") == "23:10"
