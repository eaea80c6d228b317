"""Read many rounds at once as columns for the kernel, without handling single bets in Python.

PostgreSQL concatenates the same field of many rounds (`string_agg`), and NumPy reads the result without copying. Two
hours of rounds are read at a time, so that neither side holds a whole day in memory. An array is sent in PostgreSQL's
memory format by a function that a superuser has created in the database. Without that function, `array_send` is used,
which writes a length before each element. Both formats start with a header of five words.
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

from audits.reconciliation.ordinary_rounds import ordinary
from games.database.sql import query_rows
from games.floor.moments import day_bounds
from games.models import Table

ARRAY_BYTES = "taisai_array_bytes"  # the superuser's function
SLICE = dt.timedelta(hours=2)
#: By how much the bounds of past gaming days may differ, if the casino has changed its time zone or start of day.
MARGIN = dt.timedelta(days=3)
BLOCK = 450_000  # bytes that are processed together, while the server prepares the next block
SIGNATURE = 19  # bytes before the first row
FIELDS = 2  # bytes with the number of fields; the end marker has nothing after them
HEADER = 20  # bytes of an array before its elements

SETTLED, VOID, UNFINISHED, STATUS = 0, 1, 2, 3
IRREGULAR, TIMED, EARLY, CORRECTED, LASTING, BY_ENGINE = 4, 8, 16, 32, 64, 128
#: Flags for the optional arrays of a round that are not NULL.
LATE, REFUSED, WITHDRAWN, NETS_GIVEN = 256, 512, 1024, 2048
RARE = LATE | REFUSED | WITHDRAWN | NETS_GIVEN

#: Rounds whose events may be read differently today than when they were recorded: the engine settles them.
REREAD = """
r.events @> '[{{"kind": "interruption"}}]'
    OR (r.events @> '[{{"kind": "void"}}]' AND r.events @> '[{{"kind": "settled"}}]')
"""
FLAGS = f"""
CASE r.status WHEN 'settled' THEN {SETTLED} WHEN 'void' THEN {VOID} ELSE {UNFINISHED} END
    + CASE WHEN {{ordinary}} THEN 0 ELSE {IRREGULAR} + CASE WHEN {REREAD} THEN {BY_ENGINE} ELSE 0 END END
    + CASE WHEN r.late IS NULL THEN 0 ELSE {LATE} END
    + CASE WHEN r.refused IS NULL THEN 0 ELSE {REFUSED} END
    + CASE WHEN r.withdrawn IS NULL THEN 0 ELSE {WITHDRAWN} END
    + CASE WHEN r.nets_given IS NULL THEN 0 ELSE {NETS_GIVEN} END
    + CASE WHEN r.placed_at IS NOT NULL AND r.started_at > ANY (r.placed_at) THEN {EARLY} ELSE 0 END
    + CASE WHEN r.late IS NULL AND r.withdrawn_at IS NULL THEN 0 ELSE {TIMED} END
    + CASE WHEN r.id = ANY (ARRAY(SELECT c.round_id FROM audits_correction c
        WHERE c.table_id = {{table}} AND c.gaming_day = {{day}})) THEN {CORRECTED} ELSE 0 END
    + CASE WHEN r.ended_at > {{ends_at}} AND EXISTS (SELECT FROM games_outbox o
        WHERE o.round_id = r.id AND NOT o.again) THEN {LASTING} ELSE 0 END
"""
#: Dealer and supervisor as one number: their ids, 0 if not named, the largest number if not on record.
CREW = """
coalesce(r.dealer_staff_id, CASE WHEN r.dealer IS NULL THEN 0 ELSE 2147483647 END) * 4294967296
    + coalesce(r.supervisor_staff_id, CASE WHEN r.supervisor IS NULL THEN 0 ELSE 2147483647 END)
