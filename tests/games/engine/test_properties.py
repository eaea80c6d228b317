"""What holds for every round: money is neither made nor lost, limits are kept, and order does not matter."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from games.engine.json_output import settle_document
from tests.games.engine import oracle
from tests.games.engine.oracle import DIVISION_9, OPEN_COVER, V6, Limit, cents, money

LAYOUTS = {V6: "C", OPEN_COVER: "C", DIVISION_9: "2"}
BOXES = ("big", "small", "odd", "even", "single-3", "total-10", "triple-4")
PLAYERS = ("p1", "p2", "p3", "p4", "p5")
POLICIES = ("proportional", "filled", "in-full")
LARGEST = (60, 2_000, 2_000_000)  # amounts about a chip, of some chips, and far beyond
SOME = settings(max_examples=120, deadline=None)

DICE = st.lists(st.integers(1, 6), min_size=3, max_size=3)


@dataclass(frozen=True)
class Bet:
    player: str
    box: str
    stake: int


@dataclass(frozen=True)
class Round:
    """A round in cents; `limits` by type or by box."""

    rulebook: str
    dice: tuple[int, ...]
    bets: tuple[Bet, ...]
    limits: dict[str, Limit]
    differential: dict[str, int]
    unit: int
    excess: str | None

    def placed(self) -> dict[str, int]:
        return {box: sum(bet.stake for bet in self.bets if bet.box == box) for box in {bet.box for bet in self.bets}}

    def may_hold(self, box: str) -> int | None:
        return oracle.may_hold(self.limits, self.differential, self.placed(), box)

    def minimum(self, box: str) -> int | None:
        return oracle.limit_on(self.limits, box).minimum

    def stakes(self, box: str) -> list[int]:
        return [bet.stake for bet in self.bets if bet.box == box]

    def over_full(self) -> dict[str, int]:
        """Every box that holds more than it may, with what it may hold."""
        permitted = {box: self.may_hold(box) for box in self.placed()}
        return {
            box: limit for box, limit in permitted.items() if limit is not None and self.placed()[box] > limit
        }  # fmt: skip


def limits_document(limits: dict[str, Limit]) -> dict[str, Any]:
    return {
        name: {
            key: money(amount)
            for key, amount in (("min", limit.minimum), ("max", limit.maximum))
            if amount is not None
        }
        for name, limit in limits.items()
    }  # fmt: skip


def document(game: Round, **changes: Any) -> dict[str, Any]:
    return {
        "rulebook": game.rulebook,
        "layout": LAYOUTS[game.rulebook],
        "dice": list(game.dice),
        "limits": limits_document(game.limits),
        "differential": {name: money(amount) for name, amount in game.differential.items()},
        "chip_unit": money(game.unit),
        "excess": game.excess,
        "bets": [
            {"ref": f"{bet.player}/{bet.box}", "player": bet.player, "box": bet.box, "stake": money(bet.stake)}
            for bet in game.bets
        ],
    } | changes


def settled(game: Round, **changes: Any) -> Any:
    return settle_document(document(game, **changes))


def effective(done: Any) -> dict[str, int]:
    return {bet["ref"]: cents(bet["effective"]) for bet in done["bets"]}


def held(done: Any, box: str) -> int:
    return sum(cents(bet["effective"]) for bet in done["bets"] if bet["box"] == box)


@st.composite
def limit(draw: st.DrawFn, amounts: st.SearchStrategy[int]) -> Limit:
    """A limit with a minimum, a maximum or both; never a minimum above the maximum."""
    low, high = sorted(draw(st.lists(amounts, min_size=2, max_size=2)))
    which = draw(st.sampled_from(("both", "min", "max")))
    return Limit(low if which != "max" else None, high if which != "min" else None)


@st.composite
def rounds(draw: st.DrawFn, excess: str | None = None, *, in_chips: bool = False) -> Round:
    """A round that may break every limit; `in_chips`: with all amounts in whole chips."""
    unit = draw(st.sampled_from((1, 5, 25, 100)))
    amounts = st.integers(1, draw(st.sampled_from(LARGEST))).map(lambda amount: amount * unit if in_chips else amount)
    places = st.tuples(st.sampled_from(PLAYERS), st.sampled_from(BOXES))
    bets = draw(st.lists(places, min_size=1, max_size=12, unique=True))
    names = st.sampled_from((*BOXES, "big-small", "odd-even", "single", "total", "triple"))
    return Round(
        rulebook=draw(st.sampled_from(tuple(LAYOUTS))),
        dice=tuple(draw(DICE)),
        bets=tuple(Bet(player, box, draw(amounts)) for player, box in bets),
        limits=draw(st.dictionaries(names, limit(amounts), max_size=6)),
        differential=draw(st.dictionaries(st.sampled_from(("big-small", "odd-even")), amounts, max_size=2)),
        unit=unit,
        excess=excess or draw(st.sampled_from(POLICIES)),
    )


@st.composite
def crowded_boxes(draw: st.DrawFn) -> Round:
    """One over-full box, settled by `filled`, with stakes, minimum and maximum of about a chip."""
    unit = draw(st.sampled_from((5, 10, 25)))
    stakes = draw(st.lists(st.integers(1, 60), min_size=2, max_size=8))
    minimum = draw(st.integers(1, unit))
    return Round(
        rulebook=V6,
        dice=(4, 5, 6),
        bets=tuple(Bet(f"p{number}", "big", stake) for number, stake in enumerate(stakes)),
        limits={"big": Limit(minimum, draw(st.integers(minimum, max(minimum, sum(stakes) - 1))))},
        differential={},
        unit=unit,
        excess="filled",
    )


@SOME
@given(rounds())
def test_what_the_players_gain_the_house_loses(game: Round) -> None:
    """The house's side is counted anew: it takes what lost and pays the odds on what won, on the stakes that count."""
    done = settled(game)
    house = 0
    for bet in done["bets"]:
        pays = oracle.odds(game.rulebook, bet["box"], game.dice)
        house += -pays * cents(bet["effective"]) if pays else cents(bet["effective"])
    assert sum(cents(bet["net"]) for bet in done["bets"]) + house == 0


