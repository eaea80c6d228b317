"""Pages a second from granian with the connection pool, against one connection for each request."""

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

from bench.measure import Row, compare
from taisai_backoffice.embedded.database import migrate, urls
from taisai_backoffice.embedded.home import PROJECT, Home
from taisai_backoffice.embedded.lease import Lease
from taisai_backoffice.embedded.machine import free_port
from taisai_backoffice.embedded.postgres import Postgres
from taisai_backoffice.embedded.valkey import Valkey
from taisai_backoffice.run import ProcessPart, web_command

TITLE = "Web: a page that looks up a session, 8 clients"
REQUESTS = 400
CLIENTS = 8


def run(home: Home) -> list[Row]:
    with ExitStack() as stack:
        postgres, valkey = Postgres(home), Valkey(home)
        stack.callback(Lease.take(postgres, prepare=lambda: migrate(postgres)).give_back)
        stack.callback(Lease.take(valkey).give_back)
        environment = os.environ | urls(postgres) | {"BROKER_URL": valkey.url(), "TAISAI_HOME": str(home.path)}
        command = [sys.executable, PROJECT / "manage.py", "collectstatic", "--noinput", "-v0"]
        subprocess.run(command, env=environment, check=True)
        pooled = stack.enter_context(site(home, environment, pool=True))
        single = stack.enter_context(site(home, environment, pool=False))
        return compare(
            {"with the pool": lambda: ask(pooled), "a connection a request": lambda: ask(single)},
            notes=lambda seconds: f"{REQUESTS / seconds:.0f} requests/s",
        )


@contextmanager
def site(home: Home, environment: dict[str, str], *, pool: bool) -> Iterator[str]:
    port = free_port()
    log = home.folder("logs") / f"web-{port}.log"
    own = {"TAISAI_POOL": str(int(pool)), "LOG_LEVEL": "ERROR"}
    part = ProcessPart("Web server", web_command("127.0.0.1", port), environment | own, log)
    address = f"http://127.0.0.1:{port}/healthz"
    try:
        while not answers(address):
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/admin/login/"
    finally:
        part.stop()


def answers(address: str) -> bool:
    request = urllib.request.Request(address, headers={"Cookie": f"taisai_session={'x' * 32}"})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            answer.read()
        return True
    except OSError:
        return False


def ask(address: str) -> None:
    with ThreadPoolExecutor(CLIENTS) as clients:
        if not all(clients.map(answers, [address] * REQUESTS)):
            raise RuntimeError(f"{address} did not answer every request")
