"""Mistakes in paying and collecting, each with its kind."""

from collections.abc import Callable, Iterator
from functools import partial
from random import Random

from games.simulation.faults.fault import Fault, bet_on, by_dice, losing_bet, winning_bet
from games.simulation.payout import LEAST_BIG
from games.simulation.played_floor import PlayedTable
from games.simulation.round_draft import RoundDraft, Wager

#: What a dealer may record of a bet, by what was due, its stake and a chip.
Slips = tuple[Callable[[int, int, int], int], ...]

OF_WINNERS: tuple[Slips, ...] = (
    (lambda due, stake, chip: due + chip, lambda due, stake, chip: due * 2, lambda due, stake, chip: due + stake),
    (lambda due, stake, chip: max(due - chip, 1), lambda due, stake, chip: max(due // 2, 1)),
    (lambda due, stake, chip: 0, lambda due, stake, chip: -stake),
)  # overpaid, underpaid, not paid at all
OF_LOSERS: tuple[Slips, ...] = (
    (lambda due, stake, chip: stake, lambda due, stake, chip: stake * 6),
    (lambda due, stake, chip: 0, lambda due, stake, chip: min(due + chip, 0), lambda due, stake, chip: -(stake // 2)),
    (lambda due, stake, chip: due - chip, lambda due, stake, chip: due * 2),
)  # paid, not collected, over-collected


def faults(table: PlayedTable) -> Iterator[Fault]:
    yield from slips()
    yield refused_but_settled


def slips() -> Iterator[Fault]:
    """Plant mistakes in the payments of bets on the felt."""
    yield from (partial(slip, winning_bet, amounts) for amounts in OF_WINNERS)
    yield from (partial(slip, losing_bet, amounts) for amounts in OF_LOSERS)


def slip(find: Callable[[RoundDraft, Random], Wager | None], amounts: Slips, draft: RoundDraft, random: Random) -> bool:
    bet = find(draft, random)
    if bet is None:
        return False
    amount = random.choice(amounts)

    def record(draft: RoundDraft) -> None:
        bet.net = amount(bet.due or 0, bet.stake, draft.table.chip_unit)

    draft.slips.append(record)
    return True


def triple_overlooked(draft: RoundDraft, random: Random) -> bool:
    """Pay Big, Small, Odd and Even by the total on a triple, on which they lose."""
    if len(set(draft.dice)) > 1:
        return False
    total = sum(draft.dice)
    won = ("big" if total >= LEAST_BIG else "small", "odd" if total % 2 else "even")
    if bet_on(draft, random, (box for box in won if box in draft.table.layout.boxes)) is None:
        return False

    def record(draft: RoundDraft) -> None:
        for bet in draft.bets:
            if bet.box in won and not bet.is_out:
                bet.net = bet.stake

    draft.slips.append(record)
    return True


def refused_but_settled(draft: RoundDraft, random: Random) -> bool:
    """Pay or collect a refused bet; sometimes it is on record that it was refused in time."""
    like = bet_on(draft, random, draft.table.layout.boxes)
    if like is None:
        return False
    bet = draft.put(like.box, like.stake, refused=True)
    bet.at = random.choice((None, random.randint(draft.moments.placed, draft.moments.closed)))

    def record(draft: RoundDraft) -> None:
        bet.net = by_dice(draft, bet)

    draft.slips.append(record)
    return True
