"""XLSX: a cover sheet that says what the report is, and a data sheet with typed cells, filters and totals.

XlsxWriter keeps one row in memory and the rest in temporary files, which are removed afterwards, also if a report is
cancelled halfway.
"""

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC
from typing import Any, BinaryIO

from xlsxwriter import Workbook
from xlsxwriter.utility import xl_range

from audits.exports.document import Document, Progress, Row, Totals, blocks_of, date_of, with_total_label
from audits.exports.xlsx.cells import Cells, cells_of, header_of
from audits.exports.xlsx.cover import write_cover

#: Rows of data on a sheet. With header and totals this is the limit of spreadsheets.
MOST_SHEET_ROWS = 1_048_576 - 2
A4 = 9


def write_xlsx(document: Document, rows: Iterable[Row], totals: Totals, file: BinaryIO, progress: Progress) -> int:
    """Write the data first and the cover last, since the cover has the number of rows."""
    with open_workbook(document, file) as workbook:
        cover = workbook.add_worksheet("Report")
        data = DataSheets(document, workbook)
        for block in blocks_of(rows):
            data.add(block)
            progress(data.written)
        data.end(totals())
        write_cover(document, workbook, cover, data.written)
        return data.written


@contextmanager
def open_workbook(document: Document, file: BinaryIO) -> Iterator[Any]:
    """Yield a workbook in which text stays text. It is written to the file only if nothing fails."""
    with tempfile.TemporaryDirectory() as folder:
        options = {
            "constant_memory": True, "tmpdir": folder, "strings_to_formulas": False, "strings_to_urls": False,
            "strings_to_numbers": False,
        }  # fmt: skip
        workbook = Workbook(file, options)
        casino = document.letterhead[0] if document.letterhead else ""
        created = date_of(document).astimezone(UTC).replace(tzinfo=None)
        workbook.set_properties({"title": document.title, "author": casino, "company": casino, "created": created})
        try:
            yield workbook
            workbook.close()
        finally:
            for sheet in workbook.worksheets():
                sheet._opt_close()


class DataSheets:
    """The sheets with the rows. When one is full, another one is started."""

    def __init__(self, document: Document, workbook: Any) -> None:
        self.document = document
        self.workbook = workbook
        self.written = 0
        self.sheets = 0
        self.row = 0
        self.columns = cells_of(document, workbook)
        self.header_style = workbook.add_format(
            {"bold": True, "text_wrap": True, "valign": "top", "bg_color": "#E5EDE9", "bottom": 1}
        )
        self.begin()

    def begin(self) -> None:
        """Start a sheet with its header row."""
        self.sheets += 1
        self.sheet = self.workbook.add_worksheet("Data" if self.sheets == 1 else f"Data {self.sheets}")
        for number, column in enumerate(self.document.columns):
            self.sheet.set_column(number, number, column.width)
            self.sheet.write_string(0, number, header_of(column, self.document), self.header_style)
        self.sheet.freeze_panes(1, 0)
        self.sheet.repeat_rows(0)
        self.sheet.set_landscape()
        self.sheet.set_paper(A4)
        self.sheet.fit_to_pages(1, 0)
        self.sheet.set_footer(f"&L{self.document.title.replace('&', '&&')}&RPage &P of &N")
        self.row = 1

    def add(self, block: list[Row]) -> None:
        columns = [cells.values(values) for cells, values in zip(self.columns, zip(*block, strict=True), strict=True)]
        for values in zip(*columns, strict=True):
            if self.row > MOST_SHEET_ROWS:
                self.finish()
                self.begin()
            write_row(self.sheet, self.row, self.columns, values)
            self.row += 1
        self.written += len(block)

    def end(self, totals: Row | None) -> None:
        """Write the totals, or the sentence of a report without rows, below the last row."""
        self.finish()
        if not self.written:
            self.sheet.write_string(1, 0, self.document.nil_sentence)
        elif totals is not None:
            columns = cells_of(self.document, self.workbook, is_total=True)
            labelled = with_total_label(self.document.columns, totals)
            values = [cells.values([value])[0] for cells, value in zip(columns, labelled, strict=True)]
            write_row(self.sheet, self.row, columns, values)

    def finish(self) -> None:
        """Add the filter, and turn off warnings about text that looks like numbers."""
        last = len(self.document.columns) - 1
        self.sheet.autofilter(0, 0, max(self.row - 1, 1), last)
        self.sheet.ignore_errors({"number_stored_as_text": xl_range(0, 0, self.row, last)})


def write_row(sheet: Any, row: int, columns: list[Cells], values: Iterable[Any]) -> None:
    """Write a cell by XlsxWriter's inner methods, which take a tenth of the time of the public ones."""
    write_number, write_string = sheet._write_number, sheet._write_string
    number = -1
    for cells, value in zip(columns, values, strict=True):
        number += 1
        if value is None:
            continue
        if not cells.is_number:
            write_string(row, number, value, cells.style)
        elif type(value) is tuple:
            write_number(row, number, *value)
        else:
            write_number(row, number, value, cells.style)
