"""The time of /healthz while fifty connections send bodies a byte at a time, against idle."""

import http.client
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from bench.measure import Row
from taisai_backoffice.embedded.database import migrate, urls
from taisai_backoffice.embedded.home import PROJECT, Home
from taisai_backoffice.embedded.lease import Lease
from taisai_backoffice.embedded.machine import free_port
from taisai_backoffice.embedded.postgres import Postgres
from taisai_backoffice.embedded.valkey import Valkey
from taisai_backoffice.run import ProcessPart, web_command

TITLE = "Slow bodies: /healthz while 50 connections send a byte at a time"
CONNECTIONS = 50
PROBES = 200
MOST = 5.0  # times its idle time
HEAD = (
    b"POST /admin/login/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    b"Cookie: taisai_csrf=" + b"c" * 32 + b"\r\nContent-Length: 100000\r\n\r\n"
)


def run(home: Home) -> list[Row]:
    with ExitStack() as stack:
        port = stack.enter_context(site(home))
        quiet = probed(port)
        with slow_bodies(port):
            busy = probed(port)
    ratio = busy / quiet
    return [
        Row("quiet", quiet, 1.0, f"median of {PROBES} probes"),
        Row(f"{CONNECTIONS} slow bodies", busy, ratio, f"at most {MOST:.0f} times", is_kept=ratio < MOST),
    ]


@contextmanager
def site(home: Home) -> Iterator[int]:
    """Run the site as `make run` does."""
    with ExitStack() as stack:
        postgres, valkey = Postgres(home), Valkey(home)
        stack.callback(Lease.take(postgres, prepare=lambda: migrate(postgres)).give_back)
        stack.callback(Lease.take(valkey).give_back)
        environment = os.environ | urls(postgres) | {
            "BROKER_URL": valkey.url(), "TAISAI_HOME": str(home.path), "LOG_LEVEL": "ERROR",
        }  # fmt: skip
        command = [sys.executable, PROJECT / "manage.py", "collectstatic", "--noinput", "-v0"]
        subprocess.run(command, env=environment, check=True)
        port = free_port()
        log = home.folder("logs") / "web.log"
        part = ProcessPart("Web server", web_command("127.0.0.1", port), environment, log)
        stack.callback(part.stop)
        while not answers(port):
            time.sleep(0.1)
        yield port


def answers(port: int) -> bool:
    try:
        probe(port)
    except OSError:
        return False
    return True


def probe(port: int) -> float:
    """Return the seconds from the connection to the complete answer."""
    started = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", "/healthz")
        answer = connection.getresponse()
        answer.read()
    finally:
        connection.close()
    if answer.status != http.client.OK:
        raise RuntimeError(f"/healthz answered {answer.status}")
    return time.perf_counter() - started


def probed(port: int) -> float:
    probe(port)
    return statistics.median(probe(port) for _ in range(PROBES))


@contextmanager
def slow_bodies(port: int) -> Iterator[None]:
    """Open connections that send a form one byte a second; a closed connection starts again."""
    over = threading.Event()
    threads = [threading.Thread(target=_send_slowly, args=(port, over)) for _ in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    time.sleep(2)  # until all of them are connected
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def _send_slowly(port: int, over: threading.Event) -> None:
    while not over.is_set():
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            connection.sendall(HEAD)
            while not over.wait(1):
                connection.sendall(b"x")
