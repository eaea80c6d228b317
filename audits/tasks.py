"""What workers do for the audits. Each may come twice, late, or never: the truth is in the database."""

import datetime as dt
import time

from django.conf import settings
from django.db import IntegrityError

from audits.findings.services.escalation import findings_escalate, notices_mail
from audits.findings.services.weighing import findings_weigh
from audits.incidents.services.disputes import overdue_tell
from audits.notifications.services.proposers import proposers_tell
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

#: A sweep helps out until shortly before the next, and leaves it the rest.
HELPS_FOR = 0.8 * settings.SWEEP_SECONDS
#: A part that nobody has done after this long is taken up by the sweep.
OVERDUE = dt.timedelta(seconds=2 * settings.SWEEP_SECONDS)


@app.task(ignore_result=True)
def take_arrivals() -> None:
    """Woken by every recording."""
    arrivals_take()


@app.task(ignore_result=True)
def take_warnings() -> None:
    """Woken by every warning about a round in play."""
    warnings_take()


@app.task(ignore_result=True)
def take_part(key: int) -> None:
    """One table of a day's run."""
    part_take(key=key)


@app.task(ignore_result=True)
def sweep() -> None:
    """By the clock: what no message told of, or whose messenger was killed."""
    until = time.monotonic() + HELPS_FOR
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
    """Order, send, raise and remove reports by the clock, and look whether figures have changed since."""
    faults = DeferredFaults()
    with faults:
        schedules_take(send=take_report.delay)
    for step in (scheduled_reports_send, failures_raise, reports_expire, reports_recheck):
        with faults:
            step()
    faults.raise_all()


@app.task(ignore_result=True)
def close_days() -> None:
    """By the clock: the days whose books have been open long enough. Two schedulers close a day once."""
    for casino, day in days_to_close():
        try:
            close_start(casino=casino, day=day, who=SYSTEM, send=take_part.delay)
        except IntegrityError:
            continue


@app.task(ignore_result=True)
def escalate() -> None:
    """By the clock: policies in force, findings not acknowledged in time, disputes out of time, decided proposals."""
    findings_weigh()
    findings_escalate()
    overdue_tell()
    proposers_tell()
    notices_mail()
