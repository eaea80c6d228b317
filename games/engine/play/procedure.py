"""Check the procedure by a round's events: a valid tumble, each tumbler in its turn, the order of play kept.

These checks are ours. Irregularities are the situations that the documents themselves name.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from games.engine.play.irregularities import (
    INTERRUPTION,
    NO_MORE_BETS,
    PLACE_BETS,
    SETTLED,
    TUMBLER,
    Event,
    in_order,
    is_result,
    result_of,
    voids_of,
)
from games.engine.play.order_of_play import NEW
from games.engine.rules.loader import read_rulebook
from games.engine.rules.rulebook import Rulebook


class ProceduralFault(NamedTuple):
    kind: str
    detail: str


class Phase(NamedTuple):
    """How far betting has come."""

    is_opened: bool = False
    is_closed: bool = False

    def after(self, kind: str) -> "Phase":
        return Phase(self.is_opened or kind == PLACE_BETS, self.is_closed or kind == NO_MORE_BETS)


def procedural_faults(book: Rulebook, events: Sequence[Event]) -> Iterator[ProceduralFault]:
    """Yield the faults in the order of a round's events, each kind once."""
    ordered = in_order(events)
    if _lacks_valid_tumble(book, ordered):
        detail = f"Settled without a tumble of {book.valid_tumbles} turns or more before the result."
        yield ProceduralFault("no-valid-tumble", detail)
    if misplaced := list(_misplaced_tumblers(book, ordered)):
        yield ProceduralFault("tumbler-out-of-order", f"The tumbler ran {' and '.join(dict.fromkeys(misplaced))}.")
    if _is_settled_first(ordered):
        yield ProceduralFault("settled-before-result", "Settled before the result was on record.")
    for event in voids_of(book, ordered)[1]:
        yield ProceduralFault("void-after-settlement", f"Voided under {event.rule} after the round was settled.")
    if strange := _contradicted(ordered):
        faces = ", ".join(map(str, strange))
        yield ProceduralFault("dice-contradicted", f"Known at the interruption, and not in the result: {faces}.")


def _lacks_valid_tumble(book: Rulebook, ordered: Sequence[Event]) -> bool:
    """Say whether a settled round has no valid tumble before its result, or none at all if it has no result."""
    if not any(event.kind == SETTLED for event in ordered):
        return False
    result = next((place for place, event in enumerate(ordered) if is_result(event)), len(ordered))
    return not any(_is_valid(book, event) for event in ordered[:result])


def _is_valid(book: Rulebook, event: Event) -> bool:
    return event.kind == TUMBLER and (event.tumbles or 0) >= book.valid_tumbles


def _misplaced_tumblers(book: Rulebook, ordered: Sequence[Event]) -> Iterator[str]:
    """For each tumbler out of its turn, yield when it ran."""
    phase, has_result, has_tumbled = Phase(), False, False
    places = tumbler_phases(book.id)
    for event in ordered:
        if event.is_running_tumbler:
            if has_result:
                yield "after the result"
            elif has_tumbled:
                yield "again after a valid tumble"
            elif phase not in places:
                yield _when(phase)
            has_tumbled |= _is_valid(book, event)
        has_result |= is_result(event)
        phase = phase.after(event.kind)


def _when(phase: Phase) -> str:
    if phase.is_closed:
        return "after betting was closed"
    return "while bets were open" if phase.is_opened else "before betting began"


@cache
def tumbler_phases(book_id: str) -> frozenset[Phase]:
    """Return when the tumbler may run, by the rulebook's order of play."""
    book = read_rulebook(book_id)
    known: dict[str, Phase] = {NEW: Phase()}
    waiting = [NEW]
    while waiting:
        state = waiting.pop()
        for step in book.play:
            if step.before == state and step.after not in known:
                known[step.after] = known[state].after(step.kind)
                waiting.append(step.after)
    return frozenset(known[step.before] for step in book.play if step.kind == TUMBLER)


def _is_settled_first(ordered: Sequence[Event]) -> bool:
    settled = next((place for place, event in enumerate(ordered) if event.kind == SETTLED), None)
    result = next((place for place, event in enumerate(ordered) if is_result(event)), None)
    return settled is not None and result is not None and settled < result


def _contradicted(ordered: Sequence[Event]) -> list[int]:
    """Return the faces known at an interruption that the result does not show as often."""
    throw = result_of(ordered)
    if throw is None:
        return []
    faces = Counter(throw.faces)
    strange = [Counter(event.known or ()) - faces for event in ordered if event.kind == INTERRUPTION]
    return sorted(set().union(*strange))
