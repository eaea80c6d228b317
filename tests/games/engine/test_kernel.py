"""The kernel against the scalar engine, round by round: what settles many rounds at once says the same of each."""

import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from games.engine.box_numbers import CODES, NUMBERS
from games.engine.dice import Throw, all_throws
from games.engine.json_input import read_request
from games.engine.kernel import kernel, policies
from games.engine.kernel.kernel import Chunk, Kernel, KernelGame, Verdict, throw_number
from games.engine.rules.loader import rulebooks
from games.engine.rules.rulebook import Layout
from games.engine.settlement import Settlement, settle
from games.engine.signs.limits import Bet, Limits, Range, breaches, effective_stakes, filled, holdings
from taisai_backoffice.embedded.home import PROJECT
from tests.games.engine.oracle import FELTS, V6, cents
from tests.games.engine.test_golden import CASES, Case, document

POLICIES = ("proportional", "filled", "in-full", None)
BOOKS = rulebooks()
THROWS = tuple(all_throws())
WAYS = Counter((min(f), sorted(f)[1], max(f)) for f in (throw.faces for throw in THROWS))
PLAYED = [case for case in CASES.values() if "fault" not in case]


@dataclass(frozen=True)
class Wager:
    box: str
    stake: int
    counts: bool = True
    net: int | None = 0  # None: none was given


@dataclass(frozen=True)
class Played:
    """A round as it was recorded."""

    game: KernelGame
    throw: Throw | None
    wagers: tuple[Wager, ...] = ()
    is_void: bool = False


@dataclass(frozen=True)
class Expected:
    """What the scalar engine says of a round."""

    effective: list[int]
    expected: list[int]
    differs: bool
    breaches: bool
    needs_ruling: bool
    house: int
    mean_216: int
    variance: Fraction


def game(layout: str = "C", rulebook: str = V6, limits: Limits | None = None, excess: str | None = None) -> KernelGame:
    book = BOOKS[rulebook]
    return KernelGame(book, book.layouts[layout], limits or Limits(), excess)


# --- What the scalar engine says ---


@cache
def _gains(layout: int, box: str) -> tuple[int, ...]:
    """What the house gains for each unit in a box, on every distinct throw."""
    (found,) = (one for book in BOOKS.values() for one in book.layouts.values() if id(one) == layout)
    return tuple(-(found.boxes[box].odds_on(Throw(faces)) or -1) for faces in WAYS)


def sum_and_variance(layout: Layout, bets: Sequence[Bet], stakes: Sequence[int]) -> tuple[int, Fraction]:
    """Of the house's result over the 216 throws, exactly."""
    staked: Counter[str] = Counter()
    for bet, stake in zip(bets, stakes, strict=True):
        staked[bet.box] += stake
    house = [0] * len(WAYS)
    for box, stake in staked.items():
        house = [result + gain * stake for result, gain in zip(house, _gains(id(layout), box), strict=True)]
    total = sum(ways * result for ways, result in zip(WAYS.values(), house, strict=True))
    squares = sum(ways * result * result for ways, result in zip(WAYS.values(), house, strict=True))
    return total, Fraction(squares, 216) - Fraction(total, 216) ** 2


def scalar(played: Played) -> Expected:
    of, places = played.game, [number for number, wager in enumerate(played.wagers) if wager.counts]
    bets = [Bet(str(number), played.wagers[number].box, played.wagers[number].stake) for number in places]
    done: Settlement | None = None
    stakes, nets = [0] * len(bets), [0] * len(bets)
    if not played.is_void:
        policy = of.excess or of.book.limits.excess
        stakes = effective_stakes(policy, holdings(of.layout, of.limits, bets), bets, of.limits.chip_unit)
        if played.throw:
            done = settle(of.book, of.layout, played.throw, bets, limits=of.limits, excess=of.excess)
            nets = [settled.net for settled in done.bets]
            assert stakes == [settled.effective for settled in done.bets]
    effective, expected = [0] * len(played.wagers), [0] * len(played.wagers)
    for place, stake, net in zip(places, stakes, nets, strict=True):
        effective[place], expected[place] = stake, net
    wrong = any(wager.net not in (None, net) for wager, net in zip(played.wagers, expected, strict=True))
    mean, variance = sum_and_variance(of.layout, bets, stakes) if done else (0, Fraction(0))
    return Expected(
        effective,
        expected,
        differs=wrong and (played.is_void or done is not None),
        breaches=bool(breaches(of.layout, of.limits, bets)),
        needs_ruling=bool(done and done.needs_ruling),
        house=done.house if done else 0,
        mean_216=mean,
        variance=variance,
    )


