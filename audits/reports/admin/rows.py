"""Rows of reports on pages: the first rows of a report, and the differences between two reports."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from audits.exports.document import NUMBERS, Column, Row
from audits.exports.people_text import words_function
from audits.exports.rows_file import read_rows, row_from_json
from audits.models import ReportRun
from audits.reports.cover import zone_of_run
from audits.reports.registry import REPORTS
from audits.reports.services.files import rows_path

PREVIEW_ROWS = 50
#: How many rows a comparison lists on each side, and how many it reads.
SHOWN, COMPARED = 200, 200_000


@dataclass(frozen=True)
class CellShown:
    """A cell as text."""

    text: str
    is_number: bool
    is_negative: bool = False
    #: The code behind a name, as in CSV and JSON.
    code: str = ""


@dataclass(frozen=True)
class TableShown:
    """Titles and rows as text, and whether there are more rows."""

    titles: list[tuple[str, bool]]
    rows: list[list[CellShown]]
    totals: list[CellShown] | None
    has_more: bool
    nil: str = ""
    #: Some rounds of the period are not reconciled yet, so rows may be missing.
    is_pending: bool = False


@dataclass(frozen=True)
class Comparison:
    """The rows that only one of two reports has."""

    only_earlier: TableShown
    only_later: TableShown
    is_same: bool
    is_cut: bool


def table_of(
    columns: Sequence[Column], rows: Sequence[Row], timezone: str, *, totals: Row | None = None, nil: str = "",
    most: int = PREVIEW_ROWS, is_pending: bool = False,
) -> TableShown:  # fmt: skip
    """Return the first rows as text."""
    write = [words_function(column, timezone) for column in columns]

    def cells(row: Row) -> list[CellShown]:
        return [
            CellShown(
                "" if value is None else function(value), column.kind in NUMBERS,
                column.kind in NUMBERS and value is not None and value < 0, code_of(column, value),
            )
            for column, function, value in zip(columns, write, row, strict=True)
        ]  # fmt: skip

    return TableShown(
        [(column.title, column.kind in NUMBERS) for column in columns], [cells(row) for row in rows[:most]],
        cells(totals) if totals and len(rows) <= most else None, len(rows) > most, nil, is_pending,
    )  # fmt: skip


def code_of(column: Column, value: Any) -> str:
    """Return the code of a cell that shows a name, else an empty text."""
    if column.name_of is None or not value:
        return ""
    return " ".join(value) if isinstance(value, list) else str(value)


def kept_table(run: ReportRun) -> TableShown:
    """Return the first rows of a finished report."""
    columns = REPORTS[run.kind].columns
    rows = list(islice(_rows(run), PREVIEW_ROWS + 1))
    totals = row_from_json(columns, run.content.get("totals"))
    return table_of(columns, rows, zone_of_run(run).key, totals=totals, nil=run.content.get("nil", ""))


def comparison_of(earlier: ReportRun, later: ReportRun) -> Comparison:
    """Compare two reports row by row. Of very long reports only the first rows are compared."""
    columns, zone = REPORTS[later.kind].columns, zone_of_run(later).key
    before, after = Counter(_keys(earlier)), Counter(_keys(later))
    gone, new = list((before - after).elements()), list((after - before).elements())
    return Comparison(
        table_of(columns, [_row(key) for key in gone], zone, most=SHOWN),
        table_of(columns, [_row(key) for key in new], zone, most=SHOWN),
        earlier.rows_sha256 == later.rows_sha256,
        max(earlier.row_count or 0, later.row_count or 0) > COMPARED,
    )


def _rows(run: ReportRun) -> Iterable[Row]:
    path = rows_path(run)
    return read_rows(REPORTS[run.kind].columns, path) if path.is_file() else ()


def _keys(run: ReportRun) -> Iterable[Row]:
    """Yield the rows with lists as tuples, so that they can be counted."""
    for row in islice(_rows(run), COMPARED):
        yield tuple(tuple(value) if isinstance(value, list) else value for value in row)


def _row(key: Row) -> Row:
    return tuple(list(value) if isinstance(value, tuple) else value for value in key)
