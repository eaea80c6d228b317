"""Rounds on their way to the kernel: columns of many rounds, put together by PostgreSQL, no bet touched singly.

The server lays the same field of many rounds end to end (`string_agg`), so that NumPy reads it where it lies. An array
is sent as PostgreSQL keeps it in memory, by a function that a superuser has made in the database; where there is none,
by `array_send`, which takes several times as long as all the rest: a length before each element. Both begin with five
words about the array.
"""

import datetime as dt
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import connection
from numpy.typing import NDArray
from psycopg import errors, pq, sql

from games.engine.loader import rulebooks
from games.models import Table
from games.moments import day_bounds

ARRAY_BYTES = "taisai_array_bytes"  # the superuser's function
BETS_AT_ONCE = 25_000  # about so many: the server puts the next ones together meanwhile
SIGNATURE = 19  # bytes before the first row
FIELDS = 2  # bytes with the number of fields, and nothing more after the last row
HEADER = 20  # bytes of an array before its elements

SETTLED, VOID, UNFINISHED, STATUS = 0, 1, 2, 3
IRREGULAR, RARE, EARLY, LATE, CORRECTED, LASTING = 4, 8, 16, 32, 64, 128

#: A round that went as every round should: nothing of its events is worth a second look.
ORDINARY = """
(r.events->0->>'kind' = 'place-bets' AND r.events->1->>'kind' = 'no-more-bets' AND
 CASE jsonb_array_length(r.events)
 WHEN 5 THEN r.events->2->>'kind' = 'tumbler' AND (r.events->2->>'tumbles')::int >= {tumbles}
     AND r.events->3->>'kind' = 'result' AND r.events->4->>'kind' = 'settled'
 WHEN 4 THEN r.events->2->>'kind' = 'result' AND r.events->3->>'kind' = 'settled'
 ELSE false END)
"""
FLAGS = f"""
CASE r.status WHEN 'settled' THEN {SETTLED} WHEN 'void' THEN {VOID} ELSE {UNFINISHED} END
    + CASE WHEN {ORDINARY} THEN 0 ELSE {IRREGULAR} END
    + CASE WHEN {{is_rare}} THEN {RARE} ELSE 0 END
    + CASE WHEN r.placed_at IS NOT NULL AND r.started_at > ANY (r.placed_at) THEN {EARLY} ELSE 0 END
    + CASE WHEN r.late IS NULL THEN 0 ELSE {LATE} END
    + CASE WHEN r.id = ANY (ARRAY(SELECT c.round_id FROM audits_correction c
        WHERE c.table_id = {{table}} AND c.gaming_day = {{day}})) THEN {CORRECTED} ELSE 0 END
    + CASE WHEN r.ended_at > {{ends_at}} AND EXISTS (SELECT FROM games_outbox o
        WHERE o.round_id = r.id AND NOT o.again) THEN {LASTING} ELSE 0 END
"""
#: A number a round.
OF_ROUNDS = {
    "ids": ("r.id", "i8"),
    "started_at": ("r.started_at", "i8"),
    "ended_at": ("r.ended_at", "i8"),
    "assignments": ("r.assignment_id", "i8"),
    "flags": ("{flags}", "i4"),
    "throws": ("coalesce(r.dice[1] * 36 + r.dice[2] * 6 + r.dice[3] - 43, -1)", "i4"),
    "sizes": ("cardinality(r.boxes)", "i4"),
}
#: A number a bet.
OF_BETS = {"stakes": ("r.stakes", "i8"), "nets": ("r.nets", "i8"), "boxes": ("r.boxes", "i2")}
#: A truth a bet, of the rounds with rare facts only; such an array is missing where no bet has the fact.
OF_RARE = {
    "late": ("coalesce(r.late, array_fill(false, ARRAY[cardinality(r.boxes)]))", "u1"),
    "refused": ("coalesce(r.refused, array_fill(false, ARRAY[cardinality(r.boxes)]))", "u1"),
    "given": ("coalesce(r.nets_given, array_fill(true, ARRAY[cardinality(r.boxes)]))", "u1"),
}
IS_RARE = "(r.late IS NOT NULL OR r.refused IS NOT NULL OR r.nets_given IS NOT NULL)"

