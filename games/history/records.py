"""The history of audited records: who made each change, when, why, and old and new values."""

from typing import Any

from django.db import models
from simple_history.models import HistoricalRecords

from games.database.grants import WRITTEN_ONCE


class AuthorNamed(models.Model):
    """Store the author's name as text in each history row, so that it outlives the person's record."""

    grants = WRITTEN_ONCE

    history_author = models.TextField("author")

    class Meta:
        abstract = True


class History(HistoricalRecords):
    """The history of one model, with the author's name and a reason of any length."""

    def __init__(self, excluded_fields: tuple[str, ...] = ()) -> None:
        super().__init__(
            bases=[AuthorNamed], history_change_reason_field=models.TextField(), excluded_fields=list(excluded_fields)
        )


def name_the_author(instance: models.Model, history_instance: Any, **kwargs: Any) -> None:
    """Fill in the author of a history row; refuse a save outside a service (games.history.audited_save)."""
    try:
        history_instance.history_author = instance.__dict__["_history_author"]
    except KeyError:
        raise RuntimeError(
            f"{instance._meta.label} is audited: write it through its service, which names the author."
        ) from None
