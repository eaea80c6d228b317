"""Select rounds, by index only."""

import datetime as dt
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from games.access.gate import visible
from games.models import (
    Round,
)


@dataclass(frozen=True)
class RoundFilter:
    """Which rounds to list, among those the actor may see; every field is optional."""

    table: str | None = None
    day: dt.date | None = None
    dealer: str | None = None
    player: str | None = None
    status: str | None = None


def rounds_found(actor: Any, wanted: RoundFilter) -> QuerySet[Round]:
    """Select rounds by index only. Nothing is counted; a page starts where the last one ended."""
    rounds = visible(actor, Round.objects.select_related("table__casino", "dice_set"))
    if wanted.table is not None:
        rounds = rounds.filter(table__code=wanted.table)
    if wanted.day is not None:
        rounds = rounds.filter(gaming_day=wanted.day)
    if wanted.dealer is not None:
        rounds = rounds.filter(dealer=wanted.dealer)
    if wanted.player is not None:
        rounds = rounds.filter(players__contains=[wanted.player])
    if wanted.status is not None:
        rounds = rounds.filter(status=wanted.status)
    return rounds.order_by("-started_at", "-pk")
