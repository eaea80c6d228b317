"""How a report is made: its rows are read once, and the file is written from these.

The rows are read in one database snapshot into a file of their own; the file in the format asked for is written from
that, and so is a certified copy later. A worker holds an advisory lock while it makes a report. The lock ends with its
holder, so the sweep can tell a report under way from one whose worker was killed.
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
#: How often the pending rounds of a period are looked for before a report gives up.
PENDING_ATTEMPTS = 20
#: How often a report says how far it has come, and looks whether it is still wanted.
EVERY_SECONDS = 0.5
LOCK = 0x7A15A3  # the first half of an advisory lock's key; the second is made from the report's key
#: Formats without anything around the rows.
STREAMED = (ReportFormat.CSV, ReportFormat.JSON)
#: A report that no worker has begun or finished after this long is taken up by the sweep.
OVERDUE = dt.timedelta(seconds=30)


class ReportCancelledError(Exception):
    """The report was cancelled while it was being made."""


class ReportClaim:
    """The right to make a report: an advisory lock on a connection of its own, which also carries the progress.

    What the snapshot's transaction writes is invisible until it ends; what is written here is visible at once.
    """

    def __init__(self, key: uuid.UUID, on_progress: Progress | None = None) -> None:
        self.key, self.on_progress = key, on_progress
        self.own = connection.copy()
        self.said_at = time.monotonic()
        self.is_held = False

    def __enter__(self) -> "ReportClaim":
        with self.own.cursor() as cursor:  # SQL by hand, here and below: a lock and a connection of its own
            cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", [LOCK, self.key.int % 2**31])
            self.is_held = bool(cursor.fetchone()[0])
        return self

    def __exit__(self, *error: object) -> None:
        self.own.close()

    def progress(self, rows: int) -> None:
        """Say how many rows have been read, and stop where the report was cancelled."""
        if self.on_progress is not None:
            self.on_progress(rows)
        if time.monotonic() - self.said_at < EVERY_SECONDS:
            return
        with self.own.cursor() as cursor:
            cursor.execute("UPDATE audits_reportrun SET rows_read = %s WHERE id = %s RETURNING state", [rows, self.key])
            row = cursor.fetchone()
        self.said_at = time.monotonic()
        if row is not None and row[0] == ReportRun.State.CANCELLED:
            raise ReportCancelledError


def report_take(*, key: uuid.UUID | str, on_progress: Progress | None = None) -> ReportRun | None:
    """Make a report. None where it is finished or cancelled, or where another worker makes it."""
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
            _failed(run, f"An unexpected error ({type(error).__name__}); it is in the log.", is_final=False)
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
        _failed(run, f"Its worker was stopped {run.attempts} times before it was finished.", is_final=True)
        return None
    run.state, run.started_at, run.attempts = ReportRun.State.RUNNING, timezone.now(), run.attempts + 1
    begun = ReportRun.objects.filter(UNDER_WAY, pk=key).update(
        state=run.state, started_at=run.started_at, attempts=run.attempts, retry_at=None
    )
    return run if begun else None


def _make(run: ReportRun, progress: Progress) -> None:
    asked = asked_of(run)
    report_type = REPORTS[run.kind]
    if report_type.reconciles:
        pending_settle(actor_of(run), asked)
    with snapshot() as run.as_of:
        report = report_type(asked)
        _read(run, report, progress)
        run.content = _content(report, asked, run.row_count or 0)
        run.rulebooks = rulebooks_of(asked)
    run.engine = VERSION
    run.is_reprint = run.format == ReportFormat.PDF and _was_printed(run)
    path = file_path(run)
    if run.format not in STREAMED:
        file_write(run, path, progress)
    run.size, run.sha256 = path.stat().st_size, sha256_of(path)
    _finished(run)


def _read(run: ReportRun, report: ReportKind, progress: Progress) -> None:
    """Read the rows into their file; a format that needs nothing but the rows is written in the same pass."""
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


def _content(report: ReportKind, asked: ReportRequest, row_count: int) -> dict[str, Any]:
    """Return what stands around the rows, as the run keeps it."""
    return {
        "totals": row_as_json(report.totals()),
        "nil": "" if row_count else report.nil(),
        "notes": [*report.notes(), *approval_notes(asked)],
        "charts": [chart_as_json(chart) for chart in report.charts()],
    }


def file_write(run: ReportRun, path: Path, progress: Progress, certificate: ReportCertificate | None = None) -> None:
    """Write the file of a report, or its certified copy, from the rows that were read."""
    document = document_of(run, certificate)
    totals = row_from_json(document.columns, run.content.get("totals"))
    with written_whole(path) as file:
        WRITERS[run.format](document, read_rows(document.columns, rows_path(run)), lambda: totals, file, progress)


def _was_printed(run: ReportRun) -> bool:
    """Return whether the same report with the same figures was printed before."""
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
    """Say what went wrong. What was not the report's own fault is tried again before it is given up."""
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
    return run.asked_by or Operator()


def asked_of(run: ReportRun) -> ReportRequest:
    """Return what a run asks for, in the capacity that the person has now; refuse where that is another one."""
    actor = actor_of(run)
    standing = report_capacity(actor, run.kind, casino=run.casino, table=run.table)
    if standing is None or reach_of(run.kind, standing) != (run.pit_id, run.is_confidential):
        raise ValidationError(
            f"{actor} may not make this report any more: another post, pit or reach. Ask for it anew."
        )
    window = shift_bounds(run.casino, run.first_day, run.shift) if run.shift and run.casino else None
    return ReportRequest(actor, standing, run.first_day, run.last_day, run.casino, run.table, window)


def pending_settle(actor: Actor, asked: ReportRequest) -> None:
    """Reconcile what waits in the period, until nothing does; another worker may be at it meanwhile."""
    for _ in range(PENDING_ATTEMPTS):
        pending = pending_places(asked)
        if not pending:
            return
        arrivals_take(only=pending, who=actor_name(actor))
    raise RuntimeError("Rounds of the period are still being reconciled.")


def pending_places(asked: ReportRequest) -> list[TableDay]:
    """List the tables and gaming days of the period with rounds that are not reconciled yet."""
    days = {asked.first + dt.timedelta(days=number) for number in range((asked.last_reached - asked.first).days + 1)}
    pending = outbox_of(days, asked.table)
    if asked.table is None and asked.casino is not None:
        own = set(Table.objects.filter(casino=asked.casino).values_list("pk", flat=True))
        pending = [place for place in pending if place[0] in own]
    return pending


def reports_waiting() -> list[uuid.UUID]:
    """List reports that are not finished and that no worker was seen to take for a while, or that are to be retried."""
    now = timezone.now()
    overdue = Q(state=ReportRun.State.WAITING, retry_at=None, asked_at__lte=now - OVERDUE)
    again = Q(state=ReportRun.State.WAITING, retry_at__lte=now)
    begun = Q(state=ReportRun.State.RUNNING, started_at__lte=now - OVERDUE)
    return list(ReportRun.objects.filter(overdue | again | begun).order_by("asked_at").values_list("pk", flat=True))
