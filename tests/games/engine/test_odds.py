"""Every box of every felt on all 216 throws, against a count of our own; the house edges against the published ones."""

import csv
import io
import json
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from games.engine.json_output import InputError, paytable_rows, settle_document
from tests.games.engine import command, oracle
from tests.games.engine.oracle import BOXES, DIVISION_9, FELTS, THROWS, V6, Throw

EVERY_FELT = pytest.mark.parametrize(("rulebook", "layout"), FELTS)

PUBLISHED_EDGES = {
    **dict.fromkeys(("big", "small", "odd", "even", "domino"), Fraction(1, 36)),
    "single": Fraction(1, 27),
    **dict.fromkeys(("total-4", "total-17"), Fraction(1, 8)),
    **dict.fromkeys(("total-5", "total-16"), Fraction(1, 9)),
    **dict.fromkeys(("total-6", "total-15"), Fraction(13, 108)),
    **dict.fromkeys(("total-7", "total-14"), Fraction(7, 72)),
    **dict.fromkeys(("total-8", "total-13"), Fraction(1, 8)),
    **dict.fromkeys(("total-9", "total-12"), Fraction(2, 27)),
    **dict.fromkeys(("total-10", "total-11"), Fraction(1, 8)),
    **dict.fromkeys(("double", "any-triple", "four"), Fraction(1, 9)),
    "triple": Fraction(35, 216),
    "three": Fraction(5, 36),
    "pair": Fraction(7, 24),
}
DIVISION_9_EDGES = PUBLISHED_EDGES | {"pair": Fraction(11, 72)}


def published_edge(rulebook: str, box: str) -> Fraction:
    edges = DIVISION_9_EDGES if rulebook == DIVISION_9 else PUBLISHED_EDGES
    return edges.get(box) or edges[box.partition("-")[0]]


@cache
def settled(rulebook: str, layout: str, throw: Throw) -> Any:
    """One round with a bet of 1.00 in every box of the felt."""
    bets = [{"ref": box, "player": "seat-1", "box": box, "stake": "1.00"} for box in BOXES[layout]]
    return settle_document({"rulebook": rulebook, "layout": layout, "dice": list(throw), "bets": bets})


def each_bet(rulebook: str, layout: str) -> Iterator[tuple[Throw, Any]]:
    for throw in THROWS:
        for bet in settled(rulebook, layout, throw)["bets"]:
            yield throw, bet


@cache
def rows(rulebook: str, layout: str) -> Any:
    return paytable_rows(rulebook, layout)


def edge_of_row(row: Any) -> Fraction:
    """The edge that a row's own odds and chances make."""
    by_count = {1: 75, 2: 15, 3: 1}
    gains = (
        sum(ways * pays for ways, pays in zip(by_count.values(), row["odds"], strict=True))
        if isinstance(row["odds"], list)
        else row["wins"] * row["odds"]
    )
    return Fraction(216 - row["wins"] - gains, 216)


@pytest.mark.parametrize(("layout", "count"), [("A", 50), ("C", 104), ("E", 107), ("1", 50), ("2", 106)])
def test_our_own_list_of_boxes_has_as_many_as_the_contract_says(layout: str, count: int) -> None:
    assert len(BOXES[layout]) == len(set(BOXES[layout])) == count


@EVERY_FELT
def test_our_own_count_makes_the_published_edges(rulebook: str, layout: str) -> None:
    for box in BOXES[layout]:
        assert oracle.edge(rulebook, box) == published_edge(rulebook, box), box


@EVERY_FELT
def test_the_winning_boxes_of_all_216_throws(rulebook: str, layout: str) -> None:
    for throw in THROWS:
        assert settled(rulebook, layout, throw)["winning"] == oracle.winning(rulebook, layout, throw), throw


@EVERY_FELT
def test_what_1_00_on_each_box_nets_on_all_216_throws(rulebook: str, layout: str) -> None:
    for throw, bet in each_bet(rulebook, layout):
        pays = oracle.odds(rulebook, bet["box"], throw)
        expected = ("win", pays, f"{pays}.00") if pays else ("lose", 0, "-1.00")
        assert (bet["result"], bet["odds"], bet["net"]) == expected, (throw, bet["box"])


@EVERY_FELT
def test_the_rules_of_each_bet_on_all_216_throws(rulebook: str, layout: str) -> None:
    for throw, bet in each_bet(rulebook, layout):
        assert bet["rules"] == oracle.rules(rulebook, layout, bet["box"], throw), (throw, bet["box"])


