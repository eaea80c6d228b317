"""Settle a round: what each bet wins or loses, and by which rules."""

from collections.abc import Sequence
from dataclasses import dataclass

from games.engine.dice import Throw
from games.engine.rules.rulebook import Layout, Rulebook
from games.engine.signs.limits import (
    Bet,
    Breach,
    Holding,
    Limits,
    Placed,
    breaches,
    effective_stakes,
    holdings,
    needs_ruling,
)

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


@dataclass(frozen=True)
class Reckoning:
    """The sums of a settlement, without its reasons."""

    boxes: dict[str, Holding]
    stakes: list[int]  # effective stake of each bet
    nets: list[int]
    needs_ruling: tuple[str, ...]  # boxes


def reckon(
    layout: Layout, throw: Throw, bets: Sequence[Placed], limits: Limits, policy: str, *, boxes: dict[str, Holding]
) -> Reckoning:
    """Calculate what each bet should win or lose; `boxes` are the holdings."""
    stakes = effective_stakes(policy, boxes, bets, limits.chip_unit)
    odds = layout.winning(throw)
    return Reckoning(
        boxes,
        stakes,
        [stake * odds.get(bet.box, -1) for bet, stake in zip(bets, stakes, strict=True)],
        tuple([box for box, holding in boxes.items() if holding.is_over_full and needs_ruling(policy, holding, bets)]),
    )


def settle(
    book: Rulebook,
    layout: Layout,
    throw: Throw,
    bets: Sequence[Bet],
    *,
    limits: Limits | None = None,
    excess: str | None = None,
) -> Settlement:
    """Return what each bet should win or lose, and by which rule."""
    limits, policy = limits or Limits(), excess or book.limits.excess
    reckoned = reckon(layout, throw, bets, limits, policy, boxes=holdings(layout, limits, bets))
    odds = winning(layout, throw)
    settled = []
    for bet, stake, net in zip(bets, reckoned.stakes, reckoned.nets, strict=True):
        paid = odds.get(bet.box, 0)
        rules = bet_rules(
            book, layout, throw, policy=policy, holding=reckoned.boxes[bet.box], stake=bet.stake, effective=stake
        )
        settled.append(SettledBet(bet, stake, "win" if paid else "lose", paid, net, rules))
    broken = breaches(layout, limits, bets, reckoned.boxes)
    return Settlement(throw, None, odds, tuple(settled), tuple(broken), reckoned.needs_ruling)


def settle_void(
    book: Rulebook, layout: Layout, void: str, bets: Sequence[Bet], limits: Limits | None = None
) -> Settlement:
    """Return every stake. A bet over or under a limit is still a breach."""
    rules = (*(book.ruling_rules if void == RULING else (void,)), *book.void_rules)
    settled = tuple(SettledBet(bet, 0, "void", None, 0, rules) for bet in bets)
    return Settlement(None, void, {}, settled, tuple(breaches(layout, limits or Limits(), bets)), ())


def winning(layout: Layout, throw: Throw) -> dict[str, int]:
    """Return every winning box with its odds to 1."""
    return dict(layout.winning(throw))


def bet_rules(
    book: Rulebook, layout: Layout, throw: Throw, *, policy: str, holding: Holding, stake: int, effective: int
) -> tuple[str, ...]:
    """Return the rules by which a bet of a box wins or loses its effective stake."""
    box = layout.boxes[holding.box]
    won = box.win_rules if holding.box in layout.winning(throw) else ()
    triple = book.triple_rules if throw.is_triple else ()
    return (*box.rules, *won, *triple, *limit_rules(book, policy, holding, stake, effective))


def limit_rules(book: Rulebook, policy: str, holding: Holding, stake: int, effective: int) -> tuple[str, ...]:
    """Return the rules cited besides the pay table for a bet that was cut, not cut, or below the minimum."""
    if effective < stake:
        return book.limits.cut
    minimum = holding.limits.minimum
    if minimum is None or stake > minimum:
        return ()
    if holding.is_over_full and policy != "in-full":
        return book.limits.left
    return book.limits.below_minimum if stake < minimum else ()
