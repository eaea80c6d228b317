"""Which of our readings decide a finding."""

import datetime as dt
from typing import Any

import pytest

from games.engine.dice import Throw
from games.engine.play.findings import RecordedBet, RecordedRound
from games.engine.play.irregularities import Event
from games.engine.rules.applied_readings import Matter, applied_readings
from games.engine.rules.loader import rulebook
from games.engine.signs.limits import Limits, Range
from tests.games.engine.oracle import DIVISION_9, OPEN_COVER, V6

NOON = dt.datetime(2026, 11, 15, 12, tzinfo=dt.UTC)
Step = tuple[str, dict[str, Any]]
PLACE: Step = ("place-bets", {})
CLOSE: Step = ("no-more-bets", {})
TUMBLE: Step = ("tumbler", {"tumbles": 3})
RESULT: Step = ("result", {"dice": Throw((1, 3, 6))})
SETTLED: Step = ("settled", {})
ORDINARY = (PLACE, CLOSE, TUMBLE, RESULT, SETTLED)
BET = RecordedBet("seat-1", "small", 10_000, 10_000)


FIRST_BET = Matter("discrepancy", "overpaid", position=0)


def names(
    *events: Step, book: str = V6, bets: tuple[RecordedBet, ...] = (BET,), limits: Limits | None = None,
    matter: Matter = FIRST_BET, layout: str = "",
) -> list[str]:  # fmt: skip
    rules = rulebook(book)
    felt = rules.layouts[layout] if layout else next(iter(rules.layouts.values()))
    on_record = [
        Event(kind, NOON + place * dt.timedelta(seconds=1), **more) for place, (kind, more) in enumerate(events)
    ]
    recorded = RecordedRound(rules, felt, limits or Limits(), on_record, bets)
    return sorted(applied_reading.name for applied_reading in applied_readings(recorded, matter))


def irregular(action: str, rule: str | None = None, position: int | None = None) -> Matter:
    return Matter("irregularity", action, rule, position)


def breach(kind: str, *boxes: str, player: str | None = None) -> Matter:
    return Matter("breach", kind, boxes=boxes, player=player)


def thrown(first: int, second: int, third: int) -> tuple[Step, ...]:
    return (PLACE, CLOSE, TUMBLE, ("result", {"dice": Throw((first, second, third))}), SETTLED)


def test_an_ordinary_round_rests_on_no_reading() -> None:
    assert names(*ORDINARY) == []


CASES = [
    ((*ORDINARY, ("interruption", {"known": ()})), V6, ["result-before-interruption"]),
    ((PLACE, CLOSE, TUMBLE, ("interruption", {"known": (1, 2, 3)}), SETTLED), V6, ["all-dice-known"]),
    ((PLACE, CLOSE, TUMBLE, ("interruption", {"known": (1,)})), V6,
     ["a-known-die-decides", "open-boxes-need-the-result"]),
    ((*ORDINARY, ("void", {"rule": "5.5.2"})), V6, ["settled-by-its-dice", "void-after-settlement"]),
    ((*ORDINARY, ("void", {"rule": "5.6"})), V6, ["affected-by-damaged-dice"]),
    ((PLACE, CLOSE, ("tumbler", {"tumbles": 0, "activated": True})), V6, ["activated-without-a-tumble"]),
    ((PLACE, CLOSE, ("tumbler", {"tumbles": 0}), RESULT, SETTLED), V6,
     ["settled-by-its-dice", "tumbler-never-started"]),
    ((PLACE, TUMBLE, CLOSE, RESULT, SETTLED), V6, ["covered-tumble-before-the-call"]),
    ((PLACE, TUMBLE), OPEN_COVER, ["no-call-on-record"]),
    ((("tumbler", {"tumbles": 2}), PLACE, CLOSE, RESULT, SETTLED), DIVISION_9, ["few-tumbles-is-incorrect"]),
    ((*ORDINARY, ("result-amended", {"dice": Throw((2, 2, 2))})), V6, ["last-result-counts", "settled-by-its-dice"]),
    ((PLACE, CLOSE, ("tumbler", {"tumbles": 2}), TUMBLE, RESULT, SETTLED), V6, ["void-is-not-healed"]),
    ((PLACE, CLOSE, TUMBLE, ("die-not-flat", {}), TUMBLE, RESULT, SETTLED), V6, ["void-is-not-healed"]),
    ((PLACE, CLOSE, TUMBLE, ("die-not-flat", {}), RESULT, SETTLED), V6, []),
]  # fmt: skip


@pytest.mark.parametrize(("events", "book", "expected"), CASES)
def test_a_reading_is_named_where_it_decides(events: Any, book: str, expected: list[str]) -> None:
    assert names(*events, book=book) == expected


def test_an_irregularity_names_only_the_readings_of_its_own_events() -> None:
    few = (PLACE, CLOSE, ("tumbler", {"tumbles": 2}), TUMBLE, RESULT, SETTLED, ("interruption", {"known": ()}))
    late = BET._replace(is_late=True, net=0)
    assert names(*few, matter=irregular("void", "5.5.1")) == ["void-is-not-healed"]
    assert names(*few, matter=irregular("conclude", "5.4.1")) == ["result-before-interruption"]
    assert names(*few, bets=(late,), matter=irregular("refuse", "5.7", 0)) == ["late-counts-as-never-placed"]
    assert names(PLACE, CLOSE, TUMBLE, ("interruption", {"known": (1,)}), matter=irregular("unfinished")) == [
        "open-boxes-need-the-result"
    ]
    assert names(*ORDINARY, ("void", {"rule": "5.6"}), matter=irregular("void-affected", "5.6")) == [
        "affected-by-damaged-dice"
    ]


