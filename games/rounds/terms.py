"""What applies at a table at a moment: its game, limits, settlement policy, dice, tumbler, state and gaming day.

The one answer for recording, live rounds, practice, reconciliation, advice, signs and pages. `terms_at` answers for
one moment. `TermsHistory` answers for many: it reads each part of a table once, when that part is first needed, and
then looks up any moment without a query.

Games, limits and settlement policies are read as known now, or as known at `known_at`. Dice, tumblers and the steps of
a table bear no moment of recording; they are always as known now.
"""

import datetime as dt
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

from django.db.models import Q, QuerySet

from games.engine.box_numbers import numbers_of
from games.engine.rules.loader import rulebook
from games.engine.rules.rulebook import Layout, Rulebook
from games.engine.signs.limits import Limits
from games.floor.availability import Availability, Unavailable, availability_of
from games.floor.moments import FIRST, as_text, day_bounds, gaming_day
from games.limits.periods import LimitPeriod, limit_periods
from games.models import DiceFit, LimitSet, Staff, Table, TableAssignment, TableState, TumblerFit
from games.settlement_policies.selectors import Policy, policies_of

Value = TypeVar("Value")
Fit = TypeVar("Fit", DiceFit, TumblerFit)


class NoGameError(LookupError):
    """The table had no rulebook and layout; the message says where and when."""


@dataclass(frozen=True)
class Terms:
    """What applies at a table at a moment. Each part is read when it is first needed."""

    history: "TermsHistory" = field(repr=False)
    moment: dt.datetime
    pinned: TableAssignment | None = None  # the assignment that a recorded round keeps

    @property
    def table(self) -> Table:
        return self.history.table

    @property
    def known_at(self) -> dt.datetime | None:
        """None: as known now."""
        return self.history.known_at

    # --- The game ---

    @cached_property
    def assignment(self) -> TableAssignment | None:
        """None where the table had no game yet."""
        return self.pinned or self.history.assignments.at(self.moment)

    @property
    def _game(self) -> TableAssignment:
        if self.assignment is None:
            moment = as_text(self.moment, self.table.casino)
            raise NoGameError(f"{self.table} had no rulebook and layout at {moment}; ask for a later moment.")
        return self.assignment

    @cached_property
    def book(self) -> Rulebook:
        """Raise NoGameError where the table had no game yet."""
        return rulebook(self._game.rulebook)

    @cached_property
    def layout(self) -> Layout:
        """Raise NoGameError where the table had no game yet."""
        return self.book.layouts[self._game.layout]

    @property
    def chip_unit(self) -> int:
        """The smallest unit where the table had no game yet."""
        return self.assignment.chip_unit if self.assignment else 1

    # --- Limits and settlement policy ---

    @cached_property
    def limit_period(self) -> LimitPeriod | None:
        """The limits in force and when they end; None where there are none.

        Under a pinned assignment, limits that were never in force together with it do not apply: they fit the layouts
        that the table has while they are in force, and no other.
        """
        period = self.history.limit_periods.at(self.moment)
        if period is not None and self.pinned is not None and not _overlap(self.pinned, period):
            return None
        return period

    @property
    def limit_set(self) -> LimitSet | None:
        return self.limit_period.limit_set if self.limit_period else None

    def policy_of(self, book_id: str) -> Policy:
        """Return the settlement policy of the casino for a rulebook, perhaps another one than that of the table now."""
        return self.history.policies(book_id).at(self.moment) or Policy()

    @cached_property
    def policy(self) -> Policy:
        """How stakes that exceed the limits are cut and rounded, and by which rulings; nothing set without a game."""
        return self.policy_of(self.assignment.rulebook) if self.assignment else Policy()

    @cached_property
    def limits(self) -> Limits:
        """The limits as the engine takes them: rounded as the policy says, else to the chip unit."""
        return settling_limits(self.limit_set, self.chip_unit, self.policy)

    # --- The table ---

    @property
    def dice(self) -> DiceFit | None:
        """The dice set under the dome."""
        return _fitted(self.history.dice, self.moment)

    @property
    def tumbler(self) -> TumblerFit | None:
        return _fitted(self.history.tumblers, self.moment)

    @property
    def state(self) -> TableState | None:
        """Open, closed or suspended by the steps on record; None before the first of them, when nothing is known."""
        return self.history.availability.state_at(self.moment)

    @property
    def unavailable_in_play(self) -> Unavailable | None:
        """Why a round should not be played now, for a round in play: a table without any step was never opened."""
        return self.history.availability.while_played(self.moment, self.book.id)

    @property
    def gaming_day(self) -> dt.date:
        return self.history.day_at(self.moment).date


