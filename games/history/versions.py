"""One version of a record from its history: the values it had then. Read-only."""

import datetime as dt
from dataclasses import dataclass
from typing import Any

from django.db.models import Model
from django.db.models.fields.json import JSONField
from django.utils import timezone
from django.utils.formats import date_format
from psycopg.types.range import Range

NOTHING = "–"


@dataclass(frozen=True)
class VersionFact:
    """A field of a version: its value then, and the previous value if this version changed it."""

    label: str
    value: str
    before: str | None = None


def readable_value(field: Any, value: Any) -> str:
    """Write a stored value for people: names for codes and keys, local times, yes and no."""
    if value is None or value == "":
        return NOTHING
    if choices := dict(getattr(field, "flatchoices", None) or ()):
        return str(choices.get(value, value))
    if isinstance(field, JSONField) and isinstance(value, dict):
        return ", ".join(f"{name}: {content}" for name, content in value.items()) or NOTHING
    return _plain(value)


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dt.date | dt.time):
        return _moment(value)
    if isinstance(value, Range):
        return f"from {_plain(value.lower)}" + (f" to {_plain(value.upper)}" if value.upper else "")
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value)) or NOTHING
    return str(value)


def _moment(value: dt.date | dt.time) -> str:
    if isinstance(value, dt.datetime):
        return date_format(timezone.localtime(value), "DATETIME_FORMAT")
    return date_format(value, "DATE_FORMAT") if isinstance(value, dt.date) else value.strftime("%H:%M")


def value_of(record: Any, field: Any) -> Any:
    """Return a field's value in a version; for a key, the record it names (or the key, if that is gone)."""
    key = getattr(record, field.attname)
    if not field.is_relation or key is None:
        return key
    found: Model | None = field.related_model._base_manager.filter(pk=key).first()
    return f"no. {key}" if found is None else str(found)


def tracked_fields(record: Any) -> list[Any]:
    """List the fields that the history keeps, without the primary key."""
    return [field for field in record.tracked_fields if not field.primary_key]


def version_facts(record: Any, before: Any, show: Any = readable_value) -> list[VersionFact]:
    """List every field of a version, marked if it differs from the version before."""
    facts = []
    for field in tracked_fields(record):
        value = show(field, value_of(record, field))
        old = None if before is None else show(field, value_of(before, field))
        facts.append(VersionFact(str(field.verbose_name), value, old if old != value else None))
    return facts
