"""Request, cancel and download reports, and remove expired files. `production` makes them."""

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import structlog
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from kombu.exceptions import OperationalError

from audits.models import ReportFormat, ReportRun, ReportSchedule
from audits.reports.reach import reach_of, report_authorize, reports_seen
from audits.reports.registry import REPORTS
from audits.reports.services.files import certified_path, file_path, files_remove, sha256_of
from games.access.gate import Actor, Capacity, actor_name
from games.access.services.access_records import export_made
from games.history.audited_save import OvertakenError
from games.models import Casino, Staff, Table

log = structlog.get_logger(__name__)

Send = Callable[[str], Any]

LONGEST_DAYS = 366
UNDER_WAY = Q(state__in=[ReportRun.State.WAITING, ReportRun.State.RUNNING])


def report_ask(
    *, actor: Actor, kind: str, format: str, first: dt.date, last: dt.date, casino: Casino | None = None,
    table: Table | None = None, shift: str = "", schedule: ReportSchedule | None = None,
    again_of: ReportRun | None = None, send: Send | None = None,
) -> ReportRun:  # fmt: skip
    """Request a report. `send` sends it to a worker; without it the caller makes it."""
    verify_request(kind, format, first, last)
    casino = table.casino if table else casino
    capacity = report_authorize(actor, kind, casino=casino, table=table)
    casino = casino or own_casino(capacity)
    pit_id, is_confidential = reach_of(kind, capacity)
    run = ReportRun(
        kind=kind,
        format=format,
        casino=casino,
        pit_id=pit_id,
        table=table,
        first_day=first,
        last_day=last,
        shift=shift,
        is_confidential=is_confidential,
        asked_by=actor if isinstance(actor, Staff) else None,
        who=actor_name(actor),
        schedule=schedule,
        again_of=again_of,
    )
    with transaction.atomic():
        run.save(force_insert=True)
        if send is not None:
            transaction.on_commit(lambda: _send_to_worker(run, send))
    return run


def report_again(*, actor: Actor, run: ReportRun, send: Send | None = None) -> ReportRun:
    """Request the same report again, to be compared with the old one."""
    return report_ask(
        actor=actor, kind=run.kind, format=run.format, first=run.first_day, last=run.last_day, casino=run.casino,
        table=run.table, shift=run.shift, schedule=run.schedule, again_of=run, send=send,
    )  # fmt: skip


def verify_request(kind: str, format: str, first: dt.date, last: dt.date) -> None:
    """Raise unless the report, format and period are valid."""
    if kind not in REPORTS:
        raise ValidationError({"kind": f"{kind!r:.40} is not a report. Choose one of {', '.join(sorted(REPORTS))}."})
    if format not in ReportFormat.values:
        raise ValidationError({"format": f"{format!r:.40} is not a format. Choose csv, xlsx, pdf or json."})
    if last < first:
        raise ValidationError({"to": f"{last} is before {first}. Enter the first day, then the last."})
    if (last - first).days >= LONGEST_DAYS:
        raise ValidationError({"to": f"The period is longer than {LONGEST_DAYS} days. Request shorter periods."})


def own_casino(capacity: Capacity) -> Casino | None:
    """Return the casino of a capacity. For people of no single casino: the only casino, or None for all."""
    casinos = list(Casino.objects.filter(pk=capacity.casino_id) if capacity.casino_id else Casino.objects.all()[:2])
    return casinos[0] if len(casinos) == 1 else None


def _send_to_worker(run: ReportRun, send: Send) -> None:
    """Send a report to a worker. If the broker cannot be reached, the sweep finds it later."""
    try:
        send(str(run.pk))
    except OperationalError as error:
        log.warning("report not sent to a worker", report=str(run.pk), error=str(error))


def report_cancel(*, actor: Actor, run: ReportRun) -> ReportRun:
    """Cancel an unfinished report. Nothing of it is kept."""
    report_authorize(actor, run.kind, casino=run.casino, table=run.table)
    ended = ReportRun.objects.filter(UNDER_WAY, pk=run.pk).update(
        state=ReportRun.State.CANCELLED, ended_at=timezone.now(), ended_by=actor_name(actor)
    )
    if not ended:
        raise OvertakenError("This report is already finished. Nothing has changed.")
    run.refresh_from_db()
    return run


# --- Files -----------------------------------------------------------------------------------------


def report_file(*, actor: Actor, run: ReportRun, certified: bool = False) -> Path:
    """Return the file of a report to a person who may have it, after the export is on record."""
    report_authorize(actor, run.kind, casino=run.casino, table=run.table)
    if not reports_seen(actor).filter(pk=run.pk).exists():
        raise PermissionDenied("This report has rows that you may not read.")
    if not run.has_file:
        raise OvertakenError(
            f"The file of this report expired on {run.expires_at:%d %b %Y}. Run the report again."
            if run.is_expired
            else f"There is no file: this report is {run.state}."
        )
    path, expected = file_path(run), run.sha256
    if certified:
        path, expected = certified_path(run), run.certificate.sha256
    if not path.is_file() or sha256_of(path) != expected:
        raise ValidationError("The file is missing, or its hash differs from the one on record. Notify compliance.")
    export_made(actor, export_label(run, certified=certified), run.casino)
    return path


def export_label(run: ReportRun, *, certified: bool = False) -> str:
    """Describe a download for the access record."""
    place = run.table.code if run.table else f"pit {run.pit.code}" if run.pit else "all tables"
    return f"report {run}, {place}, {run.format}{', certified' if certified else ''} ({run.pk})"


def file_name(run: ReportRun, *, certified: bool = False) -> str:
    """Return the file name for a download: casino, report, days."""
    days = f"{run.first_day}" if run.first_day == run.last_day else f"{run.first_day}_{run.last_day}"
    parts = [run.casino.code if run.casino else "all", run.kind, run.table.code if run.table else "", run.shift, days]
    name = "-".join(part.replace(" ", "_") for part in parts if part)
    return f"{name}{'-certified' if certified else ''}.{run.format}"


def reports_expire(*, now: dt.datetime | None = None) -> int:
    """Remove the files of expired reports. Their records and certificates are kept."""
    moment = now or timezone.now()
    expired = ReportRun.objects.filter(expires_at__lte=moment, removed_at=None, state=ReportRun.State.DONE)
    for run in expired:
        files_remove(run)
        ReportRun.objects.filter(pk=run.pk).update(removed_at=moment)
    return len(expired)
