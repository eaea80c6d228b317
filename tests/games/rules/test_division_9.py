"""Division 9, rule by rule. Each test carries its rule."""

import pytest

from games.engine.dice import Throw
from games.engine.errors import InputError
from games.engine.json_output import settle_document
from games.engine.play.irregularities import assess
from games.engine.play.live_play import OrderError, Play, PlayStep, is_open, take
from games.engine.play.order_of_play import can_step, take_step
from games.engine.rules.advice import advise
from games.engine.rules.loader import rulebooks
from games.engine.settlement import settle, settle_void
from games.engine.signs.limits import Bet, Limits, Range
from tests.games.rules.test_rws import CLOSE, PLACE, RESULT, SETTLED, START, WHOLE, event, found

BOOK = rulebooks()["division-9-2008"]
SPUN_FIRST = [event("tumbler", -10, tumbles=3), PLACE, CLOSE, RESULT, SETTLED]


def played(*kinds: str) -> Play:
    """A round in play after these steps, with a bet of 100 on big once bets are open."""
    play = Play()
    for kind in kinds:
        play, _ = take(BOOK, play, PlayStep(kind, START, details={"tumbles": 3} if kind == "tumbler" else {}))
        if kind == "place-bets":
            play, _ = take(BOOK, play, PlayStep("bet", START, player="1", box="big", stake=100))
    return play


@pytest.mark.parametrize("kind", ["bet", "increase"])
def test_4_7_a_wager_after_the_call_is_refused_and_changes_nothing(kind: str) -> None:
    before = played("tumbler", "place-bets", "no-more-bets")
    player = "1" if kind == "increase" else "2"
    after, refusal = take(BOOK, before, PlayStep(kind, START, player=player, box="big", stake=100))
    assert refusal is not None
    assert refusal.rules == ("division-9-2008#4.7",)
    assert [(bet.player, bet.stake) for bet in after.bets()] == [("1", 100)]


def test_6_1_the_tumbler_runs_before_betting_opens() -> None:
    assert take_step(BOOK, take_step(BOOK, "new", "tumbler"), "place-bets") == "open"
    assert not can_step(BOOK, "new", "place-bets")
    assert assess(BOOK, SPUN_FIRST).irregularities == ()


def test_6_2_the_call_closes_betting_and_without_it_there_is_no_result() -> None:
    betting = played("tumbler", "place-bets")
    with pytest.raises(OrderError, match=r"the next step may be no-more-bets \(division-9-2008#6\.2\)"):
        take(BOOK, betting, PlayStep("result", START, details={"dice": [1, 3, 6]}))
    closed = played("tumbler", "place-bets", "no-more-bets")
    assert (is_open(BOOK, betting), is_open(BOOK, closed)) == (True, False)
    assert take(BOOK, closed, PlayStep("result", START, details={"dice": [1, 3, 6]}))[0].state == "resulted"


@pytest.mark.parametrize("dice", [[1, 2], [1, 2, 3, 4], [0, 1, 2], [1, 2, 7]])
def test_6_4_a_result_has_the_three_numbers_that_were_entered(dice: list[int]) -> None:
    done = settle_document({"rulebook": BOOK.id, "layout": "1", "dice": [6, 3, 1], "bets": []})
    assert (done["dice"], done["total"]) == ([6, 3, 1], 10)
    with pytest.raises(InputError, match="dice"):
        settle_document({"rulebook": BOOK.id, "layout": "1", "dice": dice, "bets": []})


def test_6_5_the_settlement_follows_the_result() -> None:
    assert not can_step(BOOK, "closed", "settled")
    assert take_step(BOOK, take_step(BOOK, "closed", "result"), "settled") == "settled"


def test_6_5_a_losing_wagers_are_collected() -> None:
    (lost,) = settle(BOOK, BOOK.layouts["1"], Throw((1, 3, 6)), [Bet("1", "big", 100)]).bets
    assert (lost.result, lost.net) == ("lose", -100)


def test_6_5_b_winning_wagers_are_paid() -> None:
    (won,) = settle(BOOK, BOOK.layouts["1"], Throw((1, 3, 6)), [Bet("1", "small", 100)]).bets
    assert (won.result, won.net) == ("win", 100)


def test_1_0_the_total_is_that_of_the_three_uppermost_faces() -> None:
    bets = [{"player": "1", "box": "total-10", "stake": "10"}]
    done = settle_document({"rulebook": BOOK.id, "layout": "1", "dice": [6, 1, 3], "bets": bets})
    assert (done["total"], done["bets"][0]["net"]) == (10, "60.00")


