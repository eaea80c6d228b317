"""/healthz and /readyz: alive, and ready only when database, migrations, broker and worker are."""

import datetime as dt
import re
import socket
import tempfile
import time
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.db import connections
from django.test import Client
from django.utils import timezone
from django_celery_results.models import TaskResult
from psycopg import sql

from taisai_backoffice.celery import heartbeat
from taisai_backoffice.embedded.home import Home
from taisai_backoffice.health import ANSWER_SECONDS
from tests import servers
from tests.conftest import connected_to
from tests.leading import sending_to


def beat(age: dt.timedelta = dt.timedelta()) -> None:
    result = TaskResult.objects.create(task_id=f"beat {age}", task_name=heartbeat.name, status="SUCCESS")
    TaskResult.objects.filter(pk=result.pk).update(date_done=timezone.now() - age)


def test_alive_asks_nothing_of_anybody() -> None:
    answer = Client().get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "alive"})


def test_ready_when_every_part_is(clone: str) -> None:
    beat()
    answer = Client().get("/readyz")
    expected = {
        "status": "ready", "database": "ok", "migrations": "ok", "broker": "ok", "worker": "ok", "home": "ok",
    }  # fmt: skip
    assert (answer.status_code, answer.json()) == (200, expected)


def test_not_ready_without_a_worker(clone: str) -> None:
    beat(dt.timedelta(minutes=2))
    answer = Client().get("/readyz")
    assert (answer.status_code, answer.json()["worker"], answer.json()["broker"]) == (503, "failing", "ok")


def test_not_ready_without_a_broker(clone: str) -> None:
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
        "status", "not", "ready", "database", "migrations", "broker", "worker", "home", "ok", "failing",
    }  # fmt: skip


def test_alive_needs_no_database_whatever_cookie_comes_along() -> None:
    """Without a database fixture: a query would fail the test."""
    client = Client()
    client.cookies[settings.SESSION_COOKIE_NAME] = "x" * 32
    assert client.get("/healthz").status_code == 200


def test_not_ready_where_the_home_takes_no_writes(clone: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    beat()
    monkeypatch.setattr(settings, "HOME", Home(tmp_path / "gone"))
    answer = Client().get("/readyz")
    assert (answer.status_code, answer.json()["home"], answer.json()["database"]) == (503, "failing", "ok")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is always full")
def test_not_ready_where_the_disk_is_full(clone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    beat()
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda dir: Path("/dev/full").open("wb"))  # noqa: SIM115
    assert Client().get("/readyz").json()["home"] == "failing"


def test_not_ready_where_the_database_takes_no_writes(clone: str) -> None:
    beat()
    with psycopg.connect(servers.database_url("postgres", "postgres"), autocommit=True) as superuser:
        name = sql.Identifier(clone)
        superuser.execute(sql.SQL("ALTER DATABASE {} SET default_transaction_read_only = on").format(name))
    answer = Client().get("/readyz")
    assert (answer.status_code, answer.json()["database"], answer.json()["migrations"]) == (503, "failing", "ok")


def test_a_server_that_does_not_answer_costs_two_seconds(clone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes the connection, and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        monkeypatch.setitem(connections["default"].settings_dict, "PORT", str(port))
        with sending_to(f"redis://:x@127.0.0.1:{port}/0"):
            started = time.monotonic()
            answer = Client().get("/readyz")
            seconds = time.monotonic() - started
    assert (answer.status_code, answer.json()["database"], answer.json()["broker"]) == (503, "failing", "failing")
    assert seconds < 2 * ANSWER_SECONDS  # the answer itself is given after one of these; the rest is a busy machine
