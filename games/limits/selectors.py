"""Select signs: which limits were in force when, and as known when."""

import datetime as dt
from dataclasses import dataclass

from django.db.models import QuerySet
from django.utils import timezone

from games.access.gate import visible
from games.engine.signs.limits import Limits
from games.floor.moments import as_text
from games.models import LimitProposal, LimitSet, Staff, Table, TableAssignment
from games.rounds.terms import terms_at


class NoLimitsError(LookupError):
    """No limits were in force; the message says where, when and as known when."""


@dataclass(frozen=True)
class SignAt:
    """What stood on a table's sign at a moment, as known at a moment."""

    table: Table
    at: dt.datetime
    known_at: dt.datetime
    limit_set: LimitSet
    ends_at: dt.datetime | None
    assignment: TableAssignment | None

    @property
    def limits(self) -> Limits:
        return self.limit_set.sheet.limits(self.assignment.chip_unit if self.assignment else 1)


def limits_at(*, table: Table, at: dt.datetime, known_at: dt.datetime | None = None) -> SignAt:
    """Return what the sign said at a moment, as known now or at another moment. Raise NoLimitsError where none did."""
    known = known_at or timezone.now()
    terms = terms_at(table, at, known)
    if (period := terms.limit_period) is None:
        starts = terms.history.limit_periods.starts
        raise NoLimitsError(_no_limits(table, at, known_at, starts[0] if starts else None))
    return SignAt(table, at, known, period.limit_set, period.ends_at, terms.assignment)


def _no_limits(table: Table, at: dt.datetime, known_at: dt.datetime | None, first: dt.datetime | None) -> str:
    known = f" as known at {as_text(known_at, table.casino)}" if known_at else ""
    remedy = f"the first are in force from {as_text(first, table.casino)}" if first else "none are on record"
    return f"{table}: no limits were in force at {as_text(at, table.casino)}{known}; {remedy}."


def pending_proposals(actor: Staff) -> QuerySet[LimitProposal]:
    """What waits for a decision, of all that the actor may see."""
    waiting = LimitProposal.objects.filter(decision=None).select_related("pit__casino", "proposed_by")
    return visible(actor, waiting).prefetch_related("tables")
