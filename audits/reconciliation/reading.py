"""Rounds on their way to the kernel: PostgreSQL's own binary rows, cut into columns without touching a bet singly.

A row of `COPY … (FORMAT binary)` is the number of its fields and each field with its length before it; an array is
five words of header and its elements, again with their lengths. Everything is a multiple of two bytes, so that a block
of rows is read as 16-bit words. Rows with rare facts about bets (late, refused, no net given) are read one by one.
"""

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import connection
from numpy.typing import NDArray
from psycopg import sql

from games.engine.loader import rulebooks

BLOCK = 1_500_000  # bytes of rows that are cut at once: what this needs of memory stays small
SIGNATURE = 19  # bytes before the first row
END = b"\xff\xff"
FIXED, TAIL = 66, 12  # bytes of a row before its arrays, and after them where it has no rare facts
HEADER, EMPTY = 24, 16  # bytes of an array before its elements, and of one without any
FLAGS = 57  # the byte of a row with its flags
SMALL, LARGE = 6, 12  # bytes of an element with its length: a box, an amount

SETTLED, VOID, UNFINISHED, STATUS = 0, 1, 2, 3
IRREGULAR, RARE, EARLY, LATE = 4, 8, 16, 32

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
    + CASE WHEN r.late IS NULL THEN 0 ELSE {LATE} END)::int4,
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


Reading = Generator[Rounds, None, None]


def rounds_of(table_id: int, day: Any, *, only_waiting: bool = False) -> Reading:
    """All rounds of a table's gaming day, or those that wait in the outbox: one statement, so one moment's truth."""
    tumbles = max(book.valid_tumbles for book in rulebooks().values())
    which = sql.SQL(WAITING if only_waiting else OF_A_DAY).format(table=sql.Literal(table_id), day=sql.Literal(day))
    statement = sql.SQL(ROWS).format(which=which, tumbles=sql.Literal(tumbles))
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for rows in _blocks(copy):
            yield from _cut(rows)


def _blocks(copy: Any) -> Iterator[list[bytes]]:
    rows: list[bytes] = []
    size, is_first = 0, True
    for data in copy:
        row = bytes(data[SIGNATURE:]) if is_first else bytes(data)
        is_first = False
        if row == END or not row:
            continue
        rows.append(row)
        size += len(row)
        if size >= BLOCK:
            yield rows
            rows, size = [], 0
    if rows:
        yield rows


def _cut(rows: list[bytes]) -> Iterator[Rounds]:
    plain = [row for row in rows if not row[FLAGS] & RARE]
    rare = [row for row in rows if row[FLAGS] & RARE]
    if plain:
        yield _side_by_side(plain)
    if rare:
        yield _one_by_one(rare)


def _fixed(rows: list[bytes]) -> dict[str, Any]:
    fixed = np.frombuffer(b"".join([row[:FIXED] for row in rows]), FIXED_DTYPE)
    return {name: fixed[name].astype(fixed.dtype[name].newbyteorder("=")) for name in fixed.dtype.names or ()}


def _side_by_side(rows: list[bytes]) -> Rounds:
    """Where the bets of a row lie follows from its length."""
    lengths = np.array([len(row) for row in rows], np.int64)
    words = np.frombuffer(b"".join(rows), ">u2").astype(np.uint16)
    starts = np.cumsum(lengths) - lengths
    sizes = np.maximum((lengths - (FIXED + 3 * HEADER + TAIL)) // (2 * LARGE + SMALL), 0)
    ends = np.cumsum(sizes)
    nth = np.arange(ends[-1]) - np.repeat(ends - sizes, sizes)  # which bet of its round
    stakes_at = starts + FIXED + HEADER + LARGE - 8
    nets_at = stakes_at + LARGE * sizes + HEADER
    boxes_at = nets_at + 8 - LARGE + LARGE * sizes + HEADER + SMALL - 2

    def places(first: Ints, width: int) -> Ints:
        found: Ints = np.repeat(first // 2, sizes) + nth * (width // 2)
        return found

    return Rounds(
        **_fixed(rows),
        sizes=sizes,
        stakes=_amounts(words, places(stakes_at, LARGE)),
        nets=_amounts(words, places(nets_at, LARGE)),
        boxes=words[places(boxes_at, SMALL)],
    )


def _amounts(words: NDArray[np.uint16], places: Ints) -> NDArray[np.int64]:
    """Four words each, the first of them with the sign."""
    found: NDArray[np.int64] = words[places].view(np.int16).astype(np.int64)
    for step in (1, 2, 3):
        found <<= 16
        found |= words[places + step]
    return found


def _one_by_one(rows: list[bytes]) -> Rounds:
    """Rounds with rare facts; an array of these is missing where no bet has the fact."""
    parts = [_arrays(row) for row in rows]
    sizes = np.array([len(part[0]) for part in parts], np.int64)

    def flags(place: int, missing: bool) -> Bools:
        return np.concatenate(
            [np.full(len(part[0]), missing) if part[place] is None else part[place] for part in parts]
        ).astype(np.bool_)

    return Rounds(
        **_fixed(rows),
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
        element = np.dtype([("length", ">i4"), ("value", kind)])
        native = np.dtype(kind).newbyteorder("=")
        found.append(np.frombuffer(row[place + header : place + length], element)["value"].astype(native))
        place += length
    return found
