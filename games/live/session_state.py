"""The state of a round in play: its steps so far, its rules and limits."""

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
class SessionState:
    """A round in play with everything that its next step depends on."""

    live: LiveRound
    book: Rulebook
    layout: Layout
    limits: Limits
    steps: list[LiveStep]
    excess: str | None = None

    def play(self, count: int | None = None) -> Play:
        """Return the round after this many steps; after all, if no number is given."""
        return replay(self.book, (as_step(step.content, self.book, step.at) for step in self.steps[:count]))


def session_state_of(live: LiveRound) -> SessionState:
    """Return the state, with the policy in force when betting opened, even if its call arrived later."""
    book, steps = rulebook(live.rulebook), list(live.steps.order_by("number"))
    begun = next((step for step in steps if step.kind == PLACE_BETS and not step.is_refused), None)
    moment = as_step(begun.content, book, begun.at).at if begun else live.opened_at
    policy = policy_at(live.table.casino_id, book.id, moment)
    unit = policy.rounding or live.chip_unit
    limits = live.limit_set.sheet.limits(unit) if live.limit_set else Limits(chip_unit=unit)
    return SessionState(live, book, book.layouts[live.layout], limits, steps, policy.excess)
