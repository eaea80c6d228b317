"""What the rounds of a table are settled by: the assignment that each keeps, and limits and policies as known now."""

import datetime as dt
from bisect import bisect_left, bisect_right
from functools import cached_property
from typing import Any

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
from games.engine.signs.completeness import incomplete_boxes
from games.models import Table
from games.rounds.terms import Terms, TermsHistory

SIGN_INCOMPLETE = "sign-incomplete"


class TermsOfDay:
    """The games of a table by assignment and time, the kernel that settles them, and what a finding weighs."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.weights = policy_of(table.casino)
        history = TermsHistory(table)
        assignments = sorted(history.assignments.values, key=lambda assignment: assignment.pk)
        self.crews = Crews(table, assignments)
        starts = set(history.limit_periods.starts)
        for book_id in {assignment.rulebook for assignment in assignments}:
            starts.update(history.policies(book_id).starts[1:])  # the first one sets nothing
        periods = [EPOCH, *sorted(starts)]
        books = {assignment.pk: assignment.rulebook for assignment in assignments}
        self.closures = Closures(table, history.availability, books)
        self._assignments = np.array([assignment.pk for assignment in assignments], np.int64)
        self._starts = np.array([microseconds(period) for period in periods[1:]], np.int64)
        self._terms = [history.under(assignment, moment) for assignment in assignments for moment in periods]
        self.kernel = Kernel([kernel_game(terms) for terms in self._terms])

    @cached_property
    def lacking(self) -> NDArray[np.bool_] | None:
        """For each game and box, whether the sign lacks a limit for it; None where no sign of the table does."""
        lines = np.zeros((len(self._terms), COLUMNS), np.bool_)
        for place, terms in enumerate(self._terms):
            if SIGN_INCOMPLETE in terms.book.procedural:
                boxes = incomplete_boxes(terms.book, terms.layout, terms.limits)
                lines[place, [NUMBERS[code] for code in boxes]] = True
        return lines if lines.any() else None

    def places(self, assignments: NDArray[Any], started_at: NDArray[Any]) -> NDArray[np.intp]:
        """For each round, which of the kernel's games it is."""
        game = np.searchsorted(self._assignments, assignments)
        sign = np.searchsorted(self._starts, started_at, side="right")
        found: NDArray[np.intp] = game * (len(self._starts) + 1) + sign
        return found

    def at(self, assignment_id: int, started_at: dt.datetime) -> Terms:
        """Return the game, limits and policy that a round is settled by.

        They are those of the whole period in which it began; `moment` is the beginning of that period.
        """
        game = bisect_left(self._assignments, assignment_id)
        sign = bisect_right(self._starts, microseconds(started_at))
        return self._terms[game * (len(self._starts) + 1) + sign]


def kernel_game(terms: Terms) -> KernelGame:
    """Return the terms as the kernel takes them."""
    return KernelGame(terms.book, terms.layout, terms.limits, terms.policy.excess)


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
