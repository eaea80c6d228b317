"""Reading a round: the quick way and the slow way agree, and the slow way tells every fault with its place."""

import copy
import datetime as dt
import json
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from games.engine.box_numbers import CODES, NUMBERS
from games.engine.errors import InputError
from games.engine.rules.loader import rulebooks
from games.rounds import diagnostic_parser, fast_parser
from games.rounds.prepared import ReadyRound
from games.rounds.terms import TermsCache
from games.rounds.wire_format import decode
from tests.conftest import House
from tests.games.floor_setup import NOON
from tests.games.rounds.samples import EXAMPLE, bet, event, example, floor, line

LATEST = NOON


@pytest.fixture
def books(house: House, clock: Any) -> TermsCache:
    clock.move_to(NOON - dt.timedelta(hours=8))
    floor(house)
    clock.move_to(NOON)
    return TermsCache()


def quick(document: Any, books: TermsCache) -> ReadyRound | None:
    shape = decode(document if isinstance(document, bytes) else line(document))
    return fast_parser.ready(shape, books, latest=LATEST) if shape else None


def slow(document: Any, books: TermsCache) -> ReadyRound:
    return diagnostic_parser.read(document if isinstance(document, bytes) else line(document), books, latest=LATEST)


def faults(document: Any, books: TermsCache) -> list[str]:
    with pytest.raises(InputError) as found:
        slow(document, books)
    assert quick(document, books) is None
    return list(found.value.faults)


def test_the_numbers_of_boxes_are_frozen() -> None:
    assert len(CODES) == len(set(CODES)) == 117
    assert (NUMBERS["big"], NUMBERS["total-17"], NUMBERS["pair-665"]) == (1, 24, 117)
    assert {box for book in rulebooks().values() for layout in book.layouts.values() for box in layout.boxes} == set(
        CODES
    )


def test_the_example_of_the_contract_is_sound_both_ways(books: TermsCache) -> None:
    found = quick(EXAMPLE, books)
    assert found == slow(EXAMPLE, books)
    assert found
    assert (found.status, found.dice, found.boxes, found.stakes, found.nets) == (
        "settled", [1, 3, 6], [2, 1], [10000, 5000], [10000, -5000],
    )  # fmt: skip
    assert (found.applied.gaming_day, found.applied.book.id) == (dt.date(2026, 11, 15), "rws-tai-sai-v6")
    assert found.applied.limit_set_id
    assert found.applied.dice_set_id


@pytest.mark.parametrize(
    "same",
    [
        example(bets=EXAMPLE["bets"][::-1]),
        example(events=EXAMPLE["events"][::-1]),
        example(bets=[one | {"refused": False, "house_placed": None, "at": None} for one in EXAMPLE["bets"]]),
        example(bets=[one | {"call": False, "withdrawn": None} for one in EXAMPLE["bets"]]),
        example(events=[one | ({"activated": None} if one["kind"] == "tumbler" else {}) for one in EXAMPLE["events"]]),
        example(bets=[one | {"stake": {"100.00": "100", "50": "50.00"}[one["stake"]]} for one in EXAMPLE["bets"]]),
        example(events=[{**one, "at": one["at"].replace("19:", "11:").replace("+08:00", "Z")}
                        for one in EXAMPLE["events"]]),
    ],
)  # fmt: skip
def test_the_same_round_in_other_words_has_the_same_fingerprint(books: TermsCache, same: dict[str, Any]) -> None:
    assert slow(same, books).fingerprint == slow(EXAMPLE, books).fingerprint


@pytest.mark.parametrize(
    "other",
    [
        example(dealer=None),
        example(dealer="D103"),
        example(bets=EXAMPLE["bets"][:1]),
        example(bets=[EXAMPLE["bets"][0] | {"net": "100.01"}, EXAMPLE["bets"][1]]),
        example(bets=[EXAMPLE["bets"][0] | {"house_placed": True}, EXAMPLE["bets"][1]]),
        example(bets=[EXAMPLE["bets"][0] | {"call": True}, EXAMPLE["bets"][1]]),
        example(bets=[EXAMPLE["bets"][0] | {"withdrawn": "2026-11-15T19:07:20+08:00"}, EXAMPLE["bets"][1]]),
        example(bets=[EXAMPLE["bets"][0], EXAMPLE["bets"][1] | {"withdrawn": "2026-11-15T19:07:20+08:00"}]),
        example(bets=[EXAMPLE["bets"][0] | {"withdrawn": "2026-11-15T19:07:31.000001+08:00"}, EXAMPLE["bets"][1]]),
        example(events=[one | ({"activated": True} if one["kind"] == "tumbler" else {}) for one in EXAMPLE["events"]]),
        example(events=[*EXAMPLE["events"][:3], EXAMPLE["events"][3] | {"dice": [3, 1, 6]}, EXAMPLE["events"][4]]),
    ],
)
def test_another_round_has_another_fingerprint(books: TermsCache, other: dict[str, Any]) -> None:
    assert slow(other, books).fingerprint != slow(EXAMPLE, books).fingerprint


