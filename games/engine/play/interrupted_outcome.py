"""What an interruption decides (5.4): by the dice known so far, over every throw they can still become."""

from collections.abc import Sequence
from dataclasses import dataclass

from games.engine.dice import completions
from games.engine.rules.rulebook import Layout


@dataclass(frozen=True)
class InterruptedOutcome:
    """The boxes that have won or lost whatever the unknown dice show, and those still open."""

    won: tuple[str, ...]
    lost: tuple[str, ...]
    open: tuple[str, ...]

    @property
    def is_established(self) -> bool:
        return bool(self.won or self.lost)


def outcome(layout: Layout, known: Sequence[int]) -> InterruptedOutcome:
    throws = completions(known)
    hits = {code: {bool(box.hits(throw)) for throw in throws} for code, box in layout.boxes.items()}

    def those(which: set[bool]) -> tuple[str, ...]:
        return tuple(code for code, seen in hits.items() if seen == which)

    return InterruptedOutcome(won=those({True}), lost=those({False}), open=those({True, False}))
