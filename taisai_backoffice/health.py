"""Two questions for whoever watches over the site: is it alive, and is it ready. JSON, no secrets."""

import datetime as dt
from collections.abc import Callable

import structlog
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django_celery_results.models import TaskResult

from taisai_backoffice.celery import app, heartbeat

log = structlog.get_logger(__name__)

HEARTBEAT_SECONDS = 60  # four beats of the schedule
BROKER_SECONDS = 2


@never_cache
@require_safe
def alive(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "alive"})


@never_cache
@require_safe
def ready(request: HttpRequest) -> JsonResponse:
    """200 where every part works, else 503 with the part that does not; the log has the reason."""
    parts = {name: _state(name, check) for name, check in CHECKS.items()}
    ok = all(state == "ok" for state in parts.values())
    return JsonResponse({"status": "ready" if ok else "not ready", **parts}, status=200 if ok else 503)


def _state(name: str, check: Callable[[], bool]) -> str:
    try:
        return "ok" if check() else "failing"
    except Exception:  # whatever is wrong with a part, the answer is that it is failing
        log.warning("not ready", part=name, exc_info=True)
        return "failing"


def _database() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return True


def _migrations() -> bool:
    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())


def _broker() -> bool:
    with app.connection_for_write(connect_timeout=BROKER_SECONDS) as broker:
        broker.ensure_connection(max_retries=1, timeout=BROKER_SECONDS)
    return True


def _worker() -> bool:
    since = timezone.now() - dt.timedelta(seconds=HEARTBEAT_SECONDS)
    beats = TaskResult.objects.filter(task_name=heartbeat.name, status="SUCCESS", date_done__gt=since)
    return bool(beats.exists())


CHECKS: dict[str, Callable[[], bool]] = {
    "database": _database,
    "migrations": _migrations,
    "broker": _broker,
    "worker": _worker,
}
