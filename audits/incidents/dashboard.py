"""Incidents on the dashboard: unfinished incidents, open disputes, handovers to be taken over."""

from typing import Any

from audits.incidents.deadlines import clock
from audits.incidents.labels import situation_label
from audits.incidents.search import UNFINISHED_FILES, IncidentFilter, incidents_found
from audits.incidents.selectors import disputes_found, waiting_handovers
from games.access.gate import can
from games.models import Staff

SHOWN = 5
#: Counting stops here; the page then says "more than".
MOST_COUNTED = 100


def incident_overview(staff: Staff) -> dict[str, Any]:
    """Return what the dashboard shows; None for each part that this person may not see."""
    return {
        **_incidents(staff),
        "running_disputes": _disputes(staff) if can(staff, "dispute.view") else None,
        "waiting_handovers": waiting_handovers(staff).order_by("-at")[:SHOWN] if can(staff, "handover.view") else None,
    }


def _incidents(staff: Staff) -> dict[str, Any]:
    if not can(staff, "incident.view"):
        return {"open_incidents": None, "incident_count": ""}
    found = incidents_found(staff, IncidentFilter(state=UNFINISHED_FILES))
    count = found.order_by()[: MOST_COUNTED + 1].count()
    return {
        "open_incidents": [(incident, situation_label(incident.situation)) for incident in found[:SHOWN]],
        "incident_count": f"more than {MOST_COUNTED}" if count > MOST_COUNTED else count,
    }


def _disputes(staff: Staff) -> list[Any]:
    return [(dispute, clock(dispute)) for dispute in disputes_found(staff, only_running=True)[:SHOWN]]
