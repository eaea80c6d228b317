"""Nothing is set up behind the back of a round on record."""

import datetime as dt

from django.core.exceptions import ValidationError

from games.floor.moments import as_text
from games.models import Table


def verify_no_round_since(table: Table, starts_at: dt.datetime) -> None:
    """What applied to a round on record is not set up behind its back; limits are corrected by a proposal."""
    last = table.rounds.order_by("-started_at", "-id").first()
    if last is not None and last.started_at >= starts_at:
        moment = as_text(last.started_at, table.casino)
        raise ValidationError({"starts_at": f"{table} has a round on record that began at {moment}; begin after it."})