# --- What the kernel says ---


def chunk(rounds: Sequence[Played], games: Sequence[KernelGame], *, big_endian: bool = False) -> Chunk:
    """Also in the types in which a record comes out of the database."""
    wagers = [wager for played in rounds for wager in played.wagers]
    short, long = (">i2", ">i8") if big_endian else ("i2", "i8")
    place = {id(game): number for number, game in enumerate(games)}
    return Chunk(
        games=np.array([place[id(played.game)] for played in rounds], short),
        throws=np.array([throw_number(played.throw.faces) if played.throw else -1 for played in rounds], short),
        void=np.array([played.is_void for played in rounds], np.bool_),
        sizes=np.array([len(played.wagers) for played in rounds], short),
        boxes=np.array([NUMBERS[wager.box] for wager in wagers], short),
        stakes=np.array([wager.stake for wager in wagers], long),
        nets=np.array([wager.net or 0 for wager in wagers], long),
        counts=None if all(w.counts for w in wagers) else np.array([w.counts for w in wagers], np.bool_),
        compared=None if None not in {w.net for w in wagers} else np.array([w.net is not None for w in wagers]),
    )


def judged(rounds: Sequence[Played], *, big_endian: bool = False) -> Verdict:
    games = list({id(played.game): played.game for played in rounds}.values())
    return Kernel(games).settle(chunk(rounds, games, big_endian=big_endian))


def verify(rounds: Sequence[Played], verdict: Verdict) -> None:
    """Every field of the verdict, against the scalar engine."""
    start = 0
    for number, played in enumerate(rounds):
        said, bets = scalar(played), slice(start, start + len(played.wagers))
        start = bets.stop
        assert verdict.effective[bets].tolist() == said.effective, played
        assert verdict.expected[bets].tolist() == said.expected, played
        for name in ("differs", "breaches", "needs_ruling", "house", "mean_216"):
            assert getattr(verdict, name)[number].item() == getattr(said, name), (name, played)
        error = abs(Fraction(float(verdict.variance[number])) - said.variance)
        assert error <= said.variance / 10**9, (verdict.variance[number], float(said.variance), played)
    assert len(verdict.effective) == len(verdict.expected) == start
    types = {name: column.dtype for name, column in vars(verdict).items()}
    assert types == {"variance": np.float64} | dict.fromkeys(
        ("effective", "expected", "house", "mean_216"), np.int64
    ) | (dict.fromkeys(("differs", "breaches", "needs_ruling"), np.bool_))


def verify_same(rounds: Sequence[Played]) -> Verdict:
    verdict = judged(rounds)
    verify(rounds, verdict)
    return verdict


# --- Random floors ---


@dataclass(frozen=True)
class Floor:
    """From which rounds are drawn: amounts about a chip, of some chips, or beyond what the tables are exact for."""

    seed: int
    rounds: int
    most_bets: int
    largest: int
    crowding: int  # how many boxes the bets of a round are spread over, at most
    block: int
    big_endian: bool


FLOORS = st.builds(
    Floor,
    seed=st.integers(0, 2**32),
    rounds=st.integers(50, 80),
    most_bets=st.sampled_from((3, 12, 60)),
    largest=st.sampled_from((5, 60, 2_000, 2_000_000, 10**9, 10**10, 10**14)),
    crowding=st.sampled_from((2, 8, 200)),
    block=st.sampled_from((1, 7, 768)),
    big_endian=st.booleans(),
)


