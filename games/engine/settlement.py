"""Settling a round: what each bet wins or loses, and by which rules."""

from collections.abc import Sequence
from dataclasses import dataclass

from .dice import Throw
from .limits import Bet, Breach, Holding, Limits, breaches, effective_stakes, holdings, needs_ruling
from .rulebook import Layout, Rulebook

RULING = "ruling"


@dataclass(frozen=True)
class SettledBet:
    bet: Bet
    effective: int
    result: str  # win, lose, void
    odds: int | None
    net: int
    rules: tuple[str, ...]  # bare numbers


@dataclass(frozen=True)
class Settlement:
    throw: Throw | None
    void: str | None
    winning: dict[str, int]
    bets: tuple[SettledBet, ...]
    breaches: tuple[Breach, ...]
    needs_ruling: tuple[str, ...]  # boxes

    @property
    def house(self) -> int:
        return -sum(settled.net for settled in self.bets)


def settle(
    book: Rulebook,
    layout: Layout,
    throw: Throw,
    bets: Sequence[Bet],
    *,
    limits: Limits | None = None,
    excess: str | None = None,
) -> Settlement:
    """What each bet should win or lose, and by which rule."""
    limits, policy = limits or Limits(), excess or book.limits.excess
    boxes = holdings(layout, limits, bets)
    stakes = effective_stakes(policy, boxes, bets, limits.chip_unit)
    return Settlement(
        throw,
        None,
        winning(layout, throw),
        tuple(
            _settle_bet(book, layout, throw, Placed(bet, stake, boxes[bet.box], policy))
            for bet, stake in zip(bets, stakes, strict=True)
        ),
        tuple(breaches(layout, limits, bets, boxes)),
        tuple(box for box, holding in boxes.items() if needs_ruling(policy, holding, bets)),
    )


def settle_void(
    book: Rulebook, layout: Layout, void: str, bets: Sequence[Bet], limits: Limits | None = None
) -> Settlement:
    """Every stake goes back; what was over or under a limit is a breach all the same."""
    rules = (*(book.ruling_rules if void == RULING else (void,)), *book.void_rules)
    settled = tuple(SettledBet(bet, 0, "void", None, 0, rules) for bet in bets)
    return Settlement(None, void, {}, settled, tuple(breaches(layout, limits or Limits(), bets)), ())


def winning(layout: Layout, throw: Throw) -> dict[str, int]:
    """Every winning box with its odds to 1."""
    return {code: odds for code, box in layout.boxes.items() if (odds := box.odds_on(throw))}


@dataclass(frozen=True)
class Placed:
    """A bet, what it counts for, and the box it lies in."""

    bet: Bet
    effective: int
    holding: Holding
    policy: str


def _settle_bet(book: Rulebook, layout: Layout, throw: Throw, placed: Placed) -> SettledBet:
    box = layout.boxes[placed.bet.box]
    odds = box.odds_on(throw)
    return SettledBet(
        bet=placed.bet,
        effective=placed.effective,
        result="win" if odds else "lose",
        odds=odds,
        net=placed.effective * odds if odds else -placed.effective,
        rules=(
            *box.rules,
            *(box.win_rules if odds else ()),
            *(book.triple_rules if throw.is_triple else ()),
            *_limit_rules(book, placed),
        ),
    )


def _limit_rules(book: Rulebook, placed: Placed) -> tuple[str, ...]:
    stake, holding = placed.bet.stake, placed.holding
    if placed.effective < stake:
        return book.limits.cut
    if holding.is_over_full and placed.policy != "in-full" and holding.is_left(stake):
        return book.limits.left
    if holding.limits.minimum is not None and stake < holding.limits.minimum:
        return book.limits.below_minimum
    return ()
