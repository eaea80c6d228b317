"""The RWS documents, rule by rule: events, interruptions and the order of play. Each test carries its rule."""

import datetime as dt

import pytest

from games.engine.advice import advise
from games.engine.dice import Throw, all_throws, completions, parse_known_dice
from games.engine.errors import InputError
from games.engine.irregularities import Event, Irregularity, assess, is_late
from games.engine.limits import Bet, Limits, Range
from games.engine.loader import rulebooks
from games.engine.outcome import outcome
from games.engine.round_states import can_step, take_step, verify_step
from games.engine.settlement import settle, settle_void

COVERED = rulebooks()["rws-tai-sai-v6"]
OPEN = rulebooks()["rws-tai-sai-open-cover-v5"]
START = dt.datetime(2026, 11, 15, 13, 7, tzinfo=dt.UTC)


def event(kind: str, second: int, **values: object) -> Event:
    return Event(kind, START + dt.timedelta(seconds=second), **values)  # type: ignore[arg-type]


PLACE, CLOSE = event("place-bets", 0), event("no-more-bets", 30)
TUMBLE = event("tumbler", 33, tumbles=3)
RESULT, SETTLED = event("result", 41, dice=Throw((1, 3, 6))), event("settled", 80)
WHOLE = [PLACE, CLOSE, TUMBLE, RESULT, SETTLED]


def found(*pairs: tuple[str | None, str]) -> tuple[Irregularity, ...]:
    return tuple(Irregularity(rule, action) for rule, action in pairs)


@pytest.mark.parametrize("book", [COVERED, OPEN], ids=lambda book: book.id)
def test_a_regular_round_has_no_irregularity_and_is_settled_by_its_dice(book) -> None:  # type: ignore[no-untyped-def]
    assessment = assess(book, WHOLE)
    assert (assessment.irregularities, assessment.is_void, assessment.is_finished) == ((), False, True)
    assert assessment.throw == Throw((1, 3, 6))


def test_1_3_the_differential_is_between_the_totals_of_the_two_boxes() -> None:
    limits = Limits({}, {"big-small": 800_00})
    bets = [Bet("1", "big", 500_00), Bet("2", "big", 400_00), Bet("3", "small", 50_00)]
    (breach,) = settle(COVERED, COVERED.layouts["A"], Throw((1, 2, 3)), bets, limits=limits).breaches
    assert (breach.kind, breach.boxes, breach.placed, breach.permitted) == (
        "differential",
        ("big", "small"),
        850_00,
        800_00,
    )


def test_1_8_the_total_is_that_of_the_three_dice() -> None:
    assert Throw((1, 3, 6)).total == 10


def test_1_9_a_void_round_has_no_result() -> None:
    settled = settle_void(COVERED, COVERED.layouts["A"], "5.5.1", [Bet("1", "big", 100)])
    assert (settled.throw, settled.winning) == (None, {})


def test_2_1_1_the_layouts_are_a_c_and_e() -> None:
    assert list(COVERED.layouts) == list(OPEN.layouts) == ["A", "C", "E"]


def test_2_2_1_three_dice_with_six_faces() -> None:
    assert len(list(all_throws())) == 216


def test_3_2_and_3_6_betting_opens_and_closes_once() -> None:
    assert take_step(COVERED, "new", "place-bets") == "open"
    assert take_step(COVERED, "open", "no-more-bets") == "closed"
    assert not can_step(COVERED, "closed", "place-bets")
    with pytest.raises(InputError, match=r"what may follow is .*tumbler \(rws-tai-sai-v6#3.7\)"):
        verify_step(COVERED, "closed", "place-bets")


def test_3_7_the_covered_tumbler_may_run_before_betting_closes_and_the_open_one_may_not() -> None:
    assert take_step(COVERED, take_step(COVERED, "open", "tumbler"), "no-more-bets") == "tumbled"
    assert not can_step(OPEN, "open", "tumbler")
    early = [PLACE, event("tumbler", 10, tumbles=3), CLOSE, RESULT, SETTLED]
    assert assess(COVERED, early).irregularities == ()
    assert assess(OPEN, early).irregularities == found(("5.5.3", "void"))


def test_3_8_a_result_amended_before_settlement_is_paid_by_the_dice() -> None:
    amended = assess(COVERED, [*WHOLE, event("result-amended", 60, dice=Throw((2, 3, 6)))])
    assert amended.irregularities == found(("3.8", "pay-by-dice"))
    assert amended.throw == Throw((2, 3, 6))


def test_3_9_play_ends_with_the_settlement() -> None:
    assert take_step(COVERED, "resulted", "settled") == "settled"
    assert not can_step(COVERED, "settled", "void")


