"""Name the steps of a round in play for people: what was sent, and by which rule it was refused."""

import datetime as dt
from dataclasses import dataclass
from typing import Any

from games.engine.money import parse_net
from games.engine.play.live_play import Play, PlayRefusal, retake
from games.labels.boxes import box_label
from games.labels.events import tumbler_label
from games.labels.money import money_label
from games.live.parser import as_step
from games.live.session_state import SessionState

#: Fields of a step that are shown with their name, and that name.
NAMED_FIELDS = (("known_dice", "known:"), ("rule", "rule"), ("by", "by"))


@dataclass(frozen=True)
class StepLine:
    number: int
    at: dt.datetime
    kind: str
    text: str
    who: str
    refusal: PlayRefusal | None


def step_lines(session: SessionState) -> tuple[list[StepLine], Play]:
    """Return a line for every step so far, and the round after them."""
    play, lines = Play(), []
    for step in session.steps:
        play, refusal = retake(session.book, play, as_step(step.content, session.book, step.at))
        lines.append(StepLine(step.number, step.at, step.kind, step_text(step.content), step.who, refusal))
    return lines, play


def step_text(content: dict[str, Any]) -> str:
    """Describe the content of a step or event, without its kind: `seat-1 Small 50.00`."""
    parts = [str(content["player"])] if "player" in content else []
    if "box" in content:
        parts.append(box_label(content["box"]))
    if "stake" in content:
        parts.append(money_label(parse_net(content["stake"])))
    if content.get("house_placed"):
        parts.append("placed by the house")
    if content.get("call_bet"):
        parts.append("call bet")
    if "tumbles" in content:
        parts.append(tumbler_label(content["tumbles"], is_activated=content.get("activated", False)))
    if "dice" in content:
        parts.append(", ".join(map(str, content["dice"])))
    parts += [f"{label} {content[name]}" for name, label in NAMED_FIELDS if name in content]
    nets = [
        f"{entry['player']} {box_label(entry['box'])} {money_label(parse_net(entry['net']))}"
        for entry in content.get("nets", [])
    ]
    return " ".join([*parts, "; ".join(nets)]).strip()


def net_text(player: str, box: str, net: str) -> str:
    """Describe what was paid for a bet: `seat-1 Small −50.00`."""
    return f"{player} {box_label(box)} {money_label(parse_net(net))}"
