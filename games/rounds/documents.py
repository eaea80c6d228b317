"""A round on record as JSON: what the API answers."""

from typing import Any

from games.engine.box_numbers import code_of
from games.engine.money import format_money
from games.models import Round
from games.moments import as_text


def round_document(one: Round) -> dict[str, Any]:
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
    for name, flags in (("late", one.late), ("refused", one.refused), ("house_placed", one.house_placed)):
        if flags and flags[index]:
            document[name] = True
    return document
