"""What the house stands to win or lose on each throw, against settlements one by one and a count of our own."""

import json
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import combinations_with_replacement
from math import isqrt
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from games.engine.json_output import InputError, exposure_document, settle_document
from tests.games.engine import command, oracle
from tests.games.engine.oracle import DIVISION_9, FACES, THROWS, V6, cents

DISTINCT = [list(throw) for throw in combinations_with_replacement(FACES, 3)]
HALF = Fraction(1, 20_000)  # half of the fourth decimal

Document = dict[str, Any]


def bet(player: str, box: str, stake: str) -> dict[str, str]:
    return {"ref": f"{player}/{box}", "player": player, "box": box, "stake": stake}


def game(*bets: dict[str, str], rulebook: str = V6, layout: str = "C", **more: Any) -> Document:
    return {"rulebook": rulebook, "layout": layout, "dice": None, "bets": list(bets)} | more


PLAIN = game(bet("1", "small", "3000"), bet("2", "any-triple", "10"), bet("1", "three-136", "0.01"))
OVER_THE_LIMITS = game(
    bet("1", "small", "3000"), bet("2", "big", "12000"), bet("3", "big", "30"), bet("3", "triple-4", "777.77"),
    bet("1", "single-3", "33.33"),
    limits={"big-small": {"min": "50", "max": "10000"}, "triple-4": {"max": "500"}},
    differential={"big-small": "8000"}, chip_unit="5",
)  # fmt: skip
ROUNDS = {
    "a round within all limits": PLAIN,
    "a round over its limits, in proportion": OVER_THE_LIMITS,
    "a round over its limits, filled": OVER_THE_LIMITS | {"excess": "filled"},
    "a round over its limits, in full": OVER_THE_LIMITS | {"excess": "in-full"},
    "a round of Division 9": game(
        bet("1", "pair-112", "100"), bet("2", "odd", "99.99"), rulebook=DIVISION_9, layout="2"
    ),
    "a bet on every box of layout E": game(*(bet("1", box, "1") for box in oracle.BOXES["E"]), layout="E"),
    "one bet of a cent": game(bet("1", "big", "0.01"), layout="A"),
}
EVERY_ROUND = pytest.mark.parametrize("given_round", ROUNDS.values(), ids=ROUNDS.keys())


def exposed(data: Document) -> Any:
    return exposure_document(data)


def house(data: Document, throw: list[int]) -> int:
    """What the house gains on a throw, in cents, by a settlement of its own."""
    done: Any = settle_document(data | {"dice": throw})
    return -sum(cents(one["net"]) for one in done["bets"])


def four_decimals(text: str) -> Fraction:
    assert len(text.partition(".")[2]) == 4, text
    assert text != "-0.0000"
    return Fraction(text)


