"""CSV by RFC 4180: UTF-8 with BOM, lines that end in CRLF, a header row of names, no totals.

Lists are joined by one space, and empty values are empty. Rows are formatted in blocks, column by column. Text is
checked cell by cell only in blocks that contain something to quote, so a million rows take little longer than reading.
"""

import re
from collections.abc import Iterable, Sequence
from typing import BinaryIO

from audits.exports.document import ColumnKind, Document, Progress, Row, Totals, blocks_of
from audits.exports.program_text import ColumnTexts, column_texts

BOM = b"\xef\xbb\xbf"
#: Spreadsheets would compute a cell that begins with these signs, some also with full-width ones. An apostrophe makes
#: it text.
FORMULAS = frozenset("=+-@\t\r\n＝＋－＠")
QUOTED = re.compile(r'[",\r\n]')
#: Separates the texts of a column: PostgreSQL's texts never contain it.
NUL = "\0"


def write_csv(document: Document, rows: Iterable[Row], totals: Totals, file: BinaryIO, progress: Progress) -> int:
    """Write the header and every row, without totals."""
    formats = [column_format(column.kind, document.timezone) for column in document.columns]
    names = texts([column.name for column in document.columns])
    file.write(BOM + lines([names]))
    written = 0
    for block in blocks_of(rows):
        values = zip(*block, strict=True)
        columns = [write(column) for write, column in zip(formats, values, strict=True)]
        if len(columns) == 1:
            # An empty line would not be read as a row.
            columns = [[cell or '""' for cell in columns[0]]]
        file.write(lines(zip(*columns, strict=True)))
        written += len(block)
        progress(written)
    return written


def lines(rows: Iterable[Sequence[str]]) -> bytes:
    return ("\r\n".join(map(",".join, rows)) + "\r\n").encode()


def column_format(kind: ColumnKind, timezone: str) -> ColumnTexts:
    """Return the function that turns the values of a column in a block into cells, quoted where needed."""
    if kind is ColumnKind.TEXT:
        return texts
    if kind is ColumnKind.LIST:
        return lambda lists: texts([" ".join(value) if value else "" for value in lists])
    if kind is ColumnKind.YES_NO:
        words = {True: "yes", False: "no", None: ""}
        return lambda answers: [words[answer] for answer in answers]
    write = column_texts(kind, timezone)
    if write is None:
        return lambda numbers: ["" if number is None else str(number) for number in numbers]
    return lambda values: [text or "" for text in write(values)]


def texts(values: Sequence[str | None]) -> list[str]:
    cells = [value or "" for value in values]
    return [cell_of(cell) for cell in cells] if is_special(NUL + NUL.join(cells)) else cells


def is_special(joined: str) -> bool:
    """Say whether any of the texts must be quoted or protected from being computed."""
    if any(sign in joined for sign in '",\r\n'):
        return True
    return any(sign in joined and NUL + sign in joined for sign in FORMULAS)


def cell_of(text: str) -> str:
    if text and text[0] in FORMULAS and not is_number(text):
        text = f"'{text}"
    return '"' + text.replace('"', '""') + '"' if QUOTED.search(text) else text


def is_number(text: str) -> bool:
    return text.removeprefix("-").replace(".", "", 1).isdecimal()
