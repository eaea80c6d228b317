"""The PDF as pypdf reads it: PDF/A-2b, pages, and what is said on them."""

from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import pytest
from pypdf import PdfReader

from audits.exports.document import Chart, Column, ColumnKind, Row
from audits.exports.pdf import typesetting, writer
from audits.exports.pdf.glyphs import NOTE
from audits.exports.pdf.typesetting import TypesettingError
from audits.exports.writers import MOST_PDF_ROWS, WRITERS, TooManyRowsError
from tests.audits.exports.samples import (
    CERTIFICATE,
    COLUMNS,
    DOCUMENT,
    EMPTY,
    MORNING,
    ROW,
    TOTALS,
    document,
    of_texts,
    written,
)

A4 = (595, 842)


def read(rows: Any, totals: Row | None = None, **changes: Any) -> PdfReader:
    return PdfReader(BytesIO(written("pdf", rows, document(**changes), totals)))


def pages_of(reader: PdfReader) -> list[str]:
    """Return the text of each page in one line, as lines end where the paper does."""
    return [" ".join(page.extract_text().split()) for page in reader.pages]


def text_of(rows: Any, totals: Row | None = None, **changes: Any) -> str:
    return " ".join(pages_of(read(rows, totals, **changes)))


def paper_of(reader: PdfReader) -> tuple[int, int]:
    box = reader.pages[0].mediabox
    return round(float(box.width)), round(float(box.height))


def test_it_is_pdf_a_2b() -> None:
    root: Any = read([ROW]).trailer["/Root"]
    xmp = root["/Metadata"].get_data()
    assert b"<pdfaid:part>2</pdfaid:part>" in xmp
    assert b"<pdfaid:conformance>B</pdfaid:conformance>" in xmp
    assert root["/OutputIntents"][0]["/S"] == "/GTS_PDFA1"


def test_every_font_is_embedded() -> None:
    pages: Any = read([ROW]).pages
    fonts = [font.get_object() for page in pages for font in page["/Resources"]["/Font"].values()]
    assert fonts
    for font in fonts:
        descriptor = font["/DescendantFonts"][0]["/FontDescriptor"]
        assert {"/FontFile2", "/FontFile3"} & descriptor.keys()


def test_the_head_says_what_the_report_is() -> None:
    text = text_of([ROW])
    for part in (
        *DOCUMENT.letterhead, DOCUMENT.title, DOCUMENT.about, *DOCUMENT.rules, *DOCUMENT.notes, "15 November 2026",
        "All tables", "Time zone Australia/Melbourne", "Currency AUD", "Rows 1", "Prepared by", "Reviewed by",
    ):  # fmt: skip
        assert part in text


def test_numbers_have_separators_and_a_true_minus() -> None:
    text = text_of([ROW])
    assert "R-1 5.1.1, 5.12 −1,234.56 1,240 1,234.5678 12.5% 2026-11-15 2026-11-15 10:00:30 Yes" in text


def test_a_negative_amount_is_red_and_a_positive_one_is_not() -> None:
    columns = (Column("net", "Net", ColumnKind.MONEY), Column("count", "Count", ColumnKind.INTEGER))
    content = writer.content_of(document(columns=columns), [(-5, -5), (5, 5)], (-5, None))
    assert content["cells"] == [["−0.05"], "−5", "0.05", "5"]
    assert content["totals"] == (["−0.05"], "")


def test_totals_follow_the_last_row() -> None:
    assert "Total −1,234.56 1,240" in text_of([ROW], TOTALS)


def test_the_header_row_and_the_page_number_are_on_every_page() -> None:
    pages = pages_of(read([ROW] * 150))
    assert len(pages) > 2
    for number, page in enumerate(pages, 1):
        assert f"Page {number} of {len(pages)}" in page
        assert "Round Rules Stake" in page
        assert "REPRINT" not in page


def test_a_long_report_is_set_by_a_process_of_its_own_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    here = written("pdf", [ROW] * 20)
    monkeypatch.setattr(writer, "FEW_CELLS", 0)
    assert written("pdf", [ROW] * 20) == here


def test_a_failure_of_typst_is_said_in_one_sentence() -> None:
    with pytest.raises(TypesettingError, match=r"^The PDF could not be made: .*not"):
        typesetting.pdf_of("{}", 0)
    with pytest.raises(TypesettingError, match=r"^The PDF could not be made: .+"):
        typesetting.pdf_by_child("{}", 0)


def test_a_reprint_says_so_on_every_page() -> None:
    pages = pages_of(read([ROW] * 150, is_reprint=True))
    assert len(pages) > 2
    assert all("REPRINT" in page for page in pages)


