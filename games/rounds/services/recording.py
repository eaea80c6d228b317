"""Record rounds from API, file or by hand. A repeated round is recorded once; no round is ever changed."""

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
from games.rounds.rows import COLUMNS, round_of, row
from games.rounds.services.outbox import reconciliation_wake
from games.rounds.terms import TermsCache
from games.rounds.wire_format import decode
from games.terminals.sources import key_of, verify_source

#: How far the clock of a table system may be ahead of ours.
CLOCKS_DIFFER = dt.timedelta(minutes=5)
#: A gaming day is closed this long after its end; later rounds are marked.
BOOKS_OPEN_FOR = dt.timedelta(hours=6)
#: The action that sending rounds requires.
RECORD = "round.record"
#: The source of rounds that people enter.
BY_HAND = "hand"
INSERT = (
    f"INSERT INTO games_round ({', '.join(COLUMNS)}) VALUES ({', '.join(['%s'] * len(COLUMNS))}) "
    "ON CONFLICT (casino_id, source, ref) DO NOTHING RETURNING id"
)


class RoundConflictError(Exception):
    """The name is taken by a round with different content; the conflict is on record."""

    def __init__(self, source: str, ref: str) -> None:
        super().__init__(
            f"{source} {ref} is on record with different content. Nothing was changed, and the conflict is on record. "
            "Send it under a ref of its own, or leave it."
        )


def read_round(line: bytes, terms: TermsCache, *, now: dt.datetime) -> ReadyRound:
    """Read a round by the fast parser if possible; otherwise report every fault."""
    latest = now + CLOCKS_DIFFER
    shape = decode(line)
    ready_round = fast_parser.read(shape, terms, latest=latest) if shape is not None else None
    return ready_round or diagnostic_parser.read(line, terms, latest=latest)


@dataclass(frozen=True)
class Recorded:
    """A round on record, as it was written or found there, and whether it is new."""

    round: Round
    is_new: bool


def round_receive(*, actor: Actor, line: bytes, channel: str) -> Recorded:
    """Record one round as a table system sends it."""
    capacity = authorize(actor, RECORD)  # before the line is read: strangers learn nothing about tables
    terms, now = TermsCache(), timezone.now()
    ready_round = read_round(line, terms, now=now)
    if not capacity.covers(RECORD, ready_round.table.table):
        authorize(actor, RECORD, ready_round.table.table)  # another capacity may reach it
    verify_source(actor, ready_round.table.casino_id, ready_round.source)
    return _record(ready_round, terms, line, Sent(channel, now, actor_name(actor), terminal_id=key_of(actor)))


def round_record(*, actor: Actor, line: bytes, channel: str) -> tuple[int, bool]:
    """Record one round as a table system sends it; return its id, and whether it is new."""
    recorded = round_receive(actor=actor, line=line, channel=channel)
    return recorded.round.pk, recorded.is_new


def round_enter(*, actor: Staff, table: Table, document: dict[str, Any], reason: str) -> tuple[int, bool]:
    """Record a round entered by hand while a terminal was down; marked as such, with the reason."""
    authorize(actor, "round.enter", table)
    verify_reason(reason)
    line = msgspec.json.encode(document | {"source": BY_HAND, "table": table.code})
    return record_document(line, Sent(Round.Channel.HAND, timezone.now(), actor_name(actor), reason.strip()))


@dataclass(frozen=True)
class Sent:
    """How a round was received: channel, moment, sender, reason for hand entry, and key."""

    channel: str
    at: dt.datetime
    who: str
    note: str = ""
    terminal_id: int | None = None


def record_document(line: bytes, sent: Sent) -> tuple[int, bool]:
    """Record a round built by the product itself; the caller has authorized it."""
    terms = TermsCache()
    recorded = _record(read_round(line, terms, now=sent.at), terms, line, sent)
    return recorded.round.pk, recorded.is_new


def _record(ready_round: ReadyRound, terms: TermsCache, line: bytes, sent: Sent) -> Recorded:
    with transaction.atomic():
        key = _insert(ready_round, terms, sent)
        if key is not None:
            after_recording(key, ready_round, sent)
            return Recorded(_as_recorded(key, ready_round, sent), True)
    names = Round.objects.filter(casino=ready_round.table.casino_id, source=ready_round.source, ref=ready_round.ref)
    recorded = names.select_related("table__casino", "dice_set").get()
    if bytes(recorded.fingerprint) != ready_round.fingerprint:
        conflict_record([(ready_round, line, recorded.pk)], channel=sent.channel, who=sent.who)
        raise RoundConflictError(ready_round.source, ready_round.ref)
    return Recorded(recorded, False)


def _as_recorded(key: int, ready_round: ReadyRound, sent: Sent) -> Round:
    """Return a round that was just written, from its values: it is not read back."""
    round_ = round_of(
        ready_round, channel=sent.channel, after_close=is_after_close(ready_round, sent.at), now=sent.at, who=sent.who
    )
    round_.pk = key
    return round_


def _insert(ready_round: ReadyRound, terms: TermsCache, sent: Sent) -> int | None:
    """Insert a round. Return None if the name is taken; waits for a concurrent insert of the same name."""
    values = row(
        ready_round, terms, channel=sent.channel, imported_id=None,
        after_close=is_after_close(ready_round, sent.at), now=sent.at,
        who=sent.who, note=sent.note, terminal_id=sent.terminal_id,
    )  # fmt: skip
    # SQL by hand: Django's ON CONFLICT DO NOTHING does not say whether a row was written, nor its id.
    with connection.cursor() as cursor:
        cursor.execute(INSERT, values)
        inserted = cursor.fetchone()
    return int(inserted[0]) if inserted else None


def is_after_close(ready_round: ReadyRound, now: dt.datetime) -> bool:
    return now >= ready_round.applied.day_ends + BOOKS_OPEN_FOR


def after_recording(key: int, ready_round: ReadyRound, sent: Sent) -> None:
    """Add a new round to the outbox and the ledger, in the same transaction."""
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
    """Return the ledger content of a round; the fingerprint covers its events and bets."""
    *pinned, recorded_at, who, fingerprint = values
    return LedgerEntry("round", key, (*pinned, recorded_at.astimezone(dt.UTC), who, bytes(fingerprint).hex()))


def conflict_record(conflicts: Iterable[tuple[ReadyRound, bytes, int]], *, channel: str, who: str) -> None:
    """Record the conflict, the one thing a refused call writes; the same content is kept once."""
    RecordingConflict.objects.bulk_create(
        [
            RecordingConflict(
                source=conflict.source, ref=conflict.ref, table_id=conflict.table.pk, recorded_id=key,
                content=json.loads(line), fingerprint=conflict.fingerprint, channel=channel, who=who,
            )
            for conflict, line, key in conflicts
        ],
        ignore_conflicts=True,
    )  # fmt: skip


def faults_of(error: InputError, where: str) -> list[str]:
    return [f"{where}: {fault}" for fault in error.faults]
