"""The report of patrons' disputes: the duties under the law, and when they were done."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from audits.exports.document import Column, ColumnKind, Row
from audits.models import Dispute
from audits.reports.columns import CASINO, INCIDENT, PIT, moment_column, person_column, text_column
from audits.reports.kinds.findings import TABLE
from audits.reports.kinds.placed_report import CHUNK, PlacedReport, batches, code_of
from audits.reports.report_kind import ReportRequest, Shelf

#: The fields of a dispute that steps fill in.
MARKS = ("notified_at", "patron_told_at", "resolved_at")
RAISED = "raised_at"


class Disputes(PlacedReport):
    """Disputes raised in the period, in that order."""

    kind, title, things = "disputes", "Disputes", "disputes"
    shelf = Shelf.REGULATOR
    about = (
        "For the regulator and compliance: disputes that patrons raised, when the inspector was notified, when the "
        "patron was informed of the right to go to the inspector, when that was due, and how each dispute was resolved."
    )
    needs = ("dispute.view",)
    rules = ("Casino Control Act (Singapore), section 111",)
    table_field = "incident__table"
    columns = (
        INCIDENT, CASINO, PIT, TABLE, Column("patron", "Patron", width=14), moment_column(RAISED, "Raised at"),
        person_column("raised_by", "Recorded by"), text_column("law", "Law", 24), moment_column("due_at", "Due at"),
        moment_column("notified_at", "Inspector notified at"), person_column("notified_by", "Inspector notified by"),
        moment_column("patron_told_at", "Patron informed at"), person_column("patron_told_by", "Patron informed by"),
        moment_column("resolved_at", "Resolved at"), person_column("resolved_by", "Resolved by"),
        text_column("resolution", "Resolution", 36), Column("status", "Status", width=11),
        Column("in_time", "In time", ColumnKind.YES_NO, width=8),
    )  # fmt: skip

    def __init__(self, request: ReportRequest) -> None:
        super().__init__(request)
        self.now = timezone.now()

    def nil(self) -> str:
        return "No disputes were raised in the period."

    def disputes(self) -> QuerySet[Dispute]:
        """Return the disputes in the report's order."""
        raised = self.in_period(self.placed(Dispute.objects.all()), RAISED)
        related = raised.select_related("incident__casino", "incident__pit", "incident__table")
        return related.defer("incident__search", "incident__advice").order_by(
            RAISED, "incident__number", "incident__casino__code"
        )

    def rows(self) -> Iterator[Row]:
        for disputes in batches(self.disputes().iterator(CHUNK)):
            authors = _authors(disputes)
            for dispute in disputes:
                yield self._row(dispute, authors[dispute.pk])

    def _row(self, dispute: Dispute, by: dict[str, str]) -> Row:
        incident = dispute.incident
        return (
            incident.number, incident.casino.code, code_of(incident.pit), code_of(incident.table), dispute.patron,
            dispute.raised_at, by.get(RAISED), dispute.law, dispute.due_at, dispute.notified_at,
            by.get("notified_at"), dispute.patron_told_at, by.get("patron_told_at"), dispute.resolved_at,
            by.get("resolved_at"), dispute.resolution or None, status_of(dispute, self.now),
            is_in_time(dispute, self.now),
        )  # fmt: skip


def _authors(disputes: Sequence[Dispute]) -> dict[int, dict[str, str]]:
    """Return who recorded each dispute and filled in each field: the author of the first version that has it."""
    versions: Any = Dispute.history.filter(id__in=[dispute.pk for dispute in disputes])
    authors: dict[int, dict[str, str]] = defaultdict(dict)
    for version in versions.order_by("history_date", "history_id"):
        by = authors[version.id]
        for name in (RAISED, *MARKS):
            if getattr(version, name) is not None:
                by.setdefault(name, version.history_author)
    return authors


def status_of(dispute: Dispute, now: dt.datetime) -> str:
    """Return the status of a dispute: `Notified` once both duties are done, `Overdue` if they are late."""
    if dispute.is_settled:
        return "Resolved" if dispute.resolved_at else "Notified"
    return "Overdue" if dispute.due_at <= now else "Open"


def is_in_time(dispute: Dispute, now: dt.datetime) -> bool | None:
    """Say whether a dispute was resolved, or both duties done, in time; None while there is time left."""
    notified, told = dispute.notified_at, dispute.patron_told_at
    duties = max(notified, told) if notified and told else None
    done = [moment for moment in (dispute.resolved_at, duties) if moment is not None]
    if done:
        return min(done) <= dispute.due_at
    return False if dispute.due_at <= now else None