def test_a_certificate_is_shown_with_its_moment_by_the_casinos_clock() -> None:
    text = text_of([ROW], certificate=CERTIFICATE)
    assert (
        "This report is complete. Mei Chen 陈梅, Compliance officer 2026-11-16 14:00:00 (Australia/Melbourne)" in text
    )
    assert "Certificate" not in text_of([ROW])


def test_a_nil_report_says_so_in_words() -> None:
    text = text_of([])
    assert f"Nil report {DOCUMENT.nil}" in text
    assert "Total" not in text
    assert "Nothing to report in this period." in text_of([], nil="")


@pytest.mark.parametrize(
    "text", ["*bold*", "#panic()", "$x$", "@ref", "<label>", "// no comment", "[x]", "a\\b", "`raw`"]
)
def test_text_is_never_read_as_markup(text: str) -> None:
    columns, rows = of_texts(text)
    shown = text_of(rows, columns=columns, title=text, notes=(text,), letterhead=(text,), parameters=((text, text),))
    assert shown.count(text) >= 6


def test_a_row_of_some_lines_stays_on_one_page_and_one_that_is_too_high_is_broken() -> None:
    columns = (Column("ref", "Ref", width=6), Column("detail", "Detail", width=20))
    rows = [(f"R-{number}", f"begin{number} {'word ' * 80} end{number}") for number in range(40)]
    pages = pages_of(read(rows, columns=columns))
    assert len(pages) > 2
    assert all(sum(f"begin{n} " in page and f"end{n} " in f"{page} " for page in pages) == 1 for n in range(40))
    pages = pages_of(read([("R-1", f"begin {'word ' * 9000} end")], columns=columns))
    assert len(pages) > 1
    assert "".join(pages).count("word") == 9000


def test_chinese_names_are_shown() -> None:
    columns, rows = of_texts("陈小明", "大小单双", "張學友", "王喆", "Nguyễn Văn Đức", "Zoë Müller")
    text = text_of(rows, columns=columns)
    assert all(row[0] in text for row in rows)
    assert NOTE not in text


def test_a_character_that_the_font_lacks_is_shown_by_its_code() -> None:
    columns, rows = of_texts("a😀b", "c\x01d", "e\tf")
    text = text_of(rows, columns=columns)
    assert "a[U+1F600]b" in text
    assert "c[U+0001]d" in text
    assert "e f" in text
    assert NOTE in text


def test_it_is_upright_for_few_columns_and_turned_for_many() -> None:
    columns, rows = of_texts("R-1")
    assert paper_of(read(rows, columns=columns)) == A4
    assert paper_of(read([ROW])) == A4
    assert paper_of(read([ROW + ROW[2:]], columns=COLUMNS + COLUMNS[2:])) == A4[::-1]


def test_the_hour_that_the_clock_passes_twice_shows_its_offset() -> None:
    columns = (Column("at", "At", ColumnKind.MOMENT),)
    rows = [(datetime(2026, 4, 4, hour, 30, tzinfo=UTC),) for hour in (14, 15, 16)]
    text = text_of(rows, columns=columns)
    assert "2026-04-05 01:30:00 2026-04-05 02:30:00 UTC+11:00 2026-04-05 02:30:00 UTC+10:00" in text


def test_a_chart_is_drawn_with_its_labels() -> None:
    chart = Chart("Findings by kind", ("overpaid", "大"), bars=(3.0, 5.0))
    assert "Findings by kind" in text_of([ROW], charts=(chart,))
    assert "No data" in text_of([], charts=(Chart("Empty", ()),))


def test_ten_thousand_rows_are_the_most() -> None:
    columns, rows = of_texts("a")

    def endless() -> Iterator[Row]:
        while True:
            yield rows[0]

    file = BytesIO()
    with pytest.raises(TooManyRowsError, match=r"more than 10,000 rows.*choose a shorter period, or XLSX or CSV"):
        WRITERS["pdf"](document(columns=columns), endless(), lambda: None, file, lambda _: None)
    with pytest.raises(TooManyRowsError):
        written("pdf", rows * (MOST_PDF_ROWS + 1), document(columns=columns))
    assert file.getvalue() == b""


def test_exactly_ten_thousand_rows_are_set() -> None:
    columns, rows = of_texts("a")
    reader = read(rows * MOST_PDF_ROWS, columns=columns)
    assert f"Page 1 of {len(reader.pages)}" in pages_of(reader)[0]
    assert "Rows 10,000" in pages_of(reader)[0]


def test_the_same_report_is_the_same_file_with_the_moment_of_its_making() -> None:
    assert written("pdf", [ROW], document(made_at=MORNING)) == written("pdf", [ROW], document(made_at=MORNING))
    metadata = read([ROW, EMPTY], made_at=MORNING).metadata
    assert metadata is not None
    assert metadata.creation_date == MORNING
    assert (metadata.title, metadata.author) == ("Discrepancies", "Harbour Casino")
