"""The report of the daily log: entries, addenda and handovers, by gaming day and shift."""

from collections.abc import Iterator
from heapq import merge

from django.db.models import F, Prefetch, QuerySet
from django.db.models.functions import Coalesce

from audits.exports.document import Column, ColumnKind, Row
from audits.models import Handover, HandoverTaken, Incident, LogEntry
from audits.reports.columns import CASINO, CONFIDENTIAL, PIT, list_column, moment_column, person_column, text_column
from audits.reports.kinds.findings import TABLE
from audits.reports.kinds.placed_report import CHUNK, PlacedReport, code_of
from audits.reports.report_kind import Shelf
from games.access.roles import department_name

ENTRY, ADDENDUM, HANDOVER, TAKEN = "Entry", "Addendum", "Handover", "Handover taken"


class Log(PlacedReport):
    """The log entries of surveillance and the pit, by the time seen. Addenda follow their entry."""

    kind, title, things = "log", "Daily log", "log entries"
    shelf = Shelf.SHIFT
    about = (
        "For surveillance, the shift and the regulator: what was seen, by gaming day and shift, with the recording, "
        "addenda and the handovers between shifts."
    )
    needs = ("logentry.view", "handover.view", "incident.view")
    can_be_confidential = True
    columns = (
        Column("gaming_day", "Gaming day", ColumnKind.DATE, width=11), Column("shift", "Shift", width=10),
        moment_column("at", "Seen at"), Column("number", "No.", width=17), Column("type", "Type", width=14),
        Column("adds_to", "Adds to no.", width=17), CASINO, PIT, TABLE, text_column("location", "Place", 16),
        text_column("summary", "What was seen", 50), Column("camera", "Camera", width=10),
        Column("time_code", "Time code", width=13),
        Column("monitored", "Monitored live", ColumnKind.YES_NO, width=10), text_column("recording", "Recording", 18),
        Column("keep_until", "Keep until", ColumnKind.DATE, width=11), list_column("incidents", "Incidents", 15),
        CONFIDENTIAL, Column("department", "Department", width=13), person_column("written_by", "Written by"),
        moment_column("recorded_at", "Recorded at"),
    )  # fmt: skip

    def nil(self) -> str:
        return "The log has no entries in the period."

    def rows(self) -> Iterator[Row]:
        """Yield the rows by gaming day and time. Handovers have no table: a report of one table leaves them out."""
        parts = [map(_entry, self.entries().iterator(CHUNK))]
        if self.request.table is None:
            parts += [map(_handover, self.handovers().iterator(CHUNK)), map(_taken, self.taken().iterator(CHUNK))]
        return merge(*parts, key=lambda row: (row[0], row[2]))

    def entries(self) -> QuerySet[LogEntry]:
        incidents = Incident.objects.filter(self.request.capacity.within(Incident)).defer("search")
        entries = self.placed(LogEntry.objects.filter(self.request.period_of("at"))).defer("search")
        return entries.select_related("casino", "pit", "table").prefetch_related(
            Prefetch("incidents", incidents.order_by("number"))
        ).order_by(
            "gaming_day", "at", Coalesce("addendum_to__recorded_at", "recorded_at"), Coalesce("addendum_to_id", "id"),
            F("addendum_to_id").asc(nulls_first=True), "recorded_at", "pk",
        )  # fmt: skip

    def handovers(self) -> QuerySet[Handover]:
        handovers = self.within(Handover.objects.filter(self.request.period_of("at")))
        return handovers.select_related("casino", "pit").order_by("gaming_day", "at", "pk")

    def taken(self) -> QuerySet[HandoverTaken]:
        """Return the handovers taken, by the shift of the handover, also if signed after the end of the shift."""
        handovers = Handover.objects.filter(self.request.period_of("at")).order_by()
        taken = self.within(HandoverTaken.objects.filter(handover__in=handovers))
        return taken.select_related("handover__casino", "handover__pit").order_by("handover__gaming_day", "at", "pk")


def _entry(entry: LogEntry) -> Row:
    adds_to = entry.addendum_to_id
    return (
        entry.gaming_day, entry.shift, entry.at, str(entry.pk), ADDENDUM if adds_to else ENTRY,
        str(adds_to) if adds_to else None, entry.casino.code, code_of(entry.pit), code_of(entry.table),
        entry.location or None, entry.summary, entry.camera or None, entry.time_code or None, entry.was_monitored,
        entry.recording or None, entry.keep_until, [incident.number for incident in entry.incidents.all()],
        entry.is_confidential, department_name(entry.department), entry.who, entry.recorded_at,
    )  # fmt: skip


def _handover(handover: Handover) -> Row:
    return _signature(handover, handover, (HANDOVER, None, f"{handover.watch} ({_open(handover)})"))


def _taken(handover_taken: HandoverTaken) -> Row:
    return _signature(
        handover_taken.handover,
        handover_taken,
        (TAKEN, str(handover_taken.handover_id), handover_taken.remarks or None),
    )


def _signature(handover: Handover, signed: Handover | HandoverTaken, says: tuple[str, str | None, str | None]) -> Row:
    """Return the row of a signature on a handover. Columns of log entries stay empty."""
    type_, adds_to, summary = says
    return (
        handover.gaming_day, handover.shift, signed.at, str(signed.pk), type_, adds_to, handover.casino.code,
        code_of(handover.pit), None, None, summary, None, None, None, None, None, [], handover.is_confidential,
        department_name(handover.department), signed.who, signed.at,
    )  # fmt: skip


def _open(handover: Handover) -> str:
    """Count the incidents and findings that were open at the handover."""
    incidents, findings = len(handover.open_incidents), handover.open_findings
    return (
        f"open: {incidents:,} incident{'' if incidents == 1 else 's'}, "
        f"{findings:,} finding{'' if findings == 1 else 's'}"
    )
