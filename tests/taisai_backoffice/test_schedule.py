"""The schedule that beat keeps in the database: what the settings say, also where an older one is there already."""

import datetime as dt
import time
from typing import Any

import pytest
from django.db import connection
from django_celery_beat.models import IntervalSchedule, PeriodicTask
from django_celery_beat.schedulers import ModelEntry

from taisai_backoffice.celery import app
from taisai_backoffice.scheduler import PAUSE_SECONDS, PatientScheduler
from tests.conftest import connected_to


def test_a_home_with_an_older_schedule_gets_what_is_new_and_what_has_changed(clone: str) -> None:
    older = IntervalSchedule.objects.create(every=3600, period=IntervalSchedule.SECONDS)
    PeriodicTask.objects.create(name="heartbeat", task="taisai_backoffice.celery.heartbeat", interval=older)
    PeriodicTask.objects.create(name="reconciliation-sweep", task="audits.tasks.sweep", interval=older)
    scheduler = PatientScheduler(app=app)
    entries = {name: scheduler.schedule[name] for name in app.conf.beat_schedule}
    assert {name: (entry.task, entry.schedule.run_every) for name, entry in entries.items()} == {
        "heartbeat": ("taisai_backoffice.celery.heartbeat", dt.timedelta(seconds=15)),
        "reconciliation-sweep": ("audits.tasks.sweep", dt.timedelta(seconds=10)),
        "close-gaming-days": ("audits.tasks.close_days", dt.timedelta(seconds=60)),
        "escalate-findings": ("audits.tasks.escalate", dt.timedelta(seconds=60)),
        "reports": ("audits.tasks.tend_reports", dt.timedelta(seconds=60)),
        "open-access-reviews": ("games.tasks.open_access_reviews", dt.timedelta(seconds=600)),
    }
    assert PeriodicTask.objects.filter(name="reconciliation-sweep").count() == 1


def test_what_the_clock_sends_does_not_pile_up_where_no_worker_takes_it(clone: str) -> None:
    PatientScheduler(app=app)
    ours = PeriodicTask.objects.filter(task__regex=r"^(audits|games)\.")
    expires = dict(ours.values_list("name", "expire_seconds"))
    assert expires == {
        "reconciliation-sweep": 60, "close-gaming-days": 300, "escalate-findings": 300, "reports": 300,
        "open-access-reviews": 300,
    }  # fmt: skip


def test_without_its_database_the_scheduler_waits_and_goes_on(clone: str) -> None:
    scheduler = PatientScheduler(app=app)
    with connected_to("no_such_database"):
        scheduler._last_full_sync -= dt.timedelta(hours=1)  # it is time to read the schedule anew
        assert scheduler.tick() == PAUSE_SECONDS
    assert "heartbeat" in scheduler.schedule


def test_without_its_database_the_scheduler_starts_when_it_is_there(
    clone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class StillAwayError(Exception):
        pass

    def give_up(seconds: float) -> None:
        raise StillAwayError

    monkeypatch.setattr(time, "sleep", give_up)
    with connected_to("no_such_database"), pytest.raises(StillAwayError):
        PatientScheduler(app=app)
    assert "heartbeat" in PatientScheduler(app=app).schedule


def cut_connection() -> None:
    """End the connection on the server's side, as a server does that goes away."""
    connection.ensure_connection()
    own, other = connection.connection.info.backend_pid, connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [own])
    finally:
        other.close()


def test_an_outage_while_the_schedule_is_made_leaves_no_task_out(clone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    whole = ModelEntry.from_entry.__func__

    def cut_first(cls: Any, /, name: str, app: Any = None, **entry: Any) -> Any:
        seen.append(name)
        if seen.count(name) == 1:
            cut_connection()
        return whole(cls, name, app=app, **entry)

    monkeypatch.setattr(ModelEntry, "from_entry", classmethod(cut_first))
    scheduler = PatientScheduler(app=app)
    assert set(app.conf.beat_schedule) <= set(scheduler.schedule)
    assert all(seen.count(name) == 2 for name in app.conf.beat_schedule)


def test_an_outage_while_the_schedule_is_read_does_not_end_the_scheduler(
    clone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, reads = PatientScheduler.enabled_models, []

    def cut_first(self: PatientScheduler) -> Any:
        reads.append(1)
        if len(reads) == 1:
            cut_connection()
        return whole(self)

    monkeypatch.setattr(PatientScheduler, "enabled_models", cut_first)
    assert set(app.conf.beat_schedule) <= set(PatientScheduler(app=app).schedule)
    assert len(reads) > 1
