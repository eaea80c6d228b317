"""Tumblers: registered, fitted to a table and removed, inspected, retired."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.utils import timezone

from games.access.gate import Actor, actor_name, authorize
from games.floor.moments import as_text
from games.floor.services.casinos import verify_pit_of_casino
from games.history.audited_save import record_change, record_save, verify_reason
from games.models import Casino, Pit, Staff, Table, TableState, Tumbler, TumblerFit, TumblerInspection
from games.rounds.terms import terms_at


@transaction.atomic
def tumbler_create(
    *, actor: Actor, casino: Casino, pit: Pit, code: str, serial: str, activation: str, lock: str, reason: str
) -> Tumbler:
    """Register a tumbler, kept by a pit."""
    authorize(actor, "tumbler.add", pit)
    verify_pit_of_casino(pit, casino)
    tumbler = Tumbler(
        casino=casino, pit=pit, code=code, serial=serial.strip(), activation=activation, lock=lock.strip()
    )
    record_save(tumbler, actor=actor, reason=reason)
    return tumbler


@transaction.atomic
def tumbler_update(*, actor: Actor, tumbler: Tumbler, changes: dict[str, Any], reason: str) -> bool:
    """Change its code or the pit that keeps it. Its serial number stays; the lock changes with an inspection."""
    current = _locked(tumbler)
    authorize(actor, "tumbler.change", current)
    kept = {name for name, value in changes.items() if name not in ("code", "pit") and getattr(current, name) != value}
    if kept:
        raise ValidationError(
            f"{', '.join(sorted(kept))}: a tumbler stays what it is, and its lock changes with an inspection."
        )
    if "pit" in changes and changes["pit"] != current.pit:
        verify_pit_of_casino(changes["pit"], current.casino)
        authorize(actor, "tumbler.change", Tumbler(casino=current.casino, pit=changes["pit"]))
        if fit := fit_of_tumbler(current):
            raise ValidationError({"pit": f"The tumbler is at {fit.table}; remove it first."})
    return record_change(current, changes, actor=actor, reason=reason)


@transaction.atomic
def tumbler_fit(*, actor: Actor, tumbler: Tumbler, table: Table, reason: str) -> TumblerFit:
    """Fit a tumbler to a table that is not in play."""
    at_table = Table.objects.select_for_update().select_related("casino").get(pk=table.pk)
    current = _locked(tumbler)
    authorize(actor, "table.tumbler", at_table)
    authorize(actor, "tumbler.fit", current)
    if current.pit != at_table.pit:
        raise ValidationError(
            f"{current} is kept by {current.pit}, {at_table} stands in {at_table.pit}; move the tumbler first."
        )
    verify_table_not_open(at_table)
    if current.state != Tumbler.State.FIT:
        raise ValidationError(
            f"{current}: {current.get_state_display().lower()}; choose a tumbler that is fit for play."
        )
    if fit := fit_of_tumbler(current):
        raise ValidationError(f"{current} is at {fit.table} already; remove it there first.")
    now = timezone.now()
    if there := terms_at(at_table, now).tumbler:
        raise ValidationError(f"{at_table} has the tumbler {there.tumbler}; remove it first.")
    fit = TumblerFit(tumbler=current, table=at_table, during=DateTimeTZRange(now, None))
    record_save(fit, actor=actor, reason=reason)
    return fit


@transaction.atomic
def tumbler_remove(*, actor: Actor, table: Table, reason: str) -> TumblerFit:
    """Remove the tumbler from a table that is not in play."""
    at_table = Table.objects.select_for_update().select_related("casino").get(pk=table.pk)
    authorize(actor, "table.tumbler", at_table)
    now = timezone.now()
    fit = TumblerFit.objects.select_for_update(of=("self",)).filter(table=at_table, during__contains=now).first()
    if fit is None:
        raise ValidationError(f"{at_table} has no tumbler on record; there is nothing to remove.")
    verify_table_not_open(at_table)
    fit.during = DateTimeTZRange(fit.during.lower, now)
    record_save(fit, actor=actor, reason=reason, only=("during",))
    return fit


def verify_table_not_open(table: Table) -> None:
    if table.state == TableState.OPEN:
        raise ValidationError(f"{table} is open; close or suspend it before its tumbler is changed.")


@transaction.atomic
def tumbler_inspect(
    *, actor: Staff, tumbler: Tumbler, result: str, lock_found: str, new_lock: str = "", remarks: str = ""
) -> TumblerInspection:
    """Record what was found. A tumbler that fails is out of play until an inspection finds it good again."""
    current = _locked(tumbler)
    authorize(actor, "tumbler.inspect", current)
    if current.state == Tumbler.State.RETIRED:
        raise ValidationError(f"{current} is retired; there is nothing to inspect.")
    good = result == TumblerInspection.Result.GOOD
    if not good and not remarks.strip():
        raise ValidationError({"remarks": "Write what was found."})
    if good and lock_found.strip() != current.lock and not new_lock.strip():
        raise ValidationError(
            {"lock_found": f"The lock on record is {current.lock}. Record it as broken, or enter the new lock."}
        )
    fit = fit_of_tumbler(current)
    inspection = TumblerInspection(
        tumbler=current, table=fit.table if fit else None, by=actor, who=actor_name(actor), result=result,
        lock_found=lock_found.strip(), new_lock=new_lock.strip(), remarks=remarks.strip(),
    )  # fmt: skip
    inspection.full_clean()
    inspection.save()
    state = Tumbler.State.FIT if good else Tumbler.State.UNFIT
    record_change(
        current, {"state": state, "lock": new_lock.strip() or current.lock}, actor=actor,
        reason=f"Inspection: {inspection.get_result_display().lower()}. {remarks.strip()}".strip(),
    )  # fmt: skip
    return inspection


@transaction.atomic
def tumbler_retire(*, actor: Actor, tumbler: Tumbler, reason: str) -> Tumbler:
    """Retire a tumbler for good. A second time changes nothing."""
    current = _locked(tumbler)
    authorize(actor, "tumbler.retire", current)
    verify_reason(reason)
    if fit := fit_of_tumbler(current):
        since = as_text(fit.during.lower, current.casino)
        raise ValidationError(f"{current} is at {fit.table} since {since}; remove it first.")
    record_change(current, {"state": Tumbler.State.RETIRED}, actor=actor, reason=reason)
    return current


def fit_of_tumbler(tumbler: Tumbler) -> TumblerFit | None:
    """Find the table that a tumbler is at now."""
    return tumbler.fits.filter(during__contains=timezone.now()).select_related("table__casino").first()


def _locked(tumbler: Tumbler) -> Tumbler:
    locked = Tumbler.objects.select_for_update(of=("self",)).select_related("casino", "pit__casino")
    return locked.get(pk=tumbler.pk)
