"""Findings on the overview: alerts that stay until acknowledged, and lists of what is waiting for this person."""

import datetime as dt
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from audits.findings.selectors import COUNTED, alerts, assigned_to, escalated_to, open_by_severity, to_confirm
from audits.models import ProposerNotice
from games.access.gate import can
from games.models import Staff

SHOWN = 5
DECISIONS_SHOWN_FOR = dt.timedelta(days=7)
LARGEST_COUNT = 99  # a badge has two digits


def findings_overview(staff: Staff) -> dict[str, Any]:
    """Return the findings part of the overview; empty for people who may not see findings."""
    if not can(staff, "finding.view"):
        return {}
    return {
        "findings": {
            "alerts": alerts(staff)[:SHOWN],
            "may_acknowledge": can(staff, "finding.acknowledge"),
            "by_severity": open_by_severity(staff),
            "counted": COUNTED,
            "waiting": [
                (title, query, list(findings[:SHOWN]))
                for title, query, findings in (
                    ("Escalated to you", "", escalated_to(staff)),
                    ("Assigned to you", "mine=on", assigned_to(staff)),
                    ("To be confirmed", "state=awaiting", to_confirm(staff)),
                )
                if findings[:1]
            ],
        }
    }


def decisions_overview(staff: Staff) -> dict[str, Any]:
    """Return the decisions of the last week on this person's limit proposals."""
    if not can(staff, "limits.propose"):
        return {}
    since = timezone.now() - DECISIONS_SHOWN_FOR
    notices = ProposerNotice.objects.filter(decision__proposed_by=staff, notice__at__gte=since)
    return {"decisions": notices.select_related("decision__proposal", "notice").order_by("-notice__at")[:SHOWN]}


def alerts_badge(request: HttpRequest) -> str:
    """Count the high-severity findings that are not acknowledged, as text; empty if there are none."""
    if not isinstance(request.user, Staff):
        return ""
    count = alerts(request.user).order_by()[: LARGEST_COUNT + 1].count()
    return "" if not count else str(count) if count <= LARGEST_COUNT else f"{LARGEST_COUNT}+"