def terms_at(table: Table, moment: dt.datetime, known_at: dt.datetime | None = None) -> Terms:
    """Return what applies at a table at a moment, as known now or as known at another moment."""
    return TermsHistory(table, known_at, only_at=moment).at(moment)


def settling_limits(limit_set: LimitSet | None, chip_unit: int, policy: Policy) -> Limits:
    """Return limits as a round is settled by them: stakes are rounded to what the policy says, else the chip unit."""
    unit = policy.rounding or chip_unit
    return limit_set.sheet.limits(unit) if limit_set else Limits(chip_unit=unit)


def _overlap(assignment: TableAssignment, period: LimitPeriod) -> bool:
    ends_at = assignment.during.upper
    begins_before = ends_at is None or period.starts_at < ends_at
    return begins_before and (period.ends_at is None or assignment.starts_at < period.ends_at)


# --- Many moments of one table ---


class Periods(Generic[Value]):
    """Values by the moment from which each is in force, the first one first."""

    def __init__(self, dated: Iterable[tuple[dt.datetime, Value]]) -> None:
        pairs = list(dated)
        self.starts = [start for start, _ in pairs]
        self.values = [value for _, value in pairs]

    def at(self, moment: dt.datetime) -> Value | None:
        """Return the value in force at a moment; None before the first one."""
        place = bisect_right(self.starts, moment)
        return self.values[place - 1] if place else None


def _fitted(fits: Periods[Fit], moment: dt.datetime) -> Fit | None:
    """Return the last fitting begun by a moment, unless it was taken out by then."""
    fit = fits.at(moment)
    return fit if fit is not None and (fit.during.upper is None or moment < fit.during.upper) else None


class GamingDay(NamedTuple):
    date: dt.date
    begins: dt.datetime
    ends: dt.datetime


class PinnedTerms(NamedTuple):
    """What a round keeps of the terms as they were known when it was recorded."""

    assignment_id: int
    book: Rulebook
    layout: Layout
    boxes: frozenset[int]
    limit_set_id: int | None
    dice_set_id: int | None
    gaming_day: dt.date
    day_ends: dt.datetime


