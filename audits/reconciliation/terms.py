"""What the rounds of a table are settled by: the game of its assignment, and the limits in force as known now."""

import datetime as dt
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from django.db import connection
from django.utils import timezone
from numpy.typing import NDArray

from audits.models import policy_of
from audits.reconciliation.checks.crew import Crews
from audits.reconciliation.checks.out_of_play import Closures
from audits.reconciliation.postgres_time import EPOCH, microseconds
from games.database.sql import query_rows
from games.engine.box_numbers import NUMBERS
from games.engine.kernel.chunks import COLUMNS
from games.engine.kernel.kernel import Kernel, KernelGame
from games.engine.rules.loader import rulebook
from games.engine.signs.completeness import incomplete_boxes
from games.engine.signs.limits import Limits
from games.limits.selectors import LimitPeriod, limit_periods
from games.models import LimitSet, Table, TableAssignment
from games.settlement_policies.selectors import Policy, policies_of

SIGN_INCOMPLETE = "sign-incomplete"


@dataclass(frozen=True)
class AppliedTerms:
    game: KernelGame
    limit_set: LimitSet | None
    rulings: tuple[str, ...] = ()  # the standing ones that the game follows


class TermsOfDay:
    """The games of a table by assignment and time, the kernel that settles them, and what a finding weighs."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.weights = policy_of(table.casino)
        assignments = list(TableAssignment.objects.filter(table=table).order_by("pk"))
        self.crews = Crews(table, assignments)
        signs = list(reversed(limit_periods(table)))
        policies = {
            book: policies_of(table.casino_id, book) for book in {assignment.rulebook for assignment in assignments}
        }
        starts = {sign.starts_at for sign in signs} | {
            one.starts_at for known in policies.values() for one in known[1:]
        }
        periods = [EPOCH, *sorted(starts)]
        self.closures = Closures(table, {assignment.pk: assignment.rulebook for assignment in assignments})
        self._assignments = np.array([assignment.pk for assignment in assignments], np.int64)
        self._starts = np.array([microseconds(period) for period in periods[1:]], np.int64)
        self._applied = [
            _applied(assignment, _last(signs, moment), _last(policies[assignment.rulebook], moment) or Policy())
            for assignment in assignments for moment in periods
        ]  # fmt: skip
        self.kernel = Kernel([one.game for one in self._applied])

    @cached_property
    def lacking(self) -> NDArray[np.bool_] | None:
        """For each game and box, whether the sign lacks a limit for it; None where no sign of the table does."""
        lines = np.zeros((len(self._applied), COLUMNS), np.bool_)
        for place, one in enumerate(self._applied):
            if SIGN_INCOMPLETE in one.game.book.procedural:
                boxes = incomplete_boxes(one.game.book, one.game.layout, one.game.limits)
                lines[place, [NUMBERS[code] for code in boxes]] = True
        return lines if lines.any() else None

    def places(self, assignments: NDArray[Any], started_at: NDArray[Any]) -> NDArray[np.intp]:
        """For each round, which of the kernel's games it is."""
        game = np.searchsorted(self._assignments, assignments)
        sign = np.searchsorted(self._starts, started_at, side="right")
        found: NDArray[np.intp] = game * (len(self._starts) + 1) + sign
        return found

    def at(self, assignment_id: int, started_at: dt.datetime) -> AppliedTerms:
        game = bisect_left(self._assignments, assignment_id)
        sign = bisect_right(self._starts, microseconds(started_at))
        return self._applied[game * (len(self._starts) + 1) + sign]


Dated = TypeVar("Dated", LimitPeriod, Policy)


def _last(periods: Sequence[Dated], moment: dt.datetime) -> Dated | None:
    """The one in force at a moment, of periods in the order of their start."""
    return next((period for period in reversed(periods) if period.starts_at <= moment), None)


def _applied(assignment: TableAssignment, period: LimitPeriod | None, policy: Policy) -> AppliedTerms:
    """Limits fit the layouts that a table has while they are in force; with any other they never meet a round."""
    book = rulebook(assignment.rulebook)
    sign = period.limit_set if period and _meet(assignment, period) else None
    limits = sign.sheet.limits() if sign else Limits()
    limits = replace(limits, chip_unit=policy.rounding or assignment.chip_unit)
    return AppliedTerms(KernelGame(book, book.layouts[assignment.layout], limits, policy.excess), sign, policy.rulings)


def _meet(assignment: TableAssignment, period: LimitPeriod) -> bool:
    ends_at = assignment.during.upper
    begins_before = ends_at is None or period.starts_at < ends_at
    return begins_before and (period.ends_at is None or assignment.starts_at < period.ends_at)


#: SQL by hand for the benchmark.
#: Asked before every part: most of its time is planning, so decisions on thresholds count without their casino.
STAMP = """
SELECT ARRAY(SELECT id FROM games_limitset WHERE table_id = %s ORDER BY id),
    ARRAY(SELECT id FROM games_tableassignment WHERE table_id = %s ORDER BY id),
    ARRAY(SELECT id FROM games_settlementpolicy WHERE casino_id = %s ORDER BY id),
    ARRAY(SELECT id FROM games_thresholddecision WHERE outcome = 'approved' AND effective_from <= %s ORDER BY id),
    (SELECT count(*) FROM games_historicalstaff), (SELECT count(*) FROM games_historicalduty),
    (SELECT count(*) FROM games_historicalcasino WHERE id = %s),
    (SELECT count(*) FROM games_tablestep WHERE table_id = %s),
    (SELECT count(*) FROM games_livewarning w JOIN games_liveround l ON l.id = w.live_round_id
        WHERE l.table_id = %s AND l.recorded_id IS NOT NULL)
"""
_KNOWN: dict[tuple[str, int], tuple[Any, TermsOfDay]] = {}


def terms_of_day(table: Table) -> TermsOfDay:
    """Made once a process, and anew when the table has other limits or another game, or findings weigh otherwise."""
    (stamp,) = query_rows(
        STAMP, *[table.pk] * 2, table.casino_id, timezone.now(), table.casino_id, *[table.pk] * 2
    )  # fmt: skip
    place = (str(connection.settings_dict["NAME"]), table.pk)
    known = _KNOWN.get(place)
    if known is None or known[0] != stamp:
        known = _KNOWN[place] = (stamp, TermsOfDay(table))
    return known[1]