@SOME
@given(rounds())
def test_what_counts_of_a_stake_is_at_most_the_stake(game: Round) -> None:
    done = effective(settled(game))
    assert all(0 <= done[f"{bet.player}/{bet.box}"] <= bet.stake for bet in game.bets)


@SOME
@given(rounds())
def test_5_1_1_what_counts_of_a_stake_is_at_least_the_minimum_or_the_whole_stake(game: Round) -> None:
    done = effective(settled(game))
    for bet in game.bets:
        assert done[f"{bet.player}/{bet.box}"] >= min(bet.stake, game.minimum(bet.box) or 0)


@SOME
@given(rounds())
def test_a_bet_of_a_box_that_is_not_over_full_counts_whole(game: Round) -> None:
    done = effective(settled(game))
    over_full = game.over_full()
    assert all(done[f"{bet.player}/{bet.box}"] == bet.stake for bet in game.bets if bet.box not in over_full)


@SOME
@given(rounds("proportional"))
def test_5_1_1_in_proportion_every_stake_follows_the_formula(game: Round) -> None:
    done, placed = effective(settled(game)), game.placed()
    for bet in game.bets:
        expected = oracle.proportional(
            bet.stake, placed[bet.box], game.may_hold(bet.box), game.minimum(bet.box), game.unit
        )  # fmt: skip
        assert done[f"{bet.player}/{bet.box}"] == expected, bet


@SOME
@given(rounds("filled", in_chips=True))
def test_5_1_1_filled_ends_at_what_the_box_may_hold_whenever_the_minimums_allow_it(game: Round) -> None:
    done = settled(game)
    for box, permitted in game.over_full().items():
        if oracle.floors(game.stakes(box), game.minimum(box)) <= permitted:
            assert 0 <= permitted - held(done, box) < game.unit, (box, permitted)


@settings(max_examples=1500, deadline=None)
@given(crowded_boxes())
def test_5_1_1_filled_does_so_also_where_stakes_and_limits_are_no_whole_chips(game: Round) -> None:
    done = settled(game)
    for box, permitted in game.over_full().items():
        if oracle.floors(game.stakes(box), game.minimum(box)) <= permitted:
            assert 0 <= permitted - held(done, box) < game.unit, (box, permitted)


