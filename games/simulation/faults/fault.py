"""What a fault is, and how one finds a bet to go wrong with."""

from collections.abc import Callable, Iterable
from random import Random

from games.simulation.round_draft import RoundDraft, Wager

#: Plants itself; says no, and changes nothing, where the draft has no place for it.
Fault = Callable[[RoundDraft, Random], bool]


def bet_on(draft: RoundDraft, random: Random, boxes: Iterable[str]) -> Wager | None:
    """A bet in one of these boxes: one that is there, or one more."""
    wanted = list(boxes)
    there = [bet for bet in draft.bets if bet.box in wanted and not bet.is_out]
    if there:
        return random.choice(there)
    for box in random.sample(wanted, len(wanted)):
        if stake := draft.ordinary_stake(box):
            return draft.put(box, stake)
    return None


def winning_bet(draft: RoundDraft, random: Random) -> Wager | None:
    return bet_on(draft, random, draft.table.odds(draft.dice))


def losing_bet(draft: RoundDraft, random: Random) -> Wager | None:
    odds = draft.table.odds(draft.dice)
    return bet_on(draft, random, (box for box in draft.table.layout.boxes if box not in odds))


def by_dice(draft: RoundDraft, bet: Wager) -> int:
    """What the dice give a bet as it was placed, whatever the rules say of it."""
    times = draft.table.odds(draft.dice).get(bet.box, 0)
    return bet.stake * times if times else -bet.stake


def pay_all_by_dice(draft: RoundDraft) -> None:
    """Everybody on the felt is paid as if nothing had happened."""
    for bet in draft.bets:
        if not bet.is_out:
            bet.net = by_dice(draft, bet)


def leave_out(draft: RoundDraft) -> None:
    """Nothing is recorded as won or lost."""
    for bet in draft.bets:
        bet.net = None
