"""Select who acts in which post."""

import datetime as dt

from django.db.models import Q, QuerySet
from django.utils import timezone

from games.access.gate import any_of, visible
from games.access.roles import access_policy
from games.models import (
    Duty,
    Staff,
)


def duties_at(actor: Staff, moment: dt.datetime | None = None) -> QuerySet[Duty]:
    """Who acts in which post at a moment, of all that the actor may see; now, where none is given."""
    at = moment or timezone.now()
    current = Duty.objects.filter(starts_at__lte=at, ends_at__gt=at)
    return visible(actor, current).select_related("staff", "casino", "pit__casino").order_by("ends_at")


def staff_who_may(action: str) -> QuerySet[Staff]:
    """Select the active people whose own role, or a post in which they act now, may do something somewhere.

    Where each of them may do it, the gate says.
    """
    roles, now = access_policy().roles_with(action), timezone.now()
    acting = Duty.objects.filter(
        post__in=[role.post for role in roles if role.post], starts_at__lte=now, ends_at__gt=now
    )
    held = any_of([Q(department=role.department, post=role.post or "") for role in roles])
    return Staff.objects.filter(held | Q(pk__in=acting.values("staff")), is_active=True)
