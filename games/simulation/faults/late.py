"""Late bets: refused, left and returned, or settled all the same."""

from collections.abc import Iterator
from functools import partial
from random import Random

from games.simulation.faults.fault import Fault, bet_on, by_dice
from games.simulation.faults.voids import call_off_at_random
from games.simulation.played_floor import PlayedTable
from games.simulation.round_draft import RoundDraft, Wager

LARGE = 50  # late bets count for nothing: not even a huge one fills a box


def faults(table: PlayedTable) -> Iterator[Fault]:
    yield refused
    yield given_back
    yield settled
    yield partial(settled, refused=True)
    yield in_a_void_round
    yield in_an_unfinished_round


def late_bet(draft: RoundDraft, random: Random, refused: bool) -> Wager | None:
    """Add a late bet, sometimes on a box where the player has one already."""
    like = bet_on(draft, random, draft.table.layout.boxes)
    if like is None:
        return None
    player = random.choice((like.player, None))
    stake = like.stake * random.choice((1, 1, 2, LARGE))
    second = random.randint(draft.moments.late, draft.moments.result)
    bet = draft.put(like.box, stake, player, refused=refused, at=second)
    draft.is_late(bet)
    return bet


def refused(draft: RoundDraft, random: Random) -> bool:
    bets = [late_bet(draft, random, refused=True) for _ in range(random.randint(1, 2))]

    def forget(_: RoundDraft) -> None:
        for bet in bets:
            if bet is not None:
                bet.net = None

    if random.random() < 1 / 2:
        draft.slips.append(forget)
    return all(bets)


def given_back(draft: RoundDraft, random: Random) -> bool:
    return late_bet(draft, random, refused=False) is not None


def in_a_void_round(draft: RoundDraft, random: Random) -> bool:
    return given_back(draft, random) and call_off_at_random(draft, random)


def in_an_unfinished_round(draft: RoundDraft, random: Random) -> bool:
    if not given_back(draft, random):
        return False
    draft.drop("settled")
    return True


def settled(draft: RoundDraft, random: Random, refused: bool = False) -> bool:
    bet = late_bet(draft, random, refused=refused)
    if bet is None:
        return False

    def record(draft: RoundDraft) -> None:
        bet.net = by_dice(draft, bet)

    draft.slips.append(record)
    return True
