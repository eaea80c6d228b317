"""A report as the writers take it: typed columns, the text around the table, and rows one by one."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice
from typing import Any, BinaryIO, Protocol


class ColumnKind(StrEnum):
    """The kind of a column, which decides how its values are written in each format."""

    TEXT = "text"
    LIST = "list"
    MONEY = "money"
    INTEGER = "integer"
    DECIMAL = "decimal"
    PERCENT = "percent"
    DATE = "date"
    MOMENT = "moment"
    YES_NO = "yes_no"


#: A fixed date, so that the same report always gives the same file.
NO_DATE = datetime(2000, 1, 1, tzinfo=UTC)
#: Kinds that are summed, aligned to the right and written as numbers.
NUMBERS = frozenset({ColumnKind.MONEY, ColumnKind.INTEGER, ColumnKind.DECIMAL, ColumnKind.PERCENT})


@dataclass(frozen=True)
class Column:
    #: For programs: the header of a CSV file, the key of a JSON object.
    name: str
    #: For people: the header in XLSX and PDF.
    title: str
    kind: ColumnKind = ColumnKind.TEXT
    #: In characters, a hint for XLSX and PDF.
    width: int = 14
    #: Names a code for people, on pages and in XLSX and PDF. Never called with None.
    name_of: Callable[[Any], str] | None = None


#: Values in the order of the columns; None is an empty cell. TEXT: str; LIST: list[str]; MONEY: int of minor units;
#: INTEGER: int; DECIMAL and PERCENT: Decimal (12.5 means 12.5 %); DATE: date; MOMENT: aware datetime; YES_NO: bool.
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Certificate:
    """Who certified a finished report, in which post, with which statement and when."""

    name: str
    post: str
    statement: str
    at: datetime


@dataclass(frozen=True)
class Chart:
    """Bars, a line or both over the same labels, with a band from low to high behind them."""

    title: str
    labels: tuple[str, ...]
    bars: tuple[float, ...] = ()
    line: tuple[float, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    unit: str = ""
    #: The names of bars, line and band in the legend. A part without a name is not in it.
    bars_name: str = ""
    line_name: str = ""
    band_name: str = ""


@dataclass(frozen=True)
class Document:
    """Everything in a file except its rows. Each format shows some parts of it."""

    title: str
    columns: tuple[Column, ...]
    #: The names of the casino and its operator.
    letterhead: tuple[str, ...]
    #: Labels and texts, for the cover sheet and the head of the PDF.
    parameters: tuple[tuple[str, str], ...]
    #: Who reads the report and why, in one or two sentences.
    about: str = ""
    #: Rules or sections that require the report.
    rules: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    #: The sentence of a report without rows.
    nil: str = ""
    #: The IANA name of the time zone for moments.
    timezone: str = "UTC"
    currency: str = ""
    is_reprint: bool = False
    certificate: Certificate | None = None
    charts: tuple[Chart, ...] = ()
    sign_lines: tuple[str, ...] = ("Prepared by", "Reviewed by")
    #: The creation date in the properties of XLSX and PDF. Defaults to the certificate's date, else to NO_DATE.
    made_at: datetime | None = None

    @property
    def nil_sentence(self) -> str:
        return self.nil or "Nothing to report in this period."


#: Called after the last row. Returns None for a report without totals; cells that are not summed are None.
Totals = Callable[[], Row | None]
#: Called with the number of rows written so far.
Progress = Callable[[int], None]


class Writer(Protocol):
    """Write the document to the file in one pass over the rows; return the number of rows."""

    def __call__(
        self, document: Document, rows: Iterable[Row], totals: Totals, file: BinaryIO, progress: Progress
    ) -> int: ...


def date_of(document: Document) -> datetime:
    """Return the creation date for the file's properties."""
    if document.made_at is not None:
        return document.made_at
    return document.certificate.at if document.certificate is not None else NO_DATE


def with_total_label(columns: tuple[Column, ...], totals: Row) -> Row:
    """Write "Total" into the first empty text cell of the totals."""
    cells = list(totals)
    for number, (column, cell) in enumerate(zip(columns, totals, strict=True)):
        if column.kind in (ColumnKind.TEXT, ColumnKind.LIST) and cell in (None, "", []):
            cells[number] = "Total" if column.kind is ColumnKind.TEXT else ["Total"]
            break
    return tuple(cells)


def blocks_of(rows: Iterable[Row], size: int = 1000) -> Iterator[list[Row]]:
    """Yield the rows in lists, so that a writer handles many at once and keeps few in memory."""
    source = iter(rows)
    while block := list(islice(source, size)):
        yield block
