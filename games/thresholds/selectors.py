"""Which thresholds a casino has and which values are in force, for pages, services and checks alike.

An app registers its kinds: the fields of a model, and the record that holds until a change is approved. Values are
checked by that model's own validators and constraints.
"""

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Field, Model

from games.models import Casino, ThresholdChange, ThresholdDecision


@dataclass(frozen=True)
class ThresholdKind:
    """A set of thresholds that change together."""

    code: str
    title: str
    fields: tuple[str, ...]
    before: Callable[[Casino], Model]  # in force until the first change: a stored record, or the defaults

    def record(self, casino: Casino, values: Mapping[str, Any]) -> Model:
        """Return a record of the kind with these values; others are as before the first change."""
        record = self.before(casino)
        for name in self.fields:
            if name in values:
                setattr(record, name, values[name])
        return record

    def values(self, record: Model) -> dict[str, Any]:
        return {name: getattr(record, name) for name in self.fields}

    def model_fields(self, record: Model) -> "list[Field[Any, Any]]":
        return [record._meta.get_field(name) for name in self.fields]  # type: ignore[misc]


KINDS: dict[str, ThresholdKind] = {}


def register(kind: ThresholdKind) -> None:
    KINDS[kind.code] = kind


def kind_of(code: str) -> ThresholdKind:
    if code not in KINDS:
        raise ValidationError({"kind": f"{code!r:.30} is not a kind of thresholds; choose one of {', '.join(KINDS)}."})
    return KINDS[code]


def thresholds_in_force(casino: Casino, code: str, at: dt.datetime | None = None) -> Model:
    """Return an unsaved record of a kind with the values in force at a moment (defaults to now)."""
    found = ThresholdDecision.objects.in_force(casino, code, at)
    return KINDS[code].record(casino, found.change.proposed if found else {})


def thresholds_planned(casino: Casino, code: str) -> Model:
    """Return the record of a kind once every approved change is in force: what a proposal changes."""
    found = ThresholdDecision.objects.approved(casino, code).first()
    return KINDS[code].record(casino, found.change.proposed if found else {})


def pending_change(casino: Casino, code: str) -> ThresholdChange | None:
    return ThresholdChange.objects.filter(casino=casino, kind=code, decision=None).first()


def checked(kind: ThresholdKind, casino: Casino, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return all values of a kind, cleaned by its model. Values not given stay as planned."""
    if unknown := sorted(set(values) - set(kind.fields)):
        raise ValidationError(f"{', '.join(unknown)[:100]}: no such threshold; choose from {', '.join(kind.fields)}.")
    record = kind.record(casino, kind.values(thresholds_planned(casino, kind.code)) | dict(values))
    others = {field.name for field in record._meta.fields} - set(kind.fields)
    record.clean_fields(exclude=others)
    record.validate_constraints(exclude=others)
    return kind.values(record)


def differences(
    kind: ThresholdKind, before: Mapping[str, Any], after: Mapping[str, Any]
) -> dict[str, tuple[Any, Any]]:  # fmt: skip
    """Return what changes, by field: the value before and after."""
    return {name: (before[name], after[name]) for name in kind.fields if before[name] != after[name]}


def casino_before(casino: Casino) -> Casino:
    """Copy the stored casino, so that the original is not changed."""
    return Casino(
        pk=casino.pk, acting_days=casino.acting_days, acting_other_departments=casino.acting_other_departments
    )


register(
    ThresholdKind("acting", "Acting appointments", ("acting_days", "acting_other_departments"), before=casino_before)
)
