"""Values as text for programs, in CSV and JSON: money as 100.00, moments in ISO 8601 with the casino's offset.

Each function takes all values of a column in a block, which saves many calls for a million rows. None is empty.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from audits.exports.document import ColumnKind

ColumnTexts = Callable[[Sequence[Any]], Sequence[Any]]
#: Minor units in one unit of the currency.
UNIT = 100


def money_text(minor: int) -> str:
    if minor < 0:
        return f"-{-minor // 100}.{-minor % 100:02d}"
    return f"{minor // 100}.{minor % 100:02d}"


def money_texts(amounts: Sequence[int | None]) -> list[str | None]:
    """Write amounts by inserting the point between digits, which is quicker than dividing.

    Amounts below one unit have too few digits and are formatted separately.
    """
    return [
        None if minor is None
        else f"{(digits := str(minor))[:-2]}.{digits[-2:]}" if minor >= UNIT or minor <= -UNIT
        else money_text(minor)
        for minor in amounts
    ]  # fmt: skip


def decimal_texts(values: Sequence[Decimal | None]) -> list[str | None]:
    return [None if value is None else format(value, "f") for value in values]


def moment_texts(timezone: str) -> ColumnTexts:
    """Return the function that writes moments by the clock of a zone, with its offset (+00:00, never Z)."""
    zone = ZoneInfo(timezone)

    def texts(moments: Sequence[datetime | None]) -> list[str | None]:
        local = [None if moment is None else moment.astimezone(zone) for moment in moments]
        written: list[str | None] = msgspec.to_builtins(local)
        return [f"{text[:-1]}+00:00" if text and text[-1] == "Z" else text for text in written]

    return texts


def column_texts(kind: ColumnKind, timezone: str) -> ColumnTexts | None:
    """Return the function that writes values of a kind; None for kinds that CSV and JSON write differently."""
    match kind:
        case ColumnKind.MONEY:
            return money_texts
        case ColumnKind.DECIMAL | ColumnKind.PERCENT:
            return decimal_texts
        case ColumnKind.DATE:
            return msgspec.to_builtins
        case ColumnKind.MOMENT:
            return moment_texts(timezone)
    return None
