"""XLSX as openpyxl reads it back: types, formats, cover, nil and totals."""

import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import openpyxl
import pytest

from audits.exports.document import Column, ColumnKind, Row
from audits.exports.writers import WRITERS
from audits.exports.xlsx import writer
from tests.audits.exports.samples import (
    CERTIFICATE,
    COLUMNS,
    DOCUMENT,
    EMPTY,
    ROW,
    TOTALS,
    document,
    of_texts,
    written,
)


def opened(data: bytes) -> Any:
    return openpyxl.load_workbook(BytesIO(data))


def values(sheet: Any) -> list[list[Any]]:
    return [[cell.value for cell in row] for row in sheet.iter_rows()]


def cover_text(book: Any) -> list[str]:
    return [cell for row in values(book["Report"]) for cell in row if cell]


def test_cells_are_typed_and_formatted() -> None:
    sheet = opened(written("xlsx", [ROW, EMPTY]))["Data"]
    header, first, second = values(sheet)
    assert header == [
        "Round", "Rules", "Stake (AUD)", "Bets", "σ", "Hold", "Gaming day", "Started (Australia/Melbourne)", "Approved",
    ]  # fmt: skip
    assert first == [
        "R-1", "5.1.1, 5.12", -1234.56, 1240, 1234.5678, 0.125, datetime.fromisoformat("2026-11-15"),
        datetime.fromisoformat("2026-11-15 10:00:30"), "Yes",
    ]  # fmt: skip
    assert second == ["R-2", *[None] * 8]
    formats = [cell.number_format for cell in sheet[2]]
    assert formats == [
        "General", "General", "#,##0.00;[Red]-#,##0.00", "#,##0", "#,##0.00####", "0.00%", "yyyy-mm-dd",
        "yyyy-mm-dd hh:mm:ss", "General",
    ]  # fmt: skip


def test_the_header_is_frozen_filtered_and_as_wide_as_its_column() -> None:
    sheet = opened(written("xlsx", [ROW, EMPTY], totals=TOTALS))["Data"]
    assert sheet.freeze_panes == "A2"
    assert sheet.auto_filter.ref == "A1:I3"  # without the totals
    assert round(sheet.column_dimensions["A"].width) in (16, 17)
    assert sheet.print_title_rows == "$1:$1"


def test_totals_end_the_sheet() -> None:
    sheet = opened(written("xlsx", [ROW], totals=TOTALS))["Data"]
    assert values(sheet)[2] == ["Total", None, -1234.56, 1240, *[None] * 5]
    assert sheet["C3"].font.b


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+1",
        "-1",
        "@x",
        "\t=1",
        "http://example.com",
        "{=1}",
        "00123",
        "12",
        "<r><t>x</t></r>",
        "<r></x></r>",
        " a ",
    ],
)
def test_text_stays_text(text: str) -> None:
    columns, rows = of_texts(text)
    sheet = opened(written("xlsx", rows, document(columns=columns)))["Data"]
    assert (sheet["A2"].value, sheet["A2"].data_type, sheet["A2"].hyperlink) == (text, "s", None)


def test_text_of_the_cover_stays_text() -> None:
    book = opened(written("xlsx", [ROW], document(parameters=(("=1+1", "<r></x></r>"),), title="=2+2")))
    assert {"=1+1", "<r></x></r>", "=2+2"} <= set(cover_text(book))
    assert all(cell.data_type in ("s", "n") for row in book["Report"].iter_rows() for cell in row)


def test_chinese_names_and_control_characters_do_not_break_the_file() -> None:
    columns, rows = of_texts("陈小明", "大 小 单 双", "a\x01b", "😀")
    sheet = opened(written("xlsx", rows, document(columns=columns)))["Data"]
    assert [sheet[f"A{row}"].value for row in (2, 3, 5)] == ["陈小明", "大 小 单 双", "😀"]


def test_text_that_is_longer_than_a_cell_ends_in_dots() -> None:
    columns, rows = of_texts("x" * 32_767, "x" * 32_768, "😀" * 20_000)
    sheet = opened(written("xlsx", rows, document(columns=columns)))["Data"]
    assert sheet["A2"].value == "x" * 32_767
    assert sheet["A3"].value == "x" * 32_766 + "…"
    assert sheet["A4"].value == "😀" * 16_383 + "…"


