"""Tasks on a real worker and a real broker: a process that is killed in the middle of one does not take it along."""

import os
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from celery import Celery

from taisai_backoffice.run import ProcessPart, celery_command
from tests import servers
from tests.patience import wait_for


@pytest.fixture
def broker() -> str:
    """A queue that no other test reads."""
    return f"{servers.servers()[1].url().removesuffix('/0')}/9"


@pytest.fixture
def worker(broker: str, tmp_path: Path) -> Iterator[ProcessPart]:
    command = celery_command("worker", "--concurrency", "1", "--include", "tests.faults.slow")
    with servers.clone() as database:
        environment = os.environ | {"BROKER_URL": broker, "DATABASE_URL": servers.database_url(database)}
        part = ProcessPart("Worker", command, environment, tmp_path / "worker.log")
        yield part
        part.stop()


def test_a_task_whose_process_is_killed_is_done_by_the_next_one(
    worker: ProcessPart, broker: str, tmp_path: Path
) -> None:
    with Celery(broker=broker, set_as_current=False) as sender:
        sender.send_task("tests.faults.slow.nap", [str(tmp_path)])
    wait_for(lambda: list(tmp_path.glob("begun-*")), "the task has not begun")
    (child,) = psutil.Process(worker.process.pid).children()
    child.kill()
    wait_for(lambda: len(list(tmp_path.glob("begun-*"))) == 2, "the task has not begun again")
    (tmp_path / "go").touch()
    wait_for(lambda: list(tmp_path.glob("done-*")), "the task is not done")
    assert len(list(tmp_path.glob("done-*"))) == 1
