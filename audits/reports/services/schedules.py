"""Scheduled reports: each period that has ended is reported once, also if the system was down at its end."""

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import structlog
from django.conf import settings
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.mail import EmailMessage
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from audits.exports.writers import CONTENT_TYPES
from audits.findings.services.escalation import people_in
from audits.incidents.shifts import shift_windows
from audits.models import Notice, ReportRun, ReportSchedule
from audits.reports.cover import period_text
from audits.reports.reach import report_authorize
from audits.reports.registry import REPORTS
from audits.reports.services.files import file_path
from audits.reports.services.reports import Send, file_name, report_ask, verify_request
from games.access.gate import authorize
from games.access.roles import access_policy
from games.access.services.access_records import export_made
from games.floor.moments import day_bounds, gaming_day
from games.history.audited_save import record_change, record_save
from games.models import Casino, Staff
from games.rounds.services.recording import BOOKS_OPEN_FOR

log = structlog.get_logger(__name__)

#: How far back missed periods are still reported.
MAKES_UP_FOR = dt.timedelta(days=93)
MOST_RECIPIENTS = 20
LARGEST_ATTACHMENT = 10 * 1024 * 1024
#: For how long an e-mail that cannot be sent is tried again.
MAILED_FOR = dt.timedelta(hours=1)
WEEK = 7


@dataclass(frozen=True)
class SchedulePeriod:
    """A period of gaming days, or one shift of a day, and the moment from which its report can be made."""

    first: dt.date
    last: dt.date
    due_at: dt.datetime
    shift: str = ""


# --- Schedules -------------------------------------------------------------------------------------


@transaction.atomic
def schedule_create(*, actor: Staff, values: Mapping[str, Any], reason: str) -> ReportSchedule:
    """Add a schedule. The person who adds it is its owner."""
    schedule = ReportSchedule(owner=actor, **values)
    _verify(actor, schedule)
    record_save(schedule, actor=actor, reason=reason)
    return schedule


@transaction.atomic
def schedule_update(
    *, actor: Staff, schedule: ReportSchedule, changes: Mapping[str, Any], reason: str
) -> ReportSchedule:
    """Change a schedule. If it is activated again, it starts from now."""
    authorize(actor, "reportschedule.change", schedule)
    was_active = schedule.is_active
    changed = dict(changes)
    if changed.get("is_active") and not was_active:
        changed["from_at"] = timezone.now()
    for name, value in changed.items():
        setattr(schedule, name, value)
    _verify(actor, schedule)
    schedule.refresh_from_db()
    record_change(schedule, changed, actor=actor, reason=reason)
    return schedule


def _verify(actor: Staff, schedule: ReportSchedule) -> None:
    authorize(actor, "reportschedule.add", schedule.casino)
    verify_request(schedule.kind, schedule.format, dt.date.min, dt.date.min)
    report_authorize(schedule.owner, schedule.kind, casino=schedule.casino, table=schedule.table)
    if schedule.table is not None and schedule.table.casino_id != schedule.casino_id:
        raise ValidationError({"table": f"{schedule.table} is not a table of {schedule.casino}. Choose another table."})
    if len(schedule.recipients) > MOST_RECIPIENTS:
        raise ValidationError({"recipients": f"At most {MOST_RECIPIENTS} addresses are allowed. Use a mailing list."})
    for address in schedule.recipients:
        try:
            validate_email(address)
        except ValidationError:
            raise ValidationError({"recipients": f"{address!r:.80} is not an e-mail address."}) from None


# --- Due reports -----------------------------------------------------------------------------------


def schedules_take(*, now: dt.datetime | None = None, send: Send | None = None) -> list[ReportRun]:
    """Request every report that is due and not requested yet. Two schedulers request each report only once."""
    moment = now or timezone.now()
    made = []
    schedules = ReportSchedule.objects.filter(is_active=True).select_related("casino", "owner", "table__casino")
    for schedule in schedules:
        known = set(schedule.runs.values_list("first_day", "last_day", "shift"))
        for period in periods_due(schedule, moment):
            if (period.first, period.last, period.shift) not in known and (run := _order(schedule, period, send)):
                made.append(run)
    return made