def test_the_hour_that_the_clock_passes_twice_shows_its_offset_and_stays_a_date() -> None:
    columns = (Column("at", "At", ColumnKind.MOMENT),)
    hours = (14, 15, 16, 17)  # 01:30, 02:30 twice, 03:30
    rows: list[Row] = [(datetime(2026, 4, 4, hour, 30, tzinfo=UTC),) for hour in hours]
    sheet = opened(written("xlsx", rows, document(columns=columns)))["Data"]
    assert [(cell.value.hour, cell.number_format) for (cell,) in sheet.iter_rows(min_row=2)] == [
        (1, "yyyy-mm-dd hh:mm:ss"),
        (2, 'yyyy-mm-dd hh:mm:ss" UTC+11:00"'),
        (2, 'yyyy-mm-dd hh:mm:ss" UTC+10:00"'),
        (3, "yyyy-mm-dd hh:mm:ss"),
    ]


def test_the_cover_says_what_the_report_is() -> None:
    book = opened(written("xlsx", [ROW], document(certificate=CERTIFICATE, is_reprint=True)))
    assert book.sheetnames == ["Report", "Data"]
    assert cover_text(book) == [
        "Harbour Casino", "1 Pier Street, Melbourne", "Discrepancies", "REPRINT", "About", DOCUMENT.about, "Parameters",
        "Period", "15 November 2026", "Tables", "All tables", "Time zone", "Australia/Melbourne", "Currency", "AUD",
        "Rows", "1", "Rules", "Tai Sai v6, 5.1.1", "Notes", "One day is not approved.", "Certificate",
        "Certified by", "Mei Chen 陈梅, Compliance officer", "Certified on", "2026-11-16 14:00:00",
        "Statement", "This report is complete.",
    ]  # fmt: skip


def test_a_nil_report_says_so_on_both_sheets() -> None:
    book = opened(written("xlsx", [], totals=TOTALS))
    assert cover_text(book)[-6:-4] == ["Nil report", DOCUMENT.nil]
    assert values(book["Data"])[1:] == [[DOCUMENT.nil, *[None] * 8]]


def test_rows_beyond_a_sheet_go_on_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "MOST_SHEET_ROWS", 3)
    columns, rows = of_texts(*"abcdefgh")
    book = opened(written("xlsx", rows, document(columns=columns)))
    assert book.sheetnames == ["Report", "Data", "Data 2", "Data 3"]
    assert [values(book[name])[1:] for name in book.sheetnames[1:]] == [
        [["a"], ["b"], ["c"]], [["d"], ["e"], ["f"]], [["g"], ["h"]],
    ]  # fmt: skip
    assert [book[name].auto_filter.ref for name in book.sheetnames[1:]] == ["A1:A4", "A1:A4", "A1:A3"]


def test_the_most_rows_leave_room_for_header_and_totals() -> None:
    assert writer.MOST_SHEET_ROWS + 2 == 1_048_576


def test_the_same_report_is_the_same_file_and_names_no_machine() -> None:
    made_at = datetime(2026, 11, 16, tzinfo=UTC)
    first, second = (written("xlsx", [ROW], document(made_at=made_at), TOTALS) for _ in range(2))
    assert first == second
    properties = opened(first).properties
    assert (properties.creator, properties.title, properties.created) == (
        "Harbour Casino", "Discrepancies", datetime.fromisoformat("2026-11-16"),
    )  # fmt: skip
    assert properties.lastModifiedBy == "Harbour Casino"


def test_a_report_cancelled_in_the_middle_writes_nothing_and_leaves_no_temporary_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def rows() -> Iterator[Row]:
        yield from [ROW] * 5000
        raise InterruptedError("cancelled")

    file = BytesIO()
    with pytest.raises(InterruptedError):
        WRITERS["xlsx"](DOCUMENT, rows(), lambda: None, file, lambda _: None)
    assert file.getvalue() == b""
    assert list(tmp_path.iterdir()) == []


def test_no_formula_and_no_link_is_in_the_file() -> None:
    columns, rows = of_texts("=1+1", "http://example.com", "mailto:x@example.com")
    with ZipFile(BytesIO(written("xlsx", rows, document(columns=columns)))) as file:
        xml = b"".join(file.read(name) for name in file.namelist())
    assert b"<f>" not in xml
    assert b"<hyperlink" not in xml


def test_the_label_of_totals_takes_the_first_empty_text_cell() -> None:
    totals = ("3 rounds", None, *TOTALS[2:])
    assert values(opened(written("xlsx", [ROW], totals=totals))["Data"])[2][:2] == ["3 rounds", "Total"]
    assert len(COLUMNS) == len(totals)
