"""Dice sets: registered, fitted to a table and taken out, inspected, retired."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.utils import timezone

from games.access.gate import Actor, actor_name, authorize
from games.floor.moments import as_text
from games.floor.services.casinos import verify_pit_of_casino
from games.history.audited_save import record_change, record_save, verify_reason
from games.models import Casino, DiceFit, DiceInspection, DiceSet, Pit, Staff, Table, TableState
from games.rounds.terms import terms_at


@transaction.atomic
def dice_set_create(
    *, actor: Actor, casino: Casino, pit: Pit, code: str, serials: list[str], seal: str, reason: str
) -> DiceSet:
    authorize(actor, "diceset.add", pit)
    verify_pit_of_casino(pit, casino)
    Casino.objects.select_for_update().get(pk=casino.pk)  # one at a time, so that no die gets into two sets
    dice_set = DiceSet(
        casino=casino, pit=pit, code=code, serials=[serial.strip() for serial in serials], seal=seal.strip()
    )
    verify_serials_free(dice_set)
    record_save(dice_set, actor=actor, reason=reason)
    return dice_set


def verify_serials_free(dice_set: DiceSet) -> None:
    """A die belongs to one set; upper and lower case make no difference on a die."""
    given = {serial.upper() for serial in dice_set.serials}
    for other in DiceSet.objects.filter(casino=dice_set.casino).exclude(pk=dice_set.pk):
        if shared := sorted(serial for serial in other.serials if serial.upper() in given):
            fault = f"{', '.join(shared)}: a die of the set {other}; a die belongs to one set."
            raise ValidationError({"serials": fault})


@transaction.atomic
def dice_set_update(*, actor: Actor, dice_set: DiceSet, changes: dict[str, Any], reason: str) -> bool:
    """Its code and the pit that keeps it. The dice stay, and the seal changes with an inspection."""
    current = _locked(dice_set)
    authorize(actor, "diceset.change", current)
    kept = {name for name, value in changes.items() if name not in ("code", "pit") and getattr(current, name) != value}
    if kept:
        raise ValidationError(f"{', '.join(sorted(kept))}: the dice stay, and the seal changes with an inspection.")
    if "pit" in changes and changes["pit"] != current.pit:
        verify_pit_of_casino(changes["pit"], current.casino)
        authorize(actor, "diceset.change", DiceSet(casino=current.casino, pit=changes["pit"]))
        if fit := fit_of(current):
            raise ValidationError({"pit": f"The set is at {fit.table}; take it out first."})
    return record_change(current, changes, actor=actor, reason=reason)


@transaction.atomic
def dice_fit(*, actor: Actor, dice_set: DiceSet, table: Table, reason: str) -> DiceFit:
    """Under the dome of a table that is not in play."""
    at_table = Table.objects.select_for_update().select_related("casino").get(pk=table.pk)
    current = _locked(dice_set)
    authorize(actor, "table.dice", at_table)
    authorize(actor, "diceset.fit", current)
    if current.pit != at_table.pit:
        raise ValidationError(
            f"{current} is kept by {current.pit}, {at_table} stands in {at_table.pit}; move the set first."
        )
    verify_not_in_play(at_table)
    if current.state != DiceSet.State.FIT:
        raise ValidationError(f"{current}: {current.get_state_display().lower()}; choose a set that is fit for play.")
    if fit := fit_of(current):
        raise ValidationError(f"{current} is at {fit.table} already; take it out there first.")
    now = timezone.now()
    if there := terms_at(at_table, now).dice:
        raise ValidationError(f"{at_table} has the set {there.dice_set}; take it out first.")
    fit = DiceFit(dice_set=current, table=at_table, during=DateTimeTZRange(now, None))
    record_save(fit, actor=actor, reason=reason)
    return fit


@transaction.atomic
def dice_remove(*, actor: Actor, table: Table, reason: str) -> DiceFit:
    at_table = Table.objects.select_for_update().select_related("casino").get(pk=table.pk)
    authorize(actor, "table.dice", at_table)
    now = timezone.now()
    fit = DiceFit.objects.select_for_update(of=("self",)).filter(table=at_table, during__contains=now).first()
    if fit is None:
        raise ValidationError(f"{at_table} has no dice; there is nothing to take out.")
    verify_not_in_play(at_table)
    fit.during = DateTimeTZRange(fit.during.lower, now)
    record_save(fit, actor=actor, reason=reason, only=("during",))
    return fit


def verify_not_in_play(table: Table) -> None:
    if table.state == TableState.OPEN:
        raise ValidationError(f"{table} is open; close or suspend it before its dice are touched.")


@transaction.atomic
def dice_inspect(
    *, actor: Staff, dice_set: DiceSet, result: str, seal_found: str, new_seal: str = "", remarks: str = ""
) -> DiceInspection:
    """What was found. A set that fails is not played with any more, until an inspection finds it good again."""
    current = _locked(dice_set)
    authorize(actor, "diceset.inspect", current)
    if current.state == DiceSet.State.RETIRED:
        raise ValidationError(f"{current} is retired; there is nothing to inspect.")
    good = result == DiceInspection.Result.GOOD
    if not good and not remarks.strip():
        raise ValidationError({"remarks": "Say what was found."})
    if good and seal_found.strip() != current.seal and not new_seal.strip():
        raise ValidationError(
            {"seal_found": f"The seal on record is {current.seal}. Record it as broken, or name the new seal."}
        )
    fit = fit_of(current)
    inspection = DiceInspection(
        dice_set=current, table=fit.table if fit else None, by=actor, who=actor_name(actor), result=result,
        seal_found=seal_found.strip(), new_seal=new_seal.strip(), remarks=remarks.strip(),
    )  # fmt: skip
    inspection.full_clean()
    inspection.save()
    state = DiceSet.State.FIT if good else DiceSet.State.UNFIT
    record_change(
        current, {"state": state, "seal": new_seal.strip() or current.seal}, actor=actor,
        reason=f"Inspection: {inspection.get_result_display().lower()}. {remarks.strip()}".strip(),
    )  # fmt: skip
    return inspection


@transaction.atomic
def dice_retire(*, actor: Actor, dice_set: DiceSet, reason: str) -> DiceSet:
    """For good. A second time changes nothing."""
    current = _locked(dice_set)
    authorize(actor, "diceset.retire", current)
    verify_reason(reason)
    if fit := fit_of(current):
        since = as_text(fit.during.lower, current.casino)
        raise ValidationError(f"{current} is at {fit.table} since {since}; take it out first.")
    record_change(current, {"state": DiceSet.State.RETIRED}, actor=actor, reason=reason)
    return current


def fit_of(dice_set: DiceSet) -> DiceFit | None:
    """At which table it is now."""
    return dice_set.fits.filter(during__contains=timezone.now()).select_related("table__casino").first()


def _locked(dice_set: DiceSet) -> DiceSet:
    locked = DiceSet.objects.select_for_update(of=("self",)).select_related("casino", "pit__casino")
    return locked.get(pk=dice_set.pk)
