"""Runs over a gaming day: start, work on each table's part, cancel, end."""

import datetime as dt
import time
from collections.abc import Callable

import structlog
from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.db.models import Count, Exists, F, OuterRef
from django.utils import timezone
from kombu.exceptions import OperationalError

from audits.models import COUNTS, Run, RunPart
from audits.reconciliation.day import DayResult, reconcile_day
from audits.reconciliation.services.arrivals import summaries_ensure
from audits.reconciliation.services.closing import day_freeze
from games.access.gate import Actor, actor_name, authorize, within_reach
from games.database.sql import query_rows
from games.engine.play.findings import VERSION
from games.models import Casino, Round, Table

log = structlog.get_logger(__name__)

#: How often a part saves its progress and checks whether its run was cancelled.
EVERY_SECONDS = 0.5
LOCK = 0x7A15A1  # the first half of an advisory lock's key; the second is the part's id
PROGRESS = (
    "UPDATE audits_runpart SET rounds_read = %s WHERE id = %s "
    "RETURNING (SELECT state FROM audits_run WHERE id = run_id)"
)
#: The weaker lock: findings of other parts hold a key share lock on the run.
RUN_LOCK = "SELECT state FROM audits_run WHERE id = %s FOR NO KEY UPDATE"
UNDONE = "SELECT FROM audits_runpart WHERE run_id = %s AND NOT is_done LIMIT 1"


class RunCancelledError(Exception):
    """The run was cancelled while a part was in progress: the part is rolled back."""


def run_start(
    *, actor: Actor, casino: Casino, day: dt.date, table: Table | None = None, send: Callable[[int], None] | None = None
) -> Run:
    """Start a run over a gaming day of a casino or of one table, with a part for each table.

    `send` sends the parts to workers.
    """
    authorize(actor, "run.start", table or casino)
    return _begin(Run(kind=Run.Kind.DAY, casino=casino, gaming_day=day, who=actor_name(actor)), day, table, send)


def close_start(*, casino: Casino, day: dt.date, who: str, send: Callable[[int], None] | None = None) -> Run:
    """Start the closing run of a gaming day, as the system. Its end freezes the figures."""
    return _begin(Run(kind=Run.Kind.CLOSE, casino=casino, gaming_day=day, who=who), day, None, send)


@transaction.atomic
def _begin(run: Run, day: dt.date, table: Table | None, send: Callable[[int], None] | None) -> Run:
    rounds = Round.objects.filter(gaming_day=day, table__casino=run.casino_id)
    if table is not None:
        rounds = rounds.filter(table=table)
    sizes = dict(rounds.order_by().values_list("table").annotate(count=Count("*")))
    summaries_ensure((key, day) for key in sorted(sizes))
    run.engine = VERSION
    run.save()
    parts = RunPart.objects.bulk_create(
        RunPart(run=run, table_id=key, gaming_day=day, rounds_expected=count) for key, count in sorted(sizes.items())
    )
    if not parts:
        _end_if_done(run)
    elif send is not None:
        keys = [part.pk for part in parts]
        transaction.on_commit(lambda: _send_parts(keys, send))
    return run


def _send_parts(keys: list[int], send: Callable[[int], None]) -> None:
    """Send the parts to workers. If the broker cannot be reached, the sweep finds them later."""
    try:
        for key in keys:
            send(key)
    except OperationalError as error:
        log.warning("parts not sent to workers", error=str(error))


@transaction.atomic
def run_cancel(*, actor: Actor, run: Run) -> Run:
    """Cancel a run. Finished parts are kept, parts in progress are rolled back, and no other part starts."""
    authorize(actor, "run.cancel", run)
    if run.kind == Run.Kind.CLOSE:
        raise ValidationError("A closing run cannot be cancelled. It is repeated until it is done.")
    ended = Run.objects.filter(pk=run.pk, state=Run.State.RUNNING).update(
        state=Run.State.CANCELLED, ended_at=timezone.now(), ended_by=actor_name(actor)
    )
    if not ended:
        raise ValidationError("This run has already ended. Nothing has changed.")
    run.refresh_from_db()
    return run


