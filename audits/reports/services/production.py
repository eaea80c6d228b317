"""Make a report: read its rows once, and write the file from them.

The rows are read in one database snapshot into a separate file. The file in the requested format is written from that
one, and a certified copy later, too. A worker holds an advisory lock while it makes a report. The lock ends with its
holder, so the sweep recognises reports whose worker was killed.
"""

import datetime as dt
import time
import uuid
from pathlib import Path
from typing import Any

import structlog
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import connection
from django.db.models import Q
from django.utils import timezone

from audits.exports.document import Progress
from audits.exports.rows_file import KeptRows, read_rows, row_as_json, row_from_json
from audits.exports.writers import WRITERS
from audits.incidents.shifts import shift_bounds
from audits.models import ReportCertificate, ReportFormat, ReportRun
from audits.reconciliation.services.arrivals import TableDay, arrivals_take, outbox_of
from audits.reports.cover import chart_as_json, document_of
from audits.reports.notes import approval_notes, rulebooks_of
from audits.reports.reach import reach_of, report_capacity
from audits.reports.registry import REPORTS
from audits.reports.report_kind import ReportKind, ReportRequest
from audits.reports.services.files import file_path, files_remove, rows_path, sha256_of, written_whole
from audits.reports.services.reports import UNDER_WAY
from audits.reports.services.snapshots import snapshot
from games.access.gate import Actor, Operator, actor_name
from games.engine.play.findings import VERSION
from games.models import Casino, Table

log = structlog.get_logger(__name__)

ATTEMPTS = 3
RETRY_AFTER = dt.timedelta(minutes=1)
#: How often a report tries to reconcile the pending rounds of its period before it gives up.
PENDING_ATTEMPTS = 20
#: How often a report saves its progress and checks whether it was cancelled.
EVERY_SECONDS = 0.5
LOCK = 0x7A15A3  # the first half of an advisory lock's key; the second is made from the report's key
#: Formats that need nothing but the rows.
STREAMED = (ReportFormat.CSV, ReportFormat.JSON)
#: The sweep takes reports that no worker has started or finished after this long.
OVERDUE = dt.timedelta(seconds=30)


class ReportCancelledError(Exception):
    """The report was cancelled while it was being made."""


class ReportClaim:
    """The right to make a report: an advisory lock on a separate connection, which also saves the progress.

    Writes of the snapshot's transaction are invisible until it ends; writes of this connection are visible at once.
    """

    def __init__(self, key: uuid.UUID, on_progress: Progress | None = None) -> None:
        self.key, self.on_progress = key, on_progress
        self.own = connection.copy()
        self.saved_at = time.monotonic()
        self.is_held = False

    def __enter__(self) -> "ReportClaim":
        with self.own.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", [LOCK, self.key.int % 2**31])
            self.is_held = bool(cursor.fetchone()[0])
        return self

    def __exit__(self, *error: object) -> None:
        self.own.close()

    def progress(self, rows: int) -> None:
        """Save how many rows have been read; raise if the report was cancelled."""
        if self.on_progress is not None:
            self.on_progress(rows)
        if time.monotonic() - self.saved_at < EVERY_SECONDS:
            return
        with self.own.cursor() as cursor:
            cursor.execute("UPDATE audits_reportrun SET rows_read = %s WHERE id = %s RETURNING state", [rows, self.key])
            row = cursor.fetchone()
        self.saved_at = time.monotonic()
        if row is not None and row[0] == ReportRun.State.CANCELLED:
            raise ReportCancelledError


def report_take(*, key: uuid.UUID | str, on_progress: Progress | None = None) -> ReportRun | None:
    """Make a report; None if it is finished, cancelled or being made by another worker."""
    key = uuid.UUID(str(key))
    with ReportClaim(key, on_progress) as claim:
        run = _begun(key) if claim.is_held else None
        if run is None:
            return None
        try:
            _make(run, claim.progress)
        except ReportCancelledError:
            files_remove(run)
        except (ValidationError, ValueError, PermissionDenied) as error:
            files_remove(run)
            _failed(run, _sentence(error), is_final=True)
        except Exception as error:
            files_remove(run)
            log.exception("report failed", report=str(key))
            _failed(run, f"Unexpected error ({type(error).__name__}). See the log.", is_final=False)
        run.refresh_from_db()
    return run


def _begun(key: uuid.UUID) -> ReportRun | None:
    run = (
        ReportRun.objects.select_related("casino", "pit", "table__casino", "asked_by", "again_of")
        .filter(pk=key)
        .first()
    )
    if run is None or run.is_over:
        return None
    if run.attempts >= ATTEMPTS:
        files_remove(run)
        _failed(run, f"The worker was stopped {run.attempts} times before the report was finished.", is_final=True)
        return None
    run.state, run.started_at, run.attempts = ReportRun.State.RUNNING, timezone.now(), run.attempts + 1
    begun = ReportRun.objects.filter(UNDER_WAY, pk=key).update(
        state=run.state, started_at=run.started_at, attempts=run.attempts, retry_at=None
    )
    return run if begun else None


def _make(run: ReportRun, progress: Progress) -> None:
    request = request_of(run)
    report_type = REPORTS[run.kind]
    if report_type.reconciles:
        pending_settle(actor_of(run), request)
    with snapshot() as run.as_of:
        report = report_type(request)
        _read(run, report, progress)
        run.content = _content(report, request, run.row_count or 0)
        run.rulebooks = rulebooks_of(request)
    run.engine = VERSION
    run.is_reprint = run.format == ReportFormat.PDF and _was_printed(run)
    path = file_path(run)
    if run.format not in STREAMED:
        file_write(run, path, progress)
    run.size, run.sha256 = path.stat().st_size, sha256_of(path)
    _finished(run)


