"""Save audited records: validated as a whole, with author and reason in the history."""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import CharField, Model, TextField

from games.access.gate import Actor, actor_name
from games.models import Staff

#: Longer than any text people write, and far below what the database can index.
LONGEST_TEXT = 20_000


class OvertakenError(ValidationError):
    """Another person acted first; the message says who. Nothing was changed."""


def record_save(record: Model, *, actor: Actor, reason: str, only: tuple[str, ...] | None = None) -> None:
    """Save a checked record, new or changed. For a changed one, `only` names the fields to write.

    The database refuses an UPDATE of any field outside the model's `grants`.
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
        raise ValidationError({"reason": "Enter a reason. It is kept in the history."})
    verify_text("reason", reason)


def verify_texts(record: Model) -> None:
    """Check that all texts of a record can be stored, before the database refuses them."""
    for concrete_field in record._meta.concrete_fields:
        if isinstance(concrete_field, CharField | TextField) and isinstance(
            text := getattr(record, concrete_field.attname), str
        ):
            verify_text(concrete_field.name, text)


def verify_text(name: str, text: str) -> None:
    if len(text) > LONGEST_TEXT:
        raise ValidationError({name: f"This is longer than {LONGEST_TEXT} characters. Shorten it, or split it in two."})
    if "\x00" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ValidationError({name: "This text has a character that cannot be stored. Type it again."})


def record_change(record: Model, changes: Mapping[str, Any], *, actor: Actor, reason: str) -> bool:
    """Save the fields that changed. If none did, write nothing, not even history."""
    differing = {name: value for name, value in changes.items() if getattr(record, name) != value}
    for name, value in differing.items():
        setattr(record, name, value)
    if differing:
        record_save(record, actor=actor, reason=reason, only=tuple(differing))
    return bool(differing)
