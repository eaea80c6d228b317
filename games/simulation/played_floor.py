"""The floor that is played on: tables with game, signs and dealers, from a floor file."""

import datetime as dt
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from games.engine.errors import InputError
from games.engine.money import parse_positive_money
from games.engine.rules.loader import rulebook
from games.engine.rules.rulebook import Layout, Rulebook
from games.floor.floor_file import Floor, LimitsEntry, TableEntry, read_floor
from games.floor.moments import day_bounds
from games.models import Casino
from games.simulation.payout import Dice, winners

SHIFTS = 3
SHIFT_HOURS = 8
SMALLEST_CHIP = 5_00


@dataclass(frozen=True)
class BoxLimits:
    """The limits of one box; None if the sign has none."""

    minimum: int | None = None
    maximum: int | None = None


@dataclass(frozen=True)
class PlayedSign:
    """The limits of every box, and the differentials, from a moment on."""

    starts_at: dt.datetime
    boxes: dict[str, BoxLimits]
    differential: dict[str, int]

    def of(self, box: str) -> BoxLimits:
        return self.boxes.get(box, NO_LIMITS)


NO_LIMITS = BoxLimits()
NO_SIGN = PlayedSign(dt.datetime.min.replace(tzinfo=dt.UTC), {}, {})


@dataclass(frozen=True)
class PlayedTable:
    """A table, and everything its rounds depend on."""

    code: str
    casino: Casino
    book: Rulebook
    layout: Layout
    chip_unit: int
    signs: tuple[PlayedSign, ...]  # in order of time
    dealers: tuple[str, ...] = ()
    supervisors: tuple[str, ...] = ()
    managers: tuple[str, ...] = ()  # of the shift
    place: int = 0  # its place among the tables of its pit, which decides whose turn it is to deal

    def odds(self, dice: Dice) -> dict[str, int]:
        """Return the winning boxes of a throw with their odds to 1."""
        if dice not in self._odds:
            self._odds[dice] = winners(self.layout, dice)
        return self._odds[dice]

    @cached_property
    def _odds(self) -> dict[Dice, dict[str, int]]:
        return {}

    def sign_at(self, moment: dt.datetime) -> PlayedSign:
        place = bisect_right(self.signs, moment, key=lambda sign: sign.starts_at)
        return self.signs[place - 1] if place else NO_SIGN

    def dealer_at(self, hour: int) -> str | None:
        """Return the dealer: three shifts a day; within a shift, dealers move to the next table every hour."""
        group = self.dealers[hour // SHIFT_HOURS % SHIFTS :: SHIFTS] or self.dealers
        return group[(self.place + hour) % len(group)] if group else None

    def supervisor_at(self, hour: int) -> str | None:
        return self.supervisors[hour // SHIFT_HOURS % len(self.supervisors)] if self.supervisors else None

    @cached_property
    def pairs(self) -> dict[str, tuple[str, str]]:
        """Return the two boxes of each bet type that may have a differential."""
        types = [type_ for type_ in self.book.limits.differential if type_ in self.layout.types]
        boxes = {type_: [box.code for box in self.layout.boxes_of(type_)] for type_ in types}
        return {type_: (first, second) for type_, (first, second) in boxes.items()}

    @cached_property
    def usual_chip(self) -> int:
        """Return the smallest chip of players where no minimum requires more."""
        return max(self.chip_unit, SMALLEST_CHIP)

    @cached_property
    def tumbles_first(self) -> bool:
        """Say whether the tumbler runs before betting opens."""
        return self._may_tumble("new")

    @cached_property
    def tumbles_while_open(self) -> bool:
        """Say whether the tumbler may run while betting is open."""
        return self._may_tumble("open")

    def _may_tumble(self, state: str) -> bool:
        return any(step.kind == "tumbler" and step.before == state for step in self.book.play)


def played_tables(path: Path, day: dt.date) -> Iterator[PlayedTable]:
    """Return the tables of a floor file that have a game on that gaming day, with their limits."""
    yield from tables_of(read_floor(path.read_bytes()), day)


def tables_of(floor: Floor, day: dt.date) -> Iterator[PlayedTable]:
    casinos = {casino.values["code"]: Casino(**casino.values) for casino in floor.casinos}
    places: dict[tuple[str, str], int] = {}
    for code in dict.fromkeys(entry.code for entry in floor.tables):
        entries = sorted((table for table in floor.tables if table.code == code), key=lambda entry: entry.starts_at)
        casino = casinos.get(entries[0].casino)
        if casino is None:
            raise InputError(f"table {code}: the file does not have its casino {entries[0].casino}; add it.")
        entry = _game(entries, casino, day)
        if entry is not None:
            pit = (entry.casino, entry.pit)
            places[pit] = places.get(pit, -1) + 1
            yield _table(floor, casino, entry, places[pit])


def _game(entries: list[TableEntry], casino: Casino, day: dt.date) -> TableEntry | None:
    """Return the game of the table on that day; a table does not change its game during a day."""
    starts, ends = day_bounds(casino, day)
    if any(starts < entry.starts_at < ends for entry in entries):
        raise InputError(f"table {entries[0].code}: gets another game in the middle of {day}; choose another day.")
    return next((entry for entry in reversed(entries) if entry.starts_at <= starts), None)


def _table(floor: Floor, casino: Casino, entry: TableEntry, place: int) -> PlayedTable:
    book = rulebook(entry.rulebook)
    layout = book.layouts[entry.layout]
    signs = [_sign(layout, limit) for limit in floor.limits if entry.code in limit.tables]

    def people(post: str) -> tuple[str, ...]:
        there = (staff for staff in floor.staff if staff.post == post and staff.casino == entry.casino)
        return tuple(staff.number for staff in there if staff.pit in (None, entry.pit))

    return PlayedTable(
        entry.code, casino, book, layout, parse_positive_money(entry.chip_unit),
        tuple(sorted(signs, key=lambda sign: sign.starts_at)), people("dealer"), people("pit-supervisor"),
        people("shift-manager"), place,
    )  # fmt: skip


def _sign(layout: Layout, entry: LimitsEntry) -> PlayedSign:
    """Read limits. An entry of a box replaces the whole entry of its type."""
    lines = entry.limits.by_key
    ranges = {code: lines.get(code) or lines.get(box.type) for code, box in layout.boxes.items()}
    boxes = {code: BoxLimits(line.minimum, line.maximum) for code, line in ranges.items() if line is not None}
    return PlayedSign(entry.starts_at, boxes, dict(entry.limits.differential))
