"""Rounds that look faulty but are sound: they must give no finding."""

from random import Random

from games.simulation.faults.events import HAPPENINGS, Happening
from games.simulation.faults.fault import Fault, bet_on
from games.simulation.faults.withdrawals import taken_back
from games.simulation.played_floor import PlayedTable
from games.simulation.round_draft import RoundDraft, Wager

MANY_TUMBLES = (5, 6, 9)
LARGE = 50


class Lookalikes:
    def __init__(self, table: PlayedTable) -> None:
        standing = {situation.code for situation in table.book.situations if situation.action == "stand"}
        if not table.tumbles_while_open:  # the round is not voided, but the tumbler runs out of turn
            standing.discard("tumbler-early")
        happenings = [happening for code, ones in HAPPENINGS.items() if code in standing for happening in ones]
        self.kinds: list[Fault] = [*map(_stands, happenings), *KINDS]

    def plant(self, draft: RoundDraft, random: Random) -> None:
        random.choice(self.kinds)(draft, random)


def _stands(happening: Happening) -> Fault:
    def stand(draft: RoundDraft, random: Random) -> bool:
        happening(draft, random)
        return True

    return stand


def seen_when_closed(draft: RoundDraft, random: Random) -> bool:
    """Show the dice after betting closed, or exactly at the call: neither is before it."""
    draft.add(random.choice((draft.moments.closed, draft.moments.between)), "dice-exposed")
    return True


def many_tumbles(draft: RoundDraft, random: Random) -> bool:
    draft.spin(draft.spun_at, random.choice((draft.table.book.valid_tumbles, *MANY_TUMBLES)))
    return True


def at_the_call(draft: RoundDraft, random: Random) -> bool:
    """Place a bet exactly at the call that closes betting: it is not late."""
    bet = bet_on(draft, random, draft.table.layout.boxes)
    if bet is not None:
        bet.at = draft.moments.closed
    return bet is not None


def at_the_minimum(draft: RoundDraft, random: Random) -> bool:
    boxes = [box for box in draft.table.layout.boxes if draft.sign.of(box).minimum and not draft.partner(box)]
    return _alone(draft, random, boxes, [draft.sign.of(box).minimum or 0 for box in boxes])


def at_the_maximum(draft: RoundDraft, random: Random) -> bool:
    boxes = [box for box in draft.table.layout.boxes if draft.sign.of(box).maximum and not draft.partner(box)]
    return _alone(draft, random, boxes, [draft.sign.of(box).maximum or 0 for box in boxes])


def _alone(draft: RoundDraft, random: Random, boxes: list[str], stakes: list[int]) -> bool:
    if not boxes:
        return False
    place = random.randrange(len(boxes))
    draft.clear(boxes[place])
    draft.put(boxes[place], stakes[place])
    return True


def at_the_differential(draft: RoundDraft, random: Random) -> bool:
    """Bet nothing on one side, and exactly the differential on the other."""
    for box in draft.table.layout.boxes:
        pair, limits = draft.partner(box), draft.sign.of(box)
        if pair and (limits.minimum or 1) <= pair[1] <= (limits.maximum or pair[1]) and random.random() < 1 / 2:
            draft.clear(box, pair[0])
            draft.put(box, pair[1])
            return True
    return False


def refused(draft: RoundDraft, random: Random) -> bool:
    """Refuse a bet in time, however large: it was never on the felt."""
    like = bet_on(draft, random, draft.table.layout.boxes)
    if like is None:
        return False
    bet = draft.put(like.box, like.stake * LARGE, like.player, refused=True)
    bet.at = random.choice((None, draft.moments.early))
    _record(draft, bet, random.choice((0, None)))
    return True


def withdrawn(draft: RoundDraft, random: Random) -> bool:
    """Withdraw a bet in time, at the latest exactly at the call, however large."""
    bet = taken_back(draft, random)
    if bet is None:
        return False
    bet.stake *= random.choice((1, LARGE))
    _record(draft, bet, random.choice((0, None)))
    return True


def _record(draft: RoundDraft, bet: Wager, net: int | None) -> None:
    """Record no win or loss, or no net at all."""

    def record(_: RoundDraft) -> None:
        bet.net = net

    draft.slips.append(record)


KINDS: tuple[Fault, ...] = (
    seen_when_closed, many_tumbles, at_the_call, at_the_minimum, at_the_maximum, at_the_differential, refused,
    withdrawn,
)  # fmt: skip
