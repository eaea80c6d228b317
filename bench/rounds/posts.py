"""Single rounds of 50 bets, posted by terminals to a running granian with 2 workers: `BENCH_SECONDS=60 make bench`."""

import http.client
import os
import threading
import time
from contextlib import ExitStack
from itertools import islice

from bench.floors import Floor, demonstration
from bench.measure import Row
from bench.played import TABLES, rounds
from bench.site.web import site
from taisai_backoffice.embedded.home import Home
from taisai_backoffice.embedded.lease import Lease
from taisai_backoffice.embedded.valkey import Valkey

SECONDS = float(os.environ.get("BENCH_SECONDS") or 60)
CLIENTS = 6
BETS = 50
LEAST = 20  # rounds a second
NO_THROTTLE = str(10**9)  # the recording is measured, not the pause after which a terminal may send again
TITLE = f"Posts of single rounds of {BETS} bets for {SECONDS:.0f} s: {CLIENTS} clients, granian with 2 workers"


def run(home: Home) -> list[Row]:
    with ExitStack() as stack:
        floor = stack.enter_context(demonstration(home))
        valkey = Valkey(home)
        stack.callback(Lease.take(valkey).give_back)
        floor.manage("collectstatic", "--noinput", "-v0")
        keys = [key_of(floor, table) for table in TABLES]
        clients = [Client(keys[number % len(keys)], number) for number in range(CLIENTS)]
        environment = floor.environment | {"BROKER_URL": valkey.url(), "TERMINAL_CALLS_A_MINUTE": NO_THROTTLE}
        address = stack.enter_context(site(home, environment, pool=True))
        host = address.removeprefix("http://").partition("/")[0]
        for client in clients:
            client.post_until(host, time.perf_counter(), at_least=5)  # both workers have read the rulebook
            client.times.clear()
        elapsed = at_once(clients, host)
    return rows_of(clients, elapsed)


def key_of(floor: Floor, name: str) -> str:
    """Return a key for all tables: each client posts to all tables in turn, so that clients meet in the chains."""
    return floor.manage("terminal_key", "create", "--name", f"Bench {name}", "--tables", ",".join(TABLES)).strip()


def at_once(clients: list["Client"], host: str) -> float:
    """Run all senders at the same time, and return the seconds."""
    started = time.perf_counter()
    threads = [threading.Thread(target=client.post_until, args=(host, started + SECONDS)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - started


class Sender:
    """Posts rounds over one connection; any answer but 201 is a fault."""

    def __init__(self, host: str, key: str) -> None:
        self.connection = http.client.HTTPConnection(host, timeout=30)
        self.headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self.faults: list[str] = []

    def post(self, body: bytes) -> None:
        try:
            self.connection.request("POST", "/api/v1/rounds/", body, self.headers)
            answer = self.connection.getresponse()
            text = answer.read()
            if answer.status != http.client.CREATED:
                self.faults.append(f"{answer.status} {text[:200]!r}")
        except (OSError, http.client.HTTPException) as error:
            self.faults.append(repr(error))
            self.connection.close()


class Client:
    """A client that sends one round after the other over one connection."""

    def __init__(self, key: str, number: int) -> None:
        self.key = key
        self.rounds = rounds(10**6, BETS, seed=number)
        self.times: list[float] = []
        self.faults: list[str] = []

    def post_until(self, host: str, end: float, at_least: int = 1) -> None:
        sender = Sender(host, self.key)
        for number, round_ in enumerate(self.rounds, 1):
            body = round_.line().encode()
            started = time.perf_counter()
            sender.post(body)
            self.times.append(time.perf_counter() - started)
            if number >= at_least and time.perf_counter() >= end:
                break
        sender.connection.close()
        self.faults += sender.faults


def rows_of(clients: list[Client], elapsed: float) -> list[Row]:
    """Return the rows: half of the posts take at most p50, 99 in 100 at most p99."""
    times = sorted(seconds for client in clients for seconds in client.times)
    faults = [fault for client in clients for fault in client.faults]
    rate = (len(times) - len(faults)) / elapsed
    verdict = "within" if rate >= LEAST and not faults else "over"
    named = "".join(f"; {fault}" for fault in islice(faults, 3))
    p50, p99 = times[len(times) // 2], times[int(len(times) * 0.99)]
    return [
        Row("p50 of a post", p50, 1, f"{len(times):,} posts, {len(faults)} errors{named}"),
        Row("p99 of a post", p99, p99 / p50),
        Row("a round, all clients together", 1 / rate, 1 / rate / p50, f"{rate:.0f}/s, at least {LEAST}: {verdict}"),
    ]