@pytest.mark.parametrize("written", ["2026-11-15T19:07+08:00", "2026-11-15 19:07+0800", "2026-11-15t11:07z"])
def test_a_time_without_seconds_is_a_time(books: TermsCache, written: str) -> None:
    events = [EXAMPLE["events"][0] | {"at": written}, *EXAMPLE["events"][1:]]
    bets = [EXAMPLE["bets"][0] | {"at": written, "withdrawn": written}, *EXAMPLE["bets"][1:]]
    found = slow(example(events=events, bets=bets), books)
    assert found.started_at == dt.datetime(2026, 11, 15, 11, 7, tzinfo=dt.UTC)
    assert slow(example(events=events), books).placed_at is None


@pytest.mark.parametrize("fraction", ["1234564", "1234565", "9999999", "123456789"])
def test_what_is_finer_than_a_microsecond_is_rounded_alike_both_ways(books: TermsCache, fraction: str) -> None:
    at = f"2026-11-15T19:07:02.{fraction}+08:00"
    document = example(events=[EXAMPLE["events"][0] | {"at": at}, *EXAMPLE["events"][1:]])
    assert quick(document, books) == slow(document, books)


@pytest.mark.parametrize(
    ("events", "status"),
    [
        ([event("place-bets", 0)], "unfinished"),
        ([event("place-bets", 0), event("no-more-bets", 9), event("result", 20, dice=[1, 2, 3])], "unfinished"),
        ([event("place-bets", 0), event("void", 9, rule="5.6", by="SM1")], "void"),
        ([event("place-bets", 0), event("void", 9, rule="rws-tai-sai-v6#5.5.1")], "void"),
        ([event("place-bets", 0), event("void", 9, rule="ruling")], "void"),
        ([event("place-bets", 0), event("void", 9, rule="1.1")], "void"),
        ([event("place-bets", 0), event("no-more-bets", 9), event("tumbler", 10, tumbles=2)], "void"),
        ([event("place-bets", 0), event("interruption", 9, known_dice="?,?,?")], "void"),
        ([event("place-bets", 0), event("interruption", 9, known_dice=" 2 ,?, ?")], "unfinished"),
        ([event("place-bets", 0), event("dice-exposed", 1)], "void"),
        ([event("place-bets", 0), event("interruption", 9, known_dice="2,3,4")], "unfinished"),
        ([event("place-bets", 0), event("tumbler", 10, tumbles=0)], "unfinished"),
        ([event("place-bets", 0), event("tumbler", 10, tumbles=0, activated=True)], "void"),
        (
            [
                event("place-bets", 0),
                event("no-more-bets", 9),
                event("result", 20, dice=[1, 2, 3]),
                event("interruption", 25, known_dice="?,?,?"),
            ],
            "unfinished",
        ),
    ],
)
def test_the_status_follows_from_the_events(books: TermsCache, events: list[dict[str, Any]], status: str) -> None:
    found = quick(example(events=events, bets=[bet()]), books)
    assert found
    assert found.status == status
    assert found.nets_given == [False]


def test_5_4_1_dice_that_were_all_known_at_an_interruption_are_the_result(books: TermsCache) -> None:
    events = [event("place-bets", 0), event("no-more-bets", 9), event("interruption", 15, known_dice="6, 1,6"),
              event("settled", 30)]  # fmt: skip
    found = quick(example(events=events, bets=[bet(net="-100")]), books)
    assert found == slow(example(events=events, bets=[bet(net="-100")]), books)
    assert found
    assert (found.status, found.dice) == ("settled", [6, 1, 6])


def test_1_7_a_void_after_settlement_leaves_the_round_settled_unless_it_may_reach_back(books: TermsCache) -> None:
    for rule, status in (("5.5.2", "settled"), ("5.6", "void"), ("ruling", "void"), ("3.3", "settled")):
        found = quick(example(events=[*EXAMPLE["events"], event("void", 90, rule=rule)]), books)
        assert found
        assert found.status == status, rule


