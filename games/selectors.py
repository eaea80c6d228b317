"""The readers."""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from games.engine.limits import Limits
from games.models import (
    DiceFit,
    DiceSet,
    Duty,
    LimitProposal,
    LimitSet,
    Round,
    Staff,
    Table,
    TableAssignment,
    Tumbler,
    TumblerFit,
)
from games.moments import as_text
from games.services.gate import visible


def duties_at(actor: Staff, moment: dt.datetime | None = None) -> QuerySet[Duty]:
    """Who acts in which post at a moment, of all that the actor may see; now, where none is given."""
    at = moment or timezone.now()
    current = Duty.objects.filter(starts_at__lte=at, ends_at__gt=at)
    return visible(actor, current).select_related("staff", "casino", "pit__casino").order_by("ends_at")


# --- What the sign said ----------------------------------------------------------------------------


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
    """What the sign said at a moment: as known now, or as it was known at another moment."""
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
    """All limits of a table as known at a moment, the latest first; of each moment the latest revision counts."""
    known = Q() if known_at is None else Q(recorded_at__lte=known_at)
    sets = (
        LimitSet.objects.filter(known, table=table)
        .order_by("-starts_at", "-revision")
        .select_related("sheet", "decision__decided_by", "decision__proposal__proposed_by")
        .prefetch_related("sheet__lines", "sheet__differentials")
    )
    periods: list[LimitPeriod] = []
    for one in sets:
        if not periods or periods[-1].starts_at != one.starts_at:
            periods.append(LimitPeriod(one, periods[-1].starts_at if periods else None))
    return periods


# --- Tables and dice -------------------------------------------------------------------------------


@dataclass(frozen=True)
class FloorLine:
    """A table as a list shows it."""

    table: Table
    assignment: TableAssignment | None
    sign: LimitSet | None
    next_sign: LimitSet | None
    dice: DiceFit | None
    pending: int
    tumbler: TumblerFit | None = None


def floor_lines(tables: Iterable[Table]) -> dict[int, FloorLine]:
    """Many tables as they are now, in a handful of queries however many they are."""
    now = timezone.now()
    found = list(tables)
    keys = [table.pk for table in found]
    assignments = {
        one.table_id: one
        for one in TableAssignment.objects.filter(table__in=keys, during__contains=now).select_related("pit", "casino")
    }
    dice = {
        one.table_id: one
        for one in DiceFit.objects.filter(table__in=keys, during__contains=now).select_related("dice_set")
    }
    fitted = TumblerFit.objects.filter(table__in=keys, during__contains=now).select_related("tumbler")
    tumblers = {fit.table_id: fit for fit in fitted}
    sets = LimitSet.objects.filter(table__in=keys).order_by("starts_at", "revision")
    sets = sets.select_related("sheet").prefetch_related("sheet__lines", "sheet__differentials")
    current: dict[int, LimitSet] = {}
    coming: dict[int, LimitSet] = {}
    for one in sets:  # a later revision of the same moment comes after the one it replaces
        if one.starts_at <= now:
            current[one.table_id] = one
        elif one.table_id not in coming or coming[one.table_id].starts_at == one.starts_at:
            coming[one.table_id] = one
    pending: dict[int, int] = {}
    for (key,) in LimitProposal.objects.filter(decision=None, tables__in=keys).values_list("tables"):
        pending[key] = pending.get(key, 0) + 1
    return {
        table.pk: FloorLine(
            table, assignments.get(table.pk), current.get(table.pk), coming.get(table.pk), dice.get(table.pk),
            pending.get(table.pk, 0), tumblers.get(table.pk),
        )
        for table in found
    }  # fmt: skip


def dice_at(*, table: Table, at: dt.datetime) -> DiceFit | None:
    """Which dice were under the dome."""
    return DiceFit.objects.filter(table=table, during__contains=at).select_related("dice_set").first()


def tumbler_at(*, table: Table, at: dt.datetime) -> TumblerFit | None:
    """Find the tumbler that a table had at a moment."""
    return TumblerFit.objects.filter(table=table, during__contains=at).select_related("tumbler").first()


def tumblers_now(tumblers: Iterable[Tumbler]) -> dict[int, TumblerFit]:
    """Find where each of these tumblers is now; those in store are left out."""
    current = TumblerFit.objects.filter(tumbler__in=list(tumblers), during__contains=timezone.now())
    return {fit.tumbler_id: fit for fit in current.select_related("table__casino")}


def fits_now(dice_sets: Iterable[DiceSet]) -> dict[int, DiceFit]:
    """Where each of these dice sets is now; those in store are left out."""
    current = DiceFit.objects.filter(dice_set__in=list(dice_sets), during__contains=timezone.now())
    return {fit.dice_set_id: fit for fit in current.select_related("table__casino")}


def pending_proposals(actor: Staff) -> QuerySet[LimitProposal]:
    """What waits for a decision, of all that the actor may see."""
    waiting = LimitProposal.objects.filter(decision=None).select_related("pit__casino", "proposed_by")
    return visible(actor, waiting).prefetch_related("tables")


# --- Rounds ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RoundFilter:
    """Which rounds of all that somebody may see; every part may be left out."""

    table: str | None = None
    day: dt.date | None = None
    dealer: str | None = None
    player: str | None = None
    status: str | None = None


def rounds_found(actor: Any, wanted: RoundFilter) -> QuerySet[Round]:
    """By index only: nothing is counted, and a page is found by where the last one ended."""
    rounds = visible(actor, Round.objects.select_related("table__casino", "dice_set"))
    if wanted.table is not None:
        rounds = rounds.filter(table__code=wanted.table)
    if wanted.day is not None:
        rounds = rounds.filter(gaming_day=wanted.day)
    if wanted.dealer is not None:
        rounds = rounds.filter(dealer=wanted.dealer)
    if wanted.player is not None:
        rounds = rounds.filter(players__contains=[wanted.player])
    if wanted.status is not None:
        rounds = rounds.filter(status=wanted.status)
    return rounds.order_by("-started_at", "-pk")
