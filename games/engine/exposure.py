"""Exposure: the house result of a set of bets on every throw, its worst case, mean and spread."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from games.engine.dice import Throw, all_throws
from games.engine.rules.rulebook import Layout, Rulebook
from games.engine.signs.limits import Bet, Limits, effective_stakes, holdings


@dataclass(frozen=True)
class Outlook:
    """One of the 56 distinct throws: how many of the 216 show it, and what the house gains on it."""

    throw: Throw
    ways: int
    house: int


@dataclass(frozen=True)
class Exposure:
    outlooks: tuple[Outlook, ...]

    @property
    def worst(self) -> Outlook:
        return min(self.outlooks, key=lambda outlook: outlook.house)

    @property
    def mean(self) -> Fraction:
        return Fraction(
            sum(outlook.ways * outlook.house for outlook in self.outlooks),
            sum(outlook.ways for outlook in self.outlooks),
        )

    @property
    def variance(self) -> float:
        """Return the variance over the 216 throws; exact until the last step."""
        squares = sum(outlook.ways * outlook.house**2 for outlook in self.outlooks)
        return float(Fraction(squares, sum(outlook.ways for outlook in self.outlooks)) - self.mean**2)

    @property
    def deviation(self) -> float:
        return math.sqrt(self.variance)


def exposure(
    book: Rulebook, layout: Layout, bets: Sequence[Bet], limits: Limits | None = None, excess: str | None = None
) -> Exposure:
    """Calculate the house result on every throw, with limits and policy applied.

    The effective stakes do not depend on the dice, so they are calculated once.
    """
    limits = limits or Limits()
    stakes = effective_stakes(excess or book.limits.excess, holdings(layout, limits, bets), bets, limits.chip_unit)
    staked: Counter[str] = Counter()
    for bet, stake in zip(bets, stakes, strict=True):
        staked[bet.box] += stake
    return Exposure(tuple(Outlook(throw, ways, _house(layout, throw, staked)) for throw, ways in distinct_throws()))


def distinct_throws() -> list[tuple[Throw, int]]:
    """List the 56 throws with ascending faces, each with how many of the 216 throws it covers."""
    ways = Counter(throw.ascending for throw in all_throws())
    return [(Throw((first, second, third)), ways[first, second, third]) for first, second, third in sorted(ways)]


def _house(layout: Layout, throw: Throw, staked: Counter[str]) -> int:
    result = 0
    for box, stake in staked.items():
        odds = layout.boxes[box].odds_on(throw)
        result += -stake * odds if odds else stake
    return result