"""
#: Columns with one number for each round.
OF_ROUNDS = {
    "ids": ("r.id", "i8"),
    "started_at": ("r.started_at", "i8"),
    "ended_at": ("r.ended_at", "i8"),
    "assignments": ("r.assignment_id", "i8"),
    "flags": ("{flags}", "i4"),
    "throws": ("coalesce(r.dice[1] * 36 + r.dice[2] * 6 + r.dice[3] - 43, -1)", "i4"),
    "sizes": ("cardinality(r.boxes)", "i4"),
    "crews": (CREW, "i8"),
}
#: Columns with one number for each bet.
OF_BETS = {"stakes": ("r.stakes", "i8"), "nets": ("r.nets", "i8"), "boxes": ("r.boxes", "i2")}
#: Columns with yes or no for each bet, only of rounds that have the array: `string_agg` skips NULL.
OF_RARE = {
    "late": ("r.late", "u1"),
    "refused": ("r.refused", "u1"),
    "withdrawn": ("r.withdrawn", "u1"),
    "nets_given": ("r.nets_given", "u1"),
}

ELEMENTS = f"substr({{{{sent}}}}({{0}}), {HEADER + 1})"
COLUMNS = ",\n".join(
    [
        *(ELEMENTS.format(f"array_agg({value})") for value, _ in OF_ROUNDS.values()),
        *(f"string_agg({ELEMENTS.format(value)}, '')" for value, _ in (*OF_BETS.values(), *OF_RARE.values())),
    ]
)
STATEMENT = f"""
COPY (
    WITH waiting AS MATERIALIZED (
        SELECT r.id, r.started_at FROM games_outbox o JOIN games_round r ON r.id = o.round_id
        WHERE r.table_id = {{table}} AND r.gaming_day = {{day}}
    )
    SELECT block.* FROM unnest({{since}}::timestamptz[], {{until}}::timestamptz[]) AS slice (since, until)
    CROSS JOIN LATERAL (SELECT {COLUMNS} FROM games_round r WHERE {{which}} HAVING count(*) > 0) block
) TO STDOUT (FORMAT binary)
"""
ALL = """
r.table_id = {table} AND r.gaming_day = {day} AND r.started_at >= slice.since AND r.started_at < slice.until
"""
WAITING = (
    "r.id = ANY (ARRAY(SELECT id FROM waiting w WHERE w.started_at >= slice.since AND w.started_at < slice.until))"
)

Ints = NDArray[np.integer[Any]]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Rounds:
    """Rounds as columns, with the bets of all rounds in sequence. Times are PostgreSQL's: microseconds since 2000."""

    ids: Ints
    started_at: Ints
    ended_at: Ints
    assignments: Ints
    flags: Ints
    throws: Ints  # the kernel's numbers of throws; -1 without dice
    sizes: Ints
    crews: Ints
    stakes: Ints  # from here on, one entry for each bet
    nets: Ints
    boxes: Ints
    counts: Bools | None = None
    compared: Bools | None = None

    @property
    def status(self) -> Ints:
        return self.flags & STATUS

    def only(self, rounds: Bools) -> "Rounds":
        """Select rounds by a mask, with their bets."""
        bets = np.repeat(rounds, self.sizes)
        of_bets = ("stakes", "nets", "boxes", "counts", "compared")
        columns: dict[str, Any] = {
            name: column if column is None else column[bets if name in of_bets else rounds]
            for name, column in vars(self).items()
        }
        return Rounds(**columns)


Reading = Generator[Rounds, None, None]


def rounds_of(table: Table, day: dt.date, *, only_waiting: bool = False) -> Reading:
    """Yield the rounds of a table's gaming day, or only those in the outbox, from one snapshot of the database."""
    arrays = arrays_here()
    begins_at, ends_at = day_bounds(table.casino, day)
    values = {
        "table": sql.Literal(table.pk), "day": sql.Literal(day), "ends_at": sql.Literal(ends_at),
        "ordinary": ordinary(), "sent": sql.SQL(arrays.function),
    }  # fmt: skip
    bounds = [begins_at - MARGIN, *_between(begins_at, ends_at), ends_at + MARGIN]
    statement = sql.SQL(STATEMENT).format(
        since=sql.Literal(bounds[:-1]), until=sql.Literal(bounds[1:]), flags=sql.SQL(FLAGS).format(**values),
        which=sql.SQL(WAITING if only_waiting else ALL).format(**values), **values,
    )  # fmt: skip
    connection.ensure_connection()
    with connection.wrap_database_errors, _copying(connection.connection, statement) as server:
        for columns in _blocks(server):
            yield _rounds(columns, arrays)


def _between(begins_at: dt.datetime, ends_at: dt.datetime) -> Iterator[dt.datetime]:
    while (begins_at := begins_at + SLICE) < ends_at:
        yield begins_at


