"""Rounds on their way to the kernel: PostgreSQL's own binary rows, cut into columns without touching a bet singly.

A row of `COPY … (FORMAT binary)` is the number of its fields and each field with its length before it; an array is
five words of header and its elements, again with their lengths. The same array of many rows, laid end to end, is one
column. Rows with rare facts about bets (late, refused, no net given) are read one by one.
"""

from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
from django.db import connection
from numpy.typing import NDArray
from psycopg import errors, pq, sql

from games.engine.loader import rulebooks

BLOCK = 600_000  # bytes of rows that are cut at once: the server sends the next ones meanwhile
SIGNATURE = 19  # bytes before the first row
END = b"\xff\xff"
FIXED, TAIL = 66, 12  # bytes of a row before its arrays, and after them where it has no rare facts
HEADER, EMPTY = 24, 16  # bytes of an array before its elements, and of one without any
SMALL, LARGE = 6, 12  # bytes of an element with its length: a box, an amount
A_BET = 2 * LARGE + SMALL
WITHOUT_BETS = FIXED + 3 * HEADER + TAIL  # what a row with bets has beside them

SETTLED, VOID, UNFINISHED, STATUS = 0, 1, 2, 3
IRREGULAR, RARE, EARLY, LATE, CORRECTED = 4, 8, 16, 32, 64

FIXED_DTYPE = np.dtype(
    {
        "names": ["ids", "started_at", "ended_at", "assignments", "flags", "throws"],
        "formats": [">i8", ">i8", ">i8", ">i8", ">i4", ">i4"],
        "offsets": [6, 18, 30, 42, 54, 62],
        "itemsize": FIXED,
    }
)

#: A round that went as every round should: nothing of its events is worth a second look.
ORDINARY = """
(r.events->0->>'kind' = 'place-bets' AND r.events->1->>'kind' = 'no-more-bets' AND
 CASE jsonb_array_length(r.events)
 WHEN 5 THEN r.events->2->>'kind' = 'tumbler' AND (r.events->2->>'tumbles')::int >= {tumbles}
     AND r.events->3->>'kind' = 'result' AND r.events->4->>'kind' = 'settled'
 WHEN 4 THEN r.events->2->>'kind' = 'result' AND r.events->3->>'kind' = 'settled'
 ELSE false END)
"""
ROWS = f"""
COPY (SELECT r.id, r.started_at, r.ended_at, r.assignment_id,
    (CASE r.status WHEN 'settled' THEN {SETTLED} WHEN 'void' THEN {VOID} ELSE {UNFINISHED} END
    + CASE WHEN {ORDINARY} THEN 0 ELSE {IRREGULAR} END
    + CASE WHEN r.late IS NULL AND r.refused IS NULL AND r.nets_given IS NULL THEN 0 ELSE {RARE} END
    + CASE WHEN r.placed_at IS NOT NULL AND r.started_at > ANY (r.placed_at) THEN {EARLY} ELSE 0 END
    + CASE WHEN r.late IS NULL THEN 0 ELSE {LATE} END
    + CASE WHEN r.id = ANY (ARRAY(SELECT c.round_id FROM audits_correction c
        WHERE c.table_id = {{table}} AND c.gaming_day = {{day}})) THEN {CORRECTED} ELSE 0 END)::int4,
    coalesce(r.dice[1] * 36 + r.dice[2] * 6 + r.dice[3] - 43, -1)::int4,
    r.stakes, r.nets, r.boxes, r.late, r.refused, r.nets_given
FROM games_round r {{which}}) TO STDOUT (FORMAT binary)
"""
OF_A_DAY = "WHERE r.table_id = {table} AND r.gaming_day = {day}"
WAITING = "JOIN games_outbox o ON o.round_id = r.id " + OF_A_DAY

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


def rounds_of(table_id: int, day: Any, *, only_waiting: bool = False) -> Reading:
    """All rounds of a table's gaming day, or those that wait in the outbox: one statement, so one moment's truth."""
    tumbles = max(book.valid_tumbles for book in rulebooks().values())
    which = sql.SQL(WAITING if only_waiting else OF_A_DAY).format(table=sql.Literal(table_id), day=sql.Literal(day))
    statement = sql.SQL(ROWS).format(
        which=which, tumbles=sql.Literal(tumbles), table=sql.Literal(table_id), day=sql.Literal(day)
    )
    connection.ensure_connection()
    with connection.wrap_database_errors, _copying(connection.connection, statement) as server:
        for rows in _blocks(server):
            yield from _cut(rows)


