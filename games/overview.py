"""The first page after login: who am I right now, who acts in which post, what was refused lately."""

from typing import Any

from django.utils import timezone

from games.models import Denial, Staff
from games.selectors import duties_at
from games.services.gate import can, standings, visible


def overview(staff: Staff) -> dict[str, Any]:
    held = standings(staff)
    return {
        "held": held,
        "here": staff.pit or staff.casino or "every casino",
        "now": timezone.localtime(),
        "zone": timezone.get_current_timezone_name(),
        "acting": duties_at(staff) if can(staff, "duty.view") else None,
        "refusals": visible(staff, Denial.objects.all())[:5] if can(staff, "denial.view") else None,
    }