def square_root(value: Fraction) -> Fraction:
    """To far more digits than are shown."""
    scale = 10**20
    return Fraction(isqrt(value.numerator * scale**2 // value.denominator), scale)


@EVERY_ROUND
def test_the_56_throws_in_ascending_faces_with_their_ways(given_round: Document) -> None:
    throws = exposed(given_round)["throws"]
    ways = Counter(tuple(sorted(throw)) for throw in THROWS)
    assert sorted(throw["dice"] for throw in throws) == DISTINCT
    assert {tuple(throw["dice"]): throw["ways"] for throw in throws} == ways
    assert sum(throw["ways"] for throw in throws) == 216
    assert all(throw.keys() == {"dice", "ways", "house"} for throw in throws)


@EVERY_ROUND
def test_the_house_gains_what_a_settlement_of_that_throw_costs_the_players(given_round: Document) -> None:
    for throw in exposed(given_round)["throws"]:
        assert throw["house"] == oracle.money(house(given_round, throw["dice"])), throw["dice"]


@EVERY_ROUND
def test_the_worst_throw_is_one_that_costs_the_house_most(given_round: Document) -> None:
    done = exposed(given_round)
    least = min(cents(throw["house"]) for throw in done["throws"])
    worst = done["worst"]
    assert worst.keys() == {"dice", "house"}
    assert cents(worst["house"]) == least
    assert worst in [{"dice": throw["dice"], "house": throw["house"]} for throw in done["throws"]]


@EVERY_ROUND
def test_mean_and_standard_deviation_over_the_216_throws_to_four_decimals(given_round: Document) -> None:
    results = [Fraction(house(given_round, sorted(throw)), 100) for throw in THROWS]
    mean = sum(results, Fraction(0)) / 216
    deviation = square_root(sum(((result - mean) ** 2 for result in results), Fraction(0)) / 216)
    done = exposed(given_round)
    assert abs(four_decimals(done["mean"]) - mean) <= HALF
    assert abs(four_decimals(done["sd"]) - deviation) <= HALF + deviation / 10**9


def test_the_mean_is_the_edge_of_the_box_times_the_stake() -> None:
    """The house keeps 1/36 of what is staked on Big: 1.00 of 36.00; each throw is 36.00 to one side."""
    done = exposed(game(bet("1", "big", "36"), layout="A"))
    assert done["mean"] == "1.0000"
    assert Decimal(done["sd"]) == Decimal("35.9861")  # the root of 36² - 1 = 1,295


def test_3_10_one_bet_on_a_triple_is_worst_on_that_triple() -> None:
    done = exposed(game(bet("1", "triple-1", "10")))
    assert done["worst"] == {"dice": [1, 1, 1], "house": "-1800.00"}
    assert done["mean"] == "1.6204"  # 10 x 35 / 216


def test_5_1_1_limits_are_applied_before_the_house_is_exposed() -> None:
    """12,000 on Big with a maximum of 10,000: on a Big throw the house pays 10,000."""
    done = exposed(game(bet("1", "big", "12000"), limits={"big-small": {"max": "10000"}}, layout="A"))
    assert cents(done["worst"]["house"]) == -1_000_000


def test_the_dice_of_the_input_do_not_matter() -> None:
    assert exposed(PLAIN | {"dice": [1, 3, 6]}) == exposed(PLAIN)


@pytest.mark.parametrize("void", ["5.5.1", "ruling"])
def test_5_12_a_void_round_exposes_the_house_to_nothing(void: str) -> None:
    done = exposed(PLAIN | {"void": void})
    assert {throw["house"] for throw in done["throws"]} == {"0.00"}
    assert (done["mean"], done["sd"], done["worst"]["house"]) == ("0.0000", "0.0000", "0.00")


@settings(max_examples=15, deadline=None)
@given(st.dictionaries(st.sampled_from(oracle.BOXES["C"]), st.integers(1, 10**7), min_size=1, max_size=8))
def test_any_bets_have_the_mean_that_their_edges_make(stakes: dict[str, int]) -> None:
    done = exposed(game(*(bet("1", box, oracle.money(stake)) for box, stake in stakes.items())))
    mean = sum((oracle.edge(V6, box) * stake / 100 for box, stake in stakes.items()), Fraction(0))
    assert abs(four_decimals(done["mean"]) - mean) <= HALF


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"rulebook": "rws-tai-sai-v7"}, "rws-tai-sai-v7"),
        ({"bets": [bet("1", "big", "0")]}, "stake"),
        ({"dice": [1, 2, 7]}, "dice"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_bad_input_is_refused_as_by_settle(changes: Document, named: str) -> None:
    with pytest.raises(InputError) as refusal:
        exposed(PLAIN | changes)
    (fault,) = refusal.value.faults
    assert named in fault


def test_the_command_prints_the_same_as_json() -> None:
    done = command("exposure", "-", given=json.dumps(OVER_THE_LIMITS).encode())
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == exposed(OVER_THE_LIMITS)


def test_the_command_refuses_bad_input_in_one_line() -> None:
    done = command("exposure", "-", given=json.dumps(PLAIN | {"layout": "B"}).encode())
    assert done.returncode != 0
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
