"""Select signs: which limits were in force at a moment, as known at a moment."""

import datetime as dt
from dataclasses import dataclass

from django.db.models import Q, QuerySet
from django.utils import timezone

from games.access.gate import visible
from games.engine.signs.limits import Limits
from games.floor.moments import as_text
from games.models import (
    LimitProposal,
    LimitSet,
    Staff,
    Table,
    TableAssignment,
)


class NoLimitsError(LookupError):
    """No limits were in force; the message says where, when and as known when."""


@dataclass(frozen=True)
class SignAt:
    """A table's sign at a moment, as known at a moment."""

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
    """Return the sign at a moment, as known now or at another moment."""
    known = known_at or timezone.now()
    periods = limit_periods(table, known_at=known)
    current = next((period for period in periods if period.starts_at <= at), None)
    if current is None:
        raise NoLimitsError(_no_limits(table, at, known_at, periods[-1].starts_at if periods else None))
    assignment = table.assignment_at(at, known)
    return SignAt(table, at, known, current.limit_set, current.ends_at, assignment)


def _no_limits(table: Table, at: dt.datetime, known_at: dt.datetime | None, first: dt.datetime | None) -> str:
    known = f" as known at {as_text(known_at, table.casino)}" if known_at else ""
    remedy = f"the first are in force from {as_text(first, table.casino)}" if first else "none are on record"
    return f"{table}: no limits were in force at {as_text(at, table.casino)}{known}; {remedy}."


@dataclass(frozen=True)
class LimitPeriod:
    """A limit set with the moment at which the next one takes over."""

    limit_set: LimitSet
    ends_at: dt.datetime | None

    @property
    def starts_at(self) -> dt.datetime:
        return self.limit_set.starts_at


def limit_periods(table: Table, known_at: dt.datetime | None = None) -> list[LimitPeriod]:
    """List all limits of a table as known at a moment, the latest first, each in its latest revision."""
    known = Q() if known_at is None else Q(recorded_at__lte=known_at)
    sets = (
        LimitSet.objects.filter(known, table=table)
        .order_by("-starts_at", "-revision")
        .select_related("sheet", "decision__decided_by", "decision__proposal__proposed_by")
        .prefetch_related("sheet__lines", "sheet__differentials")
    )
    periods: list[LimitPeriod] = []
    for limit_set in sets:
        if not periods or periods[-1].starts_at != limit_set.starts_at:
            periods.append(LimitPeriod(limit_set, periods[-1].starts_at if periods else None))
    return periods


def pending_proposals(actor: Staff) -> QuerySet[LimitProposal]:
    """Select the pending proposals that the actor may see."""
    waiting = LimitProposal.objects.filter(decision=None).select_related("pit__casino", "proposed_by")
    return visible(actor, waiting).prefetch_related("tables")
