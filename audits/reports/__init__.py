"""What a report says: its columns and its rows, one module a report."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any, Protocol

from games.models import Table
from games.services.gate import Actor

Row = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """By whom a report is asked for, of which days, and of which table."""

    actor: Actor
    first: date
    last: date
    table: Table | None = None


class Report(Protocol):
    COLUMNS: tuple[str, ...]

    def rows(self, asked: Asked) -> Iterator[Row]: ...


def reports() -> dict[str, Any]:
    """The reports there are, by their names."""
    from audits.reports import breaches, by_ruling, discrepancies, irregularities, procedural

    return {
        "discrepancies": discrepancies, "breaches": breaches, "irregularities": irregularities,
        "procedural": procedural, "by-ruling": by_ruling,
    }  # fmt: skip
