"""Both RWS documents, sections 1 to 3, and what is watched while bets are open. Each test carries its rule."""

import datetime as dt
from typing import Any

import pytest

from games.engine.dice import Throw
from games.engine.errors import InputError
from games.engine.felt import draw
from games.engine.json_output import settle_document
from games.engine.play.irregularities import assess
from games.engine.play.live_play import OrderError, Play, PlayStep, following, is_open, take
from games.engine.play.order_of_play import can_step, take_step, verify_step
from games.engine.play.watch import BoxWatch, watch
from games.engine.rules.advice import advise
from games.engine.rules.loader import layout as layout_of
from games.engine.rules.rulebook import Rulebook
from games.engine.settlement import settle, settle_void
from games.engine.signs.limits import Bet, Limits, Range
from tests.games.rules.test_rws import BOTH, CLOSE, COVERED, OPEN, PLACE, RESULT, SETTLED, START, WHOLE, event, found


def played(book: Rulebook, *steps: tuple[str, dict[str, Any]]) -> Play:
    play = Play()
    for second, (kind, details) in enumerate(steps):
        play, refusal = take(book, play, PlayStep(kind, START + dt.timedelta(seconds=second), **details))
        assert refusal is None, (kind, details)
    return play


def bet(player: str, box: str, stake: int) -> tuple[str, dict[str, Any]]:
    return "bet", {"player": player, "box": box, "stake": stake}


def watched(
    book: Rulebook, limits: Limits, *bets: tuple[str, dict[str, Any]], layout: str = "A"
) -> dict[str, BoxWatch]:
    play = played(book, ("place-bets", {}), *bets)
    return {box.box: box for box in watch(book, book.layouts[layout], limits, play).boxes}


# --- 1: definitions ---


@BOTH
@pytest.mark.parametrize(("layout", "heavy", "light"), [("A", "big", "small"), ("C", "even", "odd")])
def test_1_3_the_differential_is_between_the_totals_of_the_two_boxes(
    book: Rulebook, layout: str, heavy: str, light: str
) -> None:
    limits = Limits({}, {book.layouts[layout].boxes[heavy].type: 800_00})
    bets = [Bet("1", heavy, 500_00), Bet("2", heavy, 400_00), Bet("3", light, 50_00)]
    (breach,) = settle(book, book.layouts[layout], Throw((1, 2, 3)), bets, limits=limits).breaches
    assert (breach.kind, breach.boxes) == ("differential", (heavy, light))
    assert (breach.placed, breach.permitted) == (850_00, 800_00)


@BOTH
def test_1_7_a_round_begins_with_the_call_and_ends_with_the_settlement(book: Rulebook) -> None:
    assert following(book, Play()) == ["place-bets"]
    assert assess(book, WHOLE).is_finished
    unsettled = assess(book, WHOLE[:-1])
    assert (unsettled.is_finished, unsettled.irregularities) == (False, found((None, "unfinished")))
    for step in ("place-bets", "tumbler", "result", "void"):
        assert not can_step(book, "settled", step), step


@BOTH
@pytest.mark.parametrize(("dice", "total"), [([1, 3, 6], 10), ([6, 6, 5], 17), ([1, 1, 2], 4)])
def test_1_8_the_total_is_that_of_the_three_dice(book: Rulebook, dice: list[int], total: int) -> None:
    bets = [{"player": "1", "box": f"total-{total}", "stake": "10"}]
    done = settle_document({"rulebook": book.id, "layout": "A", "dice": dice, "bets": bets})
    assert (done["total"], done["bets"][0]["result"]) == (total, "win")


@BOTH
def test_1_9_a_void_round_has_no_result(book: Rulebook) -> None:
    settled = settle_void(book, book.layouts["A"], "5.5.1", [Bet("1", "big", 100)])
    assert (settled.throw, settled.winning) == (None, {})
    assert assess(book, [*WHOLE, event("die-not-flat", 39)]).is_void


# --- 2: the layout and the dice ---


@BOTH
def test_2_1_1_only_the_layouts_of_appendices_a_c_and_e_are_played(book: Rulebook) -> None:
    for code, count in (("A", 50), ("C", 104), ("E", 107)):
        layout = layout_of(book, code)
        assert len(layout.boxes) == count
        assert f"Appendix {code}" in draw(book, layout)
    for code in ("B", "D", "F", "1", "2"):
        with pytest.raises(InputError, match=f"is not a layout of {book.id}; choose A, C or E"):
            layout_of(book, code)


@BOTH
@pytest.mark.parametrize("dice", [[1, 2], [1, 2, 3, 4], [0, 1, 2], [1, 2, 7]])
def test_2_2_1_a_round_has_three_dice_with_six_faces(book: Rulebook, dice: list[int]) -> None:
    bets = [{"player": "1", "box": "big", "stake": "10"}]
    with pytest.raises(InputError, match="dice"):
        settle_document({"rulebook": book.id, "layout": "A", "dice": dice, "bets": bets})


# --- 3: how to play ---


@BOTH
def test_3_2_no_bet_is_placed_before_the_call(book: Rulebook) -> None:
    with pytest.raises(OrderError):
        take(book, Play(), PlayStep("bet", START, **bet("1", "big", 100_00)[1]))
    play = played(book, ("place-bets", {}), bet("1", "big", 100_00))
    assert is_open(book, play)
    assert [(bet.player, bet.stake) for bet in play.bets()] == [("1", 100_00)]


