"""CSV as a strict parser reads it: RFC 4180, UTF-8 with BOM."""

import csv
import io
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audits.exports.document import Column, ColumnKind, Row
from audits.exports.writers import WRITERS
from tests.audits.exports.samples import COLUMNS, DOCUMENT, EMPTY, ROW, TOTALS, document, of_texts, written


def parsed(data: bytes) -> list[list[str]]:
    """Read the file strictly: BOM, CRLF at every line, quotes only where they belong."""
    assert data.startswith(b"\xef\xbb\xbf")
    text = data[3:].decode()
    assert text.endswith("\r\n")
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


def test_every_kind_reads_as_programs_expect_it() -> None:
    assert parsed(written("csv", [ROW, EMPTY])) == [
        [column.name for column in COLUMNS],
        [
            "R-1",
            "5.1.1 5.12",
            "-1234.56",
            "1240",
            "1234.5678",
            "12.5",
            "2026-11-15",
            "2026-11-15T10:00:30+11:00",
            "yes",
        ],
        ["R-2", "", "", "", "", "", "", "", ""],
    ]


def test_lines_end_in_crlf_and_only_what_needs_quotes_has_them() -> None:
    columns, rows = of_texts("plain", 'say "so"', "a,b", "two\r\nlines")
    assert written("csv", rows, document(columns=columns))[3:] == (
        b'player\r\nplain\r\n"say ""so"""\r\n"a,b"\r\n"two\r\nlines"\r\n'
    )


def test_an_empty_period_has_its_header_row_and_no_totals_are_written() -> None:
    names = [column.name for column in COLUMNS]
    assert parsed(written("csv", [])) == [names]
    assert len(parsed(written("csv", [ROW], totals=TOTALS))) == 2


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", '=HYPERLINK("http://x")', "-", "--1"],
)
def test_text_that_a_spreadsheet_would_compute_gets_an_apostrophe(text: str) -> None:
    columns, rows = of_texts(text)
    assert parsed(written("csv", rows, document(columns=columns)))[1] == [f"'{text}"]


def test_a_formula_in_a_list_gets_one_too() -> None:
    columns = (Column("boxes", "Boxes", ColumnKind.LIST),)
    assert parsed(written("csv", [(["=1", "2"],)], document(columns=columns)))[1] == ["'=1 2"]


@pytest.mark.parametrize("text", ["-5", "-5.00", "5", "0.5", "seat-3", "陈小明", "don't"])
def test_a_number_stays_a_number_and_a_name_a_name(text: str) -> None:
    columns, rows = of_texts(text)
    assert parsed(written("csv", rows, document(columns=columns)))[1] == [text]


@pytest.mark.parametrize(
    ("minor", "text"),
    [(0, "0.00"), (5, "0.05"), (-5, "-0.05"), (-100, "-1.00"), (10_000, "100.00"), (-123_456_789, "-1234567.89")],
)
def test_money_is_written_with_two_decimals(minor: int, text: str) -> None:
    columns = (Column("stake", "Stake", ColumnKind.MONEY),)
    assert parsed(written("csv", [(minor,)] * 2, document(columns=columns)))[1:] == [[text], [text]]


def test_amounts_of_every_size_are_right() -> None:
    columns = (Column("stake", "Stake", ColumnKind.MONEY), Column("ref", "Ref"))
    rows: list[Row] = [(minor, str(minor)) for minor in range(-1200, 1200)]
    cells = parsed(written("csv", [*rows, (None, "")], document(columns=columns)))[1:]
    assert all(Decimal(amount) * 100 == Decimal(ref) and amount[-3] == "." for amount, ref in cells[:-1])
    assert cells[-1] == ["", ""]


@given(st.lists(st.lists(st.text("a=+-@,\"\t\r\n '1.＝陈", max_size=5), min_size=2, max_size=2), max_size=8))
def test_a_strict_parser_reads_back_what_was_written(cells: list[list[str]]) -> None:
    columns = (Column("player", "Player"), Column("detail", "Detail"))
    read = parsed(written("csv", map(tuple, cells), document(columns=columns)))[1:]
    assert [[kept(cell) for cell in row] for row in cells] == read


def kept(text: str) -> str:
    is_number = text.removeprefix("-").replace(".", "", 1).isdecimal()
    return f"'{text}" if text.startswith(tuple("=+-@\t\r\n＝＋－＠")) and not is_number else text


def test_an_empty_cell_alone_is_still_a_row() -> None:
    columns, rows = of_texts("", "a", "")
    assert parsed(written("csv", rows, document(columns=columns)))[1:] == [[""], ["a"], [""]]


def test_a_decimal_never_has_an_exponent() -> None:
    columns = (Column("sigma", "σ", ColumnKind.DECIMAL),)
    assert parsed(written("csv", [(Decimal("1E+3"),), (Decimal("1E-8"),)], document(columns=columns)))[1:] == [
        ["1000"], ["0.00000001"],
    ]  # fmt: skip


def test_the_hour_that_the_clock_passes_twice_keeps_its_offset() -> None:
    columns = (Column("at", "At", ColumnKind.MOMENT),)
    moments: list[Row] = [
        (datetime(2026, 4, 4, 15, 30, tzinfo=UTC),),
        (datetime(2026, 4, 4, 16, 30, 0, 5000, tzinfo=UTC),),
    ]
    assert parsed(written("csv", moments, document(columns=columns)))[1:] == [
        ["2026-04-05T02:30:00+11:00"], ["2026-04-05T02:30:00.005000+10:00"],
    ]  # fmt: skip


def test_a_zone_without_offset_is_written_as_zero() -> None:
    columns = (Column("at", "At", ColumnKind.MOMENT),)
    moments: list[Row] = [(datetime(2026, 1, 1, 12, tzinfo=UTC),), (datetime(2026, 7, 1, 12, tzinfo=UTC),), (None,)]
    assert parsed(written("csv", moments, document(columns=columns, timezone="Europe/London")))[1:] == [
        ["2026-01-01T12:00:00+00:00"], ["2026-07-01T13:00:00+01:00"], [""],
    ]  # fmt: skip


def test_progress_is_reported_and_rows_are_counted() -> None:
    steps: list[int] = []
    count = WRITERS["csv"](DOCUMENT, (ROW for _ in range(2500)), lambda: None, io.BytesIO(), steps.append)
    assert count == 2500
    assert steps == [1000, 2000, 2500]


def test_a_row_that_lacks_a_cell_is_an_error() -> None:
    with pytest.raises(ValueError, match="zip"):
        written("csv", [ROW[:-1]])
