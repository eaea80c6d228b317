"""Who may ask for a report, and whose reports a person may see: never one with rows that they may not read."""

from typing import Any

from django.db.models import Q, QuerySet

from audits.models import ReportRun
from audits.reports.registry import REPORTS
from audits.reports.report_kind import ReportKind
from games.access.gate import Capacity, authorize, capacities, deny
from games.models import Casino, Table

VIEW, EXPORT, CERTIFY = "report.view", "report.export", "report.certify"


def is_read_by(report: type[ReportKind], standing: Capacity) -> bool:
    """Return whether a capacity may read the rows of a report."""
    return all(action in standing.role.may for action in report.needs)


def kinds_read(actor: Any, action: str = VIEW) -> list[type[ReportKind]]:
    """List the reports that a person may see or make, in the order of the registry."""
    held = [capacity for capacity in capacities(actor) if action in capacity.role.may]
    return [report for report in REPORTS.values() if any(is_read_by(report, capacity) for capacity in held)]


def report_capacity(
    actor: Any, kind: str, *, casino: Casino | None = None, table: Table | None = None, action: str = EXPORT
) -> Capacity | None:
    """Return the capacity in which a person may have a report, the highest if there are several."""
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
    """Pass the gate with a report, or be refused on record; return the capacity in which the person may have it."""
    authorize(actor, action, table)
    capacity = report_capacity(actor, kind, casino=casino, table=table, action=action)
    if capacity is None:
        raise deny(actor, action, f"report {kind}")
    return capacity


def reach_of(kind: str, standing: Capacity) -> tuple[int | None, bool]:
    """Return what limits the rows of a report: the pit of the person, and whether confidential ones are among them."""
    return standing.pit_id, REPORTS[kind].can_be_confidential and standing.sees_confidential


def reports_seen(actor: Any, action: str = VIEW) -> QuerySet[ReportRun]:
    """Return the reports that a person may see: of their own reach or less, with rows they may read."""
    wanted = Q(pk__in=[])
    for capacity in capacities(actor):
        if action in capacity.role.may:
            wanted |= _within(capacity)
    return ReportRun.objects.filter(wanted)


def _within(standing: Capacity) -> Q:
    query = Q(kind__in=[report.kind for report in REPORTS.values() if is_read_by(report, standing)])
    if standing.casino_id is not None:
        query &= Q(casino=standing.casino_id)
    if standing.pit_id is not None:
        query &= Q(pit=standing.pit_id)
    if not standing.sees_confidential:
        query &= Q(is_confidential=False)
    return query
