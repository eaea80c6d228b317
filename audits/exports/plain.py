"""CSV and JSON, row by row. In CSV a list is joined by one space, and empty is empty; in JSON empty is null."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

Row = dict[str, Any]
#: A cell that begins so would be computed by a spreadsheet; the apostrophe makes it text.
FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def csv_lines(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    line = io.StringIO()
    writer = csv.writer(line, lineterminator="\n")
    writer.writerow(columns)
    yield line.getvalue()
    for row in rows:
        line.seek(0)
        line.truncate()
        writer.writerow([_cell(row[name]) for name in columns])
        yield line.getvalue()


def _cell(value: Any) -> str:
    text = " ".join(value) if isinstance(value, list) else "" if value is None else str(value)
    return f"'{text}" if text.startswith(FORMULAS) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    return text.removeprefix("-").replace(".", "", 1).isdecimal()


def json_lines(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    """A list of objects, one a line."""
    before = "["
    for row in rows:
        yield before + "\n " + json.dumps({name: _value(row[name]) for name in columns}, ensure_ascii=False)
        before = ","
    yield "[]\n" if before == "[" else "\n]\n"


def _value(value: Any) -> Any:
    return None if value == "" else value


FORMATS = {"csv": csv_lines, "json": json_lines}