def some_range(random: Random, largest: int) -> Range:
    low, high = sorted(random.randint(1, largest * random.choice((1, 1, 5))) for _ in range(2))
    kind = random.choice(("both", "both", "both", "equal", "equal", "min", "max"))
    return (
        Range(low, low) if kind == "equal" else Range(low if kind != "max" else None, high if kind != "min" else None)
    )


def some_game(random: Random, largest: int) -> KernelGame:
    rulebook, layout = random.choice(FELTS)
    felt = BOOKS[rulebook].layouts[layout]
    names = [
        *random.sample(sorted(felt.types), random.randint(0, len(felt.types))),
        *random.sample(list(felt.boxes), 5),
    ]
    pairs = [type_ for type_ in ("big-small", "odd-even") if type_ in felt.types and random.random() < 0.7]
    limits = Limits(
        {name: some_range(random, largest) for name in names if random.random() < 0.8},
        {type_: random.randint(0, largest * 2) for type_ in pairs},
        random.choice((1, 1, 5, 25, 100, 7, 10**6, 10**20)),
    )
    return game(layout, rulebook, limits, random.choice(POLICIES))


def some_round(random: Random, played: KernelGame, floor: Floor) -> Played:
    """Mostly settled, mostly with the nets that are due."""
    boxes = random.sample(list(played.layout.boxes), min(floor.crowding, len(played.layout.boxes)))
    boxes += [box for box in ("big", "small", "odd", "even") if box in played.layout.boxes]
    fate = random.choice(("settled", "settled", "settled", "settled", "void", "void-with-dice", "unfinished"))
    throw = random.choice(THROWS) if fate in ("settled", "void-with-dice") else None
    all_count = random.random() < 0.5
    wagers = tuple(
        Wager(random.choice(boxes), random.randint(1, floor.largest), all_count or random.random() < 0.8)
        for _ in range(random.randint(0, floor.most_bets))
    )
    done = Played(played, throw, wagers, fate.startswith("void"))
    slips = random.choice((0, 0, 0.1))
    nets = [None if random.random() < slips else net + (random.random() < slips) for net in scalar(done).expected]
    recorded = (Wager(wager.box, wager.stake, wager.counts, net) for wager, net in zip(wagers, nets, strict=True))
    return Played(played, throw, tuple(recorded), done.is_void)


@settings(
    max_examples=120, deadline=None, phases=[Phase.explicit, Phase.generate]
)  # a smaller seed is no simpler floor
@given(FLOORS)
@example(Floor(1, 80, 60, 10**9, 8, 768, big_endian=True))
def test_every_round_of_a_random_floor_is_judged_as_by_the_scalar_engine(floor: Floor) -> None:
    random = Random(floor.seed)
    games = [some_game(random, floor.largest) for _ in range(12)]
    rounds = [some_round(random, random.choice(games), floor) for _ in range(floor.rounds)]
    with mock.patch.object(kernel, "BLOCK", floor.block):
        verify(rounds, judged(rounds, big_endian=floor.big_endian))


def test_the_random_floors_have_rounds_of_every_kind() -> None:
    """Else they would prove little."""
    found: Counter[str] = Counter()
    for seed in range(4):
        random, floor = Random(seed), Floor(seed, 60, 12, 2_000, 8, 768, big_endian=False)
        games = [some_game(random, floor.largest) for _ in range(12)]
        for played in (some_round(random, random.choice(games), floor) for _ in range(floor.rounds)):
            said = scalar(played)
            placed = [wager.stake if wager.counts else 0 for wager in played.wagers]
            found["void"] += played.is_void
            found["unfinished"] += played.throw is None and not played.is_void
            found["cut"] += said.effective != placed and not played.is_void
            found["whole"] += said.effective == placed and bool(placed)
            found["differs"] += said.differs
            found["breaches"] += said.breaches
            found["within all limits"] += not said.breaches
            found["needs a ruling"] += said.needs_ruling
            found["does not count"] += not all(wager.counts for wager in played.wagers)
            found["not compared"] += any(wager.net is None for wager in played.wagers)
    assert min(found.values()) >= 10, found


