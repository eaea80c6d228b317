"""The states of an incident: the one table of transitions, each with the action of the roles that it requires."""

from dataclasses import dataclass

from audits.models import IncidentState as State


@dataclass(frozen=True)
class Transition:
    """A step that the table allows."""

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
    Transition(State.AWAITING, State.INVESTIGATION, "incident.refer", "Send back for investigation"),
    Transition(State.AWAITING, State.RULED, "incident.rule", "Rule"),
    Transition(State.RULED, State.CLOSED, "incident.close", "Close"),
    Transition(State.RULED, State.INVESTIGATION, "incident.refer", "Send back for investigation"),
    Transition(State.CLOSED, State.REOPENED, "incident.reopen", "Reopen"),
    Transition(State.REOPENED, State.INVESTIGATION, "incident.investigate", "Investigate"),
    Transition(State.REOPENED, State.AWAITING, "incident.investigate", "Ask for a ruling"),
    Transition(State.REOPENED, State.CLOSED, "incident.close", "Close"),
)
#: States in which there is still something to do.
UNFINISHED = tuple(state for state in State if state is not State.CLOSED)


def transitions_from(state: str) -> list[Transition]:
    """Return the transitions allowed from a state."""
    return [transition for transition in TRANSITIONS if transition.before == state]


def find_transition(before: str, after: str) -> Transition | None:
    """Return the transition between two states; None where it is not allowed."""
    return next(
        (transition for transition in TRANSITIONS if (transition.before, transition.after) == (before, after)), None
    )