@contextmanager
def _copying(own: Any, statement: sql.Composed) -> Iterator[Any]:
    """The server, about to send rows. A cursor's own `copy` looks at the clock for each of them, which costs as much
    as all the rest of the reading. Whoever leaves early breaks the statement off, and with it the transaction."""
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


def _blocks(server: Any) -> Iterator[list[bytes]]:
    rows: list[bytes] = []
    size, is_first = 0, True
    while (received := server.get_copy_data(0))[0] > 0:
        row = bytes(received[1][SIGNATURE:]) if is_first else bytes(received[1])
        is_first = False
        if len(row) <= len(END):
            continue
        rows.append(row)
        size += len(row)
        if size >= BLOCK:
            yield rows
            rows, size = [], 0
    if rows:
        yield rows


def _cut(rows: list[bytes]) -> Iterator[Rounds]:
    fixed = _fixed(rows)
    is_rare = fixed["flags"] & RARE != 0
    if not is_rare.any():
        yield _side_by_side(rows, fixed)
        return
    for which, cut in ((~is_rare, _side_by_side), (is_rare, _one_by_one)):
        if which.any():
            yield cut(list(compress(rows, which)), {name: column[which] for name, column in fixed.items()})


def _fixed(rows: list[bytes]) -> dict[str, Any]:
    fixed = np.frombuffer(b"".join([row[:FIXED] for row in rows]), FIXED_DTYPE)
    return {name: fixed[name].astype(fixed.dtype[name].newbyteorder("=")) for name in fixed.dtype.names or ()}


def _side_by_side(rows: list[bytes], fixed: dict[str, Any]) -> Rounds:
    """Where the bets of a row lie follows from its length."""
    sizes = np.array([max(len(row) - WITHOUT_BETS, 0) // A_BET for row in rows], np.int64)
    large, small = sizes * LARGE, sizes * SMALL
    nets_at = FIXED + HEADER + large + HEADER
    boxes_at = nets_at + large + HEADER
    return Rounds(
        **fixed,
        sizes=sizes,
        stakes=_elements(rows, nets_at - HEADER - large, large, ">i8"),
        nets=_elements(rows, nets_at, large, ">i8"),
        boxes=_elements(rows, boxes_at, small, ">i2"),
    )


def _elements(rows: list[bytes], starts: Ints, lengths: Ints, kind: str) -> Ints:
    """Of one array of each row, one after the other."""
    places = zip(rows, starts.tolist(), (starts + lengths).tolist(), strict=True)
    return _values(b"".join([row[start:end] for row, start, end in places]), kind)


def _values(elements: bytes, kind: str) -> Ints:
    """Each element has its length before it."""
    element = np.dtype([("length", ">i4"), ("value", kind)])
    found: Ints = np.frombuffer(elements, element)["value"].astype(np.dtype(kind).newbyteorder("="))
    return found


def _one_by_one(rows: list[bytes], fixed: dict[str, Any]) -> Rounds:
    """Rounds with rare facts; an array of these is missing where no bet has the fact."""
    parts = [_arrays(row) for row in rows]
    sizes = np.array([len(part[0]) for part in parts], np.int64)

    def flags(place: int, missing: bool) -> Bools:
        return np.concatenate(
            [np.full(len(part[0]), missing) if part[place] is None else part[place] for part in parts]
        ).astype(np.bool_)

    return Rounds(
        **fixed,
        sizes=sizes,
        stakes=np.concatenate([part[0] for part in parts]),
        nets=np.concatenate([part[1] for part in parts]),
        boxes=np.concatenate([part[2] for part in parts]),
        counts=~(flags(3, missing=False) | flags(4, missing=False)),
        compared=flags(5, missing=True),
    )


ELEMENTS = (">i8", ">i8", ">i2", "u1", "u1", "u1")


def _arrays(row: bytes) -> list[Any]:
    """The arrays of a row: stakes, nets, boxes, and what is late, refused, and with a net."""
    found: list[Any] = []
    place = FIXED
    for kind in ELEMENTS:
        length = int.from_bytes(row[place : place + 4], "big", signed=True)
        place += 4
        if length < 0:
            found.append(None)
            continue
        header = HEADER - 4 if length > EMPTY else length
        found.append(_values(row[place + header : place + length], kind))
        place += length
    return found
