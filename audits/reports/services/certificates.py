"""Certify finished reports, and check whether the figures of a report have changed since it was made."""

import datetime as dt
from contextlib import suppress

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from audits.exports.rows_file import write_rows
from audits.models import CERTIFIED_FORMATS, DaySummary, ReportCertificate, ReportRun
from audits.reports.reach import CERTIFY, report_authorize
from audits.reports.registry import REPORTS
from audits.reports.services.files import certified_path, file_path, sha256_of
from audits.reports.services.production import file_write, request_of
from audits.reports.services.snapshots import snapshot
from games.history.audited_save import verify_text
from games.models import Staff

STATEMENT_LENGTH = 2000
#: Up to this number of rows the page of a report compares the figures; a periodic task compares longer reports.
CHECKED_ROWS, LARGEST_CHECKED = 2000, 200_000
CHECK_BATCH = 20
CHECK_EVERY, CHECKED_FOR = dt.timedelta(minutes=10), dt.timedelta(days=31)


def report_certify(*, actor: Staff, run: ReportRun, statement: str) -> ReportCertificate:
    """Certify a finished report: write the certificate once, and into a copy of the file."""
    capacity = report_authorize(actor, run.kind, casino=run.casino, table=run.table, action=CERTIFY)
    statement = statement.strip()
    if not statement:
        raise ValidationError({"statement": "Enter the statement that you certify."})
    if len(statement) > STATEMENT_LENGTH:
        raise ValidationError({"statement": f"The statement is longer than {STATEMENT_LENGTH} characters. Shorten it."})
    verify_text("statement", statement)
    report_recheck(run, most_rows=LARGEST_CHECKED)
    with transaction.atomic():
        run = ReportRun.objects.select_for_update(of=("self",)).select_related("casino", "pit", "table").get(pk=run.pk)
        _verify_certifiable(run)
        certificate = ReportCertificate(
            run=run, by=actor, name=str(actor), post=str(capacity).capitalize(), statement=statement, at=timezone.now()
        )
        path = certified_path(run)
        file_write(run, path, lambda rows: None, certificate)
        certificate.size, certificate.sha256 = path.stat().st_size, sha256_of(path)
        certificate.save(force_insert=True)
    return certificate


def _verify_certifiable(run: ReportRun) -> None:
    if not run.has_file:
        raise ValidationError("Only a finished report with a file can be certified.")
    if run.format not in CERTIFIED_FORMATS:
        raise ValidationError("Only PDF and XLSX can be certified. Make the report in one of these formats.")
    if ReportCertificate.objects.filter(run=run).exists():
        raise ValidationError("This report is already certified. Nothing has changed.")
    if run.changed_at is not None:
        raise ValidationError(
            "The figures have changed since this report was made. Run it again and certify the new report."
        )
    if sha256_of(file_path(run)) != run.sha256:
        raise ValidationError("The file was altered: its hash differs from the one on record. Notify compliance.")


def report_check(*, run: ReportRun) -> bool:
    """Read the figures again, record whether they have changed since the report was made, and return it."""
    with snapshot() as moment:
        report = REPORTS[run.kind](request_of(run))
        _, digest = write_rows(report.rows(), None, lambda rows: None)
    has_changed = digest != run.rows_sha256
    run.changed_at = (run.changed_at or moment) if has_changed else None
    run.checked_at = moment
    ReportRun.objects.filter(pk=run.pk).update(changed_at=run.changed_at, checked_at=moment)
    return has_changed


def report_recheck(run: ReportRun, *, most_rows: int = CHECKED_ROWS) -> None:
    """Check the figures of a finished report if they may have changed and the check is quick."""
    if not run.has_file or run.as_of is None or (run.row_count or 0) > most_rows:
        return
    if not _may_have_changed(run):
        return
    with suppress(
        ValidationError
    ):  # the person who requested it has another post now, so the figures cannot be read again
        report_check(run=run)


def reports_recheck(*, now: dt.datetime | None = None) -> int:
    """Check recent and certified reports, those first that were not checked for the longest time."""
    moment = now or timezone.now()
    recent = Q(asked_at__gte=moment - CHECKED_FOR) | Q(certificate__isnull=False)
    stale = Q(checked_at=None) | Q(checked_at__lte=moment - CHECK_EVERY)
    done = ReportRun.objects.filter(recent, stale, state=ReportRun.State.DONE, removed_at=None, changed_at=None)
    reports = done.select_related("casino", "pit", "table__casino", "asked_by").order_by(
        F("checked_at").asc(nulls_first=True)
    )
    for run in reports[:CHECK_BATCH]:
        report_recheck(run, most_rows=LARGEST_CHECKED)
        ReportRun.objects.filter(pk=run.pk).update(checked_at=moment)
    return len(reports[:CHECK_BATCH])


def _may_have_changed(run: ReportRun) -> bool:
    """Say whether a day of the period was reconciled since the last check. Reports of other records always may."""
    if not REPORTS[run.kind].rests_on_days:
        return True
    last = run.last_day + dt.timedelta(days=1 if run.shift else 0)  # the last shift may end in the next gaming day
    days = DaySummary.objects.filter(gaming_day__gte=run.first_day, gaming_day__lte=last)
    days = days.filter(table__casino=run.casino) if run.casino else days
    days = days.filter(table=run.table) if run.table else days
    return days.filter(changed_at__gte=run.checked_at or run.as_of).exists()
