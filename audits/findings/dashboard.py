"""The findings on the first page after login: alerts that stay until acknowledged, and what waits for this person."""

import datetime as dt
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from audits.findings.selectors import COUNTED, alerts, assigned_to, escalated_to, open_by_severity, to_confirm
from audits.models import ProposerNotice
from games.access.gate import can
from games.models import Staff

SHOWN = 5
TOLD_FOR = dt.timedelta(days=7)
MOST = 99  # a badge has two digits


def findings_overview(staff: Staff) -> dict[str, Any]:
    if not can(staff, "finding.view"):
        return {}
    return {
        "findings": {
            "alerts": alerts(staff)[:SHOWN],
            "may_acknowledge": can(staff, "finding.acknowledge"),
            "by_severity": open_by_severity(staff),
            "counted": COUNTED,
            "waiting": [
                (title, query, list(found[:SHOWN]))
                for title, query, found in (
                    ("Open for too long, and told to you", "", escalated_to(staff)),
                    ("Assigned to you", "mine=on", assigned_to(staff)),
                    ("To be confirmed", "state=awaiting", to_confirm(staff)),
                )
                if found[:1]
            ],
        }
    }


def decisions_overview(staff: Staff) -> dict[str, Any]:
    """What became of the proposals of this person, for a week."""
    if not can(staff, "limits.propose"):
        return {}
    since = timezone.now() - TOLD_FOR
    told = ProposerNotice.objects.filter(decision__proposed_by=staff, notice__at__gte=since)
    return {"decisions": told.select_related("decision__proposal", "notice").order_by("-notice__at")[:SHOWN]}


def alerts_badge(request: HttpRequest) -> str:
    """How many grave findings nobody has acknowledged; nothing where there are none."""
    if not isinstance(request.user, Staff):
        return ""
    found = alerts(request.user).order_by()[: MOST + 1].count()
    return "" if not found else str(found) if found <= MOST else f"{MOST}+"