def _read(run: ReportRun, report: ReportKind, progress: Progress) -> None:
    """Read the rows into their file. Formats that need nothing but the rows are written in the same pass."""
    with written_whole(rows_path(run)) as file:
        kept = KeptRows(file)
        if run.format in STREAMED:
            with written_whole(file_path(run)) as target:
                rows = kept.passing(report.counted_rows())
                WRITERS[run.format](document_of(run), rows, lambda: None, target, progress)
        else:
            for _ in kept.blocks(report.counted_rows()):
                progress(kept.count)
    run.row_count, run.rows_sha256 = kept.count, kept.sha256


def _content(report: ReportKind, request: ReportRequest, row_count: int) -> dict[str, Any]:
    """Return everything around the rows, as the run stores it."""
    return {
        "totals": row_as_json(report.totals()),
        "nil": "" if row_count else report.nil(),
        "notes": [*report.notes(), *approval_notes(request)],
        "charts": [chart_as_json(chart) for chart in report.charts()],
    }


def file_write(run: ReportRun, path: Path, progress: Progress, certificate: ReportCertificate | None = None) -> None:
    """Write the file of a report, or its certified copy, from the rows that were read."""
    document = document_of(run, certificate)
    totals = row_from_json(document.columns, run.content.get("totals"))
    with written_whole(path) as file:
        WRITERS[run.format](document, read_rows(document.columns, rows_path(run)), lambda: totals, file, progress)


def _was_printed(run: ReportRun) -> bool:
    """Say whether the same report with the same figures was made as PDF before."""
    same = ReportRun.objects.filter(
        kind=run.kind, format=run.format, casino=run.casino, pit=run.pit, table=run.table, first_day=run.first_day,
        last_day=run.last_day, shift=run.shift, rows_sha256=run.rows_sha256, state=ReportRun.State.DONE,
    )  # fmt: skip
    return same.exclude(pk=run.pk).exists()


def _finished(run: ReportRun) -> None:
    days = run.casino.report_days if run.casino else Casino._meta.get_field("report_days").default
    now = timezone.now()
    changed = ReportRun.objects.filter(pk=run.pk, state=ReportRun.State.RUNNING).update(
        state=ReportRun.State.DONE, ended_at=now, rows_read=run.row_count, row_count=run.row_count, fault="",
        rows_sha256=run.rows_sha256, content=run.content, sha256=run.sha256, size=run.size, engine=run.engine,
        is_reprint=run.is_reprint, rulebooks=run.rulebooks, as_of=run.as_of,
        expires_at=now + dt.timedelta(days=days),
    )  # fmt: skip
    if not changed:
        raise ReportCancelledError


def _failed(run: ReportRun, fault: str, *, is_final: bool) -> None:
    """Record the fault. Unless it is final, the report is tried again before it fails."""
    is_final = is_final or run.attempts >= ATTEMPTS
    state = ReportRun.State.FAILED if is_final else ReportRun.State.WAITING
    now = timezone.now()
    ReportRun.objects.filter(pk=run.pk, state=ReportRun.State.RUNNING).update(
        state=state, fault=fault, ended_at=now if is_final else None,
        retry_at=None if is_final else now + RETRY_AFTER * run.attempts,
    )  # fmt: skip


def _sentence(error: Exception) -> str:
    return " ".join(error.messages) if isinstance(error, ValidationError) else str(error)


def actor_of(run: ReportRun) -> Actor:
    """Return the person who requested a report, or the operator."""
    return run.asked_by or Operator()


def request_of(run: ReportRun) -> ReportRequest:
    """Return the request of a run, in the person's capacity now; raise if that differs from the one then."""
    actor = actor_of(run)
    capacity = report_capacity(actor, run.kind, casino=run.casino, table=run.table)
    if capacity is None or reach_of(run.kind, capacity) != (run.pit_id, run.is_confidential):
        raise ValidationError(
            f"{actor} may no longer make this report: their post, pit or reach has changed. Request a new report."
        )
    window = shift_bounds(run.casino, run.first_day, run.shift) if run.shift and run.casino else None
    return ReportRequest(actor, capacity, run.first_day, run.last_day, run.casino, run.table, window)


def pending_settle(actor: Actor, request: ReportRequest) -> None:
    """Reconcile the pending rounds of the period until none is left. Other workers may do the same meanwhile."""
    for _ in range(PENDING_ATTEMPTS):
        pending = pending_places(request)
        if not pending:
            return
        arrivals_take(only=pending, who=actor_name(actor))
    raise RuntimeError("Rounds of the period are still being reconciled.")


def pending_places(request: ReportRequest) -> list[TableDay]:
    """List the tables and gaming days of the period with rounds that are not reconciled yet."""
    days = {
        request.first + dt.timedelta(days=number) for number in range((request.last_reached - request.first).days + 1)
    }
    pending = outbox_of(days, request.table)
    if request.table is None and request.casino is not None:
        own = set(Table.objects.filter(casino=request.casino).values_list("pk", flat=True))
        pending = [place for place in pending if place[0] in own]
    return pending


def reports_waiting() -> list[uuid.UUID]:
    """List unfinished reports that are due for a retry, or that no worker has started or finished in time."""
    now = timezone.now()
    overdue = Q(state=ReportRun.State.WAITING, retry_at=None, asked_at__lte=now - OVERDUE)
    again = Q(state=ReportRun.State.WAITING, retry_at__lte=now)
    begun = Q(state=ReportRun.State.RUNNING, started_at__lte=now - OVERDUE)
    return list(ReportRun.objects.filter(overdue | again | begun).order_by("asked_at").values_list("pk", flat=True))
