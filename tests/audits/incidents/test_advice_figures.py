"""The figures that go with an advice: boxes decided, bets cut, winnings kept, rounds affected."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError

from audits.incidents import affected_rounds
from audits.incidents.advice import AdviceQuestion, advice_on
from audits.incidents.checklist import next_steps
from audits.incidents.services.incidents import advice_of
from games.engine.rules.loader import rulebooks
from games.engine.rules.rulebook import Rulebook
from games.floor.services.dice import dice_fit, dice_inspect, dice_remove
from games.floor.services.tables import table_assign
from games.models import DiceSet, Table
from tests.audits.files import opened, played, told
from tests.conftest import OPERATOR, House
from tests.games.engine.oracle import DIVISION_9, V6
from tests.games.floor_setup import HOUR, MINUTE, NOON, SECOND, bare_table, ready_table, sign
from tests.games.rounds.samples import bet

UNFINISHED: list[tuple[str, dict[str, str]]] = [("place-bets", {}), ("no-more-bets", {})]
VOID: list[tuple[str, dict[str, str]]] = [("place-bets", {}), ("no-more-bets", {}), ("void", {"rule": "5.5.2"})]


@pytest.fixture
def table(house: House, clock: Any) -> Table:
    clock.move_to(NOON - 2 * HOUR)
    limits = sign({"big-small": (50, 3000), "single": (25, 1000)}, {"big-small": 2000})
    found = ready_table(house, layout="A", limits=limits)
    clock.move_to(NOON)
    return found


def figures(table: Table, situation: str, **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = advice_on(AdviceQuestion(table, more.pop("at", NOON), situation, **more))["figures"]
    return found


def test_whatever_a_rulebook_asks_for_has_next_steps() -> None:
    for book in rulebooks().values():
        for situation in book.situations:
            assert next_steps(situation.code, situation.action), (book.id, situation.code)


@pytest.mark.parametrize("book", rulebooks().values(), ids=lambda book: book.id)
def test_whatever_a_rulebook_provides_for_is_reported_with_its_rule(house: House, clock: Any, book: Rulebook) -> None:
    table = bare_table(house, rulebook=book.id, layout=next(iter(book.layouts)))
    yes_or_no = {"yes": "yes", "no": "no"}
    values = {"known_dice": {"some": "2,?,?", "none": "?,?,?"}}
    values |= dict.fromkeys(("settled", "with_chips", "in_time"), yes_or_no)
    for situation in book.situations:
        facts = {name: values[name][situation.when.get(name, next(iter(values[name])))] for name in situation.facts}
        incident = opened(
            house, account=f"{situation.code} {facts}", table=table, situation=situation.code, facts=facts
        )
        said = incident.advice or {}
        assert (said["action"], said["rules"], said["facts"]) == (situation.action, book.cite(*situation.rules), facts)


# --- Interruption (5.4) ---


def test_5_4_1_one_die_decides_some_boxes_and_the_rest_is_for_a_ruling(table: Table) -> None:
    found = figures(table, "interruption", facts={"known_dice": "2,?,?"})
    assert found["won"] == ["single-2"]
    assert {"total-15", "total-16", "total-17", "triple-1", "triple-6"} <= set(found["lost"])
    assert {"big", "small", "single-1", "double-1", "triple-2", "any-triple", "total-14"} <= set(found["open"])
    assert found["open_rules"] == ["rws-tai-sai-v6#5.14"]
    assert len(found["won"]) + len(found["lost"]) + len(found["open"]) == 50


@pytest.mark.parametrize(("known", "open_count"), [("?,?,?", 50), ("1,3,6", 0)])
def test_5_4_2_nothing_known_is_void_and_all_known_is_settled_so_neither_needs_a_ruling(
    table: Table, known: str, open_count: int
) -> None:
    found = figures(table, "interruption", facts={"known_dice": known})
    assert (len(found["open"]), found["open_rules"]) == (open_count, [])


def test_an_interruption_without_its_dice_is_asked_back(house: House, table: Table) -> None:
    with pytest.raises(ValidationError, match="interruption needs this fact"):
        advice_of(told(house, table=table, situation="interruption"))


# --- Limits (5.1, 5.2) ---


def test_5_1_1_an_over_full_box_shows_what_stands_and_what_goes_back(table: Table) -> None:
    bets = [
        bet("seat-1", "big", "4000", net="-4000"), bet("seat-2", "big", "40", net="-40"),
        bet("seat-3", "small", "2040", net="2040"), bet("seat-4", "big", "9000", refused=True),
    ]  # fmt: skip
    one = played(table, NOON - MINUTE, "R-1", bets)
    (found,) = figures(table, "over-limit-unnoticed", rounds=[one])["rounds"]
    assert [(breach["kind"], breach["placed"], breach["permitted"]) for breach in found["breaches"]] == [
        ("box-maximum", "4040.00", "3000.00"), ("below-minimum", "40.00", "50.00"),
    ]  # fmt: skip
    # 4000 × 3000 ÷ 4040 = 2970.29…, rounded down to the chip unit of 1.00
    assert found["cut"] == [
        {"player": "seat-1", "box": "big", "stake": "4000.00", "stands": "2970.00", "goes_back": "1030.00"}
    ]


def test_5_1_1_what_stands_is_known_before_the_dice_are(table: Table) -> None:
    one = played(table, NOON - MINUTE, "R-1", [bet("seat-1", "single-1", "2000")], kinds=UNFINISHED)
    (found,) = figures(table, "over-limit-unnoticed", rounds=[one])["rounds"]
    assert [(cut["stands"], cut["goes_back"]) for cut in found["cut"]] == [("1000.00", "1000.00")]


def test_a_void_round_has_breaches_and_nothing_to_cut(table: Table) -> None:
    one = played(table, NOON - MINUTE, "R-1", [bet("seat-1", "single-1", "2000")], kinds=VOID)
    (found,) = figures(table, "over-limit-unnoticed", rounds=[one])["rounds"]
    assert ([breach["kind"] for breach in found["breaches"]], found["cut"]) == (["box-maximum"], [])


def test_division_9_settles_in_full_and_names_the_breach(house: House, clock: Any) -> None:
    clock.move_to(NOON - HOUR)
    table = ready_table(house, "TS-09", rulebook=DIVISION_9, layout="1")
    clock.move_to(NOON)
    one = played(table, NOON - MINUTE, "R-1", [bet("seat-1", "single-1", "2000", net="2000")])
    (found,) = figures(table, "over-limit-unnoticed", rounds=[one])["rounds"]
    assert ([breach["kind"] for breach in found["breaches"]], found["cut"]) == (["box-maximum"], [])


# --- Players who left (5.3) ---


def test_5_3_winnings_of_absent_players_are_listed_over_all_rounds(table: Table) -> None:
    bets = [
        bet("seat-1", "small", "100", net="100"), bet("seat-1", "big", "50", net="-50"),
        bet("seat-2", "single-3", "30", net="30"),
    ]  # fmt: skip
    rounds = [
        played(table, NOON - 10 * MINUTE, "R-1", bets),
        played(
            table, NOON - 8 * MINUTE, "R-2", [bet("seat-1", "total-10", "20", net="0")]
        ),  # not paid: kept all the same
        played(table, NOON - 6 * MINUTE, "R-3", [bet("seat-1", "small", "100")], kinds=VOID),
        played(table, NOON - 4 * MINUTE, "R-4", [bet("seat-1", "small", "100")], kinds=UNFINISHED),
    ]
    kept = figures(table, "player-left", rounds=rounds, patrons=["seat-1"])["kept"]
    assert [(one["round"], one["box"], one["won"], one["kept"]) for one in kept] == [
        ("R-1", "small", "100.00", "200.00"), ("R-2", "total-10", "120.00", "140.00"),
    ]  # fmt: skip
    assert figures(table, "player-left", rounds=rounds)["kept"] == []


# --- Damaged dice (5.6) ---


def dice(table: Table) -> DiceSet:
    return table.dice_fits.latest("during").dice_set


def refunds(found: dict[str, Any]) -> dict[str, tuple[int, str]]:
    return {one["player"]: (one["rounds"], one["refund"]) for one in found["players"]}


def test_5_6_only_rounds_since_the_last_good_inspection_count(house: House, table: Table, clock: Any) -> None:
    played(table, NOON - 30 * MINUTE, "R-1")
    clock.move_to(NOON - 20 * MINUTE)
    dice_inspect(actor=house["pit-manager"], dice_set=dice(table), result="good", seal_found="S-D-TS-01")
    clock.move_to(NOON - 10 * MINUTE)
    dice_inspect(
        actor=house["pit-manager"], dice_set=dice(table), result="damaged", seal_found="S-D-TS-01", remarks="A chip"
    )
    clock.move_to(NOON)
    played(table, NOON - 15 * MINUTE, "R-2")
    played(table, NOON - 5 * MINUTE, "R-3")
    found = figures(table, "dice-damaged")
    assert ([one["ref"] for one in found["rounds"]], found["count"]) == (["R-2", "R-3"], 2)
    assert found["last_good"] == "2026-11-15T19:40:00+08:00"
    assert figures(table, "dice-damaged", at=NOON - 10 * MINUTE)["count"] == 2  # the set is still in place


def test_5_6_without_a_good_inspection_every_round_of_the_set_counts(table: Table) -> None:
    played(table, NOON - 90 * MINUTE, "R-1")
    found = figures(table, "dice-damaged")
    assert (found["count"], found["last_good"], found["dice_set"]) == (1, None, "D-TS-01")


def test_5_6_a_refund_undoes_what_was_won_and_lost_and_nothing_else(table: Table) -> None:
    bets = [
        bet("seat-1", "big", "100.05", net="-100.05"), bet("seat-1", "single-1", "25", net="25"),
        bet("seat-2", "small", "70", net="70"), bet("seat-3", "small", "90", refused=True),
        bet("seat-4", "big", "60", refused=True), bet("seat-4", "small", "60", net="60"),
    ]  # fmt: skip
    played(table, NOON - 30 * MINUTE, "R-1", bets)
    played(table, NOON - 20 * MINUTE, "R-2", [bet("seat-1", "big", "50")], kinds=VOID)
    played(table, NOON - 10 * MINUTE, "R-3", [bet("seat-1", "big", "50")], kinds=UNFINISHED)
    found = figures(table, "dice-damaged")
    assert [(one["ref"], one["status"]) for one in found["rounds"]] == [
        ("R-1", "settled"), ("R-2", "void"), ("R-3", "unfinished"),
    ]  # fmt: skip
    assert refunds(found) == {"seat-1": (1, "75.05"), "seat-2": (1, "-70.00"), "seat-4": (1, "-60.00")}
    assert (found["player_count"], found["total"]) == (3, "-54.95")


def test_5_6_a_set_takes_its_rounds_with_it_to_another_table(house: House, table: Table, clock: Any) -> None:
    moved = dice(table)
    played(table, NOON - 60 * MINUTE, "R-1")
    clock.move_to(NOON - 30 * MINUTE)
    boss = house["shift-manager"]
    dice_remove(actor=boss, table=table, reason="To the next table")
    second = bare_table(house, "TS-02")
    dice_fit(actor=boss, dice_set=moved, table=second, reason="From the first")
    clock.move_to(NOON)
    played(second, NOON - 10 * MINUTE, "R-2")
    found = figures(second, "dice-damaged")
    assert [(one["ref"], one["table"]) for one in found["rounds"]] == [("R-1", "TS-01"), ("R-2", "TS-02")]
    assert refunds(found) == {"seat-1": (2, "-200.00")}


def test_5_6_dice_that_were_taken_out_are_the_last_ones_of_the_table(house: House, table: Table, clock: Any) -> None:
    played(table, NOON - 10 * MINUTE, "R-1")
    clock.move_to(NOON - MINUTE)
    dice_remove(actor=house["shift-manager"], table=table, reason="To be looked at")
    clock.move_to(NOON)
    assert figures(table, "dice-damaged")["count"] == 1
    assert figures(bare_table(house, "TS-02"), "dice-damaged") == {"explain": affected_rounds.NO_DICE_SET}


def test_5_6_long_lists_are_cut_and_their_counts_are_not(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(affected_rounds, "MOST", 2)
    for number in range(4):
        played(table, NOON - (10 - number) * MINUTE, f"R-{number}", [bet(f"seat-{number}", "small", "100", net="100")])
    found = figures(table, "dice-damaged")
    assert (len(found["rounds"]), len(found["players"])) == (2, 2)
    assert (found["count"], found["player_count"], found["total"]) == (4, 4, "-400.00")


# --- Which rulebook ---


def test_the_rulebook_in_force_at_that_moment_counts(house: House, table: Table, clock: Any) -> None:
    table_assign(
        actor=OPERATOR, table=table, pit=house.pits["P1"], rulebook="rws-tai-sai-open-cover-v5", layout="A",
        chip_unit="1.00", starts_at=NOON + HOUR, reason="Open cover from now on",
    )  # fmt: skip
    clock.move_to(NOON + 2 * HOUR)
    before = opened(house, table=table, situation="dice-exposed-early", occurred_from=NOON + HOUR - SECOND)
    after = opened(house, table=table, situation="dice-exposed-early", occurred_from=NOON + HOUR)
    assert [(one.rulebook, (one.advice or {})["action"]) for one in (before, after)] == [
        (V6, "void"), ("rws-tai-sai-open-cover-v5", "stand"),
    ]  # fmt: skip


def test_a_table_that_had_no_game_yet_has_no_advice(house: House, clock: Any) -> None:
    table = bare_table(house, starts_at=NOON + HOUR)
    clock.move_to(NOON + 2 * HOUR)
    incident = opened(house, table=table, situation="late-bet", occurred_from=NOON)
    assert (incident.rulebook, list(incident.advice or {})) == ("", ["explain"])


def test_the_advice_is_kept_as_it_was_given(house: House, table: Table) -> None:
    played(table, NOON - 10 * MINUTE, "R-1")
    incident = opened(house, table=table, situation="dice-damaged")
    played(table, NOON - 5 * MINUTE, "R-2")
    incident.refresh_from_db()
    assert (incident.advice or {})["figures"]["count"] == 1
    assert figures(table, "dice-damaged")["count"] == 2
