"""/healthz and /readyz: alive, and ready only when database, migrations, broker and worker are."""

import datetime as dt
import re

from django.db import connections
from django.test import Client
from django.utils import timezone
from django_celery_results.models import TaskResult

from taisai_backoffice.celery import heartbeat
from tests.conftest import connected_to
from tests.leading import sending_to


def beat(age: dt.timedelta = dt.timedelta()) -> None:
    result = TaskResult.objects.create(task_id=f"beat {age}", task_name=heartbeat.name, status="SUCCESS")
    TaskResult.objects.filter(pk=result.pk).update(date_done=timezone.now() - age)


def test_alive_asks_nothing_of_anybody() -> None:
    answer = Client().get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "alive"})


def test_ready_when_every_part_is(db: None) -> None:
    beat()
    answer = Client().get("/readyz")
    expected = {"status": "ready", "database": "ok", "migrations": "ok", "broker": "ok", "worker": "ok"}
    assert (answer.status_code, answer.json()) == (200, expected)


def test_not_ready_without_a_worker(db: None) -> None:
    beat(dt.timedelta(minutes=2))
    answer = Client().get("/readyz")
    assert (answer.status_code, answer.json()["worker"], answer.json()["broker"]) == (503, "failing", "ok")


def test_not_ready_without_a_broker(db: None) -> None:
    with sending_to("redis://:hidden@127.0.0.1:1/0"):
        answer = Client().get("/readyz")
    assert (answer.status_code, answer.json()["broker"]) == (503, "failing")
    assert "hidden" not in answer.content.decode()


def test_not_ready_when_a_migration_is_missing(clone: str) -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "DELETE FROM django_migrations WHERE id = (SELECT max(id) FROM django_migrations WHERE app = 'games')"
        )
    assert Client().get("/readyz").json()["migrations"] == "failing"


def test_not_ready_and_no_secret_told_without_a_database(clone: str) -> None:
    with connected_to("no_such_database"):
        answer = Client().get("/readyz")
        assert (answer.status_code, answer.json()["database"]) == (503, "failing")
    assert set(re.findall(r"[a-z]+", answer.content.decode())) <= {
        "status", "not", "ready", "database", "migrations", "broker", "worker", "ok", "failing",
    }  # fmt: skip
