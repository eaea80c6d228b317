"""Practice: a round played by hand on a page, with the engine that answers terminals. Nothing is recorded.

The session keeps a list of steps such as a terminal sends; every click replays them.
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
from games.engine.rules.loader import rulebook
from games.engine.rules.rulebook import Layout
from games.engine.signs.limits import Limits
from games.limits.selectors import NoLimitsError, limits_at
from games.live.expected_nets import expected_nets
from games.live.parser import read_step
from games.live.session_state import SessionState
from games.models import LiveRound, LiveStep, Table

MOST_STEPS = 300
SEATS = tuple(f"seat-{number}" for number in range(1, 8))
#: What a click on a box does.
CALL_BET = "call-bet"
HANDS = {
    BET: "Place",
    CALL_BET: "Place on a player's call",
    WITHDRAW: "Withdraw the bet",
    REFUSE: "Put a chip back",
}
#: What the tumbler does: tumbles, and whether it was activated if it did not tumble.
JAMMED = "jammed"
TUMBLES = {"3": "Three tumbles", "1": "One tumble", JAMMED: "Jammed", "0": "Not activated"}
#: Chips besides the minimums themselves: these multiples of the largest minimum.
TIMES = (2, 5, 10, 50)
USUAL_CHIP = 10 * MINOR
MOST_CHIPS = 8


@dataclass
class Practice:
    """What a session keeps of one table's practice."""

    game: str = ""  # rulebook, layout and limits in use; a change restarts the practice
    steps: list[dict[str, Any]] = field(default_factory=list)
    pressed: list[int] = field(default_factory=list)
    player: str = SEATS[0]
    chip: str = ""
    hand: str = BET
    faults: list[str] = field(default_factory=list)  # of the last click
    rules: list[str] = field(default_factory=list)


def practice_state(table: Table, practice: Practice, now: dt.datetime) -> SessionState:
    """Return the table's game and limits at a moment, with the steps so far, as a round that is never saved."""
    assignment = table.assignment_at(now)
    if assignment is None:
        raise InputError(f"{table} has no rulebook and layout now; practice is not possible.")
    try:
        limit_set = limits_at(table=table, at=now).limit_set
    except NoLimitsError:
        limit_set = None
    game = f"{assignment.pk}, {limit_set.pk if limit_set else None}"
    if practice.game != game:
        began = bool(practice.steps)
        practice.game, practice.steps, practice.pressed = game, [], []
        practice.faults = ["The table has another game or sign now; the practice restarts."] if began else []
    book = rulebook(assignment.rulebook)
    limits = limit_set.sheet.limits(assignment.chip_unit) if limit_set else Limits(chip_unit=assignment.chip_unit)
    live = LiveRound(source="practice", ref="practice", table=table, opened_at=now, last_step_at=now)
    return SessionState(live, book, book.layouts[assignment.layout], limits, as_steps(practice.steps))


def as_steps(contents: Sequence[dict[str, Any]]) -> list[LiveStep]:
    return [
        LiveStep(
            number=number, call=str(number), kind=content["kind"], content=content,
            at=dt.datetime.fromisoformat(content["at"]), who="",
        )
        for number, content in enumerate(contents, 1)
    ]  # fmt: skip


def chips_of(layout: Layout, limits: Limits) -> list[int]:
    """Return the minimums on the table's sign, and multiples of the largest."""
    minimums = {limits.of(layout, box).minimum for box in layout.boxes} - {None}
    smallest = sorted(minimum for minimum in minimums if minimum) or [USUAL_CHIP]
    chips = {*smallest, *(smallest[-1] * times for times in TIMES)}
    return sorted(chips)[:MOST_CHIPS]


# --- The entry terminal ---


def press(practice: Practice, number: str) -> None:
    """Press one of the six number buttons; the display keeps the last three."""
    if number not in map(str, FACES):
        raise InputError(f"press: {number!r:.10} is not on a button; press 1 to 6.")
    practice.pressed = [*practice.pressed, int(number)][-COUNT:]


def entered(practice: Practice, play: Play) -> dict[str, Any]:
    """Press the entry button: the display is the result, or amends the one before."""
    if len(practice.pressed) < COUNT:
        raise InputError(f"enter: press {COUNT} numbers first; the display shows {len(practice.pressed)}.")
    has_result = any(kind == RESULT for kind, _, _ in play.events)
    return {"kind": RESULT_AMENDED if has_result else RESULT, "dice": practice.pressed}


# --- A click ---


def click(practice: Practice, session: SessionState, data: Mapping[str, str], now: dt.datetime) -> None:
    """Apply one button of the page. A step is kept if a terminal's would be."""
    _choose(practice, session, data)
    if "press" in data:
        press(practice, data["press"])
        return
    if len(practice.steps) >= MOST_STEPS:
        raise InputError(f"A practice round has at most {MOST_STEPS} steps; start again.")
    play = session.play()
    document = {"call": str(len(practice.steps) + 1), "at": now.isoformat(), **_document(practice, session, play, data)}
    _, step, content = read_step(document, session.book, session.layout, now=now, latest=now)
    take(session.book, play, step)  # a step out of order raises, so it is not kept
    practice.steps = [*practice.steps, content]


def _choose(practice: Practice, session: SessionState, data: Mapping[str, str]) -> None:
    """Keep the chosen player, chip and click action for the next click."""
    chips = [format_money(chip) for chip in chips_of(session.layout, session.limits)]
    for name, offered in (("player", SEATS), ("chip", chips), ("hand", HANDS)):
        if data.get(name, "") in offered:
            setattr(practice, name, data[name])
    if practice.chip not in chips:
        practice.chip = chips[0]


def _document(practice: Practice, session: SessionState, play: Play, data: Mapping[str, str]) -> dict[str, Any]:
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
    nets = {"nets": expected_nets(session, play)} if data.get("step") == SETTLED else {}
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
