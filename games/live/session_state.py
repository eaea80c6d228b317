"""How a round in play stands: the steps so far, and what it is played by."""

from dataclasses import dataclass

from games.engine.play.irregularities import PLACE_BETS
from games.engine.play.live_play import Play, replay
from games.engine.rules.loader import rulebook
from games.engine.rules.rulebook import Layout, Rulebook
from games.engine.signs.limits import Limits
from games.live.parser import as_step
from games.models import LiveRound, LiveStep
from games.settlement_policies.selectors import policy_at


@dataclass(frozen=True)
class Stand:
    """A round in play with all that its next step depends on."""

    live: LiveRound
    book: Rulebook
    layout: Layout
    limits: Limits
    steps: list[LiveStep]
    excess: str | None = None

    def play(self, count: int | None = None) -> Play:
        """After so many steps; after all, where no number is given."""
        return replay(self.book, (as_step(one.content, self.book, one.at) for one in self.steps[:count]))


def stand_of(live: LiveRound) -> Stand:
    """By the policy at the moment when its betting began, which may have begun before it is told."""
    book, steps = rulebook(live.rulebook), list(live.steps.order_by("number"))
    begun = next((one for one in steps if one.kind == PLACE_BETS and not one.is_refused), None)
    moment = as_step(begun.content, book, begun.at).at if begun else live.opened_at
    policy = policy_at(live.table.casino_id, book.id, moment)
    unit = policy.rounding or live.chip_unit
    limits = live.limit_set.sheet.limits(unit) if live.limit_set else Limits(chip_unit=unit)
    return Stand(live, book, book.layouts[live.layout], limits, steps, policy.excess)
