"""Probes for monitoring: is the site alive, and is it ready. JSON, no secrets.

Neither waits for the connection pool: /healthz uses no other server, /readyz has its own connection. All parts are
checked at once, each with a deadline, so that the answer comes within two seconds in any outage.
"""

import datetime as dt
import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Any

import psycopg
import structlog
from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from taisai_backoffice.celery import app, heartbeat

log = structlog.get_logger(__name__)

HEARTBEAT_SECONDS = 60  # four beats of the schedule
#: Deadline of the answer: a part that is not checked by then counts as failing.
ANSWER_SECONDS = 1.7
BROKER_SECONDS = 1
#: A hanging check keeps its thread until its server is back; with all threads hanging, the answer is the same.
MOST_CHECKS = 12
#: The kernel notices a silently lost server within some seconds.
ENDS_SOON = {
    "connect_timeout": 2, "tcp_user_timeout": 3000, "keepalives_idle": 2, "keepalives_interval": 1,
    "keepalives_count": 3,
}  # fmt: skip
#: A row rewritten each time: a session that no one can use, since its key is too short and it has expired.
WRITE = """
INSERT INTO django_session (session_key, session_data, expire_date) VALUES ('readyz', '', 'epoch')
ON CONFLICT (session_key) DO UPDATE SET expire_date = 'epoch'
"""
APPLIED = "SELECT app, name FROM django_migrations"
BEAT = (
    "SELECT FROM django_celery_results_taskresult "
    "WHERE task_name = %s AND status = 'SUCCESS' AND date_done > %s LIMIT 1"
)
#: Content written to the home and removed again.
BLOCK = bytes(64 * 1024)

Parts = dict[str, bool]
_threads = ThreadPoolExecutor(MOST_CHECKS, "readiness")


@never_cache
@require_safe
def alive(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "alive"})


@never_cache
@require_safe
def ready(request: HttpRequest) -> JsonResponse:
    """Answer 200 if every part works, else 503 with the failing parts. The log has the reasons."""
    until = time.monotonic() + ANSWER_SECONDS
    parameters = connection.get_connection_params()
    under_way = {
        ("database", "migrations", "worker"): _threads.submit(_database, parameters),
        ("broker",): _threads.submit(_broker),
        ("home",): _threads.submit(_home),
    }
    found: Parts = {}
    for names, check in under_way.items():
        found |= dict.fromkeys(names, False) | _answer(names, check, until)
    ok = all(found.values())
    states = {
        name: "ok" if found[name] else "failing" for name in ("database", "migrations", "broker", "worker", "home")
    }
    return JsonResponse({"status": "ready" if ok else "not ready", **states}, status=200 if ok else 503)


def _answer(names: tuple[str, ...], check: "Future[Parts]", until: float) -> Parts:
    """Return a check's result; any error or missed deadline counts as failing."""
    try:
        return check.result(max(0.0, until - time.monotonic()))
    except Exception:
        check.cancel()
        log.warning("not ready", parts=names, exc_info=True)
        return {}


def _database(parameters: dict[str, Any]) -> Parts:
    """Check that the database answers, accepts a write and has all migrations, and that a worker is alive."""
    with psycopg.connect(**(parameters | ENDS_SOON), autocommit=True) as own:
        own.execute("SET statement_timeout = 1500")
        return {name: _asked(name, check, own) for name, check in QUESTIONS.items()}


def _asked(name: str, check: Callable[[Any], bool], own: Any) -> bool:
    try:
        return check(own)
    except psycopg.Error:
        log.warning("not ready", parts=(name,), exc_info=True)
        return False


def _writes(own: Any) -> bool:
    own.execute(WRITE)
    return True


def _migrations(own: Any) -> bool:
    return migrations_needed() <= {(app_label, name) for app_label, name in own.execute(APPLIED)}


@cache
def migrations_needed() -> frozenset[tuple[str, str]]:
    """List all migrations of the code, which does not change while it runs."""
    return frozenset(MigrationLoader(None).disk_migrations)


def _worker(own: Any) -> bool:
    since = timezone.now() - dt.timedelta(seconds=HEARTBEAT_SECONDS)
    return own.execute(BEAT, [heartbeat.name, since]).fetchone() is not None


QUESTIONS: dict[str, Callable[[Any], bool]] = {"database": _writes, "migrations": _migrations, "worker": _worker}


def _broker() -> Parts:
    with app.connection_for_write(connect_timeout=BROKER_SECONDS) as broker:
        broker.ensure_connection(max_retries=1, timeout=BROKER_SECONDS)
    return {"broker": True}


def _home() -> Parts:
    """Check the home by writing content: a full disk would still accept a file name."""
    with tempfile.TemporaryFile(dir=settings.HOME.path) as file:
        file.write(BLOCK)
        file.flush()
        os.fsync(file.fileno())
    return {"home": True}
