"""The RWS documents, rule by rule: events, interruptions and the order of play. Each test carries its rule."""

import datetime as dt

import pytest

from games.engine.dice import Throw, completions, parse_known_dice
from games.engine.play.findings import RecordedBet, bet_irregularities
from games.engine.play.interrupted_outcome import outcome
from games.engine.play.irregularities import Event, Irregularity, assess, is_late
from games.engine.rules.advice import advise
from games.engine.rules.loader import rulebooks
from games.engine.rules.rulebook import Rulebook
from games.engine.settlement import settle

COVERED = rulebooks()["rws-tai-sai-v6"]
OPEN = rulebooks()["rws-tai-sai-open-cover-v5"]
BOTH = pytest.mark.parametrize("book", [COVERED, OPEN], ids=lambda book: book.id)
START = dt.datetime(2026, 11, 15, 13, 7, tzinfo=dt.UTC)


def event(kind: str, second: int, **values: object) -> Event:
    return Event(kind, START + dt.timedelta(seconds=second), **values)  # type: ignore[arg-type]


PLACE, CLOSE = event("place-bets", 0), event("no-more-bets", 30)
TUMBLE = event("tumbler", 33, tumbles=3)
RESULT, SETTLED = event("result", 41, dice=Throw((1, 3, 6))), event("settled", 80)
WHOLE = [PLACE, CLOSE, TUMBLE, RESULT, SETTLED]


def found(*pairs: tuple[str | None, str]) -> tuple[Irregularity, ...]:
    return tuple(Irregularity(rule, action) for rule, action in pairs)


@BOTH
def test_a_regular_round_has_no_irregularity_and_is_settled_by_its_dice(book: Rulebook) -> None:
    assessment = assess(book, WHOLE)
    assert (assessment.irregularities, assessment.is_void, assessment.is_finished) == ((), False, True)
    assert assessment.throw == Throw((1, 3, 6))


@BOTH
def test_3_8_a_result_amended_before_settlement_is_paid_by_the_dice(book: Rulebook) -> None:
    amended = assess(book, [*WHOLE, event("result-amended", 60, dice=Throw((2, 3, 6)))])
    assert amended.irregularities == found(("3.8", "pay-by-dice"))
    assert amended.throw == Throw((2, 3, 6))


# --- 5.4: interruptions ---


@pytest.mark.parametrize("code", ["A", "C", "E"])
@pytest.mark.parametrize("known", ["1,?,?", "6,?,?", "?,3,?", "2,2,?", "4,?,1"])
@BOTH
def test_5_4_1_a_known_die_decides_at_least_one_box(book: Rulebook, code: str, known: str) -> None:
    assert outcome(book.layouts[code], parse_known_dice(known)).is_established


@pytest.mark.parametrize("code", ["A", "C", "E"])
@BOTH
def test_5_4_2_without_a_known_die_nothing_is_decided(book: Rulebook, code: str) -> None:
    assert not outcome(book.layouts[code], ()).is_established


@BOTH
def test_5_4_1_what_one_six_decides_on_layout_a(book: Rulebook) -> None:
    decided = outcome(book.layouts["A"], (6,))
    assert decided.won == ("single-6",)
    assert set(decided.lost) == {
        "total-4",
        "total-5",
        "total-6",
        "total-7",
        *(f"triple-{face}" for face in range(1, 6)),
    }
    assert set(decided.open) == set(book.layouts["A"].boxes) - set(decided.won) - set(decided.lost)


@BOTH
def test_5_4_1_every_throw_agrees_with_what_was_decided(book: Rulebook) -> None:
    layout = book.layouts["E"]
    decided = outcome(layout, (2, 5))
    for throw in completions((2, 5)):
        assert set(decided.won) <= set(settle(book, layout, throw, []).winning)
        assert not set(decided.lost) & set(settle(book, layout, throw, []).winning)


@BOTH
def test_5_4_three_known_dice_decide_everything(book: Rulebook) -> None:
    assert outcome(book.layouts["C"], (1, 3, 6)).open == ()
    interrupted = assess(book, [PLACE, CLOSE, TUMBLE, event("interruption", 35, known=(1, 3, 6)), SETTLED])
    assert (interrupted.irregularities, interrupted.is_void) == (found(("5.4.1", "conclude")), False)
    assert (interrupted.throw, interrupted.is_finished) == (Throw((1, 3, 6)), True)


