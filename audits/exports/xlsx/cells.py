"""Types and formats of the cells of a column in a spreadsheet."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any
from xml.sax.saxutils import escape
from zoneinfo import ZoneInfo

from audits.exports.clock import LocalDays, offset_text
from audits.exports.document import NUMBERS, Column, ColumnKind, Document

#: The date from which spreadsheets count days.
DAY_ZERO = datetime(1899, 12, 30)  # noqa: DTZ001 - spreadsheets know no time zones
DAY = timedelta(days=1)
DAY_ZERO_ORDINAL = DAY_ZERO.toordinal()
#: The most characters of a cell. Longer text ends in "…"; CSV and JSON have all of it.
MOST_CHARACTERS = 32_767
#: Distinct names of one column that are kept.
MOST_NAMES = 10_000
#: Text is wrapped in columns of this width or more.
WIDE = 30

MOMENT_FORMAT = "yyyy-mm-dd hh:mm:ss"
FORMATS = {
    ColumnKind.MONEY: "#,##0.00;[Red]-#,##0.00",
    ColumnKind.INTEGER: "#,##0",
    ColumnKind.DECIMAL: "#,##0.00####",
    ColumnKind.PERCENT: "0.00%",
    ColumnKind.DATE: "yyyy-mm-dd",
    ColumnKind.MOMENT: MOMENT_FORMAT,
}


@dataclass(frozen=True)
class Cells:
    """A column in a workbook. Empty values are None; a number with its own style is a pair."""

    is_number: bool
    style: Any
    values: Callable[[Sequence[Any]], Sequence[Any]]


def header_of(column: Column, document: Document) -> str:
    """Return the title with the unit that the cells do not show, currency or time zone."""
    if column.kind is ColumnKind.MONEY and document.currency:
        return f"{column.title} ({document.currency})"
    if column.kind is ColumnKind.MOMENT:
        return f"{column.title} ({document.timezone})"
    return column.title


def cells_of(document: Document, workbook: Any, *, is_total: bool = False) -> list[Cells]:
    return [column_cells(column, document, workbook, is_total) for column in document.columns]


def column_cells(column: Column, document: Document, workbook: Any, is_total: bool) -> Cells:
    # Text without a style is written more quickly.
    look: dict[str, Any] = {"valign": "top"} if any(is_wrapped(other) for other in document.columns) else {}
    if is_total:
        look |= {"bold": True, "top": 1}
    if column.kind in FORMATS:
        look["num_format"] = FORMATS[column.kind]
    elif is_wrapped(column):
        look["text_wrap"] = True
    style = workbook.add_format(look) if look else None
    is_number = column.kind in NUMBERS or column.kind in (ColumnKind.DATE, ColumnKind.MOMENT)
    if column.kind is ColumnKind.MOMENT:
        return Cells(is_number, style, MomentCells(document.timezone, workbook, look).values)
    if column.name_of is not None:
        return Cells(is_number, style, names(column.name_of))
    return Cells(is_number, style, VALUES[column.kind])


def is_wrapped(column: Column) -> bool:
    return column.kind in (ColumnKind.TEXT, ColumnKind.LIST) and column.width >= WIDE


class MomentCells:
    """Write moments by the casino's clock, as spreadsheet dates.

    Times that occur twice show their offset through a separate number format: the cell stays a date.
    """

    def __init__(self, timezone: str, workbook: Any, look: dict[str, Any]) -> None:
        self.zone = ZoneInfo(timezone)
        self.workbook = workbook
        self.look = look
        self.styles: dict[str, Any] = {}
        self.days = LocalDays()

    def values(self, moments: Sequence[datetime | None]) -> list[Any]:
        return [None if moment is None else self.value(moment) for moment in moments]

    def value(self, moment: datetime) -> Any:
        local = moment.astimezone(self.zone)
        days = (local.replace(tzinfo=None) - DAY_ZERO) / DAY
        return (days, self.style(offset_text(local))) if self.days.is_ambiguous(local) else days

    def style(self, offset: str) -> Any:
        if offset not in self.styles:
            self.styles[offset] = self.workbook.add_format(self.look | {"num_format": f'{MOMENT_FORMAT}" {offset}"'})
        return self.styles[offset]


def texts(values: Sequence[str | None]) -> list[str | None]:
    return [
        value if value and value[0] != "<" and len(value) <= MOST_CHARACTERS // 2 else cell_text(value)
        for value in values
    ]


def names(name_of: Callable[[Any], str]) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """Return the function that names codes for people. Each code is named once: a report has few of them."""
    named = lru_cache(MOST_NAMES)(lambda code: cell_text(name_of(code)))
    return lambda codes: [
        None if code is None else named(code if isinstance(code, str) else tuple(code)) for code in codes
    ]


def cell_text(text: str | None) -> str | None:
    """Return the text as XlsxWriter takes it: None if empty, not too long, and never as markup."""
    if not text:
        return None
    units = text.encode("utf-16-le")
    if len(units) > 2 * MOST_CHARACTERS:
        text = units[: 2 * (MOST_CHARACTERS - 1)].decode("utf-16-le", errors="ignore") + "…"
    if text.startswith("<r>") and text.endswith("</r>"):
        # XlsxWriter would write this as it is, as a rich string; so it gets one that shows the text.
        return f'<r><t xml:space="preserve">{escape(text)}</t></r>'
    return text


def lists(values: Sequence[list[str] | None]) -> list[str | None]:
    return texts([", ".join(value) if value else None for value in values])


def answers(values: Sequence[bool | None]) -> list[str | None]:
    return [None if value is None else "Yes" if value else "No" for value in values]


def hundredths(values: Sequence[Any]) -> list[float | None]:
    return [None if value is None else float(value) / 100 for value in values]


def numbers(values: Sequence[Any]) -> list[float | None]:
    return [None if value is None else float(value) for value in values]


def dates(values: Sequence[date | None]) -> list[int | None]:
    return [None if value is None else value.toordinal() - DAY_ZERO_ORDINAL for value in values]


VALUES: dict[ColumnKind, Callable[[Sequence[Any]], Sequence[Any]]] = {
    ColumnKind.TEXT: texts,
    ColumnKind.LIST: lists,
    ColumnKind.YES_NO: answers,
    ColumnKind.MONEY: hundredths,
    ColumnKind.PERCENT: hundredths,
    ColumnKind.DECIMAL: numbers,
    ColumnKind.INTEGER: lambda values: values,
    ColumnKind.DATE: dates,
}
