"""A report as a writer takes it: typed columns, what stands around the table, and rows that come one by one."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice
from typing import Any, BinaryIO, Protocol


class ColumnKind(StrEnum):
    """The kind of a column decides how its values are written in each format."""

    TEXT = "text"
    LIST = "list"
    MONEY = "money"
    INTEGER = "integer"
    DECIMAL = "decimal"
    PERCENT = "percent"
    DATE = "date"
    MOMENT = "moment"
    YES_NO = "yes_no"


#: A fixed date, so that the same report gives the same file.
NO_DATE = datetime(2000, 1, 1, tzinfo=UTC)
#: Kinds that are added up, set to the right and written as numbers.
NUMBERS = frozenset({ColumnKind.MONEY, ColumnKind.INTEGER, ColumnKind.DECIMAL, ColumnKind.PERCENT})


@dataclass(frozen=True)
class Column:
    #: For programs: the header of a CSV file, the key of a JSON object.
    name: str
    #: For people: the header in XLSX and PDF.
    title: str
    kind: ColumnKind = ColumnKind.TEXT
    #: Characters, a hint for XLSX and PDF.
    width: int = 14
    #: How a value that is a code for programs reads for people, on pages and in XLSX and PDF. Never called with None.
    name_of: Callable[[Any], str] | None = None


#: Values in the order of the columns; None is an empty cell. TEXT: str; LIST: list[str]; MONEY: int of minor units;
#: INTEGER: int; DECIMAL and PERCENT: Decimal (12.5 means 12.5 %); DATE: date; MOMENT: aware datetime; YES_NO: bool.
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Certificate:
    """Who certified a finished report, in which post, in which words and when."""

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
    #: What bars, line and band are called in the legend; without a name a part is not in it.
    bars_name: str = ""
    line_name: str = ""
    band_name: str = ""


@dataclass(frozen=True)
class Document:
    """Everything that a file says around its rows. Which part is shown depends on the format."""

    title: str
    columns: tuple[Column, ...]
    #: The casino's name and the like.
    letterhead: tuple[str, ...]
    #: Label and text, for the cover sheet and the head of the PDF.
    parameters: tuple[tuple[str, str], ...]
    #: One or two sentences: who reads it and why.
    about: str = ""
    #: Rules or sections that the report answers to.
    rules: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    #: The sentence of a nil report.
    nil: str = ""
    #: The IANA name of the time zone that moments are shown in.
    timezone: str = "UTC"
    currency: str = ""
    is_reprint: bool = False
    certificate: Certificate | None = None
    charts: tuple[Chart, ...] = ()
    sign_lines: tuple[str, ...] = ("Prepared by", "Reviewed by")
    #: The creation date in the properties of XLSX and PDF. Without it: the certificate's moment, or NO_DATE.
    made_at: datetime | None = None

    @property
    def nil_sentence(self) -> str:
        return self.nil or "Nothing to report in this period."


#: Called after the last row. None in a cell where nothing is summed, None altogether where there are no totals.
Totals = Callable[[], Row | None]
#: Called with the number of rows written so far.
Progress = Callable[[int], None]


class Writer(Protocol):
    """Write the document to the file, in one pass over the rows, and return how many there were."""

    def __call__(
        self, document: Document, rows: Iterable[Row], totals: Totals, file: BinaryIO, progress: Progress
    ) -> int: ...


def date_of(document: Document) -> datetime:
    """Return the creation date that the file's properties show."""
    if document.made_at is not None:
        return document.made_at
    return document.certificate.at if document.certificate is not None else NO_DATE


def with_total_label(columns: tuple[Column, ...], totals: Row) -> Row:
    """Put "Total" into the first text cell of the totals that is empty."""
    cells = list(totals)
    for number, (column, cell) in enumerate(zip(columns, totals, strict=True)):
        if column.kind in (ColumnKind.TEXT, ColumnKind.LIST) and cell in (None, "", []):
            cells[number] = "Total" if column.kind is ColumnKind.TEXT else ["Total"]
            break
    return tuple(cells)


def blocks_of(rows: Iterable[Row], size: int = 1000) -> Iterator[list[Row]]:
    """Yield the rows in lists, so that a writer treats many at once and keeps few."""
    source = iter(rows)
    while block := list(islice(source, size)):
        yield block
