"""Ways of filling a box beyond what it may hold, chosen so that the effective stakes are obvious.

Most fill the box to exactly twice what it may hold: then every bet that is cut counts for half.
"""

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from games.simulation.played_floor import PlayedTable
from games.simulation.round_draft import RoundDraft

CUT, LEFT, UNDER = "cut", "left", "under"
MOST_BETS = 40
IN_FULL = "in-full"


class Room(NamedTuple):
    may_hold: int
    minimum: int  # 0 if there is none
    chip: int

    def chips(self, amount: int) -> int:
        """Round down to whole chips."""
        return amount - amount % self.chip


class Laid(NamedTuple):
    """One bet: its stake, its effective stake, and why."""

    stake: int
    counts_for: int
    why: str = CUT


Shape = Callable[[Room, Random], list[Laid]]


def gives_way(table: PlayedTable) -> bool:
    """Say whether the rulebook cuts bets at all."""
    return table.book.limits.excess != IN_FULL


def whale(room: Room, random: Random) -> list[Laid]:
    """Place one bet above what the box may hold: it counts for exactly that."""
    over = random.choice((1, room.chip, max(room.chips(room.may_hold // 10), room.chip), room.may_hold))
    counts_for = room.chips(room.may_hold)
    return [Laid(room.may_hold + over, counts_for)] if counts_for >= room.minimum else []


def even(room: Room, random: Random) -> list[Laid]:
    """Place two equal bets."""
    half = room.chips(room.may_hold // 2)
    return [Laid(room.may_hold, half)] * 2 if half >= room.minimum else []


def uneven(room: Room, random: Random) -> list[Laid]:
    """Fill four times what the box may hold, three parts of it by one player: each bet counts for a quarter."""
    quarter, three = room.chips(room.may_hold // 4), room.chips(room.may_hold * 3 // 4)
    return [Laid(room.may_hold * 3, three), Laid(room.may_hold, quarter)] if quarter >= room.minimum else []


def _beside(room: Room, small: Laid) -> list[Laid]:
    """Place a small bet and a large one, together twice what the box may hold."""
    large = room.may_hold * 2 - small.stake
    is_sound = small.stake > 0 and room.minimum * 2 <= room.may_hold and large >= room.may_hold
    half = room.chips(large // 2)
    return [Laid(large, half), small] if is_sound and half >= room.minimum else []


def at_the_minimum(room: Room, random: Random) -> list[Laid]:
    return _beside(room, Laid(room.minimum, room.minimum, LEFT))


def under_the_minimum(room: Room, random: Random) -> list[Laid]:
    return _beside(room, Laid(room.minimum // 2, room.minimum // 2, UNDER))


def down_to_the_minimum(room: Room, random: Random) -> list[Laid]:
    """Place a bet half of which would be below the minimum, so it counts for the minimum."""
    small = room.minimum + room.minimum // 2
    return _beside(room, Laid(small, room.minimum)) if small > room.minimum else []


def to_nothing(room: Room, random: Random) -> list[Laid]:
    """Place a single chip where there is no minimum: half of it is nothing."""
    return [] if room.minimum else _beside(room, Laid(room.chip, 0))


def minimums(room: Room, random: Random) -> list[Laid]:
    """Place so many bets that their minimums alone exceed what the box may hold."""
    count = room.may_hold // room.minimum + 1 if room.minimum else 0
    if not 0 < count <= MOST_BETS:
        return []
    bet = random.choice((Laid(room.minimum, room.minimum, LEFT), Laid(room.minimum * 2, room.minimum)))
    return [bet] * count


SHAPES: tuple[Shape, ...] = (
    whale, even, uneven, at_the_minimum, under_the_minimum, down_to_the_minimum, to_nothing, minimums,
)  # fmt: skip


def put(draft: RoundDraft, box: str, bets: list[Laid]) -> None:
    """Place the bets; if the rulebook cuts none, each counts for its stake."""
    rules, is_cut = draft.table.book.limits, gives_way(draft.table)
    cited = {CUT: rules.cut, LEFT: rules.left, UNDER: rules.left if is_cut else rules.below_minimum}
    for laid in bets:
        bet = draft.put(box, laid.stake)
        bet.counts_for = laid.counts_for if is_cut else laid.stake
        bet.limit_rules = cited[laid.why]
        if laid.why == UNDER:
            least = draft.sign.of(box).minimum or 0
            draft.breach("below-minimum", box, placed=laid.stake, permitted=least, player=bet.player)
