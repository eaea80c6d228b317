"""Recording rounds: by API, by file, by hand. Complete or refused; the same one twice is one; none is ever changed."""

import datetime as dt
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec
from django.db import connection, transaction
from django.utils import timezone

from games.access.gate import Actor, actor_name, authorize
from games.engine.errors import InputError
from games.history.audited_save import verify_reason
from games.ledger.services import LedgerEntry, chain_append, table_chain
from games.models import Outbox, RecordingConflict, Round, Staff, Table
from games.rounds import diagnostic_parser, fast_parser
from games.rounds.prepared import ReadyRound
from games.rounds.rows import COLUMNS, row
from games.rounds.services.outbox import reconciliation_wake
from games.rounds.terms import TermsCache
from games.rounds.wire_format import decode
from games.terminals.sources import key_of, verify_source

#: How far ahead of ours the clock of a table system may be.
CLOCKS_DIFFER = dt.timedelta(minutes=5)
#: A gaming day's books are closed this long after its end; what comes later is marked.
BOOKS_OPEN_FOR = dt.timedelta(hours=6)
#: The source of rounds that people enter.
BY_HAND = "hand"
INSERT = (
    f"INSERT INTO games_round ({', '.join(COLUMNS)}) VALUES ({', '.join(['%s'] * len(COLUMNS))}) "
    "ON CONFLICT (casino_id, source, ref) DO NOTHING RETURNING id"
)


class RoundConflictError(Exception):
    """The name is taken by a round with another content; that is on record."""

    def __init__(self, source: str, ref: str) -> None:
        super().__init__(
            f"{source} {ref} is on record with another content; nothing was changed, and the conflict is on record. "
            "Send it under a ref of its own, or leave it."
        )


def read_round(line: bytes, books: TermsCache, *, now: dt.datetime) -> ReadyRound:
    """The quick way where it can be taken; else every fault."""
    latest = now + CLOCKS_DIFFER
    shape = decode(line)
    found = fast_parser.ready(shape, books, latest=latest) if shape is not None else None
    return found or diagnostic_parser.read(line, books, latest=latest)


def round_record(*, actor: Actor, line: bytes, channel: str) -> tuple[int, bool]:
    """One round as a table system sends it: its id, and whether it is new."""
    books, now = TermsCache(), timezone.now()
    ready = read_round(line, books, now=now)
    authorize(actor, "round.record", ready.table.table)
    verify_source(actor, ready.table.casino_id, ready.source)
    return _record(ready, books, line, Sent(channel, now, actor_name(actor), terminal_id=key_of(actor)))


def round_enter(*, actor: Staff, table: Table, document: dict[str, Any], reason: str) -> tuple[int, bool]:
    """A round entered by hand while a terminal is down; marked as such, with the reason."""
    authorize(actor, "round.enter", table)
    verify_reason(reason)
    line = msgspec.json.encode(document | {"source": BY_HAND, "table": table.code})
    return record_document(line, Sent(Round.Channel.HAND, timezone.now(), actor_name(actor), reason.strip()))


@dataclass(frozen=True)
class Sent:
    """How a round came: through which channel, when, by whom, why by hand, and with which key."""

    channel: str
    at: dt.datetime
    who: str
    note: str = ""
    terminal_id: int | None = None


def record_document(line: bytes, sent: Sent) -> tuple[int, bool]:
    """A round that somebody who may do so has put together."""
    books = TermsCache()
    return _record(read_round(line, books, now=sent.at), books, line, sent)


def _record(ready: ReadyRound, books: TermsCache, line: bytes, sent: Sent) -> tuple[int, bool]:
    with transaction.atomic():
        key = _insert(ready, books, sent)
        if key is not None:
            after_recording(key, ready, sent)
            return key, True
    names = Round.objects.filter(casino=ready.table.casino_id, source=ready.source, ref=ready.ref)
    recorded = names.only("pk", "fingerprint").get()
    if bytes(recorded.fingerprint) != ready.fingerprint:
        conflict_record([(ready, line, recorded.pk)], channel=sent.channel, who=sent.who)
        raise RoundConflictError(ready.source, ready.ref)
    return recorded.pk, False


def _insert(ready: ReadyRound, books: TermsCache, sent: Sent) -> int | None:
    """None where the name is taken. Whoever inserts the same name at this moment is waited for."""
    values = row(
        ready, books, channel=sent.channel, imported_id=None, after_close=is_after_close(ready, sent.at), now=sent.at,
        who=sent.who, note=sent.note, terminal_id=sent.terminal_id,
    )  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(INSERT, values)
        found = cursor.fetchone()
    return int(found[0]) if found else None


def is_after_close(ready: ReadyRound, now: dt.datetime) -> bool:
    return now >= ready.applied.day_ends + BOOKS_OPEN_FOR


def after_recording(key: int, ready_round: ReadyRound, sent: Sent) -> None:
    """What goes with a new round in the same transaction: its place in the outbox, and its leaf in the ledger."""
    Outbox.objects.create(round_id=key, at=sent.at)
    transaction.on_commit(reconciliation_wake)
    applied = ready_round.applied
    values = (
        ready_round.source,
        ready_round.ref,
        ready_round.table.code,
        applied.gaming_day,
        applied.assignment_id,
        applied.book.id,
        applied.layout.code,
        applied.limit_set_id,
        applied.dice_set_id,
        str(sent.channel),
        sent.at,
        sent.who,
        ready_round.fingerprint,
    )
    chain_append(table_chain(ready_round.table.pk), [leaf_of(key, values)])


def leaf_of(key: int, values: Iterable[Any]) -> LedgerEntry:
    """What the ledger holds of a round; the fingerprint stands for its events and bets."""
    *pinned, recorded_at, who, fingerprint = values
    return LedgerEntry("round", key, (*pinned, recorded_at.astimezone(dt.UTC), who, bytes(fingerprint).hex()))


def conflict_record(conflicts: Iterable[tuple[ReadyRound, bytes, int]], *, channel: str, who: str) -> None:
    """The one thing that a refused call writes; the same content is kept once."""
    RecordingConflict.objects.bulk_create(
        [
            RecordingConflict(
                source=one.source, ref=one.ref, table_id=one.table.pk, recorded_id=key, content=json.loads(line),
                fingerprint=one.fingerprint, channel=channel, who=who,
            )
            for one, line, key in conflicts
        ],
        ignore_conflicts=True,
    )  # fmt: skip


def faults_of(error: InputError, where: str) -> list[str]:
    return [f"{where}: {fault}" for fault in error.faults]
