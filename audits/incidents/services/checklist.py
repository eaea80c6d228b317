"""Tick and untick the steps of an incident's checklist."""

import datetime as dt

from django.core.exceptions import ValidationError
from django.db import transaction

from audits.incidents.checklist import steps_of
from audits.incidents.services.incidents import incident_locked, verify_not_closed
from audits.models import ChecklistTick, Incident
from games.access.gate import Actor, actor_name, authorize
from games.ledger.services import LedgerEntry, ledger_append
from games.models import Staff


@transaction.atomic
def step_tick(*, actor: Actor, incident: Incident, step: int, is_done: bool) -> ChecklistTick | None:
    """Tick or untick a step of the checklist; write nothing where nothing changes.

    Return the latest record of the step; None if it was never ticked.
    """
    current = incident_locked(incident)
    authorize(actor, "incident.change", current)
    verify_not_closed(current)
    steps = steps_of(current)
    if not 1 <= step <= len(steps):
        raise ValidationError({"step": f"The checklist of {current} has {len(steps)} steps; there is no step {step}."})
    last = ChecklistTick.objects.filter(incident=current, step=step).order_by("-ordinal").first()
    if (last.is_done if last else False) == is_done:
        return last
    tick = ChecklistTick.objects.create(
        incident=current, step=step, text=steps[step - 1], ordinal=last.ordinal + 1 if last else 1, is_done=is_done,
        by=actor if isinstance(actor, Staff) else None, who=actor_name(actor),
    )  # fmt: skip
    values = (current.number, step, tick.text, is_done, tick.who, tick.at.astimezone(dt.UTC))
    ledger_append(current.table or current.casino, LedgerEntry("checklist-tick", tick.pk, values))
    return tick
