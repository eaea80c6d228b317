"""Ways of filling a box beyond what it may hold, chosen so that what each bet counts for can be said outright.

Most of them fill the box to exactly twice what it may hold: then every bet that gives way counts for half.
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
    minimum: int  # 0 where there is none
    chip: int

    def chips(self, amount: int) -> int:
        """Whole chips, rounded down."""
        return amount - amount % self.chip


class Laid(NamedTuple):
    """One bet: its stake, what it counts for, and why."""

    stake: int
    counts_for: int
    why: str = CUT


Shape = Callable[[Room, Random], list[Laid]]


def gives_way(table: PlayedTable) -> bool:
    """Whether the rulebook has bets give way at all."""
    return table.book.limits.excess != IN_FULL


def whale(room: Room, random: Random) -> list[Laid]:
    """One bet alone, more than the box may hold: it counts for just that."""
    over = random.choice((1, room.chip, max(room.chips(room.may_hold // 10), room.chip), room.may_hold))
    counts_for = room.chips(room.may_hold)
    return [Laid(room.may_hold + over, counts_for)] if counts_for >= room.minimum else []


def even(room: Room, random: Random) -> list[Laid]:
    """Two of the same size."""
    half = room.chips(room.may_hold // 2)
    return [Laid(room.may_hold, half)] * 2 if half >= room.minimum else []


def uneven(room: Room, random: Random) -> list[Laid]:
    """Four times what it may hold, of which one player has three parts: each counts for a quarter."""
    quarter, three = room.chips(room.may_hold // 4), room.chips(room.may_hold * 3 // 4)
    return [Laid(room.may_hold * 3, three), Laid(room.may_hold, quarter)] if quarter >= room.minimum else []


def _beside(room: Room, small: Laid) -> list[Laid]:
    """A small bet beside a large one, together twice what the box may hold."""
    large = room.may_hold * 2 - small.stake
    is_sound = small.stake > 0 and room.minimum * 2 <= room.may_hold and large >= room.may_hold
    half = room.chips(large // 2)
    return [Laid(large, half), small] if is_sound and half >= room.minimum else []


def at_the_minimum(room: Room, random: Random) -> list[Laid]:
    return _beside(room, Laid(room.minimum, room.minimum, LEFT))


def under_the_minimum(room: Room, random: Random) -> list[Laid]:
    return _beside(room, Laid(room.minimum // 2, room.minimum // 2, UNDER))


def down_to_the_minimum(room: Room, random: Random) -> list[Laid]:
    """Half of it would be under the minimum, so it counts for the minimum."""
    small = room.minimum + room.minimum // 2
    return _beside(room, Laid(small, room.minimum)) if small > room.minimum else []


def to_nothing(room: Room, random: Random) -> list[Laid]:
    """A single chip, where there is no minimum: half of it is none."""
    return [] if room.minimum else _beside(room, Laid(room.chip, 0))


def minimums(room: Room, random: Random) -> list[Laid]:
    """So many that their minimums alone are more than the box may hold."""
    count = room.may_hold // room.minimum + 1 if room.minimum else 0
    if not 0 < count <= MOST_BETS:
        return []
    bet = random.choice((Laid(room.minimum, room.minimum, LEFT), Laid(room.minimum * 2, room.minimum)))
    return [bet] * count


SHAPES: tuple[Shape, ...] = (
    whale, even, uneven, at_the_minimum, under_the_minimum, down_to_the_minimum, to_nothing, minimums,
)  # fmt: skip


def put(draft: RoundDraft, box: str, bets: list[Laid]) -> None:
    """Where bets do not give way, each counts for its stake."""
    rules, is_cut = draft.table.book.limits, gives_way(draft.table)
    cited = {CUT: rules.cut, LEFT: rules.left, UNDER: rules.left if is_cut else rules.below_minimum}
    for laid in bets:
        bet = draft.put(box, laid.stake)
        bet.counts_for = laid.counts_for if is_cut else laid.stake
        bet.limit_rules = cited[laid.why]
        if laid.why == UNDER:
            least = draft.sign.of(box).minimum or 0
            draft.breach("below-minimum", box, placed=laid.stake, permitted=least, player=bet.player)
