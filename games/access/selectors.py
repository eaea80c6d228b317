"""Select acting appointments."""

import datetime as dt

from django.db.models import QuerySet
from django.utils import timezone

from games.access.gate import visible
from games.models import (
    Duty,
    Staff,
)


def duties_at(actor: Staff, moment: dt.datetime | None = None) -> QuerySet[Duty]:
    """Select the acting appointments at a moment (defaults to now) that the actor may see."""
    at = moment or timezone.now()
    current = Duty.objects.filter(starts_at__lte=at, ends_at__gt=at)
    return visible(actor, current).select_related("staff", "casino", "pit__casino").order_by("ends_at")
