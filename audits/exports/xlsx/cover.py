"""The cover sheet of a workbook: what the report is, for whom, its period, and who certified it."""

from collections.abc import Iterator
from typing import Any
from zoneinfo import ZoneInfo

from audits.exports.document import Certificate, Document
from audits.exports.people_text import moment_words
from audits.exports.xlsx.cells import cell_text

LABELS, TEXTS = 0, 1
A4 = 9
#: Style, label and text.
Line = tuple[str, str, str]


def write_cover(document: Document, workbook: Any, sheet: Any, count: int) -> None:
    """Write the cover: labels on the left, texts on the right, headings over both."""
    styles = {
        "casino": workbook.add_format({"bold": True, "font_size": 12}),
        "title": workbook.add_format({"bold": True, "font_size": 18}),
        "mark": workbook.add_format({"bold": True, "font_size": 14, "font_color": "#B91C1C"}),
        "heading": workbook.add_format({"bold": True, "bottom": 1}),
        "label": workbook.add_format({"valign": "top"}),
        "text": workbook.add_format({"valign": "top", "text_wrap": True}),
    }
    sheet.set_column(LABELS, LABELS, 28)
    sheet.set_column(TEXTS, TEXTS, 90)
    sheet.set_paper(A4)
    sheet.fit_to_pages(1, 0)
    sheet.hide_gridlines(2)
    for row, (style, label, text) in enumerate(lines_of(document, count)):
        if shown := cell_text(label):
            sheet.write_string(row, LABELS, shown, styles["label" if style == "text" else style])
        if shown := cell_text(text):
            sheet.write_string(row, TEXTS, shown, styles["text"])


def lines_of(document: Document, count: int) -> Iterator[Line]:
    """Yield style, label and text of each line."""
    yield from title_lines(document)
    yield from parameter_lines(document, count)
    for heading, texts in (("Rules", document.rules), ("Notes", document.notes)):
        if texts:
            yield "text", "", ""
            yield "heading", heading, ""
            for text in texts:
                yield "text", "", text
    if document.certificate is not None:
        yield from certificate_lines(document.certificate, document.timezone)


def title_lines(document: Document) -> Iterator[Line]:
    for line in document.letterhead:
        yield "casino", line, ""
    yield "title", document.title, ""
    if document.is_reprint:
        yield "mark", "REPRINT", ""
    if document.about:
        yield "text", "About", document.about


def parameter_lines(document: Document, count: int) -> Iterator[Line]:
    yield "text", "", ""
    yield "heading", "Parameters", ""
    for label, text in document.parameters:
        yield "text", label, text
    yield "text", "Time zone", document.timezone
    if document.currency:
        yield "text", "Currency", document.currency
    yield "text", "Rows", f"{count:,}"
    if not count:
        yield "text", "Nil report", document.nil_sentence


def certificate_lines(certificate: Certificate, timezone: str) -> Iterator[Line]:
    yield "text", "", ""
    yield "heading", "Certificate", ""
    yield "text", "Certified by", f"{certificate.name}, {certificate.post}"
    yield "text", "Certified on", moment_words(certificate.at, ZoneInfo(timezone))
    yield "text", "Statement", certificate.statement