COLUMNS = ",\n".join(
    [f"{{sent}}(array_agg({value}))" for value, _ in OF_ROUNDS.values()]
    + [f"string_agg(substr({{sent}}({value}), {HEADER + 1}), '')" for value, _ in OF_BETS.values()]
    + [
        f"string_agg(substr({{sent}}({value}), {HEADER + 1}), '') FILTER (WHERE {{is_rare}})"
        for value, _ in OF_RARE.values()
    ]
)
STATEMENT = f"""
COPY (
    WITH numbered AS (
        SELECT r.id, sum(cardinality(r.boxes)) OVER (ORDER BY r.id) / {{at_once}} AS place
        FROM games_round r {{which}} WHERE r.table_id = {{table}} AND r.gaming_day = {{day}}
    ), blocks AS (SELECT array_agg(id) AS ids FROM numbered GROUP BY place
    ), taken AS (DELETE FROM games_outbox WHERE round_id = ANY (ARRAY(SELECT id FROM numbered)))
    SELECT block.* FROM blocks CROSS JOIN LATERAL (
        SELECT {COLUMNS} FROM games_round r WHERE r.id = ANY (blocks.ids)
    ) block
) TO STDOUT (FORMAT binary)
"""
WAITING = sql.SQL("JOIN games_outbox o ON o.round_id = r.id")

Ints = NDArray[np.integer[Any]]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Rounds:
    """Rounds side by side, and their bets one after the other. Times are PostgreSQL's: microseconds since 2000."""

    ids: Ints
    started_at: Ints
    ended_at: Ints
    assignments: Ints
    flags: Ints
    throws: Ints  # numbers of the kernel's; -1 without dice
    sizes: Ints
    stakes: Ints  # a bet each, as all that follow
    nets: Ints
    boxes: Ints
    counts: Bools | None = None
    compared: Bools | None = None

    @property
    def status(self) -> Ints:
        return self.flags & STATUS

    def only(self, rounds: Bools) -> "Rounds":
        """Some of them, with their bets."""
        bets = np.repeat(rounds, self.sizes)
        of_bets = ("stakes", "nets", "boxes", "counts", "compared")
        columns: dict[str, Any] = {
            name: column if column is None else column[bets if name in of_bets else rounds]
            for name, column in vars(self).items()
        }
        return Rounds(**columns)


Reading = Generator[Rounds, None, None]


def rounds_taken(table: Table, day: dt.date, *, only_waiting: bool = False) -> Reading:
    """All rounds of a table's gaming day, or those that wait in the outbox; out of it they are then.

    One statement, so one moment's truth: what is read is taken, and nothing that comes meanwhile.
    """
    arrays = arrays_here()
    where = {"table": sql.Literal(table.pk), "day": sql.Literal(day)}
    is_rare, ends_at = sql.SQL(IS_RARE), sql.Literal(day_bounds(table.casino, day)[1])
    flags = sql.SQL(FLAGS).format(is_rare=is_rare, ends_at=ends_at, tumbles=sql.Literal(_tumbles()), **where)
    statement = sql.SQL(STATEMENT).format(
        which=WAITING if only_waiting else sql.SQL(""), at_once=sql.Literal(BETS_AT_ONCE), flags=flags,
        sent=sql.SQL(arrays.function), is_rare=is_rare, **where,
    )  # fmt: skip
    connection.ensure_connection()
    with connection.wrap_database_errors, _copying(connection.connection, statement) as server:
        for row in _rows(server):
            yield _rounds(_fields(row), arrays)