@BOTH
def test_5_4_1_an_interruption_with_a_known_die_lets_the_round_go_on(book: Rulebook) -> None:
    interrupted = event("interruption", 35, known=(2,))
    assert assess(book, [*WHOLE, interrupted]).irregularities == found(("5.4.1", "conclude"))
    unfinished = assess(book, [PLACE, CLOSE, TUMBLE, interrupted])
    assert unfinished.irregularities == found(("5.4.1", "conclude"), (None, "unfinished"))
    assert not unfinished.is_finished


@BOTH
def test_5_4_2_an_interruption_without_a_known_die_voids_whatever_was_recorded(book: Rulebook) -> None:
    voided = assess(book, [*WHOLE, event("interruption", 35, known=())])
    assert (voided.is_void, voided.void_rules) == (True, ("5.4.2",))


# --- 5.5 and after ---


@pytest.mark.parametrize("tumbles", [1, 2])
@BOTH
def test_5_5_1_one_or_two_tumbles_void_and_a_later_valid_tumble_does_not_heal(book: Rulebook, tumbles: int) -> None:
    assessment = assess(book, [*WHOLE, event("tumbler", 32, tumbles=tumbles)])
    assert assessment.irregularities == found(("5.5.1", "void"))
    assert assessment.is_void


@BOTH
def test_5_5_2_a_die_that_is_not_flat_voids(book: Rulebook) -> None:
    assert assess(book, [*WHOLE, event("die-not-flat", 39)]).void_rules == ("5.5.2",)


def test_5_5_3_covered_dice_seen_before_the_call_void_and_later_they_may_be_seen() -> None:
    assert assess(COVERED, [*WHOLE, event("dice-exposed", 20)]).void_rules == ("5.5.3",)
    assert assess(COVERED, [*WHOLE, event("dice-exposed", 35)]).irregularities == ()
    assert assess(OPEN, [*WHOLE, event("dice-exposed", 20)]).irregularities == ()


def test_5_5_3_an_open_tumbler_that_runs_before_the_call_voids_and_after_it_is_regular() -> None:
    early = [PLACE, event("tumbler", 10, tumbles=3), CLOSE, RESULT, SETTLED]
    assert assess(OPEN, early).void_rules == ("5.5.3",)
    assert assess(OPEN, WHOLE).irregularities == ()
    assert not assess(COVERED, early).is_void


def test_5_5_without_the_call_on_record_every_event_counts_as_before_it() -> None:
    assert assess(COVERED, [PLACE, event("dice-exposed", 20)]).void_rules == ("5.5.3",)


@BOTH
def test_5_5_a_void_by_the_general_rule_gives_way_to_the_exact_one_that_an_event_shows(book: Rulebook) -> None:
    general = event("void", 50, rule="5.5")
    assert assess(book, [PLACE, CLOSE, general]).irregularities == found(("5.5", "void"))
    shown = [PLACE, CLOSE, event("die-not-flat", 39), general]
    assert assess(book, shown).irregularities == found(("5.5.2", "void"))


@BOTH
def test_5_5_two_different_exact_rules_are_both_listed(book: Rulebook) -> None:
    assessment = assess(book, [PLACE, CLOSE, event("die-not-flat", 39), event("void", 50, rule="5.5.1")])
    assert assessment.irregularities == found(("5.5.2", "void"), ("5.5.1", "void"))
    assert assessment.void_rules == ("5.5.2", "5.5.1")


@BOTH
def test_5_6_damaged_dice_void_all_that_they_affected(book: Rulebook) -> None:
    assert assess(book, [PLACE, event("void", 50, rule="5.6")]).irregularities == found(("5.6", "void-affected"))


@BOTH
def test_5_7_a_bet_after_the_call_is_late_and_one_at_its_very_moment_is_not(book: Rulebook) -> None:
    assert not is_late(WHOLE, CLOSE.at)
    assert is_late(WHOLE, CLOSE.at + dt.timedelta(microseconds=1))
    assert not is_late([PLACE], CLOSE.at + dt.timedelta(hours=1))
    bets = [RecordedBet(f"seat-{number}", "big", 100, 0, is_late=number > 1) for number in (1, 2, 3)]
    late = assess(book, WHOLE, bet_irregularities(book, bets)).irregularities
    assert [(one.rule, one.action, one.position) for one in late] == [("5.7", "refuse", 1), ("5.7", "refuse", 2)]


