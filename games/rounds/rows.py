"""A ready round as a row of text, as PostgreSQL reads it: for COPY and for INSERT alike."""

import datetime as dt
from collections.abc import Iterable
from typing import Any

import msgspec

from games.rounds.prepared import ReadyRound
from games.rounds.table_terms import Books

COLUMNS = (
    "source", "ref", "casino_id", "table_id", "gaming_day", "assignment_id", "rulebook", "layout", "limit_set_id",
    "dice_set_id", "dealer", "supervisor", "dealer_staff_id", "supervisor_staff_id", "started_at", "closed_at",
    "ended_at", "status", "dice", "events", "players", "boxes", "stakes", "nets", "nets_given", "placed_at", "late",
    "refused", "house_placed", "call", "withdrawn_at", "withdrawn", "fingerprint",
    "channel", "terminal_id", "imported_id", "after_close", "recorded_at", "who", "note",
)  # fmt: skip


def row(
    one: ReadyRound, books: Books, *, channel: str, imported_id: int | None, after_close: bool, now: dt.datetime,
    who: str, note: str = "", terminal_id: int | None = None,
) -> tuple[Any, ...]:  # fmt: skip
    applied = one.applied
    return (
        one.source, one.ref, one.table.casino.pk, one.table.pk, applied.gaming_day, applied.assignment_id,
        applied.book.id, applied.layout.code, applied.limit_set_id, applied.dice_set_id, one.dealer, one.supervisor,
        books.staff_id(one.dealer), books.staff_id(one.supervisor), one.started_at, one.closed_at, one.ended_at,
        one.status, _numbers(one.dice), one.events.decode(), _texts(one.players), _numbers(one.boxes),
        _numbers(one.stakes), _numbers(one.nets), _flags(one.nets_given), _moments(one.placed_at), _flags(one.late),
        _flags(one.refused), _flags(one.house_placed), _flags(one.call), _moments(one.withdrawn_at),
        _flags(one.withdrawn), f"\\x{one.fingerprint.hex()}", channel, terminal_id,
        imported_id, after_close, now, who, note,
    )  # fmt: skip


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
