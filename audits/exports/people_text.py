"""Values as text for people, on pages and in PDF: names in place of codes, separated thousands, local times."""

from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from audits.exports.clock import is_ambiguous, offset_text
from audits.exports.document import Column, ColumnKind

MINUS = "−"


def money_words(minor: int) -> str:
    units, rest = divmod(abs(minor), 100)
    return f"{MINUS if minor < 0 else ''}{units:,}.{rest:02d}"


def number_words(value: int | Decimal) -> str:
    return f"{value:,f}".replace("-", MINUS) if isinstance(value, Decimal) else f"{value:,}".replace("-", MINUS)


def moment_words(moment: datetime, zone: ZoneInfo) -> str:
    """Write date and time by the casino's clock, with the offset if that time occurs twice."""
    local = moment.astimezone(zone)
    text = f"{local:%Y-%m-%d %H:%M:%S}"
    return f"{text} {offset_text(local)}" if is_ambiguous(local) else text


def date_words(day: date) -> str:
    return day.isoformat()


def words_function(column: Column, timezone: str) -> Callable[[Any], str]:
    """Return the function that writes values of a column for people. Never call it with None."""
    if column.name_of is not None:
        return column.name_of
    zone = ZoneInfo(timezone)
    functions: dict[ColumnKind, Callable[[Any], str]] = {
        ColumnKind.TEXT: str,
        ColumnKind.LIST: ", ".join,
        ColumnKind.MONEY: money_words,
        ColumnKind.INTEGER: number_words,
        ColumnKind.DECIMAL: number_words,
        ColumnKind.PERCENT: lambda value: f"{number_words(value)}%",
        ColumnKind.DATE: date_words,
        ColumnKind.MOMENT: lambda moment: moment_words(moment, zone),
        ColumnKind.YES_NO: lambda answer: "Yes" if answer else "No",
    }
    return functions[column.kind]