@EVERY_FELT
def test_a_round_without_limits_is_settled_whole(rulebook: str, layout: str) -> None:
    for throw in THROWS:
        done = settled(rulebook, layout, throw)
        assert (done["rulebook"], done["layout"], done["void"]) == (rulebook, layout, None)
        assert (done["breaches"], done["needs_ruling"]) == ([], [])
        assert [bet["box"] for bet in done["bets"]] == [bet["ref"] for bet in done["bets"]] == list(BOXES[layout])
        assert {(bet["player"], bet["stake"], bet["effective"]) for bet in done["bets"]} == {("seat-1", "1.00", "1.00")}


@pytest.mark.parametrize("throw", THROWS, ids=lambda throw: "".join(map(str, throw)))
def test_6_3_the_call_of_every_throw_whatever_the_order_of_the_dice(throw: Throw) -> None:
    done = settled(V6, "A", throw)
    assert done["dice"] == list(throw)
    assert (done["total"], done["call"]) == (sum(throw), oracle.call(throw))


@pytest.mark.parametrize(
    ("dice", "call"),
    [
        ([6, 1, 3], "1, 3, 6, total 10"),
        ([3, 4, 3], "double 3, 4, total 10"),
        ([6, 1, 6], "1, double 6, total 13"),
        ([5, 5, 5], "triple 5, total 15"),
    ],
)
@pytest.mark.parametrize(("rulebook", "layout"), [(V6, "E"), (DIVISION_9, "2")])
def test_6_3_the_calls_that_the_contract_spells_out(rulebook: str, layout: str, dice: list[int], call: str) -> None:
    assert settled(rulebook, layout, tuple(dice))["call"] == call


@EVERY_FELT
def test_the_pay_table_lists_every_box_of_the_felt_once(rulebook: str, layout: str) -> None:
    listed = [row["box"] for row in rows(rulebook, layout)]
    assert sorted(listed) == sorted(BOXES[layout])


@EVERY_FELT
def test_the_pay_table_has_type_odds_chance_and_edge_of_every_box(rulebook: str, layout: str) -> None:
    for row in rows(rulebook, layout):
        box = row["box"]
        pays = {oracle.odds(rulebook, box, throw) for throw in THROWS} - {0}
        assert row == {
            "box": box,
            "type": oracle.bet_type(box),
            "odds": [1, 2, 12] if box.startswith("single-") else pays.pop(),
            "wins": oracle.ways_to_win(rulebook, box),
            "edge": str(published_edge(rulebook, box)),
        }


@EVERY_FELT
def test_the_edge_of_a_row_follows_from_its_odds_and_its_chance(rulebook: str, layout: str) -> None:
    for row in rows(rulebook, layout):
        assert edge_of_row(row) == Fraction(row["edge"]), row


@pytest.mark.parametrize(
    ("rulebook", "layout", "named"),
    [("rws-tai-sai-v7", "A", "rws-tai-sai-v7"), (V6, "B", "B"), (V6, "1", "1"), (DIVISION_9, "A", "A"), (V6, "a", "a")],
)
def test_a_pay_table_that_is_not_there_is_one_sentence(rulebook: str, layout: str, named: str) -> None:
    with pytest.raises(InputError) as refusal:
        paytable_rows(rulebook, layout)
    (fault,) = refusal.value.faults
    assert named in fault


def test_the_command_prints_the_pay_table_as_json() -> None:
    done = command("paytable", DIVISION_9, "2", "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == rows(DIVISION_9, "2")


def test_the_command_prints_the_pay_table_as_csv() -> None:
    done = command("paytable", V6, "E", "--format", "csv")
    assert (done.returncode, done.stderr) == (0, "")
    _, *body = csv.reader(io.StringIO(done.stdout))
    assert sorted(cells[0] for cells in body) == sorted(BOXES["E"])


def test_the_command_prints_the_pay_table_as_text_with_every_box() -> None:
    done = command("paytable", V6, "C", "--format", "text")
    assert (done.returncode, done.stderr) == (0, "")
    assert set(BOXES["C"]) <= set(done.stdout.split())


def test_the_command_refuses_a_layout_of_another_rulebook_in_one_line() -> None:
    done = command("paytable", V6, "2")
    assert done.returncode != 0
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
