"""A recorded round as JSON, as the API returns it."""

import datetime as dt
from collections.abc import Iterable
from typing import Any

from games.engine.box_numbers import code_of
from games.engine.money import format_money
from games.floor.moments import as_text
from games.models import Round
from games.rounds.current_status import CurrentStatus, current_statuses


def round_documents(rounds: Iterable[Round]) -> list[dict[str, Any]]:
    """Return rounds as the API does; their corrections are read in one query."""
    listed = list(rounds)
    current = current_statuses({round_.pk: round_.status for round_ in listed})
    return [_document(round_, current[round_.pk]) for round_ in listed]


def round_document(round_: Round) -> dict[str, Any]:
    return round_documents([round_])[0]


def _document(round_: Round, current: CurrentStatus) -> dict[str, Any]:
    casino = round_.table.casino
    return {
        "id": round_.pk,
        "source": round_.source,
        "ref": round_.ref,
        "table": round_.table.code,
        "gaming_day": round_.gaming_day.isoformat(),
        "rulebook": round_.rulebook,
        "layout": round_.layout,
        "limits": round_.limit_set_id,
        "dice_set": round_.dice_set.code if round_.dice_set else None,
        "dealer": round_.dealer,
        "supervisor": round_.supervisor,
        "status": round_.status,
        "current_status": current.status,
        "corrections": current.corrections,
        "dice": round_.dice,
        "started_at": as_text(round_.started_at, casino),
        "ended_at": as_text(round_.ended_at, casino),
        "events": round_.events,
        "bets": [bet_document(round_, index) for index in range(len(round_.players))],
        "fingerprint": bytes(round_.fingerprint).hex(),
        "channel": round_.channel,
        "after_close": round_.after_close,
        "recorded_at": as_text(round_.recorded_at, casino),
        "recorded_by": round_.who,
    }


def bet_document(round_: Round, index: int) -> dict[str, Any]:
    """Return the n-th bet, with its rare facts if it has any."""
    given = round_.nets_given is None or round_.nets_given[index]
    placed_at = round_.placed_at[index] if round_.placed_at else None
    document: dict[str, Any] = {
        "player": round_.players[index],
        "box": code_of(round_.boxes[index]),
        "stake": format_money(round_.stakes[index]),
        "net": format_money(round_.nets[index]) if given else None,
    }
    if placed_at is not None:
        document["at"] = as_text(placed_at, round_.table.casino)
    if (withdrawn_at := round_.withdrawn_at[index] if round_.withdrawn_at else None) is not None:
        document["withdrawn"] = as_text(withdrawn_at, round_.table.casino)
        if _is_on_felt(round_, index):
            document["withdrawn_late"] = True
    for name in ("late", "refused", "house_placed", "call"):
        flags = getattr(round_, name)
        if flags and flags[index]:
            document[name] = True
    return document


def _is_on_felt(round_: Round, index: int) -> bool:
    """Say whether the n-th bet was on the felt when betting closed: only then can its withdrawal be late."""
    return not any(flags and flags[index] for flags in (round_.withdrawn, round_.refused, round_.late))


def bet_remarks(round_: Round, index: int) -> list[str]:
    """List the remarks on the n-th bet for people."""
    facts = bet_document(round_, index)
    remarks = [words for name, words in REMARKS.items() if facts.get(name)]
    if "withdrawn" in facts:
        time = dt.datetime.fromisoformat(facts["withdrawn"]).strftime("%H:%M:%S")
        is_in_time = bool(round_.withdrawn and round_.withdrawn[index])
        word = "withdrawn in time" if is_in_time else "withdrawal refused, too late"
        if is_in_time or "withdrawn_late" in facts:
            remarks.append(f"{word} ({time})")
    return remarks


REMARKS = {"late": "late", "refused": "refused", "house_placed": "placed by the house", "call": "call bet"}