@BOTH
def test_3_4_a_bet_outside_the_limits_is_found_whatever_limit_it_breaks(book: Rulebook) -> None:
    limits = Limits({"big-small": Range(50_00, 1000_00), "single": Range(20_00, None)}, {"big-small": 800_00})
    bets = [Bet("1", "big", 1200_00), Bet("2", "small", 100_00), Bet("3", "single-1", 10_00)]
    breaches = settle(book, book.layouts["A"], Throw((1, 2, 3)), bets, limits=limits).breaches
    assert [(breach.kind, breach.boxes) for breach in breaches] == [
        ("box-maximum", ("big",)), ("differential", ("big", "small")), ("below-minimum", ("single-1",)),
    ]  # fmt: skip
    within = [Bet("1", "big", 900_00), Bet("2", "small", 100_00), Bet("3", "single-1", 20_00)]
    assert settle(book, book.layouts["A"], Throw((1, 2, 3)), within, limits=limits).breaches == ()


@BOTH
def test_3_5_the_balance_of_a_box_is_open_to_other_players(book: Rulebook) -> None:
    limits = Limits({"big-small": Range(None, 3000_00)}, {"big-small": 2000_00})
    boxes = watched(book, limits, bet("1", "big", 1500_00))
    assert (boxes["big"].room, boxes["small"].room) == (500_00, 3000_00)
    boxes = watched(book, limits, bet("1", "big", 1500_00), bet("2", "big", 500_00), bet("3", "small", 3000_00))
    assert (boxes["big"].room, boxes["small"].room) == (1000_00, 0)


@BOTH
def test_3_6_no_bet_is_placed_after_the_call(book: Rulebook) -> None:
    play = played(book, ("place-bets", {}), bet("1", "big", 100_00), ("no-more-bets", {}))
    assert not is_open(book, play)
    after, refusal = take(book, play, PlayStep("bet", START + dt.timedelta(seconds=40), **bet("2", "small", 100_00)[1]))
    assert refusal
    assert [bet.player for bet in after.bets()] == ["1"]
    assert not can_step(book, "closed", "place-bets")
    with pytest.raises(InputError, match=rf"the next step may be .*tumbler \({book.id}#3.7\)"):
        verify_step(book, "closed", "place-bets")


def test_3_7_the_covered_tumbler_may_run_before_betting_closes() -> None:
    assert take_step(COVERED, take_step(COVERED, "open", "tumbler"), "no-more-bets") == "tumbled"
    early = [PLACE, event("tumbler", 10, tumbles=3), CLOSE, RESULT, SETTLED]
    assert assess(COVERED, early).irregularities == ()


def test_3_7_the_open_tumbler_runs_after_betting_closed() -> None:
    assert not can_step(OPEN, "open", "tumbler")
    assert take_step(OPEN, take_step(OPEN, "open", "no-more-bets"), "tumbler") == "tumbled"
    assert assess(OPEN, WHOLE).irregularities == ()
    exposed = [*WHOLE, event("dice-exposed", 20)]
    assert assess(OPEN, exposed).irregularities == ()  # its dice are seen all the time
    advice = advise(OPEN, "dice-exposed-early")
    assert (advice.action, advice.rules) == ("stand", ("3.7",))


@BOTH
@pytest.mark.parametrize(("tumbles", "is_void"), [(1, True), (2, True), (3, False), (7, False)])
def test_3_7_three_tumbles_make_a_valid_one(book: Rulebook, tumbles: int, is_void: bool) -> None:
    assert assess(book, [PLACE, CLOSE, event("tumbler", 33, tumbles=tumbles), RESULT, SETTLED]).is_void is is_void


# --- 5.1 and 5.2, as long as it is noticed in time ---


@BOTH
def test_5_1_the_chips_placed_last_go_back_while_bets_are_open(book: Rulebook) -> None:
    limits = Limits({"big-small": Range(50_00, 1000_00)})
    boxes = watched(book, limits, bet("1", "big", 700_00), bet("2", "big", 400_00), bet("3", "big", 100_00))
    assert boxes["big"].excess == (("3", 100_00), ("2", 100_00))
    apart = Limits({}, {"big-small": 800_00})
    assert watched(book, apart, bet("1", "small", 900_00))["small"].excess == (("1", 100_00),)
    advice = advise(book, "over-limit-noticed")
    assert (advice.action, advice.rules) == ("reject-excess", ("5.1",))


@BOTH
def test_5_2_a_bet_under_the_minimum_is_pointed_out_and_may_be_raised_or_taken_back(book: Rulebook) -> None:
    limits = Limits({"single": Range(25_00, None)})
    short = bet("1", "single-3", 10_00)
    assert watched(book, limits, short)["single-3"].short == (("1", 10_00),)
    more = ("increase", {"player": "1", "box": "single-3", "stake": 15_00})
    assert watched(book, limits, short, more)["single-3"].short == ()
    back = ("withdraw", {"player": "1", "box": "single-3"})
    assert watched(book, limits, short, back)["single-3"].total == 0
    advice = advise(book, "below-minimum-noticed")
    assert (advice.action, advice.rules) == ("advise-player", ("5.2",))
