"""Damaged dice (5.6): all rounds since the last good inspection of that set, and what goes back to each player."""

import datetime as dt
from typing import Any

from django.db import connection

from games.engine.money import format_money
from games.models import DiceFit, DiceInspection, DiceSet, Round, Table
from games.moments import as_text
from games.selectors import dice_at

MOST = 1000  # rounds or players that are listed; the counts are of all
#: What each player gained or lost in these rounds, to be undone. Void rounds have given everything back already.
PLAYERS = """
SELECT bet.player, -sum(bet.net), count(DISTINCT r.id)
FROM games_round r CROSS JOIN LATERAL unnest(r.players, r.nets, r.refused) AS bet (player, net, is_refused)
WHERE r.dice_set_id = %s AND r.started_at > %s AND r.started_at <= %s AND r.status = 'settled'
AND NOT coalesce(bet.is_refused, false)
GROUP BY bet.player ORDER BY bet.player
"""
BEGINNING = dt.datetime(1970, 1, 2, tzinfo=dt.UTC)


def last_good(dice_set: DiceSet, at: dt.datetime) -> DiceInspection | None:
    found = DiceInspection.objects.filter(dice_set=dice_set, at__lte=at, result=DiceInspection.Result.GOOD)
    return found.order_by("-at", "-pk").first()


def last_fit(table: Table, at: dt.datetime) -> DiceFit | None:
    """Dice that are looked at when they have been taken out were the last ones there."""
    begun = DiceFit.objects.filter(table=table, during__startswith__lte=at)
    return begun.select_related("dice_set").order_by("-during").first()


def dice_set_at(table: Table, at: dt.datetime) -> DiceSet | None:
    fit = dice_at(table=table, at=at) or last_fit(table, at)
    return fit.dice_set if fit else None


def affected_rounds(dice_set: DiceSet, at: dt.datetime) -> Any:
    """Played with this set since it was last found good, wherever it lay, the first one first."""
    good = last_good(dice_set, at)
    since = good.at if good else BEGINNING
    return Round.objects.filter(dice_set=dice_set, started_at__gt=since, started_at__lte=at).order_by(
        "started_at", "pk"
    )


def blast_radius(table: Table, at: dt.datetime) -> dict[str, Any]:
    dice_set = dice_set_at(table, at)
    if dice_set is None:
        return {"explain": "No dice set was on record at this table at that moment."}
    good = last_good(dice_set, at)
    rounds = affected_rounds(dice_set, at).select_related("table")
    with connection.cursor() as cursor:
        cursor.execute(PLAYERS, [dice_set.pk, good.at if good else BEGINNING, at])
        players = cursor.fetchall()
    return {
        "dice_set": dice_set.code,
        "last_good": as_text(good.at, table.casino) if good else None,
        "count": rounds.count(),
        "rounds": [{"ref": one.ref, "table": one.table.code, "status": one.status} for one in rounds[:MOST]],
        "players": [
            {"player": player, "rounds": count, "refund": format_money(int(amount))}
            for player, amount, count in players[:MOST]
        ],
        "player_count": len(players),
        "total": format_money(sum(int(amount) for _, amount, _ in players)),
    }
