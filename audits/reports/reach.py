"""Who may request a report, and which reports a person may see: never one with rows that they may not read."""

from typing import Any

from django.db.models import Q, QuerySet

from audits.models import ReportRun
from audits.reports.registry import REPORTS
from audits.reports.report_kind import ReportKind
from games.access.gate import Capacity, authorize, capacities, deny
from games.models import Casino, Table

VIEW, EXPORT, CERTIFY = "report.view", "report.export", "report.certify"


def is_read_by(report: type[ReportKind], capacity: Capacity) -> bool:
    """Say whether a capacity may read the rows of a report."""
    return all(action in capacity.role.may for action in report.needs)


def kinds_read(actor: Any, action: str = VIEW) -> list[type[ReportKind]]:
    """List the reports that a person may see or make, in the order of the registry."""
    held = [capacity for capacity in capacities(actor) if action in capacity.role.may]
    return [report for report in REPORTS.values() if any(is_read_by(report, capacity) for capacity in held)]


def report_capacity(
    actor: Any, kind: str, *, casino: Casino | None = None, table: Table | None = None, action: str = EXPORT
) -> Capacity | None:
    """Return the highest capacity in which a person may have a report; None if there is none."""
    for capacity in capacities(actor):
        if (
            action not in capacity.role.may
            or not capacity.covers(action, table)
            or not is_read_by(REPORTS[kind], capacity)
        ):
            continue
        if casino is None or capacity.casino_id in (None, casino.pk):
            return capacity
    return None


def report_authorize(
    actor: Any, kind: str, *, casino: Casino | None = None, table: Table | None = None, action: str = EXPORT
) -> Capacity:
    """Return the capacity in which a person may have a report; raise and record a denial if there is none."""
    authorize(actor, action, table)
    capacity = report_capacity(actor, kind, casino=casino, table=table, action=action)
    if capacity is None:
        raise deny(actor, action, f"report {kind}")
    return capacity


def reach_of(kind: str, capacity: Capacity) -> tuple[int | None, bool]:
    """Return the limits of a report's rows: the pit of the person, and whether confidential rows are included."""
    return capacity.pit_id, REPORTS[kind].can_be_confidential and capacity.sees_confidential


def reports_seen(actor: Any, action: str = VIEW) -> QuerySet[ReportRun]:
    """Return the reports that a person may see: within their reach, with rows that they may read."""
    visible = Q(pk__in=[])
    for capacity in capacities(actor):
        if action in capacity.role.may:
            visible |= _within(capacity)
    return ReportRun.objects.filter(visible)


def _within(capacity: Capacity) -> Q:
    query = Q(kind__in=[report.kind for report in REPORTS.values() if is_read_by(report, capacity)])
    if capacity.casino_id is not None:
        query &= Q(casino=capacity.casino_id)
    if capacity.pit_id is not None:
        query &= Q(pit=capacity.pit_id)
    if not capacity.sees_confidential:
        query &= Q(is_confidential=False)
    return query