def test_5_7_a_bet_withdrawn_in_time_counts_for_nothing_and_one_withdrawn_late_is_settled(books: TermsCache) -> None:
    bets = [
        bet(net="100.00", withdrawn="2026-11-15T19:07:31.000001+08:00"),
        bet(withdrawn="2026-11-15T19:07:31+08:00"),
        bet(withdrawn="2026-11-15T11:07:05Z", at="2026-11-15T19:07:05+08:00", call=True),
        bet("seat-2", net="100.00", call=True, house_placed=True),
    ]
    found = quick(example(bets=bets), books)
    assert found == slow(example(bets=bets), books)
    assert found
    assert (found.withdrawn, found.call) == ([False, True, True, False], [False, False, True, True])
    assert found.nets_given == [True, False, False, True]
    assert found.withdrawn_at
    assert [at is not None for at in found.withdrawn_at] == [True, True, True, False]


def test_a_late_and_a_refused_bet_may_stand_beside_one_that_counts(books: TermsCache) -> None:
    bets = [
        bet(net="100.00"),
        bet(refused=True),
        bet(net="0.00", at="2026-11-15T19:07:31.000001+08:00"),
        bet("seat-2", net="100.00", at="2026-11-15T19:07:31+08:00", house_placed=True),
    ]
    found = quick(example(bets=bets), books)
    assert found == slow(example(bets=bets), books)
    assert found
    assert found.late == [False, False, True, False]
    assert found.refused == [False, True, False, False]
    assert found.house_placed == [False, False, False, True]