def _order(schedule: ReportSchedule, period: SchedulePeriod, send: Send | None) -> ReportRun | None:
    try:
        with transaction.atomic():
            return report_ask(
                actor=schedule.owner, kind=schedule.kind, format=schedule.format, first=period.first, last=period.last,
                casino=schedule.casino, table=schedule.table, shift=period.shift, schedule=schedule, send=send,
            )  # fmt: skip
    except IntegrityError:  # another scheduler was quicker
        return None
    except (PermissionDenied, ValidationError) as error:
        return _refused(schedule, period, error)


def _refused(schedule: ReportSchedule, period: SchedulePeriod, error: Exception) -> ReportRun | None:
    """Record a report that could not be requested as failed, so that compliance is notified of it."""
    fault = " ".join(error.messages) if isinstance(error, ValidationError) else str(error)
    try:
        with transaction.atomic():
            return ReportRun.objects.create(
                kind=schedule.kind, format=schedule.format, casino=schedule.casino, table=schedule.table,
                first_day=period.first, last_day=period.last, shift=period.shift, asked_by=schedule.owner,
                who=str(schedule.owner), schedule=schedule, state=ReportRun.State.FAILED, fault=fault,
                ended_at=timezone.now(),
            )  # fmt: skip
    except IntegrityError:
        return None


def periods_due(schedule: ReportSchedule, now: dt.datetime) -> Iterator[SchedulePeriod]:
    """Yield the periods that ended after the schedule began, once they are closed."""
    since = max(schedule.from_at, now - MAKES_UP_FOR)
    every = {
        ReportSchedule.Every.DAY: _days, ReportSchedule.Every.WEEK: _weeks,
        ReportSchedule.Every.MONTH: _months, ReportSchedule.Every.SHIFT: _shifts,
    }[ReportSchedule.Every(schedule.every)]  # fmt: skip
    for period in every(schedule.casino, since, now):
        if since < period.due_at <= now:
            yield period


def _days_between(casino: Casino, since: dt.datetime, now: dt.datetime) -> Iterator[dt.date]:
    day, last = gaming_day(casino, since - BOOKS_OPEN_FOR) - dt.timedelta(days=1), gaming_day(casino, now)
    while day <= last:
        yield day
        day += dt.timedelta(days=1)


def _closed_at(casino: Casino, day: dt.date) -> dt.datetime:
    """Return the closing time of a gaming day."""
    return day_bounds(casino, day)[1] + BOOKS_OPEN_FOR


def _days(casino: Casino, since: dt.datetime, now: dt.datetime) -> Iterator[SchedulePeriod]:
    for day in _days_between(casino, since, now):
        yield SchedulePeriod(day, day, _closed_at(casino, day))


def _weeks(casino: Casino, since: dt.datetime, now: dt.datetime) -> Iterator[SchedulePeriod]:
    for day in _days_between(casino, since, now):
        if day.isoweekday() == WEEK:
            yield SchedulePeriod(day - dt.timedelta(days=WEEK - 1), day, _closed_at(casino, day))


def _months(casino: Casino, since: dt.datetime, now: dt.datetime) -> Iterator[SchedulePeriod]:
    for day in _days_between(casino, since, now):
        if (day + dt.timedelta(days=1)).day == 1:
            yield SchedulePeriod(day.replace(day=1), day, _closed_at(casino, day))


def _shifts(casino: Casino, since: dt.datetime, now: dt.datetime) -> Iterator[SchedulePeriod]:
    for day in _days_between(casino, since, now):
        for name, _, ends in shift_windows(casino, day):
            yield SchedulePeriod(day, day, ends, name)


