"""Withdrawn bets: in time but settled all the same, or too late, so that the bet stays."""

from collections.abc import Iterator
from random import Random

from games.simulation.faults.fault import Fault, bet_on, by_dice
from games.simulation.faults.voids import call_off_at_random
from games.simulation.played_floor import PlayedTable
from games.simulation.round_draft import RoundDraft, Wager


def faults(table: PlayedTable) -> Iterator[Fault]:
    yield late
    yield late_and_given_back
    yield several_late
    yield late_in_a_void_round
    yield in_time_but_settled


def take_back_late(draft: RoundDraft, random: Random, bet: Wager) -> None:
    draft.withdraw(bet, random.randint(draft.moments.late, draft.moments.settled))


def taken_back(draft: RoundDraft, random: Random) -> Wager | None:
    """Add a bet beside another of the same player and withdraw it, at the latest exactly at the call."""
    like = bet_on(draft, random, draft.table.layout.boxes)
    if like is None:
        return None
    when = draft.moments
    bet = draft.put(like.box, like.stake, like.player)
    draft.withdraw(bet, random.choice((when.closed, random.randint(when.early, when.closed))))
    bet.at = random.choice((None, when.placed))
    return bet


def late(draft: RoundDraft, random: Random) -> bool:
    """Withdraw a bet too late; it is settled, as it must be."""
    bet = bet_on(draft, random, draft.table.layout.boxes)
    if bet is not None:
        take_back_late(draft, random, bet)
    return bet is not None


def late_and_given_back(draft: RoundDraft, random: Random) -> bool:
    bet = bet_on(draft, random, draft.table.layout.boxes)
    if bet is None:
        return False
    take_back_late(draft, random, bet)

    def record(_: RoundDraft) -> None:
        bet.net = 0

    draft.slips.append(record)
    return True


def several_late(draft: RoundDraft, random: Random) -> bool:
    """Withdraw two bets too late: each is a separate irregularity."""
    bets = draft.bets[:2]
    for bet in bets:
        take_back_late(draft, random, bet)
    return bool(bets)


def late_in_a_void_round(draft: RoundDraft, random: Random) -> bool:
    return late(draft, random) and call_off_at_random(draft, random)


def in_time_but_settled(draft: RoundDraft, random: Random) -> bool:
    bet = taken_back(draft, random)
    if bet is None:
        return False

    def record(draft: RoundDraft) -> None:
        bet.net = by_dice(draft, bet)

    draft.slips.append(record)
    return True