@dataclass(frozen=True)
class Arrays:
    """How a database sends arrays: by which function, and in which byte order."""

    function: str
    order: str = ">"

    def elements(self, sent: bytes, kind: str) -> Ints:
        kind = f"{self.order}{kind}"
        if self.function == ARRAY_BYTES:
            return _native(np.frombuffer(sent, kind))
        return _native(np.frombuffer(sent, [("length", ">i4"), ("value", kind)])["value"])


_ARRAYS: dict[str, Arrays] = {}


def arrays_here() -> Arrays:
    """Return how this database sends arrays. Asked once for each process and database."""
    name = str(connection.settings_dict["NAME"])
    if name not in _ARRAYS:
        _ARRAYS[name] = _ask_for_arrays()
    return _ARRAYS[name]


def _ask_for_arrays() -> Arrays:
    if query_rows("SELECT to_regprocedure(%s)", f"{ARRAY_BYTES}(anyarray)") == [(None,)]:
        return Arrays("array_send")
    ((sample,),) = query_rows(f"SELECT {ARRAY_BYTES}(ARRAY[1]::smallint[])")
    return Arrays(ARRAY_BYTES, {b"\x01\x00": "<", b"\x00\x01": ">"}[bytes(sample)[HEADER:]])


@contextmanager
def _copying(own: Any, statement: sql.Composed) -> Iterator[Any]:
    """Run a COPY statement and yield the server connection. Leaving early cancels the statement and transaction."""
    server = own.pgconn
    answer = server.exec_(statement.as_bytes(own))
    if answer.status != pq.ExecStatus.COPY_OUT:
        raise errors.error_from_result(answer)
    try:
        yield server
    except BaseException:
        own.cancel_safe()
        with suppress(errors.OperationalError):  # all rows had arrived already
            while server.get_copy_data(0)[0] > 0:
                pass
        list(iter(server.get_result, None))
        raise
    answers = list(iter(server.get_result, None))
    if failed := [answer for answer in answers if answer.status != pq.ExecStatus.COMMAND_OK]:
        raise errors.error_from_result(failed[0])


def _blocks(server: Any) -> Iterator[list[bytes]]:
    """Yield the columns of one or several rows that together fill a block."""
    held: list[list[memoryview]] = []
    size, is_first = 0, True
    while (received := server.get_copy_data(0))[0] > 0:
        row = received[1][SIGNATURE:] if is_first else received[1]
        is_first = False
        if len(row) <= FIELDS:
            continue
        held.append(list(_fields(row)))
        size += len(row)
        if size >= BLOCK:
            yield [b"".join(column) for column in zip(*held, strict=True)]
            held, size = [], 0
    if held:
        yield [b"".join(column) for column in zip(*held, strict=True)]


def _fields(row: memoryview) -> Iterator[memoryview]:
    """Yield the fields of a row. Each is preceded by its length, which is -1 for NULL."""
    place = FIELDS
    while place < len(row):
        length = max(int.from_bytes(row[place : place + 4], "big", signed=True), 0)
        place += 4
        yield row[place : place + length]
        place += length


def _rounds(sent: list[bytes], arrays: Arrays) -> Rounds:
    kinds = [(name, kind) for of in (OF_ROUNDS, OF_BETS, OF_RARE) for name, (_, kind) in of.items()]
    columns: dict[str, Any] = {
        name: arrays.elements(column, kind) for (name, kind), column in zip(kinds, sent, strict=True)
    }
    rare = {name: columns.pop(name).astype(np.bool_) for name in OF_RARE}
    flags, sizes = columns["flags"], columns["sizes"]
    if (flags & RARE != 0).any():
        counts, compared = np.ones((2, int(sizes.sum())), np.bool_)
        for name, flag in (("late", LATE), ("refused", REFUSED), ("withdrawn", WITHDRAWN)):
            counts[np.repeat(flags & flag != 0, sizes)] &= ~rare[name]
        compared[np.repeat(flags & NETS_GIVEN != 0, sizes)] = rare["nets_given"]
        columns |= {"counts": counts, "compared": compared}
    return Rounds(**columns)


def _native(numbers: NDArray[Any]) -> Ints:
    """Convert numbers to the byte order of this machine, usually without a copy."""
    native: Ints = numbers.astype(numbers.dtype.newbyteorder("="), copy=False)
    return native
