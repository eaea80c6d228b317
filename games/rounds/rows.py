"""A ready round as a row of text, as PostgreSQL reads it: for COPY and for INSERT alike."""

import datetime as dt
from collections.abc import Iterable
from typing import Any

import msgspec

from games.rounds.prepared import ReadyRound
from games.rounds.terms import TermsCache

COLUMNS = (
    "source", "ref", "casino_id", "table_id", "gaming_day", "assignment_id", "rulebook", "layout", "limit_set_id",
    "dice_set_id", "dealer", "supervisor", "dealer_staff_id", "supervisor_staff_id", "started_at", "closed_at",
    "ended_at", "status", "dice", "events", "players", "boxes", "stakes", "nets", "nets_given", "placed_at", "late",
    "refused", "house_placed", "call", "withdrawn_at", "withdrawn", "fingerprint",
    "channel", "terminal_id", "imported_id", "after_close", "recorded_at", "who", "note",
)  # fmt: skip


def row(
    ready_round: ReadyRound,
    books: TermsCache,
    *,
    channel: str,
    imported_id: int | None,
    after_close: bool,
    now: dt.datetime,
    who: str,
    note: str = "",
    terminal_id: int | None = None,
) -> tuple[Any, ...]:
    applied = ready_round.applied
    return (
        ready_round.source,
        ready_round.ref,
        ready_round.table.casino_id,
        ready_round.table.pk,
        applied.gaming_day,
        applied.assignment_id,
        applied.book.id,
        applied.layout.code,
        applied.limit_set_id,
        applied.dice_set_id,
        ready_round.dealer,
        ready_round.supervisor,
        books.staff_id(ready_round.dealer),
        books.staff_id(ready_round.supervisor),
        ready_round.started_at,
        ready_round.closed_at,
        ready_round.ended_at,
        ready_round.status,
        _numbers(ready_round.dice),
        ready_round.events.decode(),
        _texts(ready_round.players),
        _numbers(ready_round.boxes),
        _numbers(ready_round.stakes),
        _numbers(ready_round.nets),
        _flags(ready_round.nets_given),
        _moments(ready_round.placed_at),
        _flags(ready_round.late),
        _flags(ready_round.refused),
        _flags(ready_round.house_placed),
        _flags(ready_round.call),
        _moments(ready_round.withdrawn_at),
        _flags(ready_round.withdrawn),
        f"\\x{ready_round.fingerprint.hex()}",
        channel,
        terminal_id,
        imported_id,
        after_close,
        now,
        who,
        note,
    )


def _numbers(values: list[int] | None) -> str | None:
    return None if values is None else f"{{{msgspec.json.encode(values)[1:-1].decode()}}}"


def _texts(values: list[str]) -> str:
    if not values:
        return "{}"
    joined = '","'.join(values)
    if "\\" in joined or joined.count('"') != 2 * (len(values) - 1):
        joined = '","'.join(value.replace("\\", "\\\\").replace('"', '\\"') for value in values)
    return '{"' + joined + '"}'


def _flags(values: Iterable[bool] | None) -> str | None:
    return None if values is None else "{" + ",".join("t" if value else "f" for value in values) + "}"


def _moments(values: Iterable[dt.datetime | None] | None) -> str | None:
    if values is None:
        return None
    return "{" + ",".join("NULL" if value is None else f'"{value.isoformat()}"' for value in values) + "}"
