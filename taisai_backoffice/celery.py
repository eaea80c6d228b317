"""The Celery application, and the heartbeat by which /readyz knows that beat, broker and worker all live."""

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
    """Being connected is enough: Celery then leaves the logging that the settings made as it is."""


@app.task
def heartbeat() -> str:
    """Done by a worker every few seconds; its stored result is the proof of life."""
    return "alive"


@worker_ready.connect
def beat_once(**kwargs: Any) -> None:
    """A worker that has just started says so at once, not at the next tick of the schedule."""
    heartbeat.delay()
