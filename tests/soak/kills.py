"""PostgreSQL, Valkey or the worker is killed at work: what was acknowledged is there, and the work goes on."""

import os
import signal
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from random import Random
from threading import Thread

import psycopg
from celery import Celery

from games.access.services.denials import INSERT
from taisai_backoffice.embedded.database import migrate_new_home, urls
from taisai_backoffice.embedded.home import Home
from taisai_backoffice.embedded.lease import Lease
from taisai_backoffice.embedded.postgres import Postgres
from taisai_backoffice.embedded.valkey import Valkey
from taisai_backoffice.run import ProcessPart, celery_command
from tests.homes import bare_environment, throwaway_home
from tests.patience import wait_for

HEARTBEAT = "taisai_backoffice.celery.heartbeat"


@dataclass(frozen=True)
class Site:
    postgres: Postgres
    valkey: Valkey
    worker: ProcessPart


def kill_process(pid: int | None) -> None:
    assert pid, "there is nothing to kill"
    os.kill(pid, signal.SIGKILL)


#: What can be killed, and how; their order decides which seed means which.
KILLS: dict[str, Callable[[Site], None]] = {
    "PostgreSQL": lambda site: kill_process(site.postgres.pid()),
    "Valkey": lambda site: kill_process(site.valkey.pid()),
    "Worker": lambda site: os.killpg(site.worker.process.pid, signal.SIGKILL),
}


def scenario(seed: int) -> None:
    with throwaway_home() as home:
        survive(home, list(KILLS)[seed % len(KILLS)], after_rows=Random(seed).randint(1, 800))


def survive(home: Home, target: str, after_rows: int) -> None:
    """After the kill all is stopped and started again, as by `make run`, which ends when a part of it is gone."""
    with at_work(home) as site:
        verify_heartbeat(site)
        writer = Writer(site.postgres)
        writer.start()
        wait_for(
            lambda: len(writer.acknowledged) >= after_rows, lambda: f"only {len(writer.acknowledged)} rows are written"
        )
        KILLS[target](site)
    writer.join()
    with at_work(home) as site:
        verify_rows(site, writer)
        verify_heartbeat(site)


@contextmanager
def at_work(home: Home) -> Iterator[Site]:
    """Servers and worker as the launcher starts and stops them."""
    postgres, valkey = Postgres(home), Valkey(home)
    with ExitStack() as stack:
        stack.callback(Lease.take(postgres, prepare=lambda: migrate_new_home(postgres)).give_back)
        stack.callback(Lease.take(valkey).give_back)
        environment = bare_environment(home, DATABASE_URL=urls(postgres)["DATABASE_URL"], BROKER_URL=valkey.url())
        log = home.folder("logs") / "worker.log"
        worker = ProcessPart("Worker", celery_command("worker", "--concurrency", "2"), environment, log)
        stack.callback(worker.stop)
        yield Site(postgres, valkey, worker)


class Writer(Thread):
    """Writes one row after another until the server is gone, and keeps a note of each that the server said it has."""

    def __init__(self, postgres: Postgres) -> None:
        super().__init__(daemon=True)
        self.mark = uuid.uuid4().hex
        self.connection = psycopg.connect(postgres.url("app"), autocommit=True)
        self.acknowledged: list[str] = []

    def run(self) -> None:
        with self.connection:
            try:
                for number in count():
                    self.connection.execute(INSERT, [None, None, "a writer", self.mark, str(number), ""])
                    self.acknowledged.append(str(number))
            except psycopg.OperationalError:
                return


def verify_rows(site: Site, writer: Writer) -> None:
    with psycopg.connect(site.postgres.url("app")) as connection:
        rows = connection.execute("SELECT thing FROM games_denial WHERE action = %s", [writer.mark]).fetchall()
    found = Counter(thing for (thing,) in rows)
    assert [number for number in writer.acknowledged if found[number] != 1] == [], (
        "acknowledged, and not there exactly once"
    )
    assert len(rows) - len(writer.acknowledged) in (0, 1), "rows that nobody wrote; one may have been on its way"


def verify_heartbeat(site: Site) -> None:
    """A task sent now is done by the worker, and its result is in the database."""
    with Celery(broker=site.valkey.url(), set_as_current=False) as app:
        task_id = app.send_task(HEARTBEAT).id
    done = "SELECT 1 FROM django_celery_results_taskresult WHERE task_id = %s AND status = 'SUCCESS'"
    with psycopg.connect(site.postgres.url("app"), autocommit=True) as connection:
        wait_for(lambda: connection.execute(done, [task_id]).fetchone(), lambda: "the heartbeat has no result")