SETTLED = EXAMPLE["events"]
WRONG: list[tuple[Any, list[str]]] = [
    (example(table="TS-99"), ["table: there is no table TS-99"]),
    (example(source=""), ["source: '' is not a plain text"]),
    (example(ref="x" * 201), ["ref: is longer than 200 characters"]),
    (example(colour="green"), ["colour: is not a known field"]),
    (example(dealer=7), ["dealer: 7 is not a plain text"]),
    ({"source": "floor"}, ["ref: is missing", "table: is missing", "events: is missing", "bets: is missing",
                           "events: place-bets is missing"]),
    (example(events=[]), ["events: place-bets is missing"]),
    (example(events={}), ["events: is not a list"]),
    (example(events=[*SETTLED, SETTLED[0]]), ["events[5]: place-bets stands at most once, and is events[0]"]),
    (example(events=[SETTLED[0], SETTLED[3]]), ["events[1]: a result comes after no-more-bets",]),
    (example(events=[SETTLED[0], event("result-amended", 5, dice=[1, 1, 1])]),
     ["events[1]: an amended result comes after a result"]),
    (example(events=[SETTLED[0], event("rain", 1)]), ["events[1].kind: 'rain' is not a kind of event"]),
    (example(events=[SETTLED[0], event("tumbler", 1)]), ["events[1].tumbles: is missing; tumbler needs it"]),
    (example(events=[SETTLED[0], event("tumbler", 1, tumbles=-1)]), ["events[1].tumbles: -1 is not a count"]),
    (example(events=[SETTLED[0], event("tumbler", 1, tumbles=True)]), ["events[1].tumbles: True is not a count"]),
    (example(events=[SETTLED[0], event("settled", 1, dice=[1, 2, 3])]), ["events[1].dice: does not belong to settled"]),
    (example(events=[*SETTLED[:3], event("result", 41, dice=[1, 2, 7]), SETTLED[4]]), ["events[3].dice[2]: 7 is not"]),
    (example(events=[SETTLED[0], event("void", 1, rule="9.9")]), ["events[1].rule: '9.9' is not a rule of"]),
    (example(events=[SETTLED[0], event("void", 1, rule="division-9-2008#7.1")]), ["events[1].rule: 'division-9"]),
    (example(events=[SETTLED[0], event("interruption", 1, known_dice="2,?")]), ["events[1].known_dice: '2,?' does"]),
    (example(events=[{"kind": "place-bets", "at": "2026-11-15T19:07:02"}]), ["events[0].at: 2026-11-15T19:07:02 has"]),
    (example(events=[{"kind": "place-bets", "at": 5}]), ["events[0].at: int is not a time"]),
    (example(events=[{"kind": "place-bets", "at": "2030-01-01T00:00:00Z"}]), ["events[0].at: 2030-01-01T00:00:00Z"]),
    (example(events=[{"kind": "place-bets", "at": "2025-01-01T00:00:00Z"}]), ["table: TS-01 had no rulebook"]),
    (example(bets={}), ["bets: is not a list"]),
    (example(bets=[bet()]), ["bets[0].net: is missing; a bet of a settled round"]),
    (example(bets=[bet(net=1)]), ["bets[0].net: is a number"]),
    (example(bets=[bet(net="1.234")]), ["bets[0].net: '1.234' is not an amount"]),
    (example(bets=[bet(stake="0", net="0")]), ["bets[0].stake: '0' is nothing"]),
    (example(bets=[bet(stake="-5", net="0")]), ["bets[0].stake: '-5' is not an amount"]),
    (example(bets=[bet(box="pair-112", net="0")]), ["bets[0].box: pair-112 is not a box of layout C"]),
    (example(bets=[bet(box="middle", net="0")]), ["bets[0].box: 'middle' is not a betting box"]),
    (example(bets=[bet(net="0"), bet(net="5")]), ["bets[1]: 'seat-1' has a bet in small already, bets[0]"]),
    (example(bets=[bet(net="0", refused="no")]), ["bets[0].refused: is neither true nor false"]),
    (example(bets=[bet(net="0", call="yes")]), ["bets[0].call: is neither true nor false; write one of them."]),
    (example(bets=[bet(net="0", call=1)]), ["bets[0].call: is neither true nor false"]),
    (example(bets=[bet(net="0", withdrawn=True)]), ["bets[0].withdrawn: bool is not a time"]),
    (example(bets=[bet(net="0", withdrawn="soon")]), ["bets[0].withdrawn: soon is not a time"]),
    (example(bets=[bet(net="0", withdrawn="2026-11-15T19:07:02")]), ["bets[0].withdrawn: 2026-11-15T19:07:02 has"]),
    (example(bets=[bet(net="0", withdrawn="2030-01-01T00:00:00Z")]), ["bets[0].withdrawn: 2030-01-01T00:00:00Z lies"]),
    (example(bets=[bet(net="0", at="2026-11-15T19:07:20+08:00", withdrawn="2026-11-15T19:07:19+08:00")]),
     ["bets[0].withdrawn: lies before the bet was placed (at); put the times right."]),
    (example(bets=[bet(withdrawn="2026-11-15T19:07:31.000001+08:00")]), ["bets[0].net: is missing"]),
    (example(bets=[bet(net="0"), bet(net="0", withdrawn="2026-11-15T19:07:32+08:00")]),
     ["bets[1]: 'seat-1' has a bet in small already, bets[0]"]),
    (example(events=[SETTLED[0], event("tumbler", 1, tumbles=0, activated=1)]),
     ["events[1].activated: is neither true nor false; write one of them."]),
    (example(events=[SETTLED[0], event("tumbler", 1, tumbles=3, activated=False)]),
     ["events[1].activated: a tumbler that tumbled was activated; leave it out, or write true."]),
    (example(events=[SETTLED[0], event("settled", 1, activated=True)]),
     ["events[1].activated: does not belong to settled; leave it out."]),
    (example(events=[SETTLED[0], event("interruption", 1)]), ["events[1].known_dice: is missing"]),
    (example(events=[SETTLED[0], event("interruption", 1, known_dice=[1, 2, 3])]), ["events[1].known_dice: [1, 2, 3]"]),
    (example(bets=[bet(player="a\x00b", net="0")]), ["bets[0].player: 'a\\x00b' is not a plain text"]),
    (example(bets=[bet(player="a\u200bb", net="0")]), ["bets[0].player: 'a\\u200bb' has characters"]),
    (example(bets=[bet(at="noon", net="0")]), ["bets[0].at: noon is not a time"]),
    (example(bets=["x"]), ["bets[0]: 'x' is not an object"]),
    ([], ["The round is not a JSON object"]),
    (b"", ["The input is empty"]),
    (b"{", ["line 1, column 2: not readable as JSON"]),
    (b"\xff\xfe{\x00", ["The input is not UTF-8"]),
    (b"\xef\xbb\xbf{}", ["The input begins with a byte order mark"]),
    (line(EXAMPLE).replace(b'"source": "floor"', b'"source": "floor", "source": "floor"'), ["source: stands twice"]),
    (line(EXAMPLE).replace(b'"stake": "50"', b'"stake": "60", "stake": "50"'), ["stake: stands twice"]),
]  # fmt: skip


