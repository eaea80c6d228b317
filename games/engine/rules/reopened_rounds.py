"""Find the rounds that another reading of a rule would decide differently; used before a ruling on it takes effect."""

from collections.abc import Callable, Sequence

from games.engine.play.irregularities import DICE_EXPOSED, DIE_NOT_FLAT, NO_MORE_BETS, TUMBLER, Event, in_order
from games.engine.rules.readings import Reading
from games.engine.rules.rulebook import Rulebook


def opens(book: Rulebook, reading: Reading, outcome: str, events: Sequence[Event]) -> bool:
    """Say whether an alternative to our reading could void, or settle, a round with these events."""
    if reading.opens != outcome:
        return False
    return not reading.shown_by or CHECKS[reading.shown_by](book, in_order(events))


def _has_valid_tumble_after(book: Rulebook, ordered: Sequence[Event]) -> bool:
    """Say whether a valid tumble follows the last event that voids the round."""
    closed = next((place for place, event in enumerate(ordered) if event.kind == NO_MORE_BETS), len(ordered))
    voiding = [
        place for place, event in enumerate(ordered)
        if event.kind == DIE_NOT_FLAT or (event.kind == DICE_EXPOSED and place < closed)
        or (event.kind == TUMBLER and (event.tumbles or 0) < book.valid_tumbles)
    ]  # fmt: skip
    after = ordered[voiding[-1] + 1 :] if voiding else []
    return any(event.kind == TUMBLER and (event.tumbles or 0) >= book.valid_tumbles for event in after)


def _is_activated_without_tumble(book: Rulebook, ordered: Sequence[Event]) -> bool:
    return any(event.kind == TUMBLER and event.activated and not event.tumbles for event in ordered)


def _has_few_tumbles(book: Rulebook, ordered: Sequence[Event]) -> bool:
    return any(event.kind == TUMBLER and 0 < (event.tumbles or 0) < book.valid_tumbles for event in ordered)


CHECKS: dict[str, Callable[[Rulebook, Sequence[Event]], bool]] = {
    "valid-tumble-after": _has_valid_tumble_after,
    "activated-without-tumble": _is_activated_without_tumble,
    "few-tumbles": _has_few_tumbles,
}
