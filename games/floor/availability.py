"""Table availability: whether a table was open for play at a moment, and which rule says that it was not.

A table's steps on record decide. Before its first step nothing is known of a table: rounds that are imported may have
been played before it was run with this product. A round in play is another matter, since it is sent while it is played:
a table that nobody has opened is closed for it.
"""

import datetime as dt
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db import connection

from games.engine.rules.loader import rulebook
from games.floor.moments import zone_of
from games.models import LiveWarning, Table, TableState, TableStep

CLOSED, SUSPENDED = LiveWarning.Kind.CLOSED.value, LiveWarning.Kind.SUSPENDED.value
STATE_AFTER = {
    TableStep.Kind.OPEN: TableState.OPEN,
    TableStep.Kind.CLOSE: TableState.CLOSED,
    TableStep.Kind.SUSPEND: TableState.SUSPENDED,
    TableStep.Kind.RESUME: TableState.OPEN,
}


@dataclass(frozen=True)
class Unavailable:
    """Why no round should have been played."""

    kind: str  # table-closed or table-suspended
    rules: tuple[str, ...]
    explain: str


class StepOnRecord(NamedTuple):
    """As much of a table's step as decides whether it was in play."""

    at: dt.datetime
    kind: str
    rules: list[str]
    checked: str | None  # the rulebook whose opening checks were passed for an opening


class Availability:
    """The steps of a table in the order of time. A place is how many of them had been taken at a moment."""

    def __init__(self, table: Table, steps: Sequence[StepOnRecord]) -> None:
        self.table = table
        self.moments = [step.at for step in steps]
        self._steps = list(steps)
        self._openings: list[StepOnRecord | None] = [None]
        for step in steps:
            is_opening = step.kind == TableStep.Kind.OPEN
            self._openings.append(step if is_opening else self._openings[-1])

    def state_at(self, moment: dt.datetime) -> TableState | None:
        """Return the state after the last step up to a moment; None before the first step."""
        place = bisect_right(self.moments, moment)
        return STATE_AFTER[TableStep.Kind(self._steps[place - 1].kind)] if place else None

    def at(self, moment: dt.datetime, book_id: str) -> Unavailable | None:
        """Tell why a round of this rulebook should not have been played at a moment; None where it could be."""
        return self.at_place(bisect_right(self.moments, moment), book_id)

    def at_place(self, place: int, book_id: str) -> Unavailable | None:
        """The same, after so many steps. Before the first step nothing is known."""
        if place == 0:
            return None
        step = self._steps[place - 1]
        since = self._clock(step.at)
        if step.kind == TableStep.Kind.SUSPEND:
            return Unavailable(SUSPENDED, tuple(step.rules), f"The table was suspended from {since}.")
        if step.kind == TableStep.Kind.CLOSE:
            return Unavailable(CLOSED, opening_rules(book_id), f"The table was closed from {since}.")
        opening = self._openings[place]
        if rulebook(book_id).opening_checks and (opening is None or opening.checked != book_id):
            return Unavailable(CLOSED, opening_rules(book_id), self._unchecked(opening))
        return None

    def while_played(self, moment: dt.datetime, book_id: str) -> Unavailable | None:
        """The same for a round in play: a table without any step was never opened."""
        if self._steps:
            return self.at(moment, book_id)
        cited = opening_rules(book_id)
        checks = ", and its opening checks were never signed" if rulebook(book_id).opening_checks else ""
        return Unavailable(CLOSED, cited, f"The table was never opened{checks}.")

    def _unchecked(self, opening: StepOnRecord | None) -> str:
        when = f" at {self._clock(opening.at)}" if opening else ""
        return f"The table was opened{when} without the signed opening checks of this rulebook."

    def _clock(self, moment: dt.datetime) -> str:
        return moment.astimezone(zone_of(self.table.casino)).isoformat(sep=" ", timespec="minutes")


def opening_rules(book_id: str) -> tuple[str, ...]:
    """The rules of a document on opening a table, as its data has them."""
    book = rulebook(book_id)
    return tuple(book.cite(*book.procedural.get(CLOSED, ())))


#: A statement of our own: it is asked for every table and day that is reconciled.
STEPS = """
SELECT s.at, s.kind, ARRAY(SELECT jsonb_array_elements_text(s.rules)),
    CASE WHEN c.passed THEN c.rulebook ELSE nullif(s.checks_of, '') END
FROM games_tablestep s LEFT JOIN games_openingcheck c ON c.id = s.check_signed_id
WHERE s.table_id = %s ORDER BY s.at, s.id
"""


def availability_of(table: Table) -> Availability:
    """Read a table's steps."""
    with connection.cursor() as cursor:
        cursor.execute(STEPS, [table.pk])
        return Availability(table, [StepOnRecord(*step) for step in cursor.fetchall()])
