"""How a round in play stands: the steps so far, and what it is played by."""

from dataclasses import dataclass

from games.engine.limits import Limits
from games.engine.live import Play, replay
from games.engine.loader import rulebook
from games.engine.rulebook import Layout, Rulebook
from games.live.reading import as_step
from games.models import LiveRound, LiveStep


@dataclass(frozen=True)
class Stand:
    """A round in play with all that its next step depends on."""

    live: LiveRound
    book: Rulebook
    layout: Layout
    limits: Limits
    steps: list[LiveStep]

    def play(self, count: int | None = None) -> Play:
        """After so many steps; after all, where no number is given."""
        return replay(self.book, (as_step(one.content, self.book, one.at) for one in self.steps[:count]))


def stand_of(live: LiveRound) -> Stand:
    book = rulebook(live.rulebook)
    limits = live.limit_set.sheet.limits(live.chip_unit) if live.limit_set else Limits(chip_unit=live.chip_unit)
    return Stand(live, book, book.layouts[live.layout], limits, list(live.steps.order_by("number")))
