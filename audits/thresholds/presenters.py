"""Thresholds as text for pages: values in force, proposed, and coming into force."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import BigIntegerField
from django.utils import timezone

from audits.findings.labels import kind_name
from audits.findings.models.policy import PROCEDURAL_SEVERITY
from audits.models import Category, FindingPolicy, RulingSetting, Severity
from games.history.versions import readable_value
from games.labels.money import money_label
from games.models import Casino, ThresholdChange, ThresholdDecision
from games.thresholds.selectors import KINDS, ThresholdKind, differences, pending_change, thresholds_in_force

UNITS = {"acting_days": "days"} | dict.fromkeys(
    ("escalate_low_after", "escalate_medium_after", "escalate_high_after"), "minutes"
)

LABELS = {
    "is_reporter_party": "The reporter may not rule",
    "escalate_low_after": "Low severity is escalated after",
    "escalate_medium_after": "Medium severity is escalated after",
    "escalate_high_after": "High severity is escalated after",
}


@dataclass(frozen=True)
class ThresholdLine:
    """One threshold: its value and, where it changes, the value after."""

    label: str
    value: str
    after: str = ""


@dataclass(frozen=True)
class KindShown:
    """One kind of thresholds of a casino: in force, waiting for a decision, and approved for a later day."""

    casino: Casino
    kind: ThresholdKind
    lines: list[ThresholdLine]
    since: ThresholdDecision | None
    pending: ThresholdChange | None
    pending_lines: list[ThresholdLine]
    coming: list[tuple[ThresholdDecision, list[ThresholdLine]]]
    earlier: list[tuple[Any, list[ThresholdLine]]]  # settings from before changes needed two people


def kind_shown(casino: Casino, kind: ThresholdKind) -> KindShown:
    """Gather one kind of thresholds of a casino for its page."""
    record = thresholds_in_force(casino, kind.code)
    now = kind.values(record)
    since = ThresholdDecision.objects.in_force(casino, kind.code)
    approved = ThresholdDecision.objects.approved(casino, kind.code).filter(effective_from__gt=timezone.now())
    coming, planned = [], now
    for decision in reversed(approved):
        coming.append((decision, changed_lines(kind, record, planned, decision.change.proposed)))
        planned = decision.change.proposed
    pending = pending_change(casino, kind.code)
    waiting = changed_lines(kind, record, planned, pending.proposed) if pending else []
    return KindShown(
        casino, kind, lines_of(kind, record, now), since, pending, waiting, coming, earlier_of(kind, record)
    )


def earlier_of(kind: ThresholdKind, record: Any) -> list[tuple[Any, list[ThresholdLine]]]:
    """List the versions of a stored record, the newest first. The acting limits are in the history of the casino."""
    if not isinstance(record, FindingPolicy | RulingSetting) or record.pk is None:
        return []
    versions = type(record).history.filter(id=record.pk).order_by("-history_date", "-history_id")
    return [(version, lines_of(kind, record, {name: getattr(version, name) for name in kind.fields}))
            for version in versions]  # fmt: skip


def change_lines(change: ThresholdChange) -> list[ThresholdLine]:
    """List what a proposal changes, compared with the thresholds that were approved when it was made."""
    kind = KINDS[change.kind]
    before = ThresholdDecision.objects.approved(change.casino, change.kind).filter(at__lt=change.at).order_by("-at")
    earlier = before.first()
    record = kind.record(change.casino, earlier.change.proposed if earlier else {})
    return changed_lines(kind, record, kind.values(record), change.proposed)


def lines_of(kind: ThresholdKind, record: Any, values: Mapping[str, Any]) -> list[ThresholdLine]:
    return [
        ThresholdLine(label_of(field), value_text(field, values[field.name])) for field in kind.model_fields(record)
    ]


def changed_lines(
    kind: ThresholdKind, record: Any, before: Mapping[str, Any], after: Mapping[str, Any]
) -> list[ThresholdLine]:  # fmt: skip
    changed = differences(kind, before, after)
    return [
        ThresholdLine(label_of(field), *(value_text(field, value) for value in changed[field.name]))
        for field in kind.model_fields(record)
        if field.name in changed
    ]


def label_of(field: Any) -> str:
    text = LABELS.get(field.name, str(field.verbose_name))
    return text[:1].upper() + text[1:]


def value_text(field: Any, value: Any) -> str:
    if isinstance(field, BigIntegerField):
        return money_label(value)
    if field.name == "procedural":
        return procedural_shown(value)
    unit = UNITS.get(field.name)
    return f"{readable_value(field, value)} {unit}" if unit else readable_value(field, value)


def procedural_shown(chosen: Mapping[str, int]) -> str:
    """List the kinds of procedural findings whose severity is not the default."""
    named = [f"{kind_name(Category.PROCEDURAL, kind)}: {Severity(chosen[kind]).label.lower()}"
             for kind in PROCEDURAL_SEVERITY if kind in chosen]  # fmt: skip
    return "; ".join(named) or "defaults"