def part_take(*, key: int, wait: bool = False) -> RunPart | None:
    """Reconcile one table's day; None if it is done, cancelled, or another worker is at work on it.

    With `wait`, return once the other worker has finished; take over if it died.
    """
    try:
        with transaction.atomic():
            part = _locked(key, wait=wait)
            if part is not None:
                _take(part)
                _end_if_done(part.run)  # in the same transaction: a killed worker leaves no run without an end
    except RunCancelledError:
        return None
    return part


def _locked(key: int, *, wait: bool) -> RunPart | None:
    """Lock a part until the transaction ends; None if there is nothing to do.

    The lock ends with its holder, also if that worker dies. The part is read after the lock is held, so the work of
    the other worker is visible.
    """
    function = "pg_advisory_xact_lock" if wait else "pg_try_advisory_xact_lock"
    if query_rows(f"SELECT {function}(%s, %s)", LOCK, key % 2**31) == [(False,)]:
        return None
    part = RunPart.objects.select_related("run", "table__casino").get(pk=key)
    return None if part.is_done or part.run.is_over else part


def _take(part: RunPart) -> None:
    started = time.monotonic()
    done: DayResult = reconcile_day(part.table, part.gaming_day, lambda: part.run, ProgressWriter(part))
    part.is_done, part.rounds, part.bets, part.rounds_read = True, done.rounds, done.bets, done.rounds
    part.seconds = time.monotonic() - started
    for name in COUNTS:
        setattr(part, name, done.counts[name])
    part.save(update_fields=["is_done", "rounds", "bets", "rounds_read", "seconds", *COUNTS])


class ProgressWriter:
    """Save the progress of a part, in a separate connection: the part's transaction is invisible until its end."""

    def __init__(self, part: RunPart) -> None:
        self.part = part
        self.saved_at = time.monotonic()

    def __call__(self, rounds: int) -> None:
        if time.monotonic() - self.saved_at < EVERY_SECONDS:
            return
        own = connection.copy()
        try:
            with own.cursor() as cursor:
                cursor.execute(PROGRESS, [rounds, self.part.pk])
                row = cursor.fetchone()
        finally:
            own.close()
        if row is None or row[0] == Run.State.CANCELLED:
            raise RunCancelledError
        self.saved_at = time.monotonic()


@transaction.atomic(savepoint=False)
def _end_if_done(run: Run) -> None:
    """End the run if this was its last part. The lock orders two workers that finish at the same moment."""
    ((state,),) = query_rows(RUN_LOCK, run.pk)
    if state == Run.State.CANCELLED:
        raise RunCancelledError
    if state != Run.State.RUNNING or query_rows(UNDONE, run.pk):
        return
    if run.kind == Run.Kind.CLOSE:
        day_freeze(run)
    Run.objects.filter(pk=run.pk).update(state=Run.State.DONE, ended_at=timezone.now())


def parts_waiting(*, older_than: dt.timedelta = dt.timedelta(0)) -> list[int]:
    """List unfinished parts of running runs: their message may be lost, or their worker killed."""
    begun = timezone.now() - older_than
    waiting = RunPart.objects.filter(is_done=False, run__state=Run.State.RUNNING, run__started_at__lte=begun)
    return list(waiting.order_by(F("run_id"), F("pk")).values_list("pk", flat=True))


def parts_of(runs: list[Run]) -> list[int]:
    """List the parts of runs, the largest first, so that the last part in progress is a small one."""
    return list(RunPart.objects.filter(run__in=runs).order_by("-rounds_expected", "pk").values_list("pk", flat=True))


def casinos_of(*, actor: Actor, day: dt.date, table: Table | None) -> list[Casino]:
    """List the casinos within reach that have rounds on a day."""
    played = Exists(Round.objects.filter(table__casino=OuterRef("pk"), gaming_day=day))
    casinos = Casino.objects.filter(pk=table.casino_id) if table else Casino.objects.filter(played)
    return list(within_reach(actor, "run.start", casinos))