def test_3_10_on_a_triple_only_the_named_bets_win() -> None:
    layout = COVERED.layouts["C"]
    winners = {layout.boxes[box].type for box in settle(COVERED, layout, Throw((3, 3, 3)), []).winning}
    assert winners == {"triple", "any-triple", "double", "single", "total"}


def test_5_2_1_a_bet_under_the_minimum_that_nobody_noticed_wins_or_loses() -> None:
    limits = Limits({"big-small": Range(50_00, None)})
    (settled,) = settle(COVERED, COVERED.layouts["A"], Throw((5, 5, 4)), [Bet("1", "big", 10_00)], limits=limits).bets
    assert (settled.net, settled.rules) == (10_00, ("4.1.1", "5.2.1"))


# --- 5.4: interruptions ---


@pytest.mark.parametrize("code", ["A", "C", "E"])
@pytest.mark.parametrize("known", ["1,?,?", "6,?,?", "?,3,?", "2,2,?", "4,?,1"])
def test_5_4_1_a_known_die_decides_at_least_one_box(code: str, known: str) -> None:
    assert outcome(COVERED.layouts[code], parse_known_dice(known)).is_established


@pytest.mark.parametrize("code", ["A", "C", "E"])
def test_5_4_2_without_a_known_die_nothing_is_decided(code: str) -> None:
    assert not outcome(COVERED.layouts[code], ()).is_established


def test_5_4_1_what_one_six_decides_on_layout_a() -> None:
    decided = outcome(COVERED.layouts["A"], (6,))
    assert decided.won == ("single-6",)
    assert set(decided.lost) == {
        "total-4",
        "total-5",
        "total-6",
        "total-7",
        *(f"triple-{face}" for face in range(1, 6)),
    }
    assert set(decided.open) == set(COVERED.layouts["A"].boxes) - set(decided.won) - set(decided.lost)


def test_5_4_1_every_throw_agrees_with_what_was_decided() -> None:
    layout = COVERED.layouts["E"]
    decided = outcome(layout, (2, 5))
    for throw in completions((2, 5)):
        assert set(decided.won) <= set(settle(COVERED, layout, throw, []).winning)
        assert not set(decided.lost) & set(settle(COVERED, layout, throw, []).winning)


def test_5_4_three_known_dice_decide_everything() -> None:
    assert outcome(COVERED.layouts["C"], (1, 3, 6)).open == ()


def test_5_4_1_an_interruption_with_a_known_die_lets_the_round_go_on() -> None:
    interrupted = event("interruption", 35, known=(2,))
    assert assess(COVERED, [*WHOLE, interrupted]).irregularities == found(("5.4.1", "conclude"))
    unfinished = assess(COVERED, [PLACE, CLOSE, TUMBLE, interrupted])
    assert unfinished.irregularities == found(("5.4.1", "conclude"), (None, "unfinished"))
    assert not unfinished.is_finished


def test_5_4_2_an_interruption_without_a_known_die_voids_whatever_was_recorded() -> None:
    voided = assess(COVERED, [*WHOLE, event("interruption", 35, known=())])
    assert (voided.is_void, voided.void_rules) == (True, ("5.4.2",))


# --- 5.5 and after ---


@pytest.mark.parametrize("tumbles", [1, 2])
def test_5_5_1_one_or_two_tumbles_void_and_a_later_valid_tumble_does_not_heal(tumbles: int) -> None:
    assessment = assess(COVERED, [*WHOLE, event("tumbler", 32, tumbles=tumbles)])
    assert assessment.irregularities == found(("5.5.1", "void"))
    assert assessment.is_void


def test_5_5_2_a_die_that_is_not_flat_voids() -> None:
    assert assess(OPEN, [*WHOLE, event("die-not-flat", 39)]).void_rules == ("5.5.2",)


def test_5_5_3_covered_dice_seen_before_the_call_void_and_later_they_may_be_seen() -> None:
    assert assess(COVERED, [*WHOLE, event("dice-exposed", 20)]).void_rules == ("5.5.3",)
    assert assess(COVERED, [*WHOLE, event("dice-exposed", 35)]).irregularities == ()
    assert assess(OPEN, [*WHOLE, event("dice-exposed", 20)]).irregularities == ()


def test_5_5_without_the_call_on_record_every_event_counts_as_before_it() -> None:
    assert assess(COVERED, [PLACE, event("dice-exposed", 20)]).void_rules == ("5.5.3",)


def test_5_5_a_void_by_the_general_rule_gives_way_to_the_exact_one_that_an_event_shows() -> None:
    general = event("void", 50, rule="5.5")
    assert assess(COVERED, [PLACE, CLOSE, general]).irregularities == found(("5.5", "void"))
    shown = [PLACE, CLOSE, event("die-not-flat", 39), general]
    assert assess(COVERED, shown).irregularities == found(("5.5.2", "void"))


