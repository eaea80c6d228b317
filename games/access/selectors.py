"""Select who acts in which post."""

import datetime as dt

from django.db.models import QuerySet
from django.utils import timezone

from games.access.gate import visible
from games.models import (
    Duty,
    Staff,
)


def duties_at(actor: Staff, moment: dt.datetime | None = None) -> QuerySet[Duty]:
    """Who acts in which post at a moment, of all that the actor may see; now, where none is given."""
    at = moment or timezone.now()
    current = Duty.objects.filter(starts_at__lte=at, ends_at__gt=at)
    return visible(actor, current).select_related("staff", "casino", "pit__casino").order_by("ends_at")