def _tumbles() -> int:
    return max(book.valid_tumbles for book in rulebooks().values())


@dataclass(frozen=True)
class Arrays:
    """How arrays come from a database: by which function, and in which order the bytes of a number are."""

    function: str
    order: str = ">"

    def elements(self, sent: memoryview, kind: str) -> Ints:
        kind = f"{self.order}{kind}"
        if self.function == ARRAY_BYTES:
            return _native(np.frombuffer(sent, kind))
        return _native(np.frombuffer(sent, [("length", ">i4"), ("value", kind)])["value"])


_ARRAYS: dict[str, Arrays] = {}


def arrays_here() -> Arrays:
    """Asked once a process and database."""
    name = str(connection.settings_dict["NAME"])
    if name not in _ARRAYS:
        _ARRAYS[name] = _ask_for_arrays()
    return _ARRAYS[name]


def _ask_for_arrays() -> Arrays:
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regprocedure(%s) IS NOT NULL", [f"{ARRAY_BYTES}(anyarray)"])
        if not cursor.fetchone()[0]:
            return Arrays("array_send")
        cursor.execute(f"SELECT {ARRAY_BYTES}(ARRAY[1]::smallint[])")
        one = bytes(cursor.fetchone()[0])[HEADER:]
    return Arrays(ARRAY_BYTES, {b"\x01\x00": "<", b"\x00\x01": ">"}[one])


@contextmanager
def _copying(own: Any, statement: sql.Composed) -> Iterator[Any]:
    """The server, about to send rows. Whoever leaves early breaks the statement off, and with it the transaction."""
    server = own.pgconn
    answer = server.exec_(statement.as_bytes(own))
    if answer.status != pq.ExecStatus.COPY_OUT:
        raise errors.error_from_result(answer)
    try:
        yield server
    except BaseException:
        own.cancel_safe()
        with suppress(errors.OperationalError):  # all rows had come
            while server.get_copy_data(0)[0] > 0:
                pass
        list(iter(server.get_result, None))
        raise
    answers = list(iter(server.get_result, None))
    if failed := [one for one in answers if one.status != pq.ExecStatus.COMMAND_OK]:
        raise errors.error_from_result(failed[0])


def _rows(server: Any) -> Iterator[memoryview]:
    is_first = True
    while (received := server.get_copy_data(0))[0] > 0:
        row = received[1][SIGNATURE:] if is_first else received[1]
        is_first = False
        if len(row) > FIELDS:
            yield row


def _fields(row: memoryview) -> Iterator[memoryview]:
    """Each has its length before it; one in which nothing was put together has -1."""
    place = FIELDS
    while place < len(row):
        length = max(int.from_bytes(row[place : place + 4], "big", signed=True), 0)
        place += 4
        yield row[place : place + length]
        place += length


def _rounds(fields: Iterator[memoryview], arrays: Arrays) -> Rounds:
    columns: dict[str, Any] = {
        name: arrays.elements(next(fields)[HEADER:], kind) for name, (_, kind) in OF_ROUNDS.items()
    }
    columns |= {name: arrays.elements(next(fields), kind) for name, (_, kind) in OF_BETS.items()}
    rare = {name: arrays.elements(next(fields), kind).astype(np.bool_) for name, (_, kind) in OF_RARE.items()}
    is_rare = columns["flags"] & RARE != 0
    if is_rare.any():
        bets = np.repeat(is_rare, columns["sizes"])
        columns |= {"counts": np.ones(len(bets), np.bool_), "compared": np.ones(len(bets), np.bool_)}
        columns["counts"][bets] = ~(rare["late"] | rare["refused"])
        columns["compared"][bets] = rare["given"]
    return Rounds(**columns)


def _native(numbers: NDArray[Any]) -> Ints:
    """In the order of this machine, and where its numbers should lie."""
    found: Ints = numbers.astype(numbers.dtype.newbyteorder("="))
    return found
