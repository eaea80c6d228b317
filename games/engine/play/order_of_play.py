"""The order of play, as the transition table of a rulebook: verify, can, take."""

from collections.abc import Iterable

from games.engine.errors import InputError
from games.engine.rules.rulebook import OrderStep, Rulebook

NEW = "new"


def find_step(book: Rulebook, state: str, kind: str) -> OrderStep | None:
    return next((step for step in book.play if step.before == state and step.kind == kind), None)


def can_step(book: Rulebook, state: str, kind: str) -> bool:
    return find_step(book, state, kind) is not None


def verify_step(book: Rulebook, state: str, kind: str) -> OrderStep:
    """Return the step, or raise an error that says which steps may follow and by which rule."""
    step = find_step(book, state, kind)
    if step is None:
        raise InputError(out_of_order(book, state, kind, [move for move in book.play if move.before == state]))
    return step


def take_step(book: Rulebook, state: str, kind: str) -> str:
    """Return the state after the step."""
    return verify_step(book, state, kind).after


def out_of_order(book: Rulebook, state: str, kind: str, steps: Iterable[OrderStep]) -> str:
    """Write that a step is out of order, and which steps may follow."""
    expected = [f"{step.kind} ({book.cite(step.rule)[0]})" for step in steps]
    if not expected:
        return f"{kind}: the round is {state}; no step may follow."
    return f"{kind}: out of order in a round that is {state}; the next step may be {', '.join(expected)}."
