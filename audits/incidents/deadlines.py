"""The deadline of a dispute."""

import datetime as dt

from django.utils import timezone

from audits.models import Dispute, dispute_rule_of


def clock(dispute: Dispute, now: dt.datetime | None = None) -> str:
    """Return `resolved`, `notified` (both duties done), `overdue`, `urgent` or `running`."""
    moment = now or timezone.now()
    if dispute.is_settled:
        return "resolved" if dispute.resolved_at else "notified"
    if dispute.due_at <= moment:
        return "overdue"
    warned = dt.timedelta(days=dispute_rule_of(dispute.incident.casino).warn_days)
    return "urgent" if dispute.due_at - moment <= warned else "running"
