"""Practice: a round played by hand on a page, by the engine that answers terminals. Nothing of it is recorded.

What was done is a list of steps such as a terminal sends; on every click they are played anew.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from games.engine.dice import COUNT, FACES, UNKNOWN
from games.engine.errors import InputError
from games.engine.money import MINOR, format_money
from games.engine.play.irregularities import INTERRUPTION, RESULT, RESULT_AMENDED, SETTLED, TUMBLER, VOID
from games.engine.play.live_play import BET, INCREASE, REFUSE, WITHDRAW, Play, take
from games.engine.rules.rulebook import Layout
from games.engine.signs.limits import Limits
from games.live.expected_nets import expected_nets
from games.live.parser import read_step
from games.live.session_state import SessionState
from games.models import LiveRound, LiveStep, Table
from games.rounds.terms import terms_at

MOST_STEPS = 300
SEATS = tuple(f"seat-{number}" for number in range(1, 8))
#: What a click on a box does.
CALL_BET = "call-bet"
HANDS = {
    BET: "Place",
    CALL_BET: "Place for a player who calls",
    WITHDRAW: "Withdraw the bet",
    REFUSE: "Put a chip back",
}
#: What the tumbler does: tumbles, and whether it was activated where it did not tumble.
JAMMED = "jammed"
TUMBLES = {"3": "Three tumbles", "1": "One tumble", JAMMED: "Jammed", "0": "Not activated"}
#: Chips beside the minimums themselves: so many times the largest of them.
TIMES = (2, 5, 10, 50)
USUAL_CHIP = 10 * MINOR
MOST_CHIPS = 8


@dataclass
class Practice:
    """What a session holds of one table's practice."""

    game: str = ""  # by what it is played: assignment, limit set, rulings; a change begins anew
    steps: list[dict[str, Any]] = field(default_factory=list)
    pressed: list[int] = field(default_factory=list)
    player: str = SEATS[0]
    chip: str = ""
    hand: str = BET
    faults: list[str] = field(default_factory=list)  # of the last click
    rules: list[str] = field(default_factory=list)


def practice_state(table: Table, practice: Practice, now: dt.datetime) -> SessionState:
    """Return the steps so far with what applies at the table now; a round that is never saved."""
    terms = terms_at(table, now)
    if terms.assignment is None:
        raise InputError(f"{table} has no rulebook and layout now; there is nothing to practise.")
    limit_set = terms.limit_set.pk if terms.limit_set else None
    game = ", ".join(map(str, (terms.assignment.pk, limit_set, *terms.policy.rulings)))
    if practice.game != game:
        began = bool(practice.steps)
        practice.game, practice.steps, practice.pressed = game, [], []
        practice.faults = (
            ["The table has another game, sign or settlement policy now; the practice begins anew."] if began else []
        )
    live = LiveRound(source="practice", ref="practice", table=table, opened_at=now, last_step_at=now)
    return SessionState(live, terms.book, terms.layout, terms.limits, as_steps(practice.steps), terms.policy.excess)


def as_steps(contents: Sequence[dict[str, Any]]) -> list[LiveStep]:
    return [
        LiveStep(
            number=number, call=str(number), kind=content["kind"], content=content,
            at=dt.datetime.fromisoformat(content["at"]), who="",
        )
        for number, content in enumerate(contents, 1)
    ]  # fmt: skip


def chips_of(layout: Layout, limits: Limits) -> list[int]:
    """The minimums on the table's sign, and some times the largest."""
    minimums = {limits.of(layout, box).minimum for box in layout.boxes} - {None}
    smallest = sorted(minimum for minimum in minimums if minimum) or [USUAL_CHIP]
    chips = {*smallest, *(smallest[-1] * times for times in TIMES)}
    return sorted(chips)[:MOST_CHIPS]


# --- The entry terminal ---


def press(practice: Practice, number: str) -> None:
    """One of six numbered buttons; the display keeps the last three."""
    if number not in map(str, FACES):
        raise InputError(f"press: {number!r:.10} is not on a button; press 1 to 6.")
    practice.pressed = [*practice.pressed, int(number)][-COUNT:]


def entered(practice: Practice, play: Play) -> dict[str, Any]:
    """The entry button: what the display shows is the result, or amends the one before."""
    if len(practice.pressed) < COUNT:
        raise InputError(f"enter: press {COUNT} numbers first; the display shows {len(practice.pressed)}.")
    has_result = any(kind == RESULT for kind, _, _ in play.events)
    return {"kind": RESULT_AMENDED if has_result else RESULT, "dice": practice.pressed}


# --- A click ---


def click(practice: Practice, stand: SessionState, data: Mapping[str, str], now: dt.datetime) -> None:
    """One button of the page: a step is kept where a terminal's would be."""
    _choose(practice, stand, data)
    if "press" in data:
        press(practice, data["press"])
        return
    if len(practice.steps) >= MOST_STEPS:
        raise InputError(f"A practice round has at most {MOST_STEPS} steps; start again.")
    play = stand.play()
    document = {"call": str(len(practice.steps) + 1), "at": now.isoformat(), **_document(practice, stand, play, data)}
    _, step, content = read_step(document, stand.book, stand.layout, now=now, latest=now)
    take(stand.book, play, step)  # what is out of order is refused, and not kept
    practice.steps = [*practice.steps, content]


def _choose(practice: Practice, stand: SessionState, data: Mapping[str, str]) -> None:
    """Player, chip and what a click does stay as they were chosen."""
    chips = [format_money(chip) for chip in chips_of(stand.layout, stand.limits)]
    for name, offered in (("player", SEATS), ("chip", chips), ("hand", HANDS)):
        if data.get(name, "") in offered:
            setattr(practice, name, data[name])
    if practice.chip not in chips:
        practice.chip = chips[0]


def _document(practice: Practice, stand: SessionState, play: Play, data: Mapping[str, str]) -> dict[str, Any]:
    if "box" in data:
        return _on_the_felt(practice, play, data["box"])
    if "enter" in data:
        return entered(practice, play)
    if "tumbles" in data:
        return {"kind": TUMBLER, **_tumbled(data["tumbles"])}
    if "interrupt" in data:
        known = (data.get(f"known{number}") or UNKNOWN for number in range(1, COUNT + 1))
        return {"kind": INTERRUPTION, "known_dice": ",".join(known)}
    if "void" in data:
        return {"kind": VOID, "rule": data["void"]}
    nets = {"nets": expected_nets(stand, play)} if data.get("step") == SETTLED else {}
    return {"kind": data.get("step", ""), **nets}


def _tumbled(text: str) -> dict[str, Any]:
    if text == JAMMED:
        return {"tumbles": 0, "activated": True}
    return {"tumbles": int(text) if text in TUMBLES else text}


def _on_the_felt(practice: Practice, play: Play, box: str) -> dict[str, Any]:
    place = {"player": practice.player, "box": box}
    if practice.hand == WITHDRAW:
        return {"kind": WITHDRAW, **place}
    if practice.hand == REFUSE:
        return {"kind": REFUSE, **place, "stake": practice.chip}
    by_house = {"house_placed": True, "call_bet": True} if practice.hand == CALL_BET else {}
    kind = INCREASE if play.stake_of((practice.player, box)) else BET
    return {"kind": kind, **place, "stake": practice.chip, **by_house}
