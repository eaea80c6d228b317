"""Select tables as they are now, and what was fitted to them when."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils import timezone

from games.models import (
    DiceFit,
    DiceSet,
    LimitProposal,
    LimitSet,
    Table,
    TableAssignment,
    Tumbler,
    TumblerFit,
)


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
        table_assignment.table_id: table_assignment
        for table_assignment in TableAssignment.objects.filter(table__in=keys, during__contains=now).select_related(
            "pit", "casino"
        )
    }
    dice = {
        dice_fit.table_id: dice_fit
        for dice_fit in DiceFit.objects.filter(table__in=keys, during__contains=now).select_related("dice_set")
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


def tumblers_now(tumblers: Iterable[Tumbler]) -> dict[int, TumblerFit]:
    """Find where each of these tumblers is now; those in store are left out."""
    current = TumblerFit.objects.filter(tumbler__in=list(tumblers), during__contains=timezone.now())
    return {fit.tumbler_id: fit for fit in current.select_related("table__casino")}


def fits_now(dice_sets: Iterable[DiceSet]) -> dict[int, DiceFit]:
    """Where each of these dice sets is now; those in store are left out."""
    current = DiceFit.objects.filter(dice_set__in=list(dice_sets), during__contains=timezone.now())
    return {fit.dice_set_id: fit for fit in current.select_related("table__casino")}
