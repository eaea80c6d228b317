"""Read the steps that a terminal sends, and report every fault with its field."""

import datetime as dt
from dataclasses import dataclass
from typing import Any

from games.engine.errors import InputError
from games.engine.money import format_money, parse_net, parse_positive_money
from games.engine.play.irregularities import SETTLED
from games.engine.play.live_play import BET, INCREASE, KINDS, ON_THE_FELT, REFUSE, WITHDRAW, PlayStep
from games.engine.rules.loader import listed
from games.engine.rules.rulebook import Layout, Rulebook
from games.rounds.fast_parser import rule_of
from games.rounds.fields import FieldFaults
from games.rounds.prepared import EVENT_FIELDS, MOST_BETS, known_text

OPENING = ("source", "ref", "table", "dealer", "supervisor")
LONGEST_CALL = 100
NET = ("player", "box", "net")
#: The fields of each kind of step besides its call and time, and whether they are required.
STEP_FIELDS: dict[str, dict[str, bool]] = {
    BET: {"player": True, "box": True, "stake": True, "house_placed": False, "call_bet": False},
    INCREASE: {"player": True, "box": True, "stake": True, "house_placed": False, "call_bet": False},
    WITHDRAW: {"player": True, "box": True, "stake": False},
    REFUSE: {"player": True, "box": True, "stake": True},
    **EVENT_FIELDS,
    SETTLED: {"nets": True},
}
FLAGS = ("house_placed", "call_bet")
FIELDS = ("call", "kind", "at", "player", "box", "stake", "house_placed", "call_bet", "tumbles", "activated", "dice",
          "known_dice", "rule", "by", "nets")  # fmt: skip


@dataclass(frozen=True)
class Opening:
    source: str
    ref: str
    table: str
    dealer: str | None
    supervisor: str | None


def read_opening(document: object, *, latest: dt.datetime) -> Opening:
    faults = FieldFaults(latest)
    data = _object(faults, document, OPENING)
    faults.required(data, "", "source", "ref", "table")
    for name in OPENING:
        if name in data:
            faults.text(data[name], name)
    faults.done()
    return Opening(*(data.get(name) for name in OPENING))  # type: ignore[arg-type]


def read_step(
    document: object, book: Rulebook, layout: Layout, *, now: dt.datetime, latest: dt.datetime
) -> tuple[str, PlayStep, dict[str, Any]]:
    """Return the call's name, the step, and its content as it is stored."""
    faults = FieldFaults(latest)
    data = _object(faults, document, FIELDS)
    faults.required(data, "", "call", "kind")
    if "call" in data:
        faults.text(data["call"], "call", LONGEST_CALL)
    kind = data.get("kind")
    if kind is not None and kind not in KINDS:
        faults.add("kind", f"{kind!r:.40} is not a kind of step; choose {listed(KINDS)}.")
    faults.done()
    _verify_fields(faults, data, STEP_FIELDS[data["kind"]])
    at = faults.moment(data["at"], "at") if "at" in data else None
    _verify_values(faults, data, book, layout)
    nets = _nets(faults, data.get("nets", []), layout)
    faults.done()
    content = {name: value for name, value in data.items() if name != "call"}
    return data["call"], as_step(content, book, now, at, nets), content


def _object(faults: FieldFaults, document: object, fields: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(document, dict):
        raise InputError("The input is not a JSON object; write it as {…}.")
    return faults.table(document, "", fields)


def _verify_fields(faults: FieldFaults, data: dict[str, Any], fields: dict[str, bool]) -> None:
    for name in data:
        if name not in ("call", "kind", "at") and name not in fields:
            faults.add(name, f"does not belong to {data['kind']}; leave it out.")
    for name, needed in fields.items():
        if needed and name not in data:
            faults.add(name, f"is missing; {data['kind']} needs it.")


def _verify_values(faults: FieldFaults, data: dict[str, Any], book: Rulebook, layout: Layout) -> None:
    if "player" in data:
        faults.text(data["player"], "player")
    if "box" in data:
        _box(faults, data["box"], "box", layout)
    if "stake" in data:
        faults.money(parse_positive_money, data["stake"], "stake")
    for name in FLAGS:
        if not isinstance(data.get(name, False), bool):
            faults.add(name, "is neither true nor false; write one of them.")
    for name in ("tumbles", "activated", "dice", "known_dice", "rule", "by"):
        if name in data:
            faults.detail(name, data[name], name)
    faults.activation(data, "activated")
    if isinstance(data.get("rule"), str) and rule_of(data["rule"], book) is None:
        faults.add("rule", f'{data["rule"]!r:.60} is not a rule of {book.id}; write one of its numbers, or "ruling".')


def _box(faults: FieldFaults, value: object, where: str, layout: Layout) -> bool:
    if isinstance(value, str) and value in layout.boxes:
        return True
    faults.add(where, f"{value!r:.40} is not a box of layout {layout.code}; check its code.")
    return False


def _nets(faults: FieldFaults, value: object, layout: Layout) -> dict[tuple[str, str], int]:
    """Read what was paid for each bet (negative: collected)."""
    if not isinstance(value, list) or len(value) > MOST_BETS:
        faults.add("nets", f"is not a list of at most {MOST_BETS}; write it as […].")
        return {}
    nets: dict[tuple[str, str], int] = {}
    for index, given in enumerate(value):
        where = f"nets[{index}]"
        entry = faults.table(given, where, NET)
        if isinstance(given, dict):
            faults.required(entry, where, *NET)
        sound = "player" in entry and faults.text(entry["player"], f"{where}.player")
        sound = "box" in entry and _box(faults, entry["box"], f"{where}.box", layout) and sound
        net = faults.money(parse_net, entry["net"], f"{where}.net") if "net" in entry else None
        if sound and net is not None:
            place = (entry["player"], entry["box"])
            if place in nets:
                faults.add(where, "appears twice; keep one.")
            nets[place] = net
    return nets


def as_step(
    content: dict[str, Any], book: Rulebook, received: dt.datetime, at: dt.datetime | None = None,
    nets: dict[tuple[str, str], int] | None = None,
) -> PlayStep:  # fmt: skip
    """Build a step from valid content, as sent or as on record."""
    sent_at = at or (dt.datetime.fromisoformat(content["at"]) if "at" in content else None)
    stake = parse_positive_money(content["stake"]) if "stake" in content else None
    if nets is None:
        nets = {(entry["player"], entry["box"]): parse_net(entry["net"]) for entry in content.get("nets", [])}
    if content["kind"] in ON_THE_FELT:
        return PlayStep(
            content["kind"], sent_at or received, content["player"], content["box"], stake, sent_at,
            content.get("house_placed", False), content.get("call_bet", False),
        )  # fmt: skip
    details = {name: content[name] for name in EVENT_FIELDS[content["kind"]] if name in content}
    if "rule" in details:
        details["rule"] = rule_of(details["rule"], book)
    if "known_dice" in details:
        details["known_dice"] = known_text(details["known_dice"])
    return PlayStep(content["kind"], sent_at or received, details=details, nets=nets)


def shown_nets(nets: dict[tuple[str, str], int]) -> list[dict[str, str]]:
    return [{"player": player, "box": box, "net": format_money(net)} for (player, box), net in nets.items()]