@pytest.mark.parametrize(("document", "expected"), WRONG, ids=lambda one: "" if isinstance(one, list) else None)
def test_every_fault_is_told_with_its_place(books: TermsCache, document: Any, expected: list[str]) -> None:
    found = faults(document, books)
    assert [fault[: len(start)] for fault, start in zip(found, expected, strict=True)] == expected


def test_all_faults_of_a_round_are_told_at_once(books: TermsCache) -> None:
    document = example(source=5, bets=[bet(stake="0"), bet("seat-2", box="x", net="y")])
    found = faults(document, books)
    assert [fault.partition(": ")[0] for fault in found] == [
        "source", "bets[0].stake", "bets[0].net", "bets[1].box", "bets[1].net",
    ]  # fmt: skip


VALUES: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 8), st.floats(), st.text(max_size=5), st.just([]), st.just({}),
    st.sampled_from(["small", "total-4", "pair-112", "100.00", "-5", "0", "5.6", "ruling", "?,?,?", "2,?,?", "void",
                     "result", "2026-11-15T19:07:05+08:00", "2026-11-15T19:07:59Z", "seat-3", "tumbler", "interruption",
                     "6,1,6", "2026-11-15T19:07:31+08:00", "2026-11-15T19:07:31.000001+08:00"]),
    st.lists(st.integers(0, 7), min_size=3, max_size=3),
)  # fmt: skip


FIELDS = ("net", "at", "refused", "house_placed", "call", "withdrawn", "activated", "known_dice", "tumbles", "rule",
          "by", "dice", "dealer", "x")  # fmt: skip


@st.composite
def changed_rounds(draw: st.DrawFn) -> dict[str, Any]:
    """The example with a few things put differently: some stay sound, most do not."""
    document = copy.deepcopy(EXAMPLE)
    places: list[Any] = [document, *document["events"], *document["bets"]]
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.sampled_from(places))
        key = draw(st.sampled_from([*place, *FIELDS]))
        if draw(st.booleans()) and key in place and place is not document:
            del place[key]
        else:
            place[key] = draw(VALUES)
    return document


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changed_rounds())
def test_what_has_no_fault_is_sound_on_the_quick_way_and_what_has_one_is_not(
    books: TermsCache, document: dict[str, Any]
) -> None:
    try:
        text = json.dumps(document, allow_nan=True).encode()
        ready = slow(text, books)
    except InputError:
        assert quick(text, books) is None
    else:
        assert quick(line(diagnostic_parser._normal(document)), books) == ready


@st.composite
def rounds_with_rare_facts(draw: st.DrawFn) -> dict[str, Any]:
    """Sound and nearly sound rounds in which the rare facts of bets and tumblers meet each other."""
    moments = st.sampled_from([f"2026-11-15T19:07:{second}+08:00" for second in ("05", "31", "31.000001", "40", "59")])
    rare = st.fixed_dictionaries(
        {"player": st.sampled_from(["seat-1", "seat-2"]), "box": st.just("small"), "stake": st.just("100")},
        optional={
            "net": st.just("0"), "at": moments, "withdrawn": moments, "call": st.booleans(), "refused": st.booleans(),
            "house_placed": st.booleans(),
        },
    )  # fmt: skip
    tumbler = st.fixed_dictionaries({"tumbles": st.integers(0, 3)}, optional={"activated": st.booleans()})
    events = [dict(one) for one in EXAMPLE["events"]]
    events[2] |= draw(tumbler)
    if draw(st.booleans()):
        events.append(
            event("interruption", draw(st.integers(0, 99)), known_dice=draw(st.sampled_from(["?,?,?", "6,1,6"])))
        )
    if draw(st.booleans()):
        events.append(event("void", draw(st.integers(0, 99)), rule=draw(st.sampled_from(["5.6", "5.5.1", "ruling"]))))
    kept = [event for event in events if event["kind"] == "place-bets" or draw(st.integers(0, 4))]
    return example(events=kept, bets=draw(st.lists(rare, max_size=4)))


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rounds_with_rare_facts())
def test_both_ways_agree_on_withdrawals_calls_and_activated_tumblers(
    books: TermsCache, document: dict[str, Any]
) -> None:
    try:
        ready = slow(document, books)
    except InputError:
        place = re.compile(r"(events|bets)\[\d+\](\.\w+)?: .+\.$")
        assert all(map(place.match, faults(document, books)))
    else:
        assert quick(document, books) == ready
        assert slow(document | {"bets": document["bets"][::-1]}, books).fingerprint == ready.fingerprint
