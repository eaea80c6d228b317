"""What a fault is, and how to choose a bet for it."""

from collections.abc import Callable, Iterable
from random import Random

from games.simulation.round_draft import RoundDraft, Wager

#: Plants the fault. Returns False, and changes nothing, if the draft has no place for it.
Fault = Callable[[RoundDraft, Random], bool]


def bet_on(draft: RoundDraft, random: Random, boxes: Iterable[str]) -> Wager | None:
    """Return a bet in one of these boxes, adding one if needed."""
    codes = list(boxes)
    there = [bet for bet in draft.bets if bet.box in codes and not bet.is_out]
    if there:
        return random.choice(there)
    for box in random.sample(codes, len(codes)):
        if stake := draft.ordinary_stake(box):
            return draft.put(box, stake)
    return None


def winning_bet(draft: RoundDraft, random: Random) -> Wager | None:
    return bet_on(draft, random, draft.table.odds(draft.dice))


def losing_bet(draft: RoundDraft, random: Random) -> Wager | None:
    odds = draft.table.odds(draft.dice)
    return bet_on(draft, random, (box for box in draft.table.layout.boxes if box not in odds))


def by_dice(draft: RoundDraft, bet: Wager) -> int:
    """Return what the dice give a bet as placed, whatever the rules say of it."""
    times = draft.table.odds(draft.dice).get(bet.box, 0)
    return bet.stake * times if times else -bet.stake


def pay_all_by_dice(draft: RoundDraft) -> None:
    """Pay all bets on the felt as if nothing had happened."""
    for bet in draft.bets:
        if not bet.is_out:
            bet.net = by_dice(draft, bet)


def leave_out(draft: RoundDraft) -> None:
    """Record no net."""
    for bet in draft.bets:
        bet.net = None