# --- Sending and failures --------------------------------------------------------------------------


def scheduled_reports_send() -> int:
    """E-mail finished scheduled reports to their recipients, each once.

    E-mails that cannot be sent are tried again for an hour; then compliance is notified.
    """
    ready = ReportRun.objects.filter(state=ReportRun.State.DONE, mailed_at=None, again_of=None)
    ready = ready.exclude(schedule=None).exclude(schedule__recipients=[]).select_related("schedule", "casino")
    return sum(_send(key) for key in ready.values_list("pk", flat=True))


@transaction.atomic
def _send(key: Any) -> int:
    locked = ReportRun.objects.select_for_update(of=("self",), skip_locked=True)
    run = locked.filter(pk=key, mailed_at=None).select_related("schedule", "casino", "table", "pit").first()
    if run is None or run.schedule is None:
        return 0
    now = timezone.now()
    try:
        with transaction.atomic():  # without the e-mail, the export is not on record either
            _message(run, run.schedule).send()
    except OSError as error:
        log.warning("report not mailed", report=str(key), error=str(error))
        _not_mailed(run, str(error) or type(error).__name__, now)
        return 0
    ReportRun.objects.filter(pk=key).update(mailed_at=now, mail_fault="")
    return 1


def _not_mailed(run: ReportRun, fault: str, now: dt.datetime) -> None:
    """Record why an e-mail was not sent; after an hour give up and notify compliance."""
    is_given_up = run.ended_at is None or run.ended_at + MAILED_FOR <= now
    ReportRun.objects.filter(pk=run.pk).update(mailed_at=now if is_given_up else None, mail_fault=fault)
    if is_given_up and run.casino is not None:
        _raise(
            run.casino,
            f"The e-mail of the scheduled report {REPORTS[run.kind].title}, {period_text(run)}, could not be sent: "
            f"{fault}. The report is listed under Reports.",
        )


def _raise(casino: Casino, text: str) -> Notice:
    """Notify compliance."""
    role = access_policy().notified["report-schedules"]
    people = people_in(role, casino)
    return Notice.objects.create(
        casino=casino, role=role, text=text, people=[str(person) for person in people],
        recipients=[person.pk for person in people],
    )  # fmt: skip


def _message(run: ReportRun, schedule: ReportSchedule) -> EmailMessage:
    """Write the e-mail: with a link, and with the file if the casino allows it and the report is not confidential."""
    title = f"{REPORTS[run.kind].title}, {period_text(run)}"
    lines = [
        f"{run.casino}: {title}.",
        f"{run.row_count:,} rows. SHA-256 of the file: {run.sha256}",
        f"Sign in and open it at {settings.SITE_URL}{reverse('admin:audits_reportrun_change', args=[run.pk])}",
    ]
    message = EmailMessage(f"Report: {title}", "\n".join(lines), None, schedule.recipients)
    allowed = run.casino is not None and run.casino.report_files_by_email and not run.is_confidential
    if allowed and (run.size or 0) <= LARGEST_ATTACHMENT:
        message.attach(file_name(run), file_path(run).read_bytes(), CONTENT_TYPES[run.format])
        export_made(run.asked_by, f"report {run} by e-mail to {', '.join(schedule.recipients)}", run.casino)
    return message


@transaction.atomic
def failures_raise() -> list[Notice]:
    """Notify compliance once of each scheduled report that has failed."""
    failed = ReportRun.objects.filter(state=ReportRun.State.FAILED, raised_at=None).exclude(schedule=None)
    notices = []
    for run in failed.select_for_update(of=("self",), skip_locked=True).select_related("casino"):
        if run.casino is None:
            continue
        text = f"The scheduled report {REPORTS[run.kind].title}, {period_text(run)}, failed: {run.fault}"
        notices.append(_raise(run.casino, text))
        ReportRun.objects.filter(pk=run.pk).update(raised_at=timezone.now())
    return notices
