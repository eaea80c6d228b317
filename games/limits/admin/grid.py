"""The grid of limits: one row per bet, one column per table, each cell with the old and the new value.

A cell that was not edited is never part of a proposal. The grid knows which sign each column was filled from, so that
a sign that changed meanwhile is not mistaken for an edit.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from django.http import QueryDict

from games.engine.money import MoneyError, format_money, parse_money
from games.engine.rules.rulebook import Layout, Rulebook
from games.engine.signs.changes import NAMES, LimitChange
from games.engine.signs.edits import Edits, edited, removals
from games.engine.signs.limits import Limits, Range
from games.labels.boxes import BET_TYPES, key_label
from games.labels.rules import game_label
from games.models import LimitSet, Table

DASHES = ("-", "–")
#: Thousands separated by commas or spaces, in groups of exactly three digits.
GROUPED = re.compile(r"\d{1,3}(?:(?:,\d{3})+|(?: \d{3})+)(?:\.\d*)?", re.ASCII)
ALL = "all"


def amount_of(text: str) -> int | None:
    """Read an amount as people write it: 10,000 and 10 000 are equal; 10,0000 is refused as a typing error."""
    plain = text.strip()
    if GROUPED.fullmatch(plain):
        plain = plain.replace(",", "").replace(" ", "")
    return None if not plain or plain in DASHES else parse_money(plain)


def written(amount: int | None) -> str:
    return "" if amount is None else format_money(amount).removesuffix(".00")


@dataclass
class GridCell:
    """One figure of one table's sign: its present value (`base`) and the value typed (`text`)."""

    name: str
    label: str
    base: str
    text: str
    amount: int | None = None
    error: str = ""

    @property
    def is_edited(self) -> bool:
        return bool(self.error) or _plain(self.text) != _plain(self.base)

    @property
    def is_emptied(self) -> bool:
        return not self.error and self.is_edited and not _plain(self.text)


def _plain(text: str) -> str:
    try:
        return written(amount_of(text))
    except MoneyError:
        return text


@dataclass
class GridColumn:
    """One table: its layout, and the sign that its cells were filled from."""

    table: Table
    book: Rulebook
    layout: Layout
    base: LimitSet | None
    is_filled: bool = True  # presets and whole rows fill this column

    @cached_property
    def limits(self) -> Limits:
        return self.base.sheet.limits() if self.base else Limits()

    @property
    def game(self) -> str:
        return game_label(self.book.id, self.layout.code)

    def has(self, key: str, figure: str) -> bool:
        if figure == "differential":
            return key in self.book.limits.differential and key in self.layout.types
        return key in self.layout.types or key in self.layout.boxes

    def base_text(self, key: str, figure: str) -> str:
        limits = self.limits
        if figure == "differential":
            return written(limits.differential.get(key))
        line = limits.by_key.get(key)
        if line == Range() and key not in BET_TYPES:
            return DASHES[0]  # a box without limits, in spite of the limits of its type
        return written((line.minimum if figure == "min" else line.maximum) if line else None)


@dataclass
class GridRow:
    """One bet type, box or differential for all tables; None where a layout does not have it."""

    key: str
    figures: tuple[str, ...]
    cells: list[list[GridCell] | None] = field(default_factory=list)
    whole: list[GridCell] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{key_label(self.key)} differential" if self.is_differential else key_label(self.key)

    @property
    def is_differential(self) -> bool:
        return self.figures == ("differential",)

    @property
    def is_box(self) -> bool:
        return self.key not in BET_TYPES

    @property
    def id(self) -> str:
        return f"{'differential' if self.is_differential else 'boxes'}.{self.key}"


