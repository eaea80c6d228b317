"""Every report in every format over an awkward floor: each file is opened and compared with the rows cell by cell."""

import csv
import datetime as dt
import io
import json
from collections.abc import Callable, Iterator
from typing import Any
from zoneinfo import ZoneInfo

import openpyxl
import pytest
import time_machine
from pypdf import PdfReader
from pytest_django import DjangoDbBlocker

from audits.exports.document import Column, ColumnKind, Row
from audits.models import ReportRun
from audits.reports.registry import REPORTS
from audits.reports.services.files import file_path
from audits.reports.services.production import report_take, request_of
from audits.reports.services.reports import report_ask
from tests import servers
from tests.audits.reports.awkward_floor import CHINESE, FORMULA, NIGHT, NIL, NOW, ONE_ROUND, awkward_floor
from tests.conftest import House, connected_to
from tests.games.engine.oracle import OPEN_COVER, V6

LONDON = ZoneInfo("Europe/London")
#: The players whom reports name, and reports that have moments in the hour that the clock passes twice.
PLAYERS = {
    "discrepancies": {FORMULA, CHINESE}, "breaches": {FORMULA, CHINESE}, "by-ruling": {CHINESE},
    "corrections": {CHINESE}, "disputes": {FORMULA},
}  # fmt: skip
OF_THE_HOUR = {"voids", "corrections", "incidents", "log", "disputes", "rulings", "limits", "exports"}
CODES = ("rws-tai-sai-", "underpaid", "box-maximum", "month to date")


@pytest.fixture(scope="module")
def floor(django_db_blocker: DjangoDbBlocker) -> Iterator[House]:
    """Built once: the reports only read it."""
    with (
        servers.clone() as name, django_db_blocker.unblock(), connected_to(name),
        time_machine.travel(NOW, tick=False) as clock,
    ):  # fmt: skip
        yield awkward_floor(clock)


@pytest.mark.parametrize("format", ["csv", "json", "xlsx", "pdf"])
@pytest.mark.parametrize("kind", list(REPORTS))
def test_every_report_in_every_format_is_right(floor: House, kind: str, format: str) -> None:
    for day in (NIGHT, ONE_ROUND, NIL):
        key = report_ask(actor=floor["compliance"], kind=kind, format=format, first=day, last=day).pk
        run = report_take(key=key)
        assert run is not None
        assert (run.state, run.fault) == ("done", ""), day
        rows = list(REPORTS[kind](request_of(run)).rows())
        assert run.row_count == len(rows)
        verify_case(kind, day, rows)
        OPENED[format](run, rows)


def verify_case(kind: str, day: dt.date, rows: list[Row]) -> None:
    """The floor is as awkward as it claims to be."""
    if day == NIL:
        assert rows == []
        return
    if day == ONE_ROUND:
        if kind == "daily":
            assert {(row[2], row[6]) for row in rows} == {("table", 1), ("pit", 1), ("casino", 1)}
        return
    assert rows, "a report without rows shows nothing of the format"
    cells = [cell for row in rows for cell in row]
    assert PLAYERS.get(kind, set()) <= {cell for cell in cells if isinstance(cell, str)}
    if kind == "discrepancies":  # before and after the table was re-ruled
        assert {rule.partition("#")[0] for row in rows for rule in row[8]} == {V6, OPEN_COVER}
    if kind == "limits":  # before and after it was moved
        assert {row[1] for row in rows if row[0] == "L-1"} == {"Q1", "P2"}
    if kind in OF_THE_HOUR:
        offsets = {local(cell).utcoffset() for cell in cells if is_ambiguous(cell)}
        assert offsets == {dt.timedelta(0), dt.timedelta(hours=1)} or kind in {"limits", "exports"}
        assert offsets


def local(moment: dt.datetime) -> dt.datetime:
    return moment.astimezone(LONDON)


def is_ambiguous(cell: object) -> bool:
    """Say whether the clock passes this moment twice: 01:00 to 02:00 on 25 October."""
    if not isinstance(cell, dt.datetime):
        return False
    return f"{local(cell):%Y-%m-%d %H}" == "2026-10-25 01"


# --- For programs ---


def check_csv(run: ReportRun, rows: list[Row]) -> None:
    content = file_path(run).read_bytes()
    assert content.startswith(b"\xef\xbb\xbf")
    text = content.decode("utf-8-sig")
    header, *lines = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    columns = REPORTS[run.kind].columns
    assert header == [column.name for column in columns]
    assert len(lines) == len(rows)
    for line, row in zip(lines, rows, strict=True):
        for cell, column, value in zip(line, columns, row, strict=True):
            assert program_value(column, cell) == plain(value), (column.name, cell)
            assert cell[:1] not in {"=", "+", "@", "\t", "\r"}
            assert not cell.startswith("-") or column.kind is not ColumnKind.TEXT


def program_value(column: Column, cell: str) -> Any:
    """Read a cell as a program does that knows the columns."""
    if not cell:
        return None
    readers: dict[ColumnKind, Callable[[str], Any]] = {
        ColumnKind.MONEY: lambda text: round(float(text) * 100), ColumnKind.INTEGER: int, ColumnKind.DECIMAL: float,
        ColumnKind.PERCENT: float, ColumnKind.DATE: dt.date.fromisoformat, ColumnKind.MOMENT: dt.datetime.fromisoformat,
        ColumnKind.YES_NO: {"yes": True, "no": False}.__getitem__,
    }  # fmt: skip
    value: Any = readers[column.kind](cell) if column.kind in readers else cell.removeprefix("'")
    if column.kind is ColumnKind.MOMENT:
        assert value.utcoffset() == local(value).utcoffset()
    return value


def plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return " ".join(value) or None
    return float(value) if type(value).__name__ == "Decimal" else value if value != "" else None


def check_json(run: ReportRun, rows: list[Row]) -> None:
    objects = json.loads(file_path(run).read_bytes())
    columns = REPORTS[run.kind].columns
    assert [list(one) for one in objects] == [[column.name for column in columns]] * len(rows)
    for one, row in zip(objects, rows, strict=True):
        for column, value in zip(columns, row, strict=True):
            cell = one[column.name]
            if column.kind is ColumnKind.LIST:
                assert cell == (None if value is None else list(value))
            elif column.kind in (ColumnKind.INTEGER, ColumnKind.YES_NO, ColumnKind.TEXT):
                assert cell == (None if value == "" else value)
            else:
                assert (None if cell is None else program_value(column, cell)) == plain(value), column.name


# --- For people ---


def people_value(column: Column, value: Any) -> Any:
    """A text, list or answer as people read it."""
    if column.name_of is not None:
        return column.name_of(value) or None
    if isinstance(value, list | tuple):
        return ", ".join(value) or None
    if column.kind is ColumnKind.YES_NO:
        return "Yes" if value else "No"
    return value or None


def check_xlsx(run: ReportRun, rows: list[Row]) -> None:
    book = openpyxl.load_workbook(file_path(run))
    assert book.sheetnames == ["Report", "Data"]
    sheet, columns = book["Data"], REPORTS[run.kind].columns
    assert sheet.freeze_panes == "A2"
    cover = [str(cell.value) for line in book["Report"].iter_rows() for cell in line if cell.value]
    assert "Europe/London" in cover
    if not rows:
        assert run.content["nil"] in cover
        assert sheet["A2"].value == run.content["nil"]
    for line, row in zip(sheet.iter_rows(min_row=2, max_row=1 + len(rows)), rows, strict=bool(rows)):
        for cell, column, value in zip(line, columns, row, strict=True):
            assert cell.data_type != "f"
            assert cell.hyperlink is None
            verify_cell(cell, column, value)


def verify_cell(cell: Any, column: Column, value: Any) -> None:
    if value is None:
        assert cell.value is None
    elif column.kind in (ColumnKind.MONEY, ColumnKind.PERCENT):
        assert cell.value == pytest.approx(float(value) / 100)
    elif column.kind in (ColumnKind.INTEGER, ColumnKind.DECIMAL):
        assert cell.value == pytest.approx(float(value))
    elif column.kind is ColumnKind.DATE:
        assert cell.value.date() == value
    elif column.kind is ColumnKind.MOMENT:
        shown = local(value)
        assert abs(cell.value - shown.replace(tzinfo=None)) < dt.timedelta(milliseconds=1)
        offset = f"UTC+0{int(shown.utcoffset().total_seconds()) // 3600}:00"  # type: ignore[union-attr]
        assert (offset in cell.number_format) == is_ambiguous(value)
    else:
        assert cell.value == people_value(column, value)
        assert not any(code in str(cell.value) for code in CODES)


def check_pdf(run: ReportRun, rows: list[Row]) -> None:
    reader = PdfReader(file_path(run))
    root: Any = reader.trailer["/Root"]
    xmp = root["/Metadata"].get_data()
    assert b"<pdfaid:part>2</pdfaid:part>" in xmp
    assert b"<pdfaid:conformance>B</pdfaid:conformance>" in xmp
    pages = [page.extract_text() for page in reader.pages]
    assert all(f"Page {number} of {len(pages)}" in " ".join(page.split()) for number, page in enumerate(pages, 1))
    text = squeezed("".join(pages))
    assert squeezed(f"Nil report {run.content['nil']}") in text or rows
    assert ("Nilreport" in text) == (not rows)
    assert not any(code in text for code in CODES)
    for row in rows:
        for column, value in zip(REPORTS[run.kind].columns, row, strict=True):
            if value is not None and (words := printed(column, value)):
                assert squeezed(words) in text, (column.name, words)


def printed(column: Column, value: Any) -> str:
    match column.kind:
        case ColumnKind.MONEY:
            return f"{value / 100:,.2f}".replace("-", "−")
        case ColumnKind.INTEGER | ColumnKind.DECIMAL:
            return f"{value:,}".replace("-", "−")
        case ColumnKind.PERCENT:
            return f"{value:,}%".replace("-", "−")
        case ColumnKind.DATE:
            return str(value)
        case ColumnKind.MOMENT:
            shown = local(value)
            hours = int(shown.utcoffset().total_seconds()) // 3600  # type: ignore[union-attr]
            return f"{shown:%Y-%m-%d %H:%M:%S}" + (f" UTC+0{hours}:00" if is_ambiguous(value) else "")
        case _:
            return people_value(column, value) or ""


def squeezed(text: str) -> str:
    """Return the text without what ends a line or lets it end."""
    return "".join(text.replace("\u200b", "").split())


OPENED: dict[str, Callable[[ReportRun, list[Row]], None]] = {
    "csv": check_csv, "json": check_json, "xlsx": check_xlsx, "pdf": check_pdf,
}  # fmt: skip
