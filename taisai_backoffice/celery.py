"""The Celery application, and the heartbeat that shows /readyz that beat, broker and worker are alive."""

import os
from typing import Any

from celery import Celery
from celery.signals import setup_logging, worker_ready
from django_structlog.celery.steps import DjangoStructLogInitStep

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "taisai_backoffice.settings")

app = Celery("taisai_backoffice")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.steps["worker"].add(DjangoStructLogInitStep)


@setup_logging.connect
def keep_django_logging(**kwargs: Any) -> None:
    """Do nothing: while this receiver is connected, Celery leaves the logging of the settings as it is."""


@app.task
def heartbeat() -> str:
    """Run on a worker every few seconds; the stored result shows that it is alive."""
    return "alive"


@worker_ready.connect
def beat_once(**kwargs: Any) -> None:
    """Send a heartbeat from a worker that has just started, before the schedule's next one."""
    heartbeat.delay()
