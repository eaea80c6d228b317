"""A round on record as JSON: what the API answers."""

import datetime as dt
from collections.abc import Iterable
from typing import Any

from games.engine.box_numbers import code_of
from games.engine.money import format_money
from games.floor.moments import as_text
from games.models import Round
from games.rounds.current_status import CurrentStatus, current_statuses


def round_documents(rounds: Iterable[Round]) -> list[dict[str, Any]]:
    """Rounds as the API answers them; what corrections made of them is read once for all."""
    listed = list(rounds)
    current = current_statuses({one.pk: one.status for one in listed})
    return [_document(one, current[one.pk]) for one in listed]


def round_document(one: Round) -> dict[str, Any]:
    return round_documents([one])[0]


def _document(one: Round, current: CurrentStatus) -> dict[str, Any]:
    casino = one.table.casino
    return {
        "id": one.pk,
        "source": one.source,
        "ref": one.ref,
        "table": one.table.code,
        "gaming_day": one.gaming_day.isoformat(),
        "rulebook": one.rulebook,
        "layout": one.layout,
        "limits": one.limit_set_id,
        "dice_set": one.dice_set.code if one.dice_set else None,
        "dealer": one.dealer,
        "supervisor": one.supervisor,
        "status": one.status,
        "current_status": current.status,
        "corrections": current.corrections,
        "dice": one.dice,
        "started_at": as_text(one.started_at, casino),
        "ended_at": as_text(one.ended_at, casino),
        "events": one.events,
        "bets": [bet_document(one, index) for index in range(len(one.players))],
        "fingerprint": bytes(one.fingerprint).hex(),
        "channel": one.channel,
        "after_close": one.after_close,
        "recorded_at": as_text(one.recorded_at, casino),
        "recorded_by": one.who,
    }


def bet_document(one: Round, index: int) -> dict[str, Any]:
    """The n-th bet, with its rare facts where it has them."""
    given = one.nets_given is None or one.nets_given[index]
    placed_at = one.placed_at[index] if one.placed_at else None
    document: dict[str, Any] = {
        "player": one.players[index],
        "box": code_of(one.boxes[index]),
        "stake": format_money(one.stakes[index]),
        "net": format_money(one.nets[index]) if given else None,
    }
    if placed_at is not None:
        document["at"] = as_text(placed_at, one.table.casino)
    if (withdrawn_at := one.withdrawn_at[index] if one.withdrawn_at else None) is not None:
        document["withdrawn"] = as_text(withdrawn_at, one.table.casino)
        if _is_on_felt(one, index):
            document["withdrawn_late"] = True
    for name in ("late", "refused", "house_placed", "call"):
        flags = getattr(one, name)
        if flags and flags[index]:
            document[name] = True
    return document


def _is_on_felt(one: Round, index: int) -> bool:
    """Tell whether the n-th bet lay on the felt when betting was closed: only then can it be withdrawn too late."""
    return not any(flags and flags[index] for flags in (one.withdrawn, one.refused, one.late))


def bet_remarks(one: Round, index: int) -> list[str]:
    """Say for people what is special about the n-th bet."""
    facts = bet_document(one, index)
    remarks = [words for name, words in REMARKS.items() if facts.get(name)]
    if "withdrawn" in facts:
        time = dt.datetime.fromisoformat(facts["withdrawn"]).strftime("%H:%M:%S")
        is_in_time = bool(one.withdrawn and one.withdrawn[index])
        word = "withdrawn in time" if is_in_time else "withdrawal refused, too late"
        if is_in_time or "withdrawn_late" in facts:
            remarks.append(f"{word} ({time})")
    return remarks


REMARKS = {"late": "late", "refused": "refused", "house_placed": "placed by the house", "call": "call bet"}
