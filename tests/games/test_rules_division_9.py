"""Division 9, rule by rule. Each test carries its rule."""

import pytest

from games.engine.advice import advise
from games.engine.dice import Throw
from games.engine.irregularities import assess
from games.engine.limits import Bet, Limits, Range
from games.engine.loader import rulebooks
from games.engine.round_states import can_step, take_step
from games.engine.settlement import settle, settle_void
from tests.games.test_rules_rws import CLOSE, PLACE, RESULT, SETTLED, WHOLE, event, found

BOOK = rulebooks()["division-9-2008"]
SPUN_FIRST = [event("tumbler", -10, tumbles=3), PLACE, CLOSE, RESULT, SETTLED]


def test_4_1_and_4_10_a_win_cites_its_wager_and_the_odds() -> None:
    layout = BOOK.layouts["2"]
    bets = [Bet("1", "small", 100), Bet("1", "pair-112", 100), Bet("1", "odd", 100)]
    small, pair, odd = settle(BOOK, layout, Throw((1, 2, 1)), bets).bets
    assert (small.rules, pair.rules, odd.rules) == (("4.1(a)", "4.10"), ("4.1(i)", "4.10"), ("4.1(k)",))
    assert (small.net, pair.net, odd.net) == (100, 6000, -100)


def test_4_1_d_a_triple_wins_a_double_once_only() -> None:
    (double,) = settle(BOOK, BOOK.layouts["1"], Throw((4, 4, 4)), [Bet("1", "double-4", 100)]).bets
    assert (double.net, double.rules) == (1100, ("4.1(d)", "4.10"))


def test_4_1_i_two_five_and_six_is_one_of_the_combinations() -> None:
    assert "three-256" in BOOK.layouts["2"].boxes


def test_4_6_and_4_9_where_chips_lie() -> None:
    assert advise(BOOK, "bet-misplaced").rules == ("4.6",)
    moved = advise(BOOK, "chips-moved")
    assert (moved.action, moved.rules, moved.authority) == ("discretion", ("4.9",), "casino-operator")


def test_4_7_a_late_bet_is_refused() -> None:
    assert assess(BOOK, SPUN_FIRST, late_bets=["b1"]).irregularities == found(("4.7", "refuse"))


def test_5_0_the_checks_before_a_table_opens() -> None:
    assert [check.rules for check in BOOK.opening_checks] == [("5.0(a)",), ("5.0(b)",), ("5.0(c)",), ("5.0(d)",)]


def test_6_1_the_tumbler_runs_before_betting_opens() -> None:
    assert take_step(BOOK, take_step(BOOK, "new", "tumbler"), "place-bets") == "open"
    assert not can_step(BOOK, "new", "place-bets")
    assert assess(BOOK, SPUN_FIRST).irregularities == ()


def test_6_2_to_6_5_betting_closes_the_result_follows_and_then_the_settlement() -> None:
    state = "open"
    for step in ("no-more-bets", "result", "settled"):
        state = take_step(BOOK, state, step)
    assert state == "settled"


@pytest.mark.parametrize(
    ("faces", "call"),
    [((6, 3, 1), "1, 3, 6, total 10"), ((3, 4, 3), "double 3, 4, total 10"), ((5, 5, 5), "triple 5, total 15")],
)
def test_6_3_the_result_is_called_from_the_lowest_face_up(faces: tuple[int, int, int], call: str) -> None:
    assert Throw(faces).call() == call
    assert [one.name for one in BOOK.announcements] == ["place-bets", "no-more-bets", "result", "void"]


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
    assert assess(BOOK, [*SPUN_FIRST, shown]).irregularities == found((rule, "void"))
    general = event("void", 50, rule="7.1")
    assert assess(BOOK, [*SPUN_FIRST, shown, general]).void_rules == (rule,)


def test_7_2_a_wrong_entry_is_amended_before_settling_and_a_ruling_after() -> None:
    before, after = (event("result-amended", second, dice=Throw((2, 2, 2))) for second in (60, 90))
    assert assess(BOOK, [*SPUN_FIRST, before]).irregularities == found(("7.2", "amend"))
    assert assess(BOOK, [*SPUN_FIRST, after]).irregularities == found((None, "ruling"))
    assert advise(BOOK, "wrong-result-entered", {"settled": "no"}).authority == "pit-supervisor"


def test_7_3_7_4_and_7_5_broken_equipment() -> None:
    assert advise(BOOK, "lights-wrong").rules == ("7.3", "7.4")
    assert advise(BOOK, "display-wrong").rules == ("7.5", "7.4")


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
