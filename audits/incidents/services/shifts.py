"""Add, change and remove the shifts of a casino."""

import datetime as dt
from typing import Any

from django.db import transaction

from audits.models import Shift
from games.access.gate import actor_name, authorize
from games.history.audited_save import record_change, record_save, verify_reason
from games.models import Casino, Staff


@transaction.atomic
def shift_add(*, actor: Staff, casino: Casino, name: str, starts: dt.time, reason: str) -> Shift:
    """Add a shift; a casino's first own shift replaces the usual three."""
    shift = Shift(casino=casino, name=name.strip(), starts=starts)
    authorize(actor, "shift.change", shift)
    record_save(shift, actor=actor, reason=reason)
    return shift


@transaction.atomic
def shift_change(*, actor: Staff, shift: Shift, changes: dict[str, Any], reason: str) -> Shift:
    """Change a shift from now on; past entries keep the shift in which they were written."""
    current = Shift.objects.select_for_update(of=("self",)).get(pk=shift.pk)
    authorize(actor, "shift.change", current)
    record_change(current, changes, actor=actor, reason=reason)
    return current


@transaction.atomic
def shift_remove(*, actor: Staff, shift: Shift, reason: str) -> None:
    """Remove a shift; the one before it then lasts longer. Entries keep the name of their shift, and history stays."""
    current = Shift.objects.select_for_update(of=("self",)).get(pk=shift.pk)
    authorize(actor, "shift.change", current)
    verify_reason(reason)
    current.__dict__.update(
        _history_user=actor, _history_author=actor_name(actor), _change_reason=reason.strip()
    )  # as games.history.audited_save does for a save
    current.delete()
