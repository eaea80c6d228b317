"""The one table of what becomes of a file: from which state to which, and by which action of the roles."""

from dataclasses import dataclass

from audits.models import IncidentState as State


@dataclass(frozen=True)
class Transition:
    before: State
    after: State
    action: str
    title: str


TRANSITIONS = (
    Transition(State.OPEN, State.INVESTIGATION, "incident.investigate", "Investigate"),
    Transition(State.OPEN, State.AWAITING, "incident.investigate", "Ask for a ruling"),
    Transition(State.OPEN, State.CLOSED, "incident.close", "Close"),
    Transition(State.INVESTIGATION, State.AWAITING, "incident.investigate", "Ask for a ruling"),
    Transition(State.INVESTIGATION, State.CLOSED, "incident.close", "Close"),
    Transition(State.AWAITING, State.INVESTIGATION, "incident.refer", "Send back to be investigated"),
    Transition(State.AWAITING, State.RULED, "incident.rule", "Rule"),
    Transition(State.RULED, State.CLOSED, "incident.close", "Close"),
    Transition(State.RULED, State.INVESTIGATION, "incident.refer", "Send back to be investigated"),
    Transition(State.CLOSED, State.REOPENED, "incident.reopen", "Reopen"),
    Transition(State.REOPENED, State.INVESTIGATION, "incident.investigate", "Investigate"),
    Transition(State.REOPENED, State.AWAITING, "incident.investigate", "Ask for a ruling"),
    Transition(State.REOPENED, State.CLOSED, "incident.close", "Close"),
)
#: States in which somebody still has something to do.
UNFINISHED = tuple(state for state in State if state is not State.CLOSED)


def transitions_from(state: str) -> list[Transition]:
    return [transition for transition in TRANSITIONS if transition.before == state]


def find_transition(before: str, after: str) -> Transition | None:
    return next(
        (transition for transition in TRANSITIONS if (transition.before, transition.after) == (before, after)), None
    )