def test_readings_on_bets() -> None:
    late, taken_back = BET._replace(is_late=True, net=0), BET._replace(is_withdrawn=True, net=0)
    assert names(*ORDINARY, bets=(late, BET)) == ["late-counts-as-never-placed"]
    assert names(*ORDINARY, bets=(taken_back, late)) == ["withdrawn-in-time"]
    assert names(*ORDINARY, bets=(BET._replace(is_at_the_call=True),)) == ["at-the-call-is-in-time"]
    assert names(PLACE, RESULT, SETTLED, bets=(BET._replace(is_timed=True),)) == ["no-call-on-record"]


@pytest.mark.parametrize(
    ("box", "faces", "book", "layout", "expected"),
    [
        ("four-6543", (6, 6, 5), V6, "C", ["four-needs-three-faces"]),
        ("four-6543", (6, 5, 4), V6, "C", []),
        ("four-6543", (6, 6, 1), V6, "C", []),
        ("domino-13", (1, 3, 3), V6, "C", ["domino-wins-once"]),
        ("domino-13", (1, 3, 6), V6, "C", []),
        ("three-256", (2, 5, 6), DIVISION_9, "2", ["2-5-and-6"]),
        ("three-256", (2, 5, 6), V6, "C", []),
    ],
)
def test_readings_on_the_words_of_a_bet(
    box: str, faces: tuple[int, int, int], book: str, layout: str, expected: list[str]
) -> None:
    assert names(*thrown(*faces), book=book, layout=layout, bets=(BET._replace(box=box),)) == expected


FULL = Limits({"big-small": Range(5_000, 8_000)})
LEAST = RecordedBet("seat-2", "small", 5_000, 5_000)


def test_readings_on_an_over_full_box() -> None:
    cut = ["excess-in-proportion", "excess-is-returned", "rounded-down"]
    assert names(*ORDINARY, limits=FULL) == cut
    needs_ruling = ["minimums-exceed-the-box", "settled-by-its-dice"]
    assert names(*ORDINARY, bets=(BET, LEAST), limits=FULL) == sorted([*cut, *needs_ruling])
    second = Matter("discrepancy", "overpaid", position=1)
    assert names(*ORDINARY, bets=(BET, LEAST), limits=FULL, matter=second) == sorted(
        ["at-the-minimum", "excess-in-proportion", *needs_ruling]
    )
    assert names(*ORDINARY, bets=(BET, LEAST), limits=FULL, matter=irregular("ruling", "5.14")) == needs_ruling
    other_box = BET._replace(box="total-10")
    assert names(*ORDINARY, bets=(other_box, BET), limits=FULL) == []


def test_5_1_2_a_minimum_where_only_the_differential_is_exceeded() -> None:
    apart = Limits({"big-small": Range(5_000, 80_000)}, {"big-small": 9_000})
    assert names(*ORDINARY, bets=(LEAST._replace(stake=4_000), BET), limits=apart) == [
        "excess-in-proportion", "heavier-box-is-cut", "minimum-under-differential"
    ]  # fmt: skip
    assert names(*ORDINARY, bets=(BET,), limits=apart) == [
        "excess-in-proportion", "excess-is-returned", "heavier-box-is-cut", "rounded-down"
    ]  # fmt: skip


def test_readings_on_breaches() -> None:
    order = (TUMBLE, PLACE, CLOSE, RESULT, SETTLED)
    over = breach("box-maximum", "small")
    assert names(*order, book=DIVISION_9, limits=FULL, matter=over) == ["limits-are-reported"]
    assert names(*order, book=DIVISION_9, limits=FULL) == ["settled-in-full"]
    assert names(*ORDINARY, limits=FULL, matter=over) == []
    assert names(*ORDINARY, limits=FULL, matter=over, layout="E") == ["areas-printed-twice"]
    under = breach("below-minimum", "small", player="seat-1")
    assert names(*ORDINARY, limits=FULL, matter=under) == ["minimum-is-a-players"]
    at_the_call = BET._replace(is_at_the_call=True)
    assert names(*ORDINARY, limits=FULL, matter=over, bets=(at_the_call,)) == ["at-the-call-is-in-time"]


@pytest.mark.parametrize(
    ("kind", "book", "expected"),
    [
        ("overlap", V6, ["one-round-at-a-time"]),
        ("overlap", DIVISION_9, []),
        ("amendment-without-authority", DIVISION_9, ["supervisor-is-pit-supervisor"]),
        ("void-without-authority", DIVISION_9, ["shift-manager-decides"]),
        ("void-after-settlement", V6, ["void-after-settlement"]),
        ("sign-incomplete", V6, ["sign-names-every-bet"]),
        ("wrong-post", V6, []),
    ],
)
def test_readings_on_checks_of_the_procedure(kind: str, book: str, expected: list[str]) -> None:
    bets = (BET._replace(is_late=True),)
    assert names(*ORDINARY, book=book, bets=bets, limits=FULL, matter=Matter("procedural", kind)) == expected
