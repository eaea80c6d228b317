"""JSON: a list of objects with the columns' names as keys, one per line. Empty is null, an empty list is []."""

from collections.abc import Iterable
from typing import BinaryIO

import msgspec

from audits.exports.document import ColumnKind, Document, Progress, Row, Totals, blocks_of
from audits.exports.program_text import ColumnTexts, column_texts


def write_json(document: Document, rows: Iterable[Row], totals: Totals, file: BinaryIO, progress: Progress) -> int:
    """Write every row, without totals."""
    names = [column.name for column in document.columns]
    formats = [column_values(column.kind, document.timezone) for column in document.columns]
    encode = msgspec.json.Encoder().encode
    written, before = 0, b"[\n "
    for block in blocks_of(rows):
        values = zip(*block, strict=True)
        columns = [write(column) for write, column in zip(formats, values, strict=True)]
        lines = [encode(dict(zip(names, row, strict=True))) for row in zip(*columns, strict=True)]
        file.write(before + b",\n ".join(lines))
        before = b",\n "
        written += len(block)
        progress(written)
    file.write(b"\n]\n" if written else b"[]\n")
    return written


def column_values(kind: ColumnKind, timezone: str) -> ColumnTexts:
    if kind is ColumnKind.TEXT:
        return lambda texts: [text or None for text in texts]
    return column_texts(kind, timezone) or (lambda values: values)