class TermsHistory:
    """The terms of one table at any moment. Each part is read once, when it is first needed.

    With `only_at` it reads the dice and tumbler of that moment only (over the years a table has thousands), and with
    them and the assignment what pages show of them: the set, the tumbler, the pit.
    """

    def __init__(
        self, table: Table, known_at: dt.datetime | None = None, *, only_at: dt.datetime | None = None
    ) -> None:
        self.table, self.known_at, self._only_at = table, known_at, only_at
        # Recording asks for these with every round, and Django's own attributes are slow
        self.pk: int = table.pk
        self.code = table.code
        self.casino_id = table.casino_id
        self._policies: dict[str, Periods[Policy]] = {}
        self._day: GamingDay | None = None
        self._pins: dict[tuple[int, dt.date], PinnedTerms | None] = {}
        self._last_pins: tuple[dt.datetime, dt.datetime, PinnedTerms | None] = (FIRST, FIRST, None)

    # --- The parts ---

    @cached_property
    def assignments(self) -> Periods[TableAssignment]:
        """The games of the table. Each ends where the next one begins."""
        known = Q() if self.known_at is None else Q(recorded_at__lte=self.known_at)
        assignments = self.table.assignments.filter(known).order_by("during")
        if self._only_at is not None:
            assignments = assignments.select_related("pit__casino")
        return Periods((assignment.starts_at, assignment) for assignment in assignments)

    @cached_property
    def limit_periods(self) -> Periods[LimitPeriod]:
        periods = reversed(limit_periods(self.table, self.known_at))
        return Periods((period.starts_at, period) for period in periods)

    def policies(self, book_id: str) -> Periods[Policy]:
        """Return the settlement policies of the casino for a rulebook."""
        if book_id not in self._policies:
            policies = policies_of(self.table.casino_id, book_id, self.known_at)
            self._policies[book_id] = Periods((policy.starts_at, policy) for policy in policies)
        return self._policies[book_id]

    @cached_property
    def dice(self) -> Periods[DiceFit]:
        return self._fits(self.table.dice_fits.all(), "dice_set")

    @cached_property
    def tumblers(self) -> Periods[TumblerFit]:
        return self._fits(self.table.tumbler_fits.all(), "tumbler")

    def _fits(self, fits: QuerySet[Fit], fitted: str) -> Periods[Fit]:
        if self._only_at is not None:
            fits = fits.filter(during__contains=self._only_at).select_related(fitted)
        return Periods((fit.during.lower, fit) for fit in fits.order_by("during"))

    @cached_property
    def availability(self) -> Availability:
        """The steps of the table: opened, closed, suspended, resumed."""
        return availability_of(self.table)

    # --- Answers ---

    def at(self, moment: dt.datetime) -> Terms:
        """Return what applies at a moment."""
        return Terms(self, moment)

    def under(self, assignment: TableAssignment, moment: dt.datetime) -> Terms:
        """Return what applies to a round that keeps this assignment, whatever game the table has at the moment."""
        return Terms(self, moment, assignment)

    def day_at(self, moment: dt.datetime) -> GamingDay:
        """Return the gaming day of a moment. The last one is kept: rounds of a file come mostly day by day."""
        if self._day is None or not self._day.begins <= moment < self._day.ends:
            date = gaming_day(self.table.casino, moment)
            self._day = GamingDay(date, *day_bounds(self.table.casino, date))
        return self._day

    def pins_at(self, moment: dt.datetime) -> PinnedTerms | None:
        """Return what a round that began at a moment keeps; None where the table had no game yet.

        Recording asks this with every round. Between two changes the answer is the same, and is looked up once.
        """
        begins, ends, pins = self._last_pins
        return pins if begins <= moment < ends else self._look_up_pins(moment)

    def _look_up_pins(self, moment: dt.datetime) -> PinnedTerms | None:
        day, place = self.day_at(moment), bisect_right(self._changes, moment)
        key = place, day.date
        if key not in self._pins:
            self._pins[key] = self._pinned(moment, day)
        begins = max([day.begins, *self._changes[max(place - 1, 0) : place]])
        ends = min([day.ends, *self._changes[place : place + 1]])
        self._last_pins = begins, ends, self._pins[key]
        return self._pins[key]

    @cached_property
    def _changes(self) -> list[dt.datetime]:
        """Every moment from which a round keeps something else; the turn of the gaming day aside."""
        taken_out = [fit.during.upper for fit in self.dice.values if fit.during.upper is not None]
        return sorted({*self.assignments.starts, *self.limit_periods.starts, *self.dice.starts, *taken_out})

    def _pinned(self, moment: dt.datetime, day: GamingDay) -> PinnedTerms | None:
        terms = self.at(moment)
        if terms.assignment is None:
            return None
        return PinnedTerms(
            terms.assignment.pk,
            terms.book,
            terms.layout,
            numbers_of(terms.layout),
            terms.limit_set.pk if terms.limit_set else None,
            terms.dice.dice_set_id if terms.dice else None,
            day.date,
            day.ends,
        )


class TermsCache:
    """The tables and people that rounds name, each read at its first mention."""

    def __init__(self) -> None:
        self._tables: dict[str, TermsHistory | None] = {}

    def table(self, code: str) -> TermsHistory | None:
        """Return the terms of a table by its code; None where there is no such table."""
        if code not in self._tables:
            table = Table.objects.select_related("casino").filter(code=code).first()
            self._tables[code] = TermsHistory(table) if table else None
        return self._tables[code]

    @cached_property
    def _staff(self) -> dict[str, int]:
        return {number.upper(): key for key, number in Staff.objects.values_list("pk", "number")}

    def staff_id(self, number: str | None) -> int | None:
        """Return the id of a person by their number; None where the number is not on record."""
        return self._staff.get(number.upper()) if number else None