@BOTH
@pytest.mark.parametrize("rule", ["ruling", "5.9"])
def test_5_14_a_void_that_no_rule_asks_for_is_for_the_shift_manager(book: Rulebook, rule: str) -> None:
    assessment = assess(book, [PLACE, event("void", 50, rule=rule)])
    assert [(irregularity.rule, irregularity.action) for irregularity in assessment.irregularities] == [
        ("5.14", "ruling")
    ]
    assert assessment.void_rules == ("5.14",)


@BOTH
@pytest.mark.parametrize("situation", ["tumbler-fault", "tumbler-not-activated", "other"])
def test_5_14_a_what_no_rule_covers_is_for_the_shift_manager(book: Rulebook, situation: str) -> None:
    advice = advise(book, situation)
    assert (advice.action, advice.authority, advice.rules) == ("ruling", "shift-manager", ("5.14",))


@BOTH
def test_5_14_a_a_tumbler_that_was_never_started_needs_a_ruling(book: Rulebook) -> None:
    assert assess(book, [PLACE, CLOSE, event("tumbler", 34, tumbles=0), RESULT, SETTLED]).irregularities == found(
        ("5.14", "ruling")
    )


@BOTH
def test_5_14_a_result_amended_after_settlement_needs_a_ruling(book: Rulebook) -> None:
    amended = assess(book, [*WHOLE, event("result-amended", 90, dice=Throw((2, 3, 6)))])
    assert amended.irregularities == found(("5.14", "ruling"))


@BOTH
def test_5_14_limits_that_need_a_ruling_count_only_in_a_round_that_stands(book: Rulebook) -> None:
    assert assess(book, WHOLE, limits_need_ruling=True).irregularities == found(("5.14", "ruling"))
    unfinished = assess(book, [PLACE, CLOSE], limits_need_ruling=True)
    assert unfinished.irregularities == found((None, "unfinished"))
    void = assess(book, [PLACE, event("void", 50, rule="5.6")], limits_need_ruling=True)
    assert void.irregularities == found(("5.6", "void-affected"))


def test_events_are_read_in_order_of_time_and_equal_times_in_order_of_the_list() -> None:
    at_once = [PLACE, event("no-more-bets", 20), event("dice-exposed", 20), RESULT, SETTLED]
    assert assess(COVERED, list(reversed(WHOLE))).irregularities == ()
    assert assess(COVERED, at_once).irregularities == ()
    assert assess(COVERED, [PLACE, event("dice-exposed", 20), event("no-more-bets", 20)]).void_rules == ("5.5.3",)


def test_the_same_rule_and_action_is_listed_once_a_round() -> None:
    twice = [*WHOLE, event("die-not-flat", 39), event("die-not-flat", 40)]
    assert assess(COVERED, twice).irregularities == found(("5.5.2", "void"))


@pytest.mark.parametrize("book", [COVERED, OPEN], ids=lambda book: book.id)
@pytest.mark.parametrize(
    ("with_chips", "in_time", "wanted"),
    [
        ("yes", "yes", ("accept", "5.13")), ("yes", "no", ("refuse", "5.7")), ("no", "no", ("refuse", "5.7")),
        ("no", "yes", ("ruling", "5.14")),
    ],
)  # fmt: skip
def test_5_13_5_7_a_bet_that_is_called_out(
    book: Rulebook, with_chips: str, in_time: str, wanted: tuple[str, str]
) -> None:
    said = advise(book, "oral-wager", {"with_chips": with_chips, "in_time": in_time})
    assert (said.action, *said.rules) == wanted


@pytest.mark.parametrize("book", [COVERED, OPEN], ids=lambda book: book.id)
def test_5_14_chips_on_a_line_need_a_ruling(book: Rulebook) -> None:
    said = advise(book, "line-touching")
    assert (said.action, said.rules, said.authority) == ("ruling", ("5.14",), "shift-manager")
