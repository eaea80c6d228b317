"""What workers do for the audits. Each may come twice, late, or never: the truth is in the database."""

import datetime as dt
import time

import structlog
from django.db import IntegrityError
from kombu.exceptions import OperationalError

from audits.services.arrivals import SYSTEM, arrivals_take
from audits.services.closing import days_to_close
from audits.services.escalation import findings_escalate, notices_mail
from audits.services.runs import close_start, part_take, parts_waiting
from taisai_backoffice.celery import app

log = structlog.get_logger(__name__)

#: A sweep helps out for this long, and leaves the rest to the next.
SWEEP_SECONDS = 8.0
#: A part that nobody has begun after this long is taken up by the sweep.
OVERDUE = dt.timedelta(seconds=20)


@app.task(ignore_result=True)
def take_arrivals() -> None:
    """Woken by every recording."""
    arrivals_take()


@app.task(ignore_result=True)
def take_part(key: int) -> None:
    """One table of a day's run."""
    part_take(key=key)


def hand_out(key: int) -> None:
    """A part to whichever worker is free. Where the broker cannot be reached, the sweep takes it."""
    try:
        take_part.apply_async((key,), retry=False)
    except OperationalError as error:
        log.warning("part not handed out", part=key, error=str(error))


@app.task(ignore_result=True)
def sweep() -> None:
    """By the clock: what no message told of, or whose messenger was killed."""
    until = time.monotonic() + SWEEP_SECONDS
    arrivals_take()
    for key in parts_waiting(older_than=OVERDUE):
        if time.monotonic() > until:
            return
        part_take(key=key)


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
    """By the clock: findings that nobody acknowledged in time."""
    findings_escalate()
    notices_mail()
