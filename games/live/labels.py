"""Steps of a round in play for people: what was sent, and by which rule it was refused."""

import datetime as dt
from dataclasses import dataclass
from typing import Any

from games.engine.play.live_play import Play, PlayRefusal, retake
from games.live.parser import as_step
from games.live.session_state import SessionState


@dataclass(frozen=True)
class StepLine:
    number: int
    at: dt.datetime
    kind: str
    what: str
    who: str
    refusal: PlayRefusal | None


def step_lines(stand: SessionState) -> tuple[list[StepLine], Play]:
    """Every step so far, and how the round stands after them."""
    play, lines = Play(), []
    for step in stand.steps:
        play, refusal = retake(stand.book, play, as_step(step.content, stand.book, step.at))
        lines.append(StepLine(step.number, step.at, step.kind, step_words(step.content), step.who, refusal))
    return lines, play


def step_words(content: dict[str, Any]) -> str:
    """What a step says beside its kind."""
    said = [str(content[name]) for name in ("player", "box", "stake") if name in content]
    if content.get("house_placed"):
        said.append("placed by the house")
    if content.get("call_bet"):
        said.append("call bet")
    if "tumbles" in content:
        said.append(tumbler_words(content["tumbles"], content.get("activated", False)))
    if "dice" in content:
        said.append(", ".join(map(str, content["dice"])))
    said += [f"{word} {content[name]}" for name, word in NAMED if name in content]
    said += [f"{one['player']} {one['box']} {one['net']};" for one in content.get("nets", [])]
    return " ".join(said).removesuffix(";")


def tumbler_words(tumbles: int, is_activated: bool) -> str:
    """Say what the tumbler did."""
    if not tumbles:
        return "activated, did not tumble" if is_activated else "not activated"
    return f"{tumbles} tumble{'' if tumbles == 1 else 's'}"


NAMED = (("known_dice", "known:"), ("rule", "rule"), ("by", "by"))
