"""Reports as PDF/A-2b for regulators, typeset by typst. The template is report.typ; all text reaches it as data."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, BinaryIO
from zoneinfo import ZoneInfo

from audits.exports.charts import IN_PRINT, WIDTH, chart_svg
from audits.exports.document import (
    NUMBERS,
    Chart,
    ColumnKind,
    Document,
    Progress,
    Row,
    Totals,
    blocks_of,
    date_of,
    with_total_label,
)
from audits.exports.pdf.glyphs import FAMILY, NOTE, Showable
from audits.exports.pdf.layout import INSET, MARGIN, PageLayout, broken, heights_of, is_kept_whole, layout_of
from audits.exports.pdf.typesetting import FEW_CELLS, pdf_by_child, pdf_of
from audits.exports.people_text import MINUS, moment_words, words_function

#: The most rows of a PDF. For more, people use a spreadsheet.
MOST_PDF_ROWS = 10_000
#: The widest words of the head and of the title, in thousandths of their text size.
HEAD_ROOM, TITLE_ROOM = 15_000, 26_000
NOTHING = ""

#: A text, or a list of one text for a negative amount, which is shown in red.
Cell = str | list[str]


class TooManyRowsError(ValueError):
    """A report has more rows than a PDF allows."""

    def __init__(self) -> None:
        super().__init__(
            f"The report has more than {MOST_PDF_ROWS:,} rows, too many for a PDF: "
            "choose a shorter period, or XLSX or CSV."
        )


def write_pdf(document: Document, rows: Iterable[Row], totals: Totals, file: BinaryIO, progress: Progress) -> int:
    """Read all rows, choose the layout of the table, and typeset it."""
    kept: list[Row] = []
    for block in blocks_of(rows):
        kept += block
        if len(kept) > MOST_PDF_ROWS:
            raise TooManyRowsError
        progress(len(kept))
    total = totals() if kept else None
    content = json.dumps(content_of(document, kept, total), ensure_ascii=False)
    is_short = len(kept) * len(document.columns) <= FEW_CELLS
    file.write((pdf_of if is_short else pdf_by_child)(content, int(date_of(document).timestamp())))
    return len(kept)


def content_of(document: Document, rows: Sequence[Row], totals: Row | None) -> dict[str, Any]:
    """Return all texts of the template, with characters that the fonts have."""
    showable = Showable()
    table = table_of(document, rows, totals, showable)
    head = head_of(document, len(rows), showable)
    if showable.has_replaced:
        head["notes"].append(NOTE)
    return {"family": FAMILY, "margin": MARGIN, "inset": INSET, **head, **table}


def head_of(document: Document, count: int, showable: Showable) -> dict[str, Any]:
    def texts(values: Iterable[str], room: float = HEAD_ROOM) -> list[str]:
        return [broken(showable.text(value), room) for value in values]

    parameters = [*document.parameters, ("Time zone", document.timezone), ("Rows", f"{count:,}")]
    if document.currency:
        parameters.insert(-1, ("Currency", document.currency))
    certificate = document.certificate
    return {
        "title": texts([document.title], TITLE_ROOM)[0],
        "letterhead": texts(document.letterhead, TITLE_ROOM),
        "running": " · ".join(texts([*document.letterhead[:1], document.title])),
        "about": texts([document.about])[0],
        "parameters": [texts(pair) for pair in parameters],
        "rules": texts(document.rules),
        "notes": texts(document.notes),
        "nil": NOTHING if count else texts([document.nil_sentence])[0],
        "reprint": document.is_reprint,
        "certificate": certificate and {
            "name": texts([certificate.name])[0],
            "post": texts([certificate.post])[0],
            "statement": texts([certificate.statement])[0],
            "at": moment_words(certificate.at, ZoneInfo(document.timezone)) + f" ({document.timezone})",
        },
        "charts": [chart_content(chart, showable) for chart in document.charts],
        "chart_width": WIDTH * 0.71,
        "signs": texts(document.sign_lines),
    }  # fmt: skip


def chart_content(chart: Chart, showable: Showable) -> dict[str, str]:
    names = ("title", "unit", "bars_name", "line_name", "band_name")
    texts: dict[str, Any] = {name: showable.text(getattr(chart, name)) for name in names}
    shown = replace(chart, labels=tuple(map(showable.text, chart.labels)), **texts)
    return {"svg": chart_svg(shown, IN_PRINT), "title": shown.title}


def table_of(document: Document, rows: Sequence[Row], totals: Row | None, showable: Showable) -> dict[str, Any]:
    """Return the cells row by row, and the layout for them."""
    everything = [*rows, with_total_label(document.columns, totals)] if totals is not None else rows
    functions = [words_function(column, document.timezone) for column in document.columns]
    texts = [
        [NOTHING if value is None else showable.text(words(value)) for value in values]
        for words, values in zip(functions, zip(*everything, strict=True), strict=False)
    ] or [[] for _ in document.columns]
    titles = [showable.text(column.title) for column in document.columns]
    layout = layout_of(document.columns, titles, texts)
    columns = [
        cells_of(column.kind, texts[number], layout.room(number)) for number, column in enumerate(document.columns)
    ]
    lines = list(zip(*columns, strict=True))
    last = lines.pop() if totals is not None else None
    heights = heights_of(texts, layout)[: len(lines)]
    return {
        "paper": layout.paper,
        "landscape": layout.is_landscape,
        "size": layout.size,
        "widths": layout.widths,
        "aligns": ["right" if column.kind in NUMBERS else "left" for column in document.columns],
        "header": titles_of(titles, layout),
        "heights": heights,
        "whole": [
            height is None and is_kept_whole([column[number] for column in texts], layout)
            for number, height in enumerate(heights)
        ],
        "cells": [cell for line in lines for cell in line],
        "totals": last,
    }


def titles_of(titles: Sequence[str], layout: PageLayout) -> list[str]:
    return [broken(title, layout.room(number), "bold") for number, title in enumerate(titles)]


def cells_of(kind: ColumnKind, texts: Sequence[str], room: float) -> list[Cell]:
    cells: list[Cell] = []
    for text in texts:
        shown = broken(text, room, "bold")
        cells.append([shown] if kind is ColumnKind.MONEY and text.startswith(MINUS) else shown)
    return cells
