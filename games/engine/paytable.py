"""The pay table of a layout: each box with its odds, chance and house edge, counted over the 216 throws."""

from dataclasses import dataclass
from fractions import Fraction

from games.engine.boxes import Box
from games.engine.dice import all_throws
from games.engine.rules.rulebook import Layout


@dataclass(frozen=True)
class Pay:
    box: Box
    wins: int  # of 216
    edge: Fraction


def paytable(layout: Layout) -> list[Pay]:
    return [_pay(box) for box in layout.boxes.values()]


def _pay(box: Box) -> Pay:
    odds = [box.odds_on(throw) for throw in all_throws()]
    wins = sum(1 for odds_on_throw in odds if odds_on_throw)
    return Pay(box, wins, Fraction(len(odds) - wins - sum(odds), len(odds)))