def test_5_5_two_different_exact_rules_are_both_listed() -> None:
    assessment = assess(COVERED, [PLACE, CLOSE, event("die-not-flat", 39), event("void", 50, rule="5.5.1")])
    assert assessment.irregularities == found(("5.5.2", "void"), ("5.5.1", "void"))
    assert assessment.void_rules == ("5.5.2", "5.5.1")


def test_5_6_damaged_dice_void_all_that_they_affected() -> None:
    assert assess(COVERED, [PLACE, event("void", 50, rule="5.6")]).irregularities == found(("5.6", "void-affected"))


def test_5_7_a_bet_after_the_call_is_late_and_one_at_its_very_moment_is_not() -> None:
    assert not is_late(WHOLE, CLOSE.at)
    assert is_late(WHOLE, CLOSE.at + dt.timedelta(microseconds=1))
    assert not is_late([PLACE], CLOSE.at + dt.timedelta(hours=1))
    assert assess(COVERED, WHOLE, late_bets=["b1", "b2"]).irregularities == found(("5.7", "refuse"), ("5.7", "refuse"))


@pytest.mark.parametrize(
    ("situation", "action", "rule"),
    [
        ("player-left", "settle-as-placed", "5.3"),
        ("error-noticed-later", "later-rounds-stand", "5.8"),
        ("bet-misplaced", "settle-as-placed", "5.9"),
        ("lights-wrong", "pay-by-dice", "5.10"),
        ("display-wrong", "stand", "5.11"),
        ("house-placed-wrongly", "settle-as-placed", "5.13"),
        ("over-limit-noticed", "reject-excess", "5.1"),
        ("below-minimum-noticed", "advise-player", "5.2"),
    ],
)
def test_5_1_to_5_13_what_is_advised(situation: str, action: str, rule: str) -> None:
    assert (advise(COVERED, situation).action, advise(COVERED, situation).rules) == (action, (rule,))


def test_5_12_every_stake_of_a_void_round_goes_back() -> None:
    (settled,) = settle_void(COVERED, COVERED.layouts["C"], "5.5.2", [Bet("1", "odd", 100_00)]).bets
    assert (settled.net, settled.effective, settled.rules) == (0, 0, ("5.5.2", "5.12"))


def test_5_14_what_no_rule_covers_is_for_the_shift_manager() -> None:
    assert (advise(OPEN, "tumbler-fault").authority, advise(OPEN, "tumbler-fault").rules) == (
        "shift-manager",
        ("5.14",),
    )
    assert assess(OPEN, [*WHOLE, event("tumbler", 34, tumbles=0)]).irregularities == found(("5.14", "ruling"))
    for rule in ("ruling", "5.9"):
        assessment = assess(COVERED, [PLACE, event("void", 50, rule=rule)])
        assert assessment.irregularities == found(("5.14", "ruling"))
        assert assessment.void_rules == ("5.14",)


def test_5_14_a_result_amended_after_settlement_needs_a_ruling() -> None:
    amended = assess(COVERED, [*WHOLE, event("result-amended", 90, dice=Throw((2, 3, 6)))])
    assert amended.irregularities == found(("5.14", "ruling"))


def test_5_14_limits_that_need_a_ruling_count_only_in_a_round_that_stands() -> None:
    assert assess(COVERED, WHOLE, limits_need_ruling=True).irregularities == found(("5.14", "ruling"))
    unfinished = assess(COVERED, [PLACE, CLOSE], limits_need_ruling=True)
    assert unfinished.irregularities == found((None, "unfinished"))
    void = assess(COVERED, [PLACE, event("void", 50, rule="5.6")], limits_need_ruling=True)
    assert void.irregularities == found(("5.6", "void-affected"))


def test_events_are_read_in_order_of_time_and_equal_times_in_order_of_the_list() -> None:
    at_once = [PLACE, event("no-more-bets", 20), event("dice-exposed", 20), RESULT, SETTLED]
    assert assess(COVERED, list(reversed(WHOLE))).irregularities == ()
    assert assess(COVERED, at_once).irregularities == ()
    assert assess(COVERED, [PLACE, event("dice-exposed", 20), event("no-more-bets", 20)]).void_rules == ("5.5.3",)


def test_the_same_rule_and_action_is_listed_once_a_round() -> None:
    twice = [*WHOLE, event("die-not-flat", 39), event("die-not-flat", 40)]
    assert assess(COVERED, twice).irregularities == found(("5.5.2", "void"))
