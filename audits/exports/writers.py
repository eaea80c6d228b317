"""The writers of reports by the name of their format."""

from audits.exports.csv_file import write_csv
from audits.exports.document import Writer
from audits.exports.json_file import write_json
from audits.exports.pdf.writer import MOST_PDF_ROWS, TooManyRowsError, write_pdf
from audits.exports.xlsx.writer import write_xlsx

WRITERS: dict[str, Writer] = {"csv": write_csv, "xlsx": write_xlsx, "pdf": write_pdf, "json": write_json}
CONTENT_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "pdf": "application/pdf",
    "json": "application/json",
}
EXTENSIONS = {name: f".{name}" for name in WRITERS}

__all__ = ["CONTENT_TYPES", "EXTENSIONS", "MOST_PDF_ROWS", "WRITERS", "TooManyRowsError"]
