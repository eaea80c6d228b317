"""The database goes away under the running product and comes back: told in time, and over within seconds.

Two minutes in `make soak`, long enough for every pause between two tries to grow; twenty seconds in `make test`.
"""

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from taisai_backoffice.embedded.database import urls
from taisai_backoffice.embedded.home import PROJECT, Home
from taisai_backoffice.embedded.machine import free_port
from taisai_backoffice.embedded.postgres import Postgres
from taisai_backoffice.embedded.valkey import Valkey
from taisai_backoffice.run import ProcessPart, celery_command, web_command
from tests.homes import bare_environment, migrated_home
from tests.patience import wait_for
from tests.servers import FAST
from tests.web_answers import WebAnswer, answer_to

OUTAGE_SECONDS = 120
#: Within how many seconds of the database's return the site answers.
BACK_SECONDS = 10


@dataclass
class Running:
    """A site with worker and scheduler; its database is stopped and started on one port."""

    home: Home
    postgres: Postgres
    port: int
    database_port: int
    parts: dict[str, ProcessPart]

    def ask(self, path: str) -> WebAnswer:
        headers = {"Cookie": f"taisai_session={'x' * 32}"}  # looked up in the database
        return answer_to(urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers=headers))

    def is_ready(self) -> bool:
        try:
            return self.ask("/readyz").status == 200
        except OSError:
            return False

    def stop_database(self) -> None:
        self.postgres._control("stop", "-m", "immediate", "-w", "-t", "60")

    def start_database(self) -> None:
        options = " ".join((f"-p {self.database_port}", *(f"-c {option}" for option in FAST)))
        fault = self.postgres._control("start", "-w", "-t", "60", "-l", str(self.postgres.log), "-o", options)
        assert fault is None, fault


@contextmanager
def started_without_database() -> Iterator[Running]:
    """Worker, scheduler and site, started while the database is away."""
    with migrated_home() as home:
        postgres, valkey = Postgres(home, options=FAST), Valkey(home)
        postgres.start()
        valkey.start()
        environment = bare_environment(home, BROKER_URL=valkey.url(), DATABASE_URL=urls(postgres)["DATABASE_URL"])
        collect = [sys.executable, str(PROJECT / "manage.py"), "collectstatic", "--noinput", "-v0"]
        subprocess.run(collect, env=environment, check=True)
        running = Running(home, postgres, free_port(), postgres.port(), {})
        running.stop_database()
        commands = {
            "worker": celery_command("worker", "--concurrency", "1"),
            "beat": celery_command("beat", "--pidfile", ""),
            "web": web_command("127.0.0.1", running.port, workers=1),
        }
        logs = home.folder("logs")
        try:
            for name, command in commands.items():
                running.parts[name] = ProcessPart(name, command, environment, logs / f"{name}.log")
            yield running
        finally:
            for part in running.parts.values():
                part.stop()


def scenario(seed: int) -> None:
    """The same for every seed: what differs from run to run is how the outage meets the tries to reconnect."""
    with started_without_database() as running:
        wait_and_become_ready(running)
        survive(running, OUTAGE_SECONDS)


def wait_and_become_ready(running: Running) -> None:
    """Before the database is there the scheduler says that it waits; afterwards everything works."""
    log = running.parts["beat"].log
    wait_for(lambda: "waiting for the database" in log.read_text(), "the scheduler does not say that it waits")
    running.start_database()
    wait_for(running.is_ready, lambda: running.ask("/readyz").text)


def survive(running: Running, seconds: int) -> None:
    """Answer 503 in time throughout the outage, and pages within ten seconds of its end."""
    wait_for(running.is_ready, "the site is not ready")
    assert running.ask("/admin/").status == 200  # a login page
    running.stop_database()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        started = time.monotonic()
        assert running.ask("/healthz").status == 200
        ready = running.ask("/readyz")
        assert (ready.status, json.loads(ready.body)["database"]) == (503, "failing")
        assert time.monotonic() - started < 4  # 2 s are allowed; the rest is for a busy machine
        for path, kind in (("/api/v1/tables/", "application/problem+json"), ("/admin/", "text/html")):
            answer = running.ask(path)
            assert (answer.status, answer.headers["Retry-After"]) == (503, "5")
            assert answer.headers["Content-Type"].startswith(kind)
    running.start_database()
    wait_for(lambda: running.ask("/admin/").status == 200, "the site does not answer", BACK_SECONDS)
    wait_for(running.is_ready, lambda: running.ask("/readyz").text)
    assert all(part.is_running() for part in running.parts.values())
