"""Reconciliation on a real worker and a real broker: woken by a recording, swept up, run over a day, cancelled."""

import datetime as dt
import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import psycopg
import pytest
from celery import Celery
from django.conf import settings
from django.core.management import call_command
from django.db import connections, transaction
from django.utils import timezone
from django_celery_results.models import TaskResult
from pytest_django import DjangoDbBlocker

from audits.findings.services.escalation import findings_escalate
from audits.models import DayClose, DaySummary, Escalation, Finding, Notice, ReportRun, Run
from audits.reconciliation.day import reconcile_waiting
from audits.reconciliation.services import arrivals
from audits.reconciliation.services.arrivals import SYSTEM, arrivals_take
from audits.reconciliation.services.closing import days_to_close
from audits.reconciliation.services.runs import LOCK, close_start, parts_of, run_cancel, run_start
from audits.reports.services.files import file_path, sha256_of
from audits.reports.services.reports import report_ask
from audits.tasks import close_days, sweep, take_part, take_report
from games.access.gate import Operator
from games.models import Casino, Outbox, Table
from games.rounds.services.recording import round_record
from taisai_backoffice.run import ProcessPart, celery_command
from tests import servers
from tests.games.rounds.samples import bet, example, line
from tests.games.simulation.runs import simulated
from tests.leading import led_to
from tests.patience import wait_for
from tests.threads import meanwhile

NOBODY = "redis://127.0.0.1:1/0"
HEARTBEAT = "taisai_backoffice.celery.heartbeat"
FIRST_DAY = dt.date(2026, 11, 8)
AT_WORK = (
    "SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database "
    "WHERE d.datname = current_database() AND locktype = 'advisory' AND classid = %s"
)
OPERATOR = Operator()


@dataclass(frozen=True)
class Site:
    """A floor of three tables, with a worker of two processes and no scheduler: nothing is swept unasked."""

    url: str
    broker: str
    folder: Path

    def ask(self, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.url, autocommit=True) as connection:
            return connection.execute(statement, list(parameters)).fetchall()

    def at_work(self) -> int:
        return int(self.ask(AT_WORK, LOCK)[0][0])

    def record_quietly(self, day: dt.date, rounds: int) -> None:
        """A day of rounds that wait in the outbox, of which no worker is told."""
        path = simulated(self.folder / f"{day}.ndjson", day=day, tables=3, **{"rounds-per-table": rounds}, faults=0.3)
        with led_to(database_url=self.url, broker_url=NOBODY):
            call_command("import_rounds", str(path), stdout=StringIO())


def own_queue() -> int:
    """A queue that no other test reads, and none of the same tests in another process."""
    return int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 15 + 1


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, django_db_blocker: DjangoDbBlocker) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("reconciliation")
    broker = f"{servers.servers()[1].url().removesuffix('/0')}/{own_queue()}"
    with servers.clone() as name, django_db_blocker.unblock():
        site = Site(servers.database_url(name), broker, folder)
        environment = os.environ | {"BROKER_URL": broker, "DATABASE_URL": site.url}
        command = celery_command("worker", "--concurrency", "2", "--include", "tests.faults.small_steps")
        worker = ProcessPart("Worker", command, environment, folder / "worker.log")
        try:
            with led_to(database_url=site.url, broker_url=broker):
                path = simulated(folder / "floor", day=FIRST_DAY, tables=3, **{"rounds-per-table": 1})
                call_command("load_floor", f"{path}.floor.toml", stdout=StringIO())
                yield site
        finally:
            worker.stop()


def wrong_round(ref: str) -> bytes:
    """A loser who was paid."""
    return line(example(ref=ref, bets=[bet(box="big", net="100.00")]))


def found(ref: str) -> list[str]:
    return list(Finding.objects.filter(round__ref=ref, lapsed_at=None).values_list("kind", flat=True))


# --- Rounds that arrive ---


def test_a_recording_wakes_a_worker_and_what_it_finds_is_on_record_without_a_sweep(site: Site) -> None:
    round_record(actor=OPERATOR, line=wrong_round("woken"), channel="api")
    wait_for(lambda: found("woken"), "nothing is found")
    assert found("woken") == ["paid-loser"]
    assert not TaskResult.objects.exclude(task_name=HEARTBEAT).exists(), "results that nobody reads are kept"


def test_without_a_broker_a_round_is_recorded_all_the_same_and_found_by_the_sweep(site: Site) -> None:
    with led_to(database_url=site.url, broker_url=NOBODY):
        key, is_new = round_record(actor=OPERATOR, line=wrong_round("not told"), channel="api")
    assert is_new
    assert Outbox.objects.filter(round=key).exists()
    sweep.delay()
    wait_for(lambda: found("not told"), "nothing is found")
    assert not Outbox.objects.filter(round=key).exists()


