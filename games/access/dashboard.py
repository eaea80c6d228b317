"""The overview page: the person's posts now, tables, acting appointments and recent access denials."""

import datetime as dt
from typing import Any

from django.conf import settings
from django.utils import timezone

from games.access.gate import can, capacities, visible
from games.access.selectors import duties_at
from games.access.services.access_reviews import accounts_to_remove, local_day, reviews_to_sign
from games.accounts.services.account_proposals import pending_for
from games.accounts.services.second_factors import needs_factor
from games.limits.selectors import pending_proposals
from games.models import AccessReview, Denial, LoginSession, Staff, Table, TableState


def overview(staff: Staff) -> dict[str, Any]:
    held = capacities(staff)
    reviews = reviews_to_sign(staff) if can(staff, "accessreview.sign") else None
    return {
        "held": held,
        "here": staff.pit or staff.casino or "every casino",
        "now": timezone.localtime(),
        "zone": timezone.get_current_timezone_name(),
        "acting": duties_at(staff) if can(staff, "duty.view") else None,
        "tables": tables_by_state(staff) if can(staff, "table.view") else None,
        "proposals": pending_proposals(staff)[:5] if can(staff, "limitproposal.view") else None,
        "account_proposals": pending_for(staff)[:5] if can(staff, "accountproposal.decide") else None,
        "to_remove": accounts_to_remove(staff)[:5] if can(staff, "staff.change") else None,
        "reviews": None if reviews is None else [(review, review.is_overdue(today(review))) for review in reviews],
        "refusals": visible(staff, Denial.objects.all())[:5] if can(staff, "denial.view") else None,
    }


def login_overview(staff: Staff) -> dict[str, Any]:
    """Return when and from where this person last logged in, and whether production would require a second factor."""
    logins = LoginSession.objects.filter(staff=staff, passed_at__isnull=False)
    return {
        "login_before": next(iter(logins.order_by("-started_at")[1:2]), None),
        "would_need_factor": not settings.REQUIRE_SECOND_FACTOR and needs_factor(staff),
    }


def today(review: AccessReview) -> dt.date:
    return local_day(review.casino, timezone.now())


def tables_by_state(staff: Staff) -> list[tuple[str, list[Table]]]:
    """Group the tables within reach by state, those that need attention first."""
    tables = list(visible(staff, Table.objects.all()))
    order = (TableState.SUSPENDED, TableState.OPEN, TableState.CLOSED)
    return [(state.value, [table for table in tables if table.state == state]) for state in order]
