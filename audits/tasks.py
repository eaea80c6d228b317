"""Celery tasks of the audits. A message may come twice, late or never: the database says what is left to do."""

import datetime as dt
import time

from django.conf import settings
from django.db import IntegrityError

from audits.findings.services.escalation import findings_escalate, notices_mail
from audits.findings.services.weighing import findings_weigh
from audits.incidents.services.disputes import overdue_tell
from audits.notifications.services.proposers import proposers_notify
from audits.reconciliation.services.arrivals import SYSTEM, arrivals_take
from audits.reconciliation.services.closing import days_to_close
from audits.reconciliation.services.faults import DeferredFaults
from audits.reconciliation.services.live_warnings import warnings_take
from audits.reconciliation.services.runs import close_start, part_take, parts_waiting
from audits.reports.services.certificates import reports_recheck
from audits.reports.services.production import report_take, reports_waiting
from audits.reports.services.reports import reports_expire
from audits.reports.services.schedules import failures_raise, scheduled_reports_send, schedules_take
from taisai_backoffice.celery import app

#: How long a sweep works: it ends shortly before the next one starts.
SWEEP_LASTS = 0.8 * settings.SWEEP_SECONDS
#: The sweep takes parts of runs that no worker has finished after this long.
OVERDUE = dt.timedelta(seconds=2 * settings.SWEEP_SECONDS)


@app.task(ignore_result=True)
def take_arrivals() -> None:
    """Reconcile recorded rounds. Sent by every recording."""
    arrivals_take()


@app.task(ignore_result=True)
def take_warnings() -> None:
    """Make findings of warnings about rounds in play. Sent by every such warning."""
    warnings_take()


@app.task(ignore_result=True)
def take_part(key: int) -> None:
    """Reconcile one table of a day's run."""
    part_take(key=key)


@app.task(ignore_result=True)
def sweep() -> None:
    """Take up, at intervals, work whose message was lost or whose worker was killed."""
    until = time.monotonic() + SWEEP_LASTS
    faults = DeferredFaults()
    with faults:
        warnings_take()
    with faults:
        arrivals_take()
    for key in parts_waiting(older_than=OVERDUE):
        if time.monotonic() > until:
            break
        with faults:
            part_take(key=key)
    for report in reports_waiting():
        if time.monotonic() > until:
            break
        with faults:
            report_take(key=report)
    faults.raise_all()


@app.task(ignore_result=True)
def take_report(key: str) -> None:
    """Make one report."""
    report_take(key=key)


@app.task(ignore_result=True)
def tend_reports() -> None:
    """Order, send and remove reports on time, report failures, and check whether figures have changed."""
    faults = DeferredFaults()
    with faults:
        schedules_take(send=take_report.delay)
    for step in (scheduled_reports_send, failures_raise, reports_expire, reports_recheck):
        with faults:
            step()
    faults.raise_all()


@app.task(ignore_result=True)
def close_days() -> None:
    """Close the gaming days whose closing time has come. Two schedulers close a day only once."""
    for casino, day in days_to_close():
        try:
            close_start(casino=casino, day=day, who=SYSTEM, send=take_part.delay)
        except IntegrityError:
            continue


@app.task(ignore_result=True)
def escalate() -> None:
    """Apply new policies and send notifications: findings not acknowledged, overdue disputes, decided proposals."""
    findings_weigh()
    findings_escalate()
    overdue_tell()
    proposers_notify()
    notices_mail()
