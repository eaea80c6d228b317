"""Presets of limits as documents, read and written like limits in the API."""

from typing import Any

from games.engine.errors import InputError
from games.engine.json_input import InputFaults, read_differential, read_ranges, shown_key
from games.engine.signs.limits import Limits
from games.limits.serializers import known_keys
from games.limits.signs.sign import boxes_document, differential_document
from games.models import LimitPreset


def preset_limits(preset: LimitPreset) -> Limits:
    return read_preset(preset.limits)


def read_preset(document: Any) -> Limits:
    """Read the limits of a preset; report every fault at once."""
    faults = InputFaults()
    entry = faults.table(document, "limits", ("boxes", "differential"))
    for where, known in known_keys().items():
        given = entry.get(where)
        for key in given if isinstance(given, dict) else ():
            if key not in known:
                faults.add(f"{where}.{shown_key(key)}", "is known in no rulebook; check its spelling.")
    limits = Limits(
        read_ranges(faults, entry.get("boxes", {}), "boxes"), read_differential(faults, entry.get("differential", {}))
    )
    if not limits.by_key and not limits.differential and not faults.found:
        raise InputError("limits: the preset has no limits; enter at least one value.")
    faults.done()
    return limits


def preset_document(limits: Limits) -> dict[str, Any]:
    return {"boxes": boxes_document(limits), "differential": differential_document(limits)}
