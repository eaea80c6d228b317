"""How a round in play stands: the steps so far, and what it is played by."""

from dataclasses import dataclass

from games.engine.play.irregularities import PLACE_BETS
from games.engine.play.live_play import Play, replay
from games.engine.rules.loader import rulebook
from games.engine.rules.rulebook import Layout, Rulebook
from games.engine.signs.limits import Limits
from games.live.parser import as_step
from games.models import LiveRound, LiveStep
from games.rounds.terms import settling_limits, terms_at


@dataclass(frozen=True)
class SessionState:
    """A round in play with all that its next step depends on."""

    live: LiveRound
    book: Rulebook
    layout: Layout
    limits: Limits
    steps: list[LiveStep]
    excess: str | None = None

    def play(self, count: int | None = None) -> Play:
        """After so many steps; after all, where no number is given."""
        return replay(self.book, (as_step(step.content, self.book, step.at) for step in self.steps[:count]))


def session_state_of(live: LiveRound) -> SessionState:
    """By the policy at the moment when its betting began, which may have begun before it is told."""
    book, steps = rulebook(live.rulebook), list(live.steps.order_by("number"))
    begun = next((step for step in steps if step.kind == PLACE_BETS and not step.is_refused), None)
    moment = as_step(begun.content, book, begun.at).at if begun else live.opened_at
    policy = terms_at(live.table, moment).policy_of(book.id)
    limits = settling_limits(live.limit_set, live.chip_unit, policy)
    return SessionState(live, book, book.layouts[live.layout], limits, steps, policy.excess)