@settings(max_examples=500, deadline=None)
@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=8), st.integers(0, 30), st.integers(0, 200),
    st.sampled_from((1, 5, 10, 25)),
)  # fmt: skip
def test_5_1_1_filled_in_whole_numbers_is_filled_in_fractions(
    stakes: list[int], minimum: int, permitted: int, unit: int
) -> None:
    bets = [Bet(str(number), "big", stake) for number, stake in enumerate(stakes)]
    of = game("A", limits=Limits({"big": Range(minimum, permitted)}))
    holding = holdings(of.layout, of.limits, bets)["big"]
    assert policies.filled(stakes, minimum, permitted, unit) == filled(holding, stakes, unit)


# --- Every box, every throw; cases worked out by hand ---


@pytest.mark.parametrize(("rulebook", "layout"), FELTS)
def test_every_box_on_all_216_throws(rulebook: str, layout: str) -> None:
    of = game(layout, rulebook)
    wagers = tuple(Wager(box, 100 + number) for number, box in enumerate(of.layout.boxes))
    rounds = [Played(of, throw, wagers) for throw in THROWS]
    verdict = judged(rounds)
    due = [settle(of.book, of.layout, throw, [Bet("", w.box, w.stake) for w in wagers]) for throw in THROWS]
    assert verdict.expected.tolist() == [settled.net for done in due for settled in done.bets]
    assert verdict.house.tolist() == [done.house for done in due]
    assert set(verdict.mean_216.tolist()) == {sum(done.house for done in due)}


def test_throws_are_numbered_in_the_order_of_their_faces() -> None:
    assert [throw_number(throw.faces) for throw in THROWS] == list(range(216))


@pytest.mark.parametrize("case", PLAYED, ids=[case["name"] for case in PLAYED])
def test_golden(case: Case) -> None:
    request = read_request(document(case), dice_needed=False)
    of = KernelGame(request.book, request.layout, request.limits, request.excess)
    wagers = tuple(Wager(bet.box, bet.stake) for bet in request.bets)
    verdict = verify_same([Played(of, request.throw, wagers, request.void is not None)])
    for number, bet in enumerate(case["bets"]):
        assert verdict.effective[number] == cents(bet.get("effective", f"{verdict.effective[number] / 100:.2f}"))
        assert verdict.expected[number] == cents(bet.get("net", f"{verdict.expected[number] / 100:.2f}"))
    if "breaches" in case:
        assert verdict.breaches[0] == bool(case["breaches"])
    if "needs_ruling" in case:
        assert verdict.needs_ruling[0] == bool(case["needs_ruling"])


# --- What is too large, what is empty, what is wrong ---

