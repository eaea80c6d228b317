"""What happens to tumbler and dice. Where it voids the round, it is called off, given back or settled all the same."""

from collections.abc import Callable, Iterator
from functools import partial
from random import Random

from games.simulation import findings as told
from games.simulation.draft import Draft
from games.simulation.faults.endings import leave_unfinished
from games.simulation.faults.fault import Fault
from games.simulation.faults.voids import handle
from games.simulation.floor import PlayedTable

UNKNOWN = "?"

#: Adds the event, and says which situation it shows.
Happening = Callable[[Draft, Random], None]


def few_tumbles(draft: Draft, random: Random) -> None:
    """Perhaps the tumbler runs once more, as it should have; that does not heal the round."""
    times, second = random.randint(1, draft.table.book.valid_tumbles - 1), draft.spun_at
    draft.spin(second, times)
    draft.show(second, "few-tumbles", told.TURNED.format(times))
    if not draft.table.tumbles_first and random.random() < 1 / 3:
        draft.add(draft.moments.between, "tumbler", tumbles=draft.table.book.valid_tumbles)


def die_not_flat(draft: Draft, random: Random) -> None:
    """Seen twice, it is one irregularity."""
    for _ in range(random.choice((1, 1, 2))):
        draft.add(draft.moments.between, "die-not-flat")
        draft.show(draft.moments.between, "die-not-flat", told.NOT_FLAT)


def exposed_early(draft: Draft, random: Random) -> None:
    draft.add(draft.moments.early, "dice-exposed")
    draft.show(draft.moments.early, "dice-exposed-early", told.EXPOSED_EARLY)


def tumbler_early(draft: Draft, random: Random) -> None:
    draft.spin(draft.moments.early, draft.table.book.valid_tumbles)
    draft.show(draft.moments.early, "tumbler-early", told.TUMBLER_EARLY)


def few_tumbles_early(draft: Draft, random: Random) -> None:
    """One event, two situations."""
    draft.spin(draft.moments.early, 1)
    draft.show(draft.moments.early, "few-tumbles", told.TURNED.format(1))
    draft.show(draft.moments.early, "tumbler-early", told.TUMBLER_EARLY)


def not_activated(draft: Draft, random: Random) -> None:
    second = draft.spun_at
    draft.spin(second, 0)
    draft.show(second, "tumbler-not-activated", told.NOT_ACTIVATED)


def interrupted(known: int, draft: Draft, random: Random) -> None:
    """With so many dice known."""
    faces = [*map(str, draft.dice[:known]), *[UNKNOWN] * (len(draft.dice) - known)]
    some = "some" if known else "none"
    draft.add(draft.moments.between, "interruption", known_dice=",".join(faces))
    draft.show(draft.moments.between, "interruption", told.INTERRUPTED.format(some), known_dice=some)


def interrupted_knowing(draft: Draft, random: Random) -> None:
    interrupted(random.randint(1, 2), draft, random)


def interrupted_blind(draft: Draft, random: Random) -> None:
    interrupted(0, draft, random)


def together(*happenings: Happening) -> Happening:
    def all_of_them(draft: Draft, random: Random) -> None:
        for happening in happenings:
            happening(draft, random)

    return all_of_them


#: By the situation that each one shows.
HAPPENINGS: dict[str, tuple[Happening, ...]] = {
    "few-tumbles": (few_tumbles, few_tumbles_early),
    "die-not-flat": (die_not_flat,),
    "dice-exposed-early": (exposed_early,),
    "tumbler-early": (tumbler_early,),
    "tumbler-not-activated": (not_activated,),
    "interruption": (interrupted_knowing, interrupted_blind),
}
TOGETHER = (
    together(few_tumbles, die_not_flat), together(die_not_flat, interrupted_blind),
    together(not_activated, die_not_flat), together(not_activated, interrupted_knowing),
)  # fmt: skip


def faults(table: PlayedTable) -> Iterator[Fault]:
    """Everything that the rulebook does not let stand."""
    standing = {one.code for one in table.book.situations if one.action == "stand"}
    for situation, happenings in HAPPENINGS.items():
        if situation not in standing:
            yield from (partial(happens, happening) for happening in happenings)
    yield from (partial(happens, happening) for happening in TOGETHER)
    yield partial(breaks_off, interrupted_knowing)
    yield partial(breaks_off, interrupted_blind)


def happens(happening: Happening, draft: Draft, random: Random) -> bool:
    happening(draft, random)
    if draft.is_void:
        handle(draft, random)
    return True


def breaks_off(happening: Happening, draft: Draft, random: Random) -> bool:
    """Nothing more is on record."""
    happening(draft, random)
    if draft.is_void:
        handle(draft, random)
        return True
    return leave_unfinished(draft, random)
