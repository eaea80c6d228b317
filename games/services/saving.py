"""How a service saves an audited record: checked whole, with its author and reason in the history."""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Model

from games.models import Staff
from games.services.gate import Actor, name_of


class OvertakenError(ValidationError):
    """Somebody else was quicker; the message says who, and nothing has changed."""


def record_save(record: Model, *, actor: Actor, reason: str, only: tuple[str, ...] | None = None) -> None:
    """`only` names the columns to write, for tables of which no others change (games.insert_only)."""
    verify_reason(reason)
    record.full_clean()
    record.__dict__.update(
        _history_user=actor if isinstance(actor, Staff) else None,
        _history_author=name_of(actor),
        _change_reason=reason.strip(),
    )
    record.save(update_fields=only)


def verify_reason(reason: str) -> None:
    if not reason.strip():
        raise ValidationError({"reason": "Say why: the reason stands in the history."})


def record_change(record: Model, changes: Mapping[str, Any], *, actor: Actor, reason: str) -> bool:
    """Save what really changes. Nothing changed: nothing written, not even history."""
    differing = {name: value for name, value in changes.items() if getattr(record, name) != value}
    for name, value in differing.items():
        setattr(record, name, value)
    if differing:
        record_save(record, actor=actor, reason=reason, only=tuple(differing))
    return bool(differing)
