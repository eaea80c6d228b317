"""How a service saves an audited record: checked whole, with its author and reason in the history."""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import CharField, Model, TextField

from games.access.gate import Actor, actor_name
from games.models import Staff

#: More than anybody writes in one go, and far below what the database can index.
LONGEST_TEXT = 20_000


class OvertakenError(ValidationError):
    """Somebody else was quicker; the message says who, and nothing has changed."""


def record_save(record: Model, *, actor: Actor, reason: str, only: tuple[str, ...] | None = None) -> None:
    """Save a checked record, new or changed. A changed one names in `only` the fields to write.

    The database refuses an UPDATE that names any other than those of the model's `grants`.
    """
    verify_reason(reason)
    verify_texts(record)
    record.full_clean()
    record.__dict__.update(
        _history_user=actor if isinstance(actor, Staff) else None,
        _history_author=actor_name(actor),
        _change_reason=reason.strip(),
    )
    record.save(update_fields=only)


def verify_reason(reason: str) -> None:
    if not reason.strip():
        raise ValidationError({"reason": "Say why: the reason stands in the history."})
    verify_text("reason", reason)


def verify_texts(record: Model) -> None:
    """All that was written in a record can be kept; asked before the database is, which would only refuse."""
    for concrete_field in record._meta.concrete_fields:
        if isinstance(concrete_field, CharField | TextField) and isinstance(
            text := getattr(record, concrete_field.attname), str
        ):
            verify_text(concrete_field.name, text)


def verify_text(name: str, text: str) -> None:
    if len(text) > LONGEST_TEXT:
        raise ValidationError({name: f"This is longer than {LONGEST_TEXT} characters; shorten it, or write two."})
    if "\x00" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ValidationError({name: "There is a character in this text that cannot be kept; type it anew."})


def record_change(record: Model, changes: Mapping[str, Any], *, actor: Actor, reason: str) -> bool:
    """Save what really changes. Nothing changed: nothing written, not even history."""
    differing = {name: value for name, value in changes.items() if getattr(record, name) != value}
    for name, value in differing.items():
        setattr(record, name, value)
    if differing:
        record_save(record, actor=actor, reason=reason, only=tuple(differing))
    return bool(differing)
