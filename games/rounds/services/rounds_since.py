"""Guard rounds on record against settings that would begin before them."""

import datetime as dt

from django.core.exceptions import ValidationError

from games.floor.moments import as_text
from games.models import Table


def verify_no_round_since(table: Table, starts_at: dt.datetime) -> None:
    """Refuse a setting that would begin before a recorded round. Limits are corrected by a proposal instead."""
    last = table.rounds.order_by("-started_at", "-id").first()
    if last is not None and last.started_at >= starts_at:
        moment = as_text(last.started_at, table.casino)
        raise ValidationError({"starts_at": f"{table} has a round on record that began at {moment}; begin after it."})
