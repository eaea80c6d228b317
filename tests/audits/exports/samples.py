"""A document with a column of every kind, and how it is written."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from io import BytesIO
from typing import Any

from audits.exports.document import Certificate, Column, ColumnKind, Document, Row
from audits.exports.writers import WRITERS

COLUMNS = (
    Column("round_ref", "Round", ColumnKind.TEXT, 16),
    Column("rules", "Rules", ColumnKind.LIST),
    Column("stake", "Stake", ColumnKind.MONEY),
    Column("bets", "Bets", ColumnKind.INTEGER),
    Column("sigma", "σ", ColumnKind.DECIMAL),
    Column("hold", "Hold", ColumnKind.PERCENT),
    Column("day", "Gaming day", ColumnKind.DATE),
    Column("started_at", "Started", ColumnKind.MOMENT, 20),
    Column("approved", "Approved", ColumnKind.YES_NO),
)
DOCUMENT = Document(
    title="Discrepancies",
    columns=COLUMNS,
    letterhead=("Harbour Casino", "1 Pier Street, Melbourne"),
    parameters=(("Period", "15 November 2026"), ("Tables", "All tables")),
    about="For the regulator: every bet whose recorded result differs from the rules.",
    rules=("Tai Sai v6, 5.1.1",),
    notes=("One day is not approved.",),
    nil="No discrepancies were found in 1,240 rounds.",
    timezone="Australia/Melbourne",
    currency="AUD",
)
#: 10:00:30 by the clock of Melbourne, in summer.
MORNING = datetime(2026, 11, 14, 23, 0, 30, tzinfo=UTC)
ROW: Row = (
    "R-1", ["5.1.1", "5.12"], -123456, 1240, Decimal("1234.5678"), Decimal("12.5"), date(2026, 11, 15), MORNING, True,
)  # fmt: skip
EMPTY: Row = ("R-2", [], None, None, None, None, None, None, None)
TOTALS: Row = (None, None, -123456, 1240, None, None, None, None, None)
CERTIFICATE = Certificate(
    "Mei Chen 陈梅", "Compliance officer", "This report is complete.", datetime(2026, 11, 16, 3, 0, tzinfo=UTC)
)


def document(**changes: Any) -> Document:
    return replace(DOCUMENT, **changes)


def of_texts(*texts: str, name: str = "player") -> tuple[tuple[Column, ...], list[Row]]:
    """Return a document's only column, and a row for each text."""
    return (Column(name, name.title()),), [(text,) for text in texts]


def written(form: str, rows: Iterable[Row], about: Document = DOCUMENT, totals: Row | None = None) -> bytes:
    file = BytesIO()
    WRITERS[form](about, rows, lambda: totals, file, lambda _: None)
    return file.getvalue()
