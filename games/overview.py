"""The first page after login: who am I right now, who acts in which post, what was refused lately."""

from typing import Any

from django.utils import timezone

from games.models import Denial, Staff, Table, TableState
from games.selectors import duties_at, pending_proposals
from games.services.gate import can, standings, visible


def overview(staff: Staff) -> dict[str, Any]:
    held = standings(staff)
    return {
        "held": held,
        "here": staff.pit or staff.casino or "every casino",
        "now": timezone.localtime(),
        "zone": timezone.get_current_timezone_name(),
        "acting": duties_at(staff) if can(staff, "duty.view") else None,
        "tables": tables_by_state(staff) if can(staff, "table.view") else None,
        "proposals": pending_proposals(staff)[:5] if can(staff, "limitproposal.view") else None,
        "refusals": visible(staff, Denial.objects.all())[:5] if can(staff, "denial.view") else None,
    }


def tables_by_state(staff: Staff) -> list[tuple[str, list[Table]]]:
    """The tables within sight, those that need somebody first."""
    tables = list(visible(staff, Table.objects.all()))
    order = (TableState.SUSPENDED, TableState.OPEN, TableState.CLOSED)
    return [(state.value, [table for table in tables if table.state == state]) for state in order]
