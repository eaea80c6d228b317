"""Limit presets: kept by people who approve limits, with history. They fill in proposals and change no sign."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from games.access.gate import actor_name, authorize
from games.engine.errors import InputError
from games.engine.signs.limits import Limits
from games.history.audited_save import record_change, record_save, verify_reason
from games.limits.presets import preset_document, read_preset
from games.models import Casino, LimitPreset, Staff


@transaction.atomic
def preset_add(*, actor: Staff, casino: Casino, name: str, limits: Limits, reason: str) -> LimitPreset:
    preset = LimitPreset(casino=casino, name=name.strip(), limits=_document(limits))
    authorize(actor, "limitpreset.change", preset)
    record_save(preset, actor=actor, reason=reason)
    return preset


@transaction.atomic
def preset_change(*, actor: Staff, preset: LimitPreset, name: str, limits: Limits, reason: str) -> LimitPreset:
    """Change a preset from now on. Proposals filled in with it stay as they are."""
    current = LimitPreset.objects.select_for_update(of=("self",)).get(pk=preset.pk)
    authorize(actor, "limitpreset.change", current)
    changes: dict[str, Any] = {"name": name.strip(), "limits": _document(limits)}
    record_change(current, changes, actor=actor, reason=reason)
    return current


@transaction.atomic
def preset_remove(*, actor: Staff, preset: LimitPreset, reason: str) -> None:
    """Remove a preset; its history is kept."""
    current = LimitPreset.objects.select_for_update(of=("self",)).get(pk=preset.pk)
    authorize(actor, "limitpreset.change", current)
    verify_reason(reason)
    current.__dict__.update(_history_user=actor, _history_author=actor_name(actor), _change_reason=reason.strip())
    current.delete()


def _document(limits: Limits) -> dict[str, Any]:
    """Write limits as a document, refusing what could not be read again."""
    document = preset_document(limits)
    try:
        read_preset(document)
    except InputError as error:
        raise ValidationError({"limits": list(error.faults)}) from None
    return document