def test_what_fails_at_one_table_keeps_no_other_waiting(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    day = FIRST_DAY + dt.timedelta(days=1)
    site.record_quietly(day, rounds=5)
    first = Table.objects.get(code="TS-01")

    def fails(table: Table, *rest: Any) -> Any:
        if table == first:
            raise ArithmeticError("a round that nobody can settle")
        return reconcile_waiting(table, *rest)

    monkeypatch.setattr(arrivals, "reconcile_waiting", fails)
    with pytest.raises(ExceptionGroup) as raised:
        arrivals_take()
    assert [type(error) for error in raised.value.exceptions] == [ArithmeticError]
    left = Outbox.objects.filter(round__gaming_day=day).values_list("round__table__code", flat=True)
    assert set(left) == {"TS-01"}


# --- A run over a day ---


@contextmanager
def held(site: Site, run: Run) -> Iterator["psycopg.Connection[Any]"]:
    """Whoever wants to tell how far a part of this run has come waits, until the block lets him, or ends."""
    with psycopg.connect(site.url) as connection:
        hold(connection, run)
        yield connection


def hold(connection: "psycopg.Connection[Any]", run: Run) -> bool:
    """Lets everybody go on who waits, and stops them at their next word."""
    connection.commit()
    connection.execute("SELECT 1 FROM audits_runpart WHERE run_id = %s ORDER BY id FOR UPDATE", [run.pk])
    return True


def test_a_run_is_done_by_all_workers_at_once_and_others_see_how_far_it_has_come(site: Site) -> None:
    day = FIRST_DAY + dt.timedelta(days=2)
    site.record_quietly(day, rounds=80)
    run = run_start(actor=OPERATOR, casino=Casino.objects.get(), day=day)
    under_way = "SELECT 1 FROM audits_runpart WHERE run_id = %s AND NOT is_done AND rounds_read > 0"
    with held(site, run) as connection:
        for key in parts_of([run]):
            take_part.delay(key)
        wait_for(lambda: site.at_work() == 2, lambda: f"{site.at_work()} are at work")
        wait_for(lambda: hold(connection, run) and len(site.ask(under_way, run.pk)) == 2, "no progress is to be seen")
        read = site.ask("SELECT rounds_read, rounds_expected FROM audits_runpart WHERE rounds_read > 0")
        assert [0 < rounds < expected for rounds, expected in read] == [True, True]
        assert not Finding.objects.filter(gaming_day=day).exists()
    wait_for(lambda: Run.objects.get(pk=run.pk).is_over, "the run does not end")
    assert list(run.parts.values_list("is_done", "rounds", "rounds_read")) == [(True, 80, 80)] * 3
    assert not Outbox.objects.filter(round__gaming_day=day).exists()
    assert set(Finding.objects.filter(gaming_day=day).values_list("found_by", flat=True)) == {run.pk}


def test_a_cancelled_run_leaves_done_what_is_done_and_all_else_untouched(site: Site) -> None:
    day = FIRST_DAY + dt.timedelta(days=3)
    site.record_quietly(day, rounds=40)
    run = run_start(actor=OPERATOR, casino=Casino.objects.get(), day=day)
    first, *others = parts_of([run])
    take_part.delay(first)
    wait_for(lambda: run.parts.filter(is_done=True).count() == 1, "no part is done")
    with held(site, run):
        for key in others:
            take_part.delay(key)
        wait_for(lambda: site.at_work() == 2, lambda: f"{site.at_work()} are at work")
        run_cancel(actor=OPERATOR, run=run)
    wait_for(lambda: not site.at_work(), "a part of the cancelled run is still under way")
    assert Run.objects.get(pk=run.pk).state == Run.State.CANCELLED
    assert list(run.parts.filter(is_done=True).values_list("pk", flat=True)) == [first]
    done = run.parts.get(pk=first).table
    assert set(Finding.objects.filter(gaming_day=day).values_list("table", flat=True)) == {done.pk}
    waiting = set(Outbox.objects.filter(round__gaming_day=day).values_list("round__table", flat=True))
    assert waiting == set(Table.objects.exclude(pk=done.pk).values_list("pk", flat=True))
    figures = DaySummary.objects.filter(gaming_day=day).exclude(table=done).values_list("rounds", "procedural")
    assert set(figures) <= {(0, 0)}


def test_a_part_that_ends_after_the_cancelling_is_taken_back(site: Site) -> None:
    """The last word is said when the part is done and waits for the run's row."""
    day = FIRST_DAY + dt.timedelta(days=4)
    site.record_quietly(day, rounds=1)  # so few that nothing is told on the way
    run = run_start(actor=OPERATOR, casino=Casino.objects.get(), day=day, table=Table.objects.get(code="TS-01"))
    (key,) = parts_of([run])
    waits = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    with transaction.atomic():
        run_cancel(actor=OPERATOR, run=run)
        take_part.delay(key)
        wait_for(lambda: site.ask(waits), "nobody waits for the run")
    wait_for(lambda: not site.at_work(), "the part is still under way")
    assert not run.parts.get().is_done
    assert not Finding.objects.filter(gaming_day=day).exists()
    assert Outbox.objects.filter(round__gaming_day=day).count() == 3


# --- Two schedulers ---


def test_two_schedulers_close_a_day_once(site: Site) -> None:
    day = FIRST_DAY
    site.record_quietly(day, rounds=4)
    arrivals_take()
    casino = Casino.objects.get()
    with meanwhile(close_days) as other:
        run = close_start(casino=casino, day=day, who=SYSTEM, send=take_part.delay)
    assert other.result(60) is None
    for _ in range(4):
        close_days.delay()
    wait_for(lambda: DayClose.objects.filter(gaming_day=day).exists(), "the day is not closed")
    assert DayClose.objects.get(gaming_day=day).run == run
    assert Run.objects.filter(kind=Run.Kind.CLOSE, gaming_day=day).count() == 1
    assert day not in {one for _, one in days_to_close()}


def test_two_schedulers_escalate_once_and_one_post_at_a_time(site: Site) -> None:
    round_record(actor=OPERATOR, line=wrong_round("lies long"), channel="api")
    wait_for(lambda: found("lies long"), "nothing is found")
    later = dt.datetime.now(dt.UTC) + dt.timedelta(days=9)  # nobody was there to tell anybody for nine days
    with transaction.atomic(), ThreadPoolExecutor(1) as pool:
        told = findings_escalate(now=later)
        assert pool.submit(other_connection, later).result(60) == []
    assert told
    levels = set(Escalation.objects.filter(finding__round__ref="lies long").values_list("level", flat=True))
    assert levels == {1}
    assert findings_escalate(now=later + dt.timedelta(minutes=1)) == []
    assert findings_escalate(now=later + dt.timedelta(days=1))
    assert Escalation.objects.filter(finding__round__ref="lies long").count() == 2


def other_connection(now: dt.datetime) -> list[Notice]:
    try:
        return findings_escalate(now=now)
    finally:
        connections.close_all()


# --- Reports ---


def test_a_report_is_made_by_a_worker_after_what_was_pending_is_reconciled(site: Site) -> None:
    day = FIRST_DAY + dt.timedelta(days=6)
    site.record_quietly(day, rounds=5)
    run = report_ask(actor=OPERATOR, kind="discrepancies", format="xlsx", first=day, last=day, send=take_report.delay)
    wait_for(lambda: ReportRun.objects.get(pk=run.pk).is_over, "the report is not made")
    run.refresh_from_db()
    assert (run.state, run.fault) == ("done", "")
    assert not Outbox.objects.filter(round__gaming_day=day).exists()
    assert run.row_count == Finding.objects.filter(category="discrepancy", lapsed_at=None, gaming_day=day).count() > 0
    assert sha256_of(file_path(run)) == run.sha256


def test_without_a_broker_a_report_is_found_by_the_sweep(site: Site) -> None:
    with led_to(database_url=site.url, broker_url=NOBODY):
        run = report_ask(
            actor=OPERATOR, kind="breaches", format="csv", first=FIRST_DAY, last=FIRST_DAY, send=take_report.delay
        )
    ReportRun.objects.filter(pk=run.pk).update(retry_at=timezone.now())  # as if it had waited
    sweep.delay()
    wait_for(lambda: ReportRun.objects.get(pk=run.pk).state == "done", "the report is not made")


# --- What a worker knows ---


def test_a_worker_knows_every_task_that_is_scheduled_or_woken(site: Site) -> None:
    with Celery(broker=site.broker, set_as_current=False) as caller:
        answers = wait_for(lambda: caller.control.inspect(timeout=2).registered(), "no worker answers")
    (known,) = answers.values()
    scheduled = {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
    assert {*scheduled, settings.WAKE_TASK, "audits.tasks.take_part", "audits.tasks.take_report"} <= set(known), (
        json.dumps(known)
    )
