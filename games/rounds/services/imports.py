"""Importing files of rounds: all of a file or nothing of it, in constant memory."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, BinaryIO

from django.db import IntegrityError, OperationalError, connection, transaction
from django.utils import timezone
from psycopg import errors, sql

from games.access.gate import Actor, actor_name, authorize
from games.engine.errors import InputError
from games.ledger.services import chain_append, table_chain
from games.models import ImportedFile, Round, Table
from games.rounds.lines import BLOCK, Lines
from games.rounds.prepared import ReadyRound
from games.rounds.rows import row
from games.rounds.services.bulk_insert import Copying
from games.rounds.services.outbox import reconciliation_wake
from games.rounds.services.recording import conflict_record, faults_of, is_after_close, leaf_of, read_round
from games.rounds.terms import TermsCache
from games.terminals.sources import key_of, verify_source

CHUNK = 500
MOST_FAULTS = 100
ATTEMPTS = 3
EXISTING = (
    "SELECT r.casino_id, r.source, r.ref, r.id, r.fingerprint FROM games_round r "
    "JOIN unnest(%s::bigint[], %s::text[], %s::text[]) AS wanted (casino_id, source, ref) "
    "ON r.casino_id = wanted.casino_id AND r.source = wanted.source AND r.ref = wanted.ref"
)
LEAVES = (
    "SELECT r.table_id, r.id, r.source, r.ref, t.code, r.gaming_day, r.assignment_id, r.rulebook, r.layout, "
    "r.limit_set_id, r.dice_set_id, r.channel, r.recorded_at, r.who, r.fingerprint "
    "FROM games_round r JOIN games_table t ON t.id = r.table_id "
    "WHERE r.imported_id = %s AND (r.table_id, r.id) > (%s, %s) ORDER BY r.table_id, r.id LIMIT %s"
)

OVERTAKEN = (errors.UniqueViolation, errors.DeadlockDetected)
TWICE = "stands in the file twice, with different contents; keep one"
TAKEN = "is on record with another content; the conflict is on record, so take it out, or send it under another ref"

Progress = Callable[[int, int], None]
Name = tuple[int, str, str]  # casino, source, ref


@dataclass(frozen=True)
class Imported:
    """How many rounds a file had, how many were new, and how many were on record already."""

    rounds: int
    new: int
    repeated: int


def rounds_import(*, actor: Actor, stream: BinaryIO, name: str, progress: Progress | None = None) -> Imported:
    """One file. Somebody who records the same rounds at this moment is waited for, and then the file is read again."""
    if stream.seekable() and (known := known_file(actor, stream)):
        return known
    for attempt in range(ATTEMPTS):
        if attempt:
            stream.seek(0)
        importing = Import(actor, Lines(stream), name, progress)
        try:
            with transaction.atomic():
                return importing.run()
        except (IntegrityError, OperationalError, *OVERTAKEN) as error:  # a COPY's errors come from the driver itself
            overtaken = isinstance(error, OVERTAKEN) or isinstance(error.__cause__, OVERTAKEN)
            if not overtaken or attempt + 1 == ATTEMPTS or not stream.seekable():
                raise
        except FileRefusedError as error:
            conflict_record(importing.conflicts, channel=Round.Channel.FILE, who=actor_name(actor))
            raise InputError(*error.faults) from None
    raise AssertionError


def known_file(actor: Actor, stream: BinaryIO) -> Imported | None:
    """The very same file was imported before: rounds are never taken away, so all of it is on record."""
    digest = hashlib.sha256()
    while block := stream.read(BLOCK):
        digest.update(block)
    stream.seek(0)
    found = ImportedFile.objects.filter(sha256=digest.digest()).first()
    if found is None:
        return None
    for table in Table.objects.filter(pk__in=found.recorded.order_by().values("table").distinct()):
        authorize(actor, "round.record", table)
    return Imported(found.rounds, 0, found.rounds)


def verify_at_once() -> None:
    """What a round refers to is checked with each copy, while others are read, and not all at the end: but the file."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT conname FROM pg_constraint WHERE conrelid = 'games_round'::regclass AND contype = 'f' "
            "AND condeferrable AND confrelid <> 'games_importedfile'::regclass"
        )
        names = [name for (name,) in cursor.fetchall()]
        cursor.execute(sql.SQL("SET CONSTRAINTS {} IMMEDIATE").format(sql.SQL(", ").join(map(sql.Identifier, names))))


class FileRefusedError(InputError):
    """Something in the file is wrong: nothing of it was recorded."""