def test_4_9_chips_that_were_moved_are_for_the_operators_discretion() -> None:
    moved = advise(BOOK, "chips-moved")
    assert (moved.action, moved.rules, moved.authority) == ("discretion", ("4.9",), "casino-operator")


def test_7_4_a_malfunction_of_the_equipment_stops_play() -> None:
    for situation in ("lights-wrong", "display-wrong"):
        advice = advise(BOOK, situation)
        assert advice.action.endswith("-and-suspend")
        assert "7.4" in advice.rules


@pytest.mark.parametrize(
    ("shown", "rule"),
    [
        (event("die-not-flat", 39), "7.1(a)"),
        (event("tumbler", -5, tumbles=2), "7.1(b)"),
        (event("dice-exposed", 20), "7.1(c)"),
        (event("tumbler", -5, tumbles=0), "7.1(d)"),
    ],
)
def test_7_1_what_makes_a_spin_void(shown, rule: str) -> None:  # type: ignore[no-untyped-def]
    assert assess(BOOK, SPUN_FIRST).irregularities == ()
    assert assess(BOOK, [*SPUN_FIRST, shown]).irregularities == found((rule, "void"))
    general = event("void", 50, rule="7.1")
    assert assess(BOOK, [*SPUN_FIRST, shown, general]).void_rules == (rule,)


def test_7_2_a_wrong_entry_is_amended_before_settling_and_a_ruling_after() -> None:
    before, after = (event("result-amended", second, dice=Throw((2, 2, 2))) for second in (60, 90))
    assert assess(BOOK, [*SPUN_FIRST, before]).irregularities == found(("7.2", "amend"))
    assert assess(BOOK, [*SPUN_FIRST, after]).irregularities == found((None, "ruling"))
    assert advise(BOOK, "wrong-result-entered", {"settled": "no"}).authority == "pit-supervisor"


def test_2_0_what_division_1_would_say_is_unspecified_and_cites_nothing() -> None:
    other = advise(BOOK, "other")
    assert (other.action, other.rules, other.authority) == ("ruling", (), "unspecified")
    assert "shift manager" in other.explain
    assert assess(BOOK, [*WHOLE, event("interruption", 35, known=())]).irregularities == found((None, "ruling"))
    assert not assess(BOOK, [*WHOLE, event("interruption", 35, known=())]).is_void


def test_a_void_spin_cites_its_rule_alone() -> None:
    (settled,) = settle_void(BOOK, BOOK.layouts["1"], "7.1(a)", [Bet("1", "big", 100)]).bets
    assert settled.rules == ("7.1(a)",)
    (by_ruling,) = settle_void(BOOK, BOOK.layouts["1"], "ruling", [Bet("1", "big", 100)]).bets
    assert by_ruling.rules == ()


def test_without_a_rule_on_limits_bets_are_settled_in_full_and_flagged() -> None:
    limits = Limits({"big-small": Range(None, 100_00)})
    settlement = settle(BOOK, BOOK.layouts["1"], Throw((5, 5, 4)), [Bet("1", "big", 300_00)], limits=limits)
    assert settlement.bets[0].net == 300_00
    assert [breach.kind for breach in settlement.breaches] == ["box-maximum"]
    assert settlement.needs_ruling == ()


def test_4_5_a_wager_that_is_called_out_needs_chips_and_time() -> None:
    for with_chips, in_time, action in (
        ("yes", "yes", "accept"), ("no", "yes", "refuse"), ("yes", "no", "refuse"), ("no", "no", "refuse"),
    ):  # fmt: skip
        said = advise(BOOK, "oral-wager", {"with_chips": with_chips, "in_time": in_time})
        assert (said.action, said.rules, said.authority) == (action, ("4.5",), "rule")
    with pytest.raises(InputError, match="in_time: oral-wager needs this fact; give it, such as in_time=yes"):
        advise(BOOK, "oral-wager", {"with_chips": "yes"})
    with pytest.raises(InputError, match="in_time: 'soon' is neither yes nor no"):
        advise(BOOK, "oral-wager", {"with_chips": "yes", "in_time": "soon"})


def test_4_3_a_wager_on_the_line_is_left_to_the_casino_operator() -> None:
    said = advise(BOOK, "line-touching")
    assert (said.action, said.rules, said.authority) == ("discretion", ("4.3",), "casino-operator")
