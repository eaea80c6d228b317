"""Incidents on the first page: files to be finished, disputes whose time runs, shifts to be taken over."""

from typing import Any

from audits.incidents.deadlines import clock
from audits.incidents.labels import situation_words
from audits.incidents.search import UNFINISHED_FILES, IncidentFilter, incidents_found
from audits.incidents.selectors import disputes_found, waiting_handovers
from games.access.gate import can
from games.models import Staff

SHOWN = 5
#: Counted up to here; a list of more says so.
MOST_COUNTED = 100


def incident_overview(staff: Staff) -> dict[str, Any]:
    """None for what the person does not see at all."""
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
        "open_incidents": [(incident, situation_words(incident.situation)) for incident in found[:SHOWN]],
        "incident_count": f"more than {MOST_COUNTED}" if count > MOST_COUNTED else count,
    }


def _disputes(staff: Staff) -> list[Any]:
    return [(dispute, clock(dispute)) for dispute in disputes_found(staff, only_running=True)[:SHOWN]]