class Import:
    """One reading of one file, inside one transaction."""

    def __init__(self, actor: Actor, lines: Lines, name: str, progress: Progress | None) -> None:
        self.actor, self.lines, self.name, self.progress = actor, lines, name, progress
        self.books, self.now, self.who = TermsCache(), timezone.now(), actor_name(actor)
        self.faults: list[str] = []
        self.conflicts: list[tuple[ReadyRound, bytes, int]] = []
        self.allowed: set[int] = set()
        self.sources: set[tuple[int, str]] = set()
        self.rounds = self.new = 0

    def run(self) -> Imported:
        self.key = self._next_key()
        verify_at_once()
        with Copying() as self.copying:
            for chunk in self._chunks():
                self._record(chunk)
                if self.progress:
                    self.progress(self.lines.read_bytes, self.rounds)
        if self.faults:
            raise FileRefusedError(*self.faults[:MOST_FAULTS])
        if self.new:
            self._finish()
        return Imported(self.rounds, self.new, self.rounds - self.new)

    def _next_key(self) -> int:
        with connection.cursor() as cursor:
            cursor.execute("SELECT nextval(pg_get_serial_sequence('games_importedfile', 'id'))")
            return int(cursor.fetchone()[0])

    def _chunks(self) -> Iterator[list[tuple[int, bytes, ReadyRound]]]:
        chunk: list[tuple[int, bytes, ReadyRound]] = []
        try:
            for number, line in self.lines:
                ready = self._read(number, line)
                if len(self.faults) >= MOST_FAULTS:
                    return
                if ready is not None:
                    chunk.append((number, line, ready))
                if len(chunk) == CHUNK:
                    yield chunk
                    chunk = []
        except InputError as error:
            self.faults.extend(error.faults)
        if chunk:
            yield chunk

    def _read(self, number: int, line: bytes) -> ReadyRound | None:
        self.rounds += 1
        try:
            ready = read_round(line, self.books, now=self.now)
        except InputError as error:
            self.faults.extend(faults_of(error, f"line {number}"))
            return None
        if ready.table.pk not in self.allowed:
            authorize(self.actor, "round.record", ready.table.table)
            self.allowed.add(ready.table.pk)
        if (source := (ready.table.casino_id, ready.source)) not in self.sources:
            verify_source(self.actor, *source)
            self.sources.add(source)
        return ready

    def _record(self, chunk: list[tuple[int, bytes, ReadyRound]]) -> None:
        """What is on record is compared, what is new is written; once there is a fault, nothing is written any more."""
        known = self._known([ready for _, _, ready in chunk])
        fresh: dict[Name, ReadyRound] = {}
        for number, line, ready in chunk:
            name = (ready.table.casino_id, ready.source, ready.ref)
            if name in known and known[name][1] != ready.fingerprint:
                self._conflict(number, line, ready, known[name][0])
            elif name in fresh and fresh[name].fingerprint != ready.fingerprint:
                self.faults.append(f"line {number}: {ready.source} {ready.ref} {TWICE}.")
            elif name not in known:
                fresh.setdefault(name, ready)
        if not self.faults:
            self.copying.write([self._row(one) for one in fresh.values()])
            self.new += len(fresh)

    def _known(self, rounds: list[ReadyRound]) -> dict[Name, tuple[int, bytes]]:
        names = [(round_.table.casino_id, round_.source, round_.ref) for round_ in rounds]
        with connection.cursor() as cursor:
            cursor.execute(EXISTING, [list(column) for column in zip(*names, strict=True)] or [[], [], []])
            return {tuple(name): (key, bytes(print_)) for *name, key, print_ in cursor.fetchall()}

    def _conflict(self, number: int, line: bytes, ready: ReadyRound, key: int) -> None:
        if self._is_of_this_file(key):
            fault = TWICE
        else:
            self.conflicts.append((ready, line, key))
            fault = TAKEN
        self.faults.append(f"line {number}: {ready.source} {ready.ref} {fault}.")

    def _is_of_this_file(self, key: int) -> bool:
        return Round.objects.filter(pk=key, imported_id=self.key).exists()

    def _row(self, ready_round: ReadyRound) -> tuple[Any, ...]:
        return row(
            ready_round,
            self.books,
            channel=Round.Channel.FILE.value,
            imported_id=self.key,
            after_close=is_after_close(ready_round, self.now),
            now=self.now,
            who=self.who,
            terminal_id=key_of(self.actor),
        )

    def _finish(self) -> None:
        """The file, the outbox and, last and shortly, the chains of its tables: others write to these as well."""
        ImportedFile.objects.create(
            pk=self.key, name=self.name, size=self.lines.read_bytes, sha256=self.lines.digest, at=self.now,
            who=self.who, rounds=self.rounds, new=self.new, repeated=self.rounds - self.new,
        )  # fmt: skip
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO games_outbox (round_id, at) SELECT id, %s FROM games_round WHERE imported_id = %s",
                [self.now, self.key],
            )
        transaction.on_commit(reconciliation_wake)
        for rows in self._recorded():
            for table_id, of_table in groupby(rows, key=lambda one: one[0]):
                chain_append(table_chain(table_id), (leaf_of(key, values) for _, key, *values in of_table))

    def _recorded(self) -> Iterator[list[Any]]:
        """What this file added, by table, a chunk at a time."""
        last = (0, 0)
        while True:
            with connection.cursor() as cursor:
                cursor.execute(LEAVES, [self.key, *last, CHUNK * 4])
                rows = cursor.fetchall()
            if not rows:
                return
            yield rows
            last = rows[-1][0], rows[-1][1]
