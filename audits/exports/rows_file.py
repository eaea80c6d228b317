"""The rows of a report as they were read, one JSON array a line: every format is written from this file.

So the figures are read from the database once, in one snapshot, and a certified copy or another format of the same
report has the same figures.
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
    """Writes rows into their file as they pass by; counts and hashes them. Without a file, only that."""

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
        """Yield the rows on to a writer that takes them in the same pass."""
        return chain.from_iterable(self.blocks(rows))

    @property
    def sha256(self) -> str:
        return self.digest.hexdigest()


def write_rows(rows: Iterable[Row], file: BinaryIO | None, progress: Progress) -> tuple[int, str]:
    """Write the rows and return how many there are, with the SHA-256 over them."""
    kept = KeptRows(file)
    for _ in kept.blocks(rows):
        progress(kept.count)
    return kept.count, kept.sha256


def read_rows(columns: Sequence[Column], path: Path) -> Iterator[Row]:
    """Yield the rows with the types of their columns, a block at a time."""
    decoder = row_decoder(columns)
    with path.open("rb") as file:
        while lines := file.readlines(BLOCK_BYTES):
            yield from decoder.decode_lines(b"".join(lines))


def row_as_json(row: Row | None) -> Any:
    """Return a row, such as one of totals, as a JSON column keeps it."""
    return None if row is None else msgspec.to_builtins(row)


def row_from_json(columns: Sequence[Column], kept: Any) -> Row | None:
    return None if kept is None else msgspec.convert(kept, row_type(columns), strict=False)


def row_decoder(columns: Sequence[Column]) -> "msgspec.json.Decoder[Row]":
    return msgspec.json.Decoder(row_type(columns))


def row_type(columns: Sequence[Column]) -> Any:
    return tuple[tuple(TYPES[column.kind] | None for column in columns)]  # type: ignore[misc]
