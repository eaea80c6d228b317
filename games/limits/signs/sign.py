"""Table signs: their content as rows for people and as a document for programs.

The rules require that the limits are displayed at the table.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from games.clauses import cited_for
from games.engine.boxes import Box
from games.engine.money import format_money
from games.engine.rules.loader import rulebook
from games.engine.rules.rulebook import Layout, Rulebook
from games.engine.signs.completeness import Missing
from games.engine.signs.limits import Limits, Range
from games.floor.approval import approval_notice
from games.floor.moments import as_text
from games.labels.boxes import BET_TYPES, bet_type_label, box_label
from games.labels.money import limit_label
from games.limits.selectors import SignAt
from games.models import LimitSet, Table, TableAssignment


@dataclass(frozen=True)
class SignRow:
    """Boxes of one bet type with the same odds and limits."""

    name: str
    boxes: str  # which boxes of the type; empty for all
    odds: str
    minimum: str
    maximum: str


@dataclass(frozen=True)
class Sign:
    """The content of a sign."""

    table: Table
    limit_set: LimitSet
    assignment: TableAssignment
    book: Rulebook
    layout: Layout
    currency: str
    starts_at: dt.datetime
    rows: list[SignRow]
    differentials: list[tuple[str, str]]
    rules: tuple[str, ...]
    notice: str  # on the approval of the rule document


def sign_of(table: Table, limit_set: LimitSet, assignment: TableAssignment) -> Sign:
    """Make the sign of a limit set for an assignment. It is in force from the later of the two."""
    book = rulebook(assignment.rulebook)
    layout = book.layouts[assignment.layout]
    limits = limit_set.sheet.limits(assignment.chip_unit)
    return Sign(
        table, limit_set, assignment, book, layout, table.casino.currency,
        max(limit_set.starts_at, assignment.starts_at), rows(layout, limits),
        [(bet_type_label(type_), limit_label(amount)) for type_, amount in limits.differential.items()],
        cited_for(book.id, "sign"), approval_notice(book, table.casino),
    )  # fmt: skip


def rows(layout: Layout, limits: Limits) -> list[SignRow]:
    def alike(box: Box) -> tuple[str, tuple[int, ...], Range]:
        return box.type, box.odds, limits.of(layout, box.code)

    found = []
    ordered = sorted(layout.boxes.values(), key=lambda box: _order(layout, box, limits))
    for (type_, odds, limit), group in groupby(ordered, key=alike):
        boxes = [box.code for box in group]
        whole = len(boxes) == len(layout.boxes_of(type_))
        found.append(
            SignRow(
                bet_type_label(type_),
                "" if whole else ", ".join(map(_box_part, boxes)),
                " / ".join(f"{odd} to 1" for odd in odds),
                limit_label(limit.minimum),
                limit_label(limit.maximum),
            )
        )
    return found


def _box_part(code: str) -> str:
    """Return a box's name without its bet type: `2-4` for Domino 2-4."""
    return box_label(code).rpartition(" ")[2]


def _order(layout: Layout, box: Box, limits: Limits) -> tuple[int, int]:
    """Return the sort key of a box: bet types as in the pay table, then boxes that are alike together."""
    of_type = layout.boxes_of(box.type)
    first = next(
        index
        for index, other_box in enumerate(of_type)
        if other_box.odds == box.odds and limits.of(layout, other_box.code) == limits.of(layout, box.code)
    )
    return list(BET_TYPES).index(box.type), first


def missing_text(lacking: Sequence[Missing]) -> str:
    """Name the limits that a sign lacks, one bet type at a time: Total (minimum and maximum; 4, 17)."""
    named = []
    for (type_, boxes), group in groupby(
        lacking, key=lambda missing: (missing.type, () if missing.is_whole_type else missing.boxes)
    ):
        what = " and ".join(missing.what for missing in group)
        codes = ", ".join(map(_box_part, boxes))
        named.append(f"{bet_type_label(type_)} ({what}{f'; {codes}' if codes else ''})")
    return ", ".join(named)


# --- For programs ----------------------------------------------------------------------------------


def boxes_document(limits: Limits) -> dict[str, dict[str, str]]:
    return {
        key: {
            name: format_money(amount)
            for name, amount in (("min", line.minimum), ("max", line.maximum))
            if amount is not None
        }
        for key, line in limits.by_key.items()
    }


def differential_document(limits: Limits) -> dict[str, str]:
    return {type_: format_money(amount) for type_, amount in limits.differential.items()}


def limits_document(sign: SignAt) -> dict[str, Any]:
    """Describe a sign as `limits_at` prints and the API answers it."""
    casino, limits, entry = sign.table.casino, sign.limits, sign.limit_set
    return {
        "table": sign.table.code,
        "at": as_text(sign.at, casino),
        "known_at": as_text(sign.known_at, casino),
        "rulebook": sign.assignment.rulebook if sign.assignment else None,
        "layout": sign.assignment.layout if sign.assignment else None,
        "from": as_text(entry.starts_at, casino),
        "to": as_text(sign.ends_at, casino) if sign.ends_at else None,
        "boxes": boxes_document(limits),
        "differential": differential_document(limits),
        "origin": entry.origin,
        "proposed_by": entry.proposed_by.number if entry.proposed_by else None,
        "approved_by": entry.approved_by.number if entry.approved_by else None,
    }
