"""Find the missing steps of a round that was left open, by the order of play of its rulebook."""

import datetime as dt
from collections import deque
from typing import Any

from games.engine.dice import COUNT, parse_known_dice
from games.engine.play.irregularities import (
    INTERRUPTION,
    NO_MORE_BETS,
    PLACE_BETS,
    RESULT,
    RESULT_AMENDED,
    SETTLED,
    TUMBLER,
    VOID,
)
from games.engine.play.live_play import Play, take
from games.engine.rules.rulebook import Rulebook
from games.live.parser import read_step
from games.live.session_state import SessionState

ENDS = (SETTLED, VOID)
#: The fields of each step that a person has to enter, each with the name of the entered value.
DETAILS = {
    TUMBLER: {"tumbles": "tumbles", "activated": "activated"},
    INTERRUPTION: {"known_dice": "known_dice"},
    RESULT: {"dice": "dice"},
    RESULT_AMENDED: {"dice": "amended", "by": "by"},
    VOID: {"rule": "rule", "by": "by"},
    SETTLED: {"nets": "nets"},
}


def missing(book: Rulebook, state: str, end: str) -> list[str]:
    """Return the kinds of the fewest steps to the end. A round on record always has betting opened."""
    opened = next(step.after for step in book.play if step.kind == PLACE_BETS)
    begun = _way(book, state, opened)
    return begun + _way(book, opened, end) if begun else _way(book, state, end)


def _way(book: Rulebook, state: str, end: str) -> list[str]:
    """Find the shortest way between two states. Of two equally short ways, take the one that closes betting first."""
    ordered = sorted(book.play, key=lambda step: step.kind != NO_MORE_BETS)
    ways: deque[tuple[str, list[str]]] = deque([(state, [])])
    seen = {state, *ENDS} - {end}  # a round that is to be settled is not voided on the way
    while ways:
        here, kinds = ways.popleft()
        if here == end:
            return kinds
        for step in ordered:
            if step.before == here and step.after not in seen:
                seen.add(step.after)
                ways.append((step.after, [*kinds, step.kind]))
    return []


def steps_to(session: SessionState, end: str, details: dict[str, Any]) -> list[str]:
    """List the missing steps, with those that a person reported: an interruption, an amended result.

    If all dice were known at an interruption, no result is needed.
    """
    kinds = missing(session.book, session.live.state, end)
    known = details.get("known_dice")
    if RESULT in kinds and known:
        kinds.insert(kinds.index(RESULT), INTERRUPTION)
    is_known = session.play().is_established or (known and len(parse_known_dice(known)) == COUNT)
    if is_known and not details.get("dice"):
        kinds = [kind for kind in kinds if kind != RESULT]
    if details.get("amended"):
        kinds.insert(kinds.index(SETTLED), RESULT_AMENDED)
    return kinds


def missing_steps(session: SessionState, end: str, now: dt.datetime, **details: Any) -> list[dict[str, Any]]:
    """Return the missing steps as a terminal would send them, marked as sent by hand.

    `details` has what was observed at the table (tumbles, dice, rule, nets). If the terminal's clock is ahead of ours,
    the steps get the time of its last event.
    """
    events = session.play().events
    at = {"at": events[-1][1].isoformat()} if events and events[-1][1] > now else {}
    return [
        {"call": f"hand-{number}", "kind": kind, **at, **_said(kind, details)}
        for number, kind in enumerate(steps_to(session, end, details), len(session.steps) + 1)
    ]


def _said(kind: str, details: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of one step. `activated` is left out unless it is true."""
    named = {name: details.get(detail) for name, detail in DETAILS.get(kind, {}).items()}
    return {name: value for name, value in named.items() if name not in ("activated", "by") or value}


def after(session: SessionState, documents: list[dict[str, Any]], now: dt.datetime) -> Play:
    """Return the round as it would be after these steps; nothing is saved."""
    play = session.play()
    for document in documents:
        _, step, _ = read_step(document, session.book, session.layout, now=now, latest=now + dt.timedelta(days=1))
        play, _ = take(session.book, play, step)
    return play
