"""The rows of a report as read, one JSON array per line. Every format is written from this file.

The figures are read from the database once, in one snapshot, so a certified copy has the same figures.
"""

import datetime as dt
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from audits.exports.document import Column, ColumnKind, Progress, Row

BLOCK_ROWS = 2000
BLOCK_BYTES = 512 * 1024
TYPES: dict[ColumnKind, Any] = {
    ColumnKind.TEXT: str, ColumnKind.LIST: list[str], ColumnKind.MONEY: int, ColumnKind.INTEGER: int,
    ColumnKind.DECIMAL: Decimal, ColumnKind.PERCENT: Decimal, ColumnKind.DATE: dt.date, ColumnKind.MOMENT: dt.datetime,
    ColumnKind.YES_NO: bool,
}  # fmt: skip
_encoder = msgspec.json.Encoder()


class KeptRows:
    """Count and hash rows as they pass by, and write them to a file if one is given."""

    def __init__(self, file: BinaryIO | None = None) -> None:
        self.file, self.count, self.digest = file, 0, hashlib.sha256()

    def blocks(self, rows: Iterable[Row]) -> Iterator[list[Row]]:
        remaining = iter(rows)
        while block := list(islice(remaining, BLOCK_ROWS)):
            data = _encoder.encode_lines(block)
            self.digest.update(data)
            if self.file is not None:
                self.file.write(data)
            self.count += len(block)
            yield block

    def passing(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Yield the rows to a writer that takes them in the same pass."""
        return chain.from_iterable(self.blocks(rows))

    @property
    def sha256(self) -> str:
        return self.digest.hexdigest()


def write_rows(rows: Iterable[Row], file: BinaryIO | None, progress: Progress) -> tuple[int, str]:
    """Write the rows; return their number and their SHA-256."""
    kept = KeptRows(file)
    for _ in kept.blocks(rows):
        progress(kept.count)
    return kept.count, kept.sha256


def read_rows(columns: Sequence[Column], path: Path) -> Iterator[Row]:
    """Read the rows back with the types of their columns, one block at a time."""
    decoder = row_decoder(columns)
    with path.open("rb") as file:
        while lines := file.readlines(BLOCK_BYTES):
            yield from decoder.decode_lines(b"".join(lines))


def row_as_json(row: Row | None) -> Any:
    """Return a row, such as the totals, as JSON data for the database."""
    return None if row is None else msgspec.to_builtins(row)


def row_from_json(columns: Sequence[Column], kept: Any) -> Row | None:
    return None if kept is None else msgspec.convert(kept, row_type(columns), strict=False)


def row_decoder(columns: Sequence[Column]) -> "msgspec.json.Decoder[Row]":
    return msgspec.json.Decoder(row_type(columns))


def row_type(columns: Sequence[Column]) -> Any:
    return tuple[tuple(TYPES[column.kind] | None for column in columns)]  # type: ignore[misc]
