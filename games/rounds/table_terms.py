"""The terms in force at a table at a moment, read once and looked up for every round of a file."""

import datetime as dt
from bisect import bisect_right
from functools import cached_property
from typing import NamedTuple

from games.engine.box_numbers import numbers_of
from games.engine.rules.loader import rulebook
from games.engine.rules.rulebook import Layout, Rulebook
from games.floor.moments import day_bounds, gaming_day
from games.limits.selectors import limit_periods
from games.models import Casino, DiceFit, Staff, Table, TableAssignment


class TableTerms(NamedTuple):
    """The terms that a round is recorded with."""

    assignment_id: int
    book: Rulebook
    layout: Layout
    boxes: frozenset[int]
    limit_set_id: int | None
    dice_set_id: int | None
    gaming_day: dt.date
    day_ends: dt.datetime


class TableTermsCache:
    """The terms of one table: its games, limits and dice by time."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.pk = table.pk
        self.code = table.code
        self.casino: Casino = table.casino
        assignments = list(TableAssignment.objects.filter(table=table).order_by("during"))
        self._games = [(assignment.starts_at, assignment.pk, *self._game(assignment)) for assignment in assignments]
        self._game_starts = [assignment.starts_at for assignment in assignments]
        periods = list(reversed(limit_periods(table)))
        self._limits = [period.limit_set.pk for period in periods]
        self._limit_starts = [period.starts_at for period in periods]
        self._fits = list(DiceFit.objects.filter(table=table).order_by("during"))
        self._fit_starts = [fit.during.lower for fit in self._fits]
        self._day: tuple[dt.datetime, dt.datetime, dt.date] | None = None

    @staticmethod
    def _game(assignment: TableAssignment) -> tuple[Rulebook, Layout, frozenset[int]]:
        book = rulebook(assignment.rulebook)
        layout = book.layouts[assignment.layout]
        return book, layout, numbers_of(layout)

    def at(self, moment: dt.datetime) -> TableTerms | None:
        """Return the terms in force at a moment; None if the table had no game yet."""
        game = bisect_right(self._game_starts, moment) - 1
        if game < 0:
            return None
        _, key, book, layout, boxes = self._games[game]
        limits = bisect_right(self._limit_starts, moment) - 1
        return TableTerms(
            key,
            book,
            layout,
            boxes,
            self._limits[limits] if limits >= 0 else None,
            self._dice(moment),
            *self._on(moment),
        )

    def _dice(self, moment: dt.datetime) -> int | None:
        index = bisect_right(self._fit_starts, moment) - 1
        if index < 0:
            return None
        fit = self._fits[index]
        return fit.dice_set_id if fit.during.upper is None or moment < fit.during.upper else None

    def _on(self, moment: dt.datetime) -> tuple[dt.date, dt.datetime]:
        """Return the gaming day and its end. Files come mostly day by day, so the last one is cached."""
        if self._day is None or not self._day[0] <= moment < self._day[1]:
            day = gaming_day(self.casino, moment)
            self._day = (*day_bounds(self.casino, day), day)
        _, ends, day = self._day
        return day, ends


class TermsCache:
    """The tables and people that rounds name, each read when first named."""

    def __init__(self) -> None:
        self._tables: dict[str, TableTermsCache | None] = {}

    def table(self, code: str) -> TableTermsCache | None:
        if code not in self._tables:
            table = Table.objects.select_related("casino").filter(code=code).first()
            self._tables[code] = TableTermsCache(table) if table else None
        return self._tables[code]

    @cached_property
    def _staff(self) -> dict[str, int]:
        return {number.upper(): key for key, number in Staff.objects.values_list("pk", "number")}

    def staff_id(self, number: str | None) -> int | None:
        """Return the id of a known staff number; an unknown number is kept as sent."""
        return self._staff.get(number.upper()) if number else None
