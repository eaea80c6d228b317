"""The schedule that beat keeps in the database: what the settings say, also where an older one is there already."""

import datetime as dt

from django_celery_beat.models import IntervalSchedule, PeriodicTask
from django_celery_beat.schedulers import DatabaseScheduler

from taisai_backoffice.celery import app


def test_a_home_with_an_older_schedule_gets_what_is_new_and_what_has_changed(clone: str) -> None:
    older = IntervalSchedule.objects.create(every=3600, period=IntervalSchedule.SECONDS)
    PeriodicTask.objects.create(name="heartbeat", task="taisai_backoffice.celery.heartbeat", interval=older)
    PeriodicTask.objects.create(name="reconciliation-sweep", task="audits.tasks.sweep", interval=older)
    scheduler = DatabaseScheduler(app=app)
    entries = {name: scheduler.schedule[name] for name in app.conf.beat_schedule}
    assert {name: (one.task, one.schedule.run_every) for name, one in entries.items()} == {
        "heartbeat": ("taisai_backoffice.celery.heartbeat", dt.timedelta(seconds=15)),
        "reconciliation-sweep": ("audits.tasks.sweep", dt.timedelta(seconds=10)),
        "close-gaming-days": ("audits.tasks.close_days", dt.timedelta(seconds=60)),
        "escalate-findings": ("audits.tasks.escalate", dt.timedelta(seconds=60)),
    }
    assert PeriodicTask.objects.filter(name="reconciliation-sweep").count() == 1


def test_what_the_clock_sends_does_not_pile_up_where_no_worker_takes_it(clone: str) -> None:
    DatabaseScheduler(app=app)
    expires = dict(PeriodicTask.objects.filter(task__startswith="audits.").values_list("name", "expire_seconds"))
    assert expires == {"reconciliation-sweep": 60, "close-gaming-days": 300, "escalate-findings": 300}