@SOME
@given(rounds("filled", in_chips=True))
def test_5_1_1_filled_leaves_a_larger_bet_at_least_what_a_smaller_one_has_but_for_a_chip(game: Round) -> None:
    done = effective(settled(game))
    ordered = sorted(game.bets, key=lambda bet: (bet.box, bet.stake))
    for less, more in pairwise(ordered):
        if less.box == more.box:
            assert done[f"{less.player}/{less.box}"] <= done[f"{more.player}/{more.box}"] + game.unit


@SOME
@given(rounds("in-full"))
def test_in_full_leaves_every_stake_and_needs_no_ruling(game: Round) -> None:
    done = settled(game)
    assert [bet["effective"] for bet in done["bets"]] == [money(bet.stake) for bet in game.bets]
    assert done["needs_ruling"] == []


@SOME
@given(rounds())
def test_nobody_wins_or_loses_more_than_in_full(game: Round) -> None:
    for bet, in_full in zip(settled(game)["bets"], settled(game, excess="in-full")["bets"], strict=True):
        assert abs(cents(bet["net"])) <= abs(cents(in_full["net"]))
        assert cents(bet["net"]) * cents(in_full["net"]) >= 0


@SOME
@given(rounds())
def test_without_a_policy_each_rulebook_follows_its_own(game: Round) -> None:
    own = "in-full" if game.rulebook == DIVISION_9 else "proportional"
    assert settled(game, excess=None) == settled(game, excess=own)


@SOME
@given(rounds(), st.randoms(use_true_random=False))
def test_the_order_of_the_dice_does_not_matter(game: Round, random: Any) -> None:
    dice = list(game.dice)
    random.shuffle(dice)
    assert settled(game, dice=dice) | {"dice": None} == settled(game) | {"dice": None}


@SOME
@given(rounds(), st.randoms(use_true_random=False))
def test_the_order_of_the_bets_does_not_matter_but_for_left_over_chips(game: Round, random: Any) -> None:
    bets = document(game)["bets"]
    random.shuffle(bets)
    one, other = effective(settled(game)), effective(settled(game, bets=bets))
    most = game.unit if game.excess == "filled" else 0
    assert all(abs(one[ref] - other[ref]) <= most for ref in one)


@SOME
@given(rounds())
def test_5_14_a_ruling_is_needed_exactly_where_the_minimums_alone_overfill_a_box(game: Round) -> None:
    expected = {
        box
        for box, permitted in game.over_full().items()
        if game.excess != "in-full" and oracle.floors(game.stakes(box), game.minimum(box)) > permitted
    }
    assert {box for ruling in settled(game)["needs_ruling"] for box in ruling["boxes"]} == expected


Breach = tuple[str, tuple[str, ...], str | None, str, str]  # kind, boxes, player, placed, permitted


def expected_breaches(game: Round) -> set[Breach]:
    """Every broken limit, counted from what was placed."""
    placed = game.placed()
    found: set[Breach] = set()
    for box, total in placed.items():
        maximum = oracle.limit_on(game.limits, box).maximum
        if maximum is not None and total > maximum:
            found.add(("box-maximum", (box,), None, money(total), money(maximum)))
        other = oracle.OPPOSITES.get(box, "")
        gap, most = total - placed.get(other, 0), game.differential.get(oracle.bet_type(box))
        if most is not None and gap > most:
            found.add(("differential", (box, other), None, money(gap), money(most)))
    for bet in game.bets:
        minimum = game.minimum(bet.box)
        if minimum is not None and bet.stake < minimum:
            found.add(("below-minimum", (bet.box,), bet.player, money(bet.stake), money(minimum)))
    return found


@SOME
@given(rounds())
def test_every_broken_limit_is_listed_once_whatever_the_policy(game: Round) -> None:
    listed = [
        (breach["kind"], tuple(breach["boxes"]), breach["player"], breach["placed"], breach["permitted"])
        for breach in settled(game)["breaches"]
    ]
    assert len(listed) == len(set(listed))
    assert set(listed) == expected_breaches(game)


@SOME
@given(rounds())
def test_a_void_round_moves_no_money_and_hides_no_breach(game: Round) -> None:
    done = settled(game, void="ruling")
    assert {(bet["effective"], bet["net"], bet["result"]) for bet in done["bets"]} == {("0.00", "0.00", "void")}
    assert done["breaches"] == settled(game)["breaches"]


@SOME
@given(rounds())
def test_no_amount_is_written_as_minus_nothing(game: Round) -> None:
    assert "-0.00" not in {bet["net"] for bet in settled(game)["bets"]}