class LimitGrid:
    """The whole grid, as first shown or as sent."""

    def __init__(self, columns: Sequence[GridColumn], sent: QueryDict | None = None) -> None:
        self.columns = list(columns)
        self.sent = sent
        if sent is not None and not sent.get("untouched"):
            for column in self.columns:
                column.is_filled = f"use.{column.table.pk}" in sent
        self.fill_in()

    def fill_in(self) -> None:
        """Make rows and cells from the signs and from the data sent."""
        self.rows = [self._row(key, figures) for key, figures in self._keys()]

    def _keys(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        for type_ in BET_TYPES:
            if any(column.has(type_, "min") for column in self.columns):
                yield type_, ("min", "max")
        for type_ in BET_TYPES:
            if any(column.has(type_, "differential") for column in self.columns):
                yield type_, ("differential",)
        for box in self.boxes():
            yield box, ("min", "max")

    def boxes(self) -> list[str]:
        """List the boxes with a row of their own: those on a sign now, and those added to the form."""
        on_signs = {key for column in self.columns for key in column.limits.by_key if key not in BET_TYPES}
        added = set(self.sent.getlist("box")) if self.sent is not None else set()
        return [box for box in self.known_boxes() if box in on_signs | added]

    def known_boxes(self) -> list[str]:
        return list(dict.fromkeys(box for column in self.columns for box in column.layout.boxes))

    def _row(self, key: str, figures: tuple[str, ...]) -> GridRow:
        row = GridRow(key, figures)
        for column in self.columns:
            known = column.has(key, figures[0])
            row.cells.append([self._cell(column, key, figure) for figure in figures] if known else None)
        row.whole = [
            GridCell(name, f"{NAMES[figure].capitalize()}, {key_label(key)}, all tables", "", self._sent(name, ""))
            for figure in figures
            if (name := f"{figure}.{ALL}.{key}")
        ]
        return row

    def _cell(self, column: GridColumn, key: str, figure: str) -> GridCell:
        name = f"{figure}.{column.table.pk}.{key}"
        base = column.base_text(key, figure)
        label = f"{NAMES[figure].capitalize()}, {key_label(key)}, {column.table}"
        return GridCell(name, label, base, self._sent(name, base))

    def _sent(self, name: str, default: str) -> str:
        return self.sent.get(name, default)[:40] if self.sent is not None else default

    # --- Filling ---

    def fill_row(self, row_id: str) -> None:
        """Copy a row's value for all tables into the cells to be filled."""
        for row in self.rows:
            if row.id == row_id:
                for place, whole in enumerate(row.whole):
                    if whole.text.strip():
                        self._fill(row, place, whole.text.strip())
                        whole.text = ""

    def fill(self, limits: Limits) -> None:
        """Copy a preset's values into the cells of the bets that a layout has."""
        for row in self.rows:
            line = limits.by_key.get(row.key, Range())
            figures = {"min": line.minimum, "max": line.maximum, "differential": limits.differential.get(row.key)}
            for place, figure in enumerate(row.figures):
                if (amount := figures[figure]) is not None:
                    self._fill(row, place, written(amount))

    def _fill(self, row: GridRow, place: int, text: str) -> None:
        for column, cells in zip(self.columns, row.cells, strict=True):
            if cells is not None and column.is_filled:
                cells[place].text = text

    # --- Reading ---

    def read(self) -> bool:
        """Read every amount, with faults in their cells; return whether there are none."""
        for row in self.rows:
            for whole in row.whole:
                if whole.text.strip():
                    whole.error = "Not applied yet. Choose Apply, or clear the field."
            for cells in filter(None, row.cells):
                self._read_cells(cells)
        return not any(cell.error for row in self.rows for cell in self._cells_of(row))

    def _read_cells(self, cells: list[GridCell]) -> None:
        for cell in cells:
            try:
                cell.amount = amount_of(cell.text)
            except MoneyError as error:
                cell.error = f"{error}."
        low, high = cells[0].amount, cells[-1].amount
        if len(cells) > 1 and low is not None and high is not None and low > high:
            cells[-1].error = "The maximum is below the minimum."

    @staticmethod
    def _cells_of(row: GridRow) -> Iterator[GridCell]:
        yield from row.whole
        for cells in filter(None, row.cells):
            yield from cells

    def edits(self) -> dict[Table, Edits]:
        """Return the edited figures, for each table with edits."""
        found = {}
        for place, column in enumerate(self.columns):
            figures: dict[tuple[str, str], int | None] = {}
            free = set()
            for row in self.rows:
                cells = row.cells[place]
                if cells is None or not any(cell.is_edited or cell.text != cell.base for cell in cells):
                    continue
                figures |= {
                    (row.key, figure): cell.amount
                    for figure, cell in zip(row.figures, cells, strict=True)
                    if cell.is_edited or (row.is_box and cell.text.strip() != cell.base)
                }
                is_free = any(cell.text.strip() in DASHES for cell in cells)
                if row.is_box and is_free and all(cell.amount is None for cell in cells):
                    free.add(row.key)
            if figures or free:
                found[column.table] = Edits(figures, frozenset(free))
        return found

    def removals(self) -> list[tuple[Table, LimitChange]]:
        """List the limits that the edits would remove from a sign."""
        edits = self.edits()
        return [
            (column.table, change)
            for column in self.columns
            if column.table in edits
            for change in removals(column.layout, column.limits, edited(column.limits, edits[column.table]))
        ]

    @property
    def count(self) -> int:
        return sum(cell.is_edited for row in self.rows for cells in filter(None, row.cells) for cell in cells)