HUGE = 10**15
TIGHT = Limits({"big-small": Range(100, HUGE * 3 // 7), "triple": Range(10**14, 10**13)}, {"big-small": 10**12}, 5)


@pytest.mark.parametrize("excess", POLICIES)
@pytest.mark.parametrize("fate", ["settled", "void", "unfinished"])
def test_a_round_of_huge_stakes_is_exact_and_its_neighbours_keep_to_the_tables(excess: str | None, fate: str) -> None:
    of = game("C", limits=TIGHT, excess=excess)
    crowd = (
        *(Wager("big", HUGE - number, number != 3) for number in range(20)), Wager("small", 7 * 10**14 + 1),
        *(Wager("triple-4", HUGE - number, net=None) for number in range(20)), Wager("odd", 1),
    )  # fmt: skip
    few = (Wager("big", 12_345), Wager("triple-4", 50), Wager("even", 1))
    throw = Throw((4, 4, 4)) if fate == "settled" else None
    rounds = [Played(of, Throw((4, 5, 6)), few), Played(of, throw, crowd, fate == "void"), Played(of, None, few)]
    with mock.patch.object(kernel, "breaches", wraps=breaches) as by_the_scalar_engine:
        verify_same(rounds)
    assert by_the_scalar_engine.call_count == 1


def test_just_above_and_below_what_the_tables_are_exact_for() -> None:
    of = game("C", limits=Limits({"big": Range(1, 10**9 + 7)}, {}, 3))
    bound = Kernel([of])._bound
    rounds = [
        Played(of, Throw((6, 6, 6)), (Wager("big", total // 3), Wager("triple-6", total - total // 3)))
        for total in range(bound - 20, bound + 20)
    ]
    with mock.patch.object(kernel, "breaches", wraps=breaches) as by_the_scalar_engine:
        verify_same(rounds)
    assert 0 < by_the_scalar_engine.call_count < len(rounds)


def test_a_result_that_no_column_can_hold_is_an_error_not_a_wrong_number() -> None:
    wagers = (Wager("triple-6", 2**60),)
    with pytest.raises(OverflowError):
        judged([Played(game("A"), Throw((6, 6, 6)), wagers)])


def test_the_variance_of_bets_that_almost_cancel_out_is_exact() -> None:
    """On Big and Small alike, only a triple moves money; on Odd and Even too."""
    wagers = (*(Wager(box, 10**9 + 1) for box in ("big", "small", "odd", "even")), Wager("big", 1))
    verify_same([Played(game("C"), Throw((1, 2, 3)), wagers)])


def test_rounds_without_bets() -> None:
    of = game("E", limits=Limits({"big": Range(5, 10)}, {"big-small": 0}))
    empty, one = Played(of, Throw((1, 1, 2))), Played(of, Throw((1, 1, 2)), (Wager("small", 20, net=20),))
    for rounds in ([empty], [empty, empty], [empty, one, empty, empty, one, empty]):
        verify_same(rounds)


def test_a_chunk_without_rounds() -> None:
    nothing = chunk([], [])
    for kernel_ in (Kernel([]), Kernel([game()])):
        assert {len(column) for column in vars(kernel_.settle(nothing)).values()} == {0}


def test_what_was_given_is_left_as_it_was() -> None:
    of = game("C", limits=Limits({"big": Range(5, 10)}))
    given_ = chunk([Played(of, Throw((4, 5, 6)), (Wager("big", 20), Wager("big", 30, counts=False)))], [of])
    for column in vars(given_).values():
        if column is not None:
            column.flags.writeable = False
    assert Kernel([of]).settle(given_).effective.tolist() == [10, 0]


WRONG: list[tuple[str, Any]] = [
    ("games", [1]), ("games", [-1]), ("throws", [216]), ("throws", [-2]), ("sizes", [2]), ("sizes", [-1]),
    ("boxes", [0]), ("boxes", [-1]), ("boxes", [len(CODES) + 1]), ("boxes", [NUMBERS["odd"]]), ("stakes", [-1]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_a_chunk_that_the_tables_have_no_place_for_is_refused(name: str, value: list[int]) -> None:
    of = game("A")
    right = vars(chunk([Played(of, Throw((1, 2, 3)), (Wager("big", 1),))], [of]))
    with pytest.raises(ValueError, match=f"^{name}: "):
        Kernel([of]).settle(Chunk(**right | {name: np.array(value)}))


# --- NumPy is the kernel's alone ---


def test_no_other_module_of_the_engine_loads_numpy() -> None:
    engine = PROJECT / "games" / "engine"
    names = {".".join(path.relative_to(engine).with_suffix("").parts) for path in engine.rglob("*.py")}
    modules = {name for name in names if not name.endswith("__init__")}
    others = sorted(name for name in modules if not name.startswith("kernel."))
    assert len(modules) - len(others) == 3
    program = "".join(f"import games.engine.{name}\n" for name in others) + "import sys; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=PROJECT, capture_output=True, check=True, timeout=60)
    assert done.stdout.decode().strip() == "False"
