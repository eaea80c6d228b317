"""Rounds in which the kernel saw something: read whole, one by one, and explained by the scalar engine."""

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Any

from audits.reconciliation.applying import Applied, Applying
from games.engine.box_numbers import code_of
from games.engine.dice import Throw, parse_known_dice
from games.engine.findings import RecordedBet, RecordedRound
from games.engine.irregularities import Event
from games.models import Round

AT_ONCE = 500


def event_of(one: dict[str, Any]) -> Event:
    return Event(
        kind=one["kind"],
        at=dt.datetime.fromisoformat(one["at"]),
        tumbles=one.get("tumbles"),
        dice=Throw(tuple(one["dice"])) if "dice" in one else None,
        known=parse_known_dice(one["known_dice"]) if "known_dice" in one else None,
        rule=one.get("rule"),
    )


def recorded_bets(one: Round) -> list[RecordedBet]:
    nets: Sequence[int | None] = one.nets
    if one.nets_given:
        nets = [net if is_given else None for net, is_given in zip(one.nets, one.nets_given, strict=True)]
    missing = [False] * len(one.players)
    columns = (one.players, map(code_of, one.boxes), one.stakes, nets, one.late or missing, one.refused or missing)
    return [RecordedBet(*values) for values in zip(*columns, strict=True)]


def recorded_round(one: Round, applied: Applied) -> RecordedRound:
    game = applied.game
    events = [event_of(event) for event in one.events]
    return RecordedRound(game.book, game.layout, game.limits, events, recorded_bets(one), game.excess)


def explained(ids: Sequence[int], applying: Applying) -> Iterator[tuple[Round, Applied, RecordedRound]]:
    """In the order of their start."""
    columns = (
        "ref", "table_id", "gaming_day", "assignment_id", "started_at", "events", "players", "boxes", "stakes", "nets",
        "nets_given", "late", "refused",
    )  # fmt: skip
    for first in range(0, len(ids), AT_ONCE):
        for one in (
            Round.objects.filter(pk__in=ids[first : first + AT_ONCE]).only(*columns).order_by("started_at", "ref")
        ):
            applied = applying.at(one.assignment_id, one.started_at)
            yield one, applied, recorded_round(one, applied)
