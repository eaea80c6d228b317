"""The time from the commit of a round to that of its finding, with site, broker and worker running.

Both moments are PostgreSQL's own commit timestamps.
"""

import os
import threading
import time
from contextlib import ExitStack
from queue import SimpleQueue

import psycopg

from bench.floors import Floor
from bench.measure import Row
from bench.played import Played
from bench.reconciliation.planted import BETS, FLOOR, TABLES, PlantedDay, Truth, differences
from bench.reconciliation.reconcile import FOUND, LEFT, UntrueError
from bench.rounds.posts import NO_THROTTLE, Sender
from bench.site.web import site
from taisai_backoffice.embedded.database import migrate
from taisai_backoffice.embedded.home import Home
from taisai_backoffice.embedded.lease import Lease
from taisai_backoffice.embedded.postgres import Postgres
from taisai_backoffice.embedded.valkey import Valkey
from taisai_backoffice.run import ProcessPart, celery_command

SECONDS = float(os.environ.get("BENCH_SECONDS") or 30)
RATE = 20  # rounds a second
CLIENTS = 6
MOST_SECONDS = 5.0  # p99
PATIENCE = 120
WARM = 2 * CLIENTS  # warm-up rounds, by which every process has read its rulebooks; they are not counted
TITLE = f"{RATE} rounds of {BETS} bets a second for {SECONDS:.0f} s, one bet of each paid wrongly: until that is found"

#: Slowest last. Findings are written once here, so that a row's transaction is the one that made it.
DELAYS = """
SELECT extract(epoch FROM pg_xact_commit_timestamp(f.xmin) - pg_xact_commit_timestamp(r.xmin))::float8 AS seconds
FROM audits_finding f JOIN games_round r ON r.id = f.round_id WHERE r.ref > %s ORDER BY seconds
"""
SPAN = """
SELECT extract(epoch FROM max(pg_xact_commit_timestamp(xmin)) - min(pg_xact_commit_timestamp(xmin)))::float8
FROM games_round WHERE ref > %s
"""


def run(home: Home) -> list[Row]:
    with ExitStack() as stack:
        postgres, valkey = Postgres(home, ("track_commit_timestamp=on",)), Valkey(home)
        stack.callback(Lease.take(postgres, prepare=lambda: migrate(postgres)).give_back)
        stack.callback(Lease.take(valkey).give_back)
        floor = Floor(home, postgres)
        key = prepared(floor)
        environment = floor.environment | {"BROKER_URL": valkey.url(), "TERMINAL_CALLS_A_MINUTE": NO_THROTTLE}
        quiet = environment | {"LOG_LEVEL": "ERROR"}
        log = home.folder("logs") / "worker.log"
        stack.callback(ProcessPart("Worker", celery_command("worker", "--concurrency", "2"), quiet, log).stop)
        address = stack.enter_context(site(home, environment, pool=True))
        host = address.removeprefix("http://").partition("/")[0]
        connection = stack.enter_context(psycopg.connect(postgres.url("app"), autocommit=True))
        return measured(Arriving(host, key), connection)


def prepared(floor: Floor) -> str:
    """Set up the floor; return a key that may record rounds of all its tables."""
    floor.manage("collectstatic", "--noinput", "-v0")
    text = floor.home.folder("bench") / "floor.toml"
    text.write_text(FLOOR)
    floor.manage("load_floor", str(text))
    codes = ",".join(table.code for table in TABLES)
    return floor.manage("terminal_key", "create", "--name", "Bench", "--tables", codes).strip()


class Arriving:
    """Rounds sent one after the other, each at its time, by clients in turn."""

    def __init__(self, host: str, key: str) -> None:
        self.host, self.key = host, key
        self.day = PlantedDay(len(TABLES) * -(-(WARM + round(RATE * SECONDS)) // len(TABLES)), wrong=1, breached=0)
        self.played = list(self.day.played())
        self.last_warm = self.played[WARM - 1].ref
        self.faults: list[str] = []

    def send_warm(self) -> None:
        self._send(self.played[:WARM], rate=2)

    def send_rest(self) -> None:
        self._send(self.played[WARM:], rate=RATE)

    def _send(self, played: list[Played], rate: float) -> None:
        waiting: SimpleQueue[tuple[float, bytes] | None] = SimpleQueue()
        started = time.perf_counter()
        for number, played_round in enumerate(played):
            waiting.put((started + number / rate, played_round.line().encode()))
        for _ in range(CLIENTS):
            waiting.put(None)
        threads = [threading.Thread(target=self._client, args=(waiting,)) for _ in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _client(self, waiting: "SimpleQueue[tuple[float, bytes] | None]") -> None:
        sender = Sender(self.host, self.key)
        while (turn := waiting.get()) is not None:
            at, body = turn
            time.sleep(max(0.0, at - time.perf_counter()))
            sender.post(body)
        self.faults += sender.faults


def measured(arriving: Arriving, connection: "psycopg.Connection[tuple[float, ...]]") -> list[Row]:
    arriving.send_warm()
    wait_until_taken(connection)
    arriving.send_rest()
    wait_until_taken(connection)
    verify(arriving, connection)
    delays = [seconds for (seconds,) in connection.execute(DELAYS, [arriving.last_warm])]
    (span,) = connection.execute(SPAN, [arriving.last_warm]).fetchone() or (1.0,)
    rate = (len(delays) - 1) / span
    p50, p99 = delays[len(delays) // 2], delays[int(len(delays) * 0.99)]
    kept = p99 < MOST_SECONDS
    arrived = rate >= RATE * 0.95
    return [
        Row("p50 from commit to finding", p50, 1, f"{len(delays):,} rounds"),
        Row("p99", p99, p99 / p50, f"at most {MOST_SECONDS:.0f} s: {'within' if kept else 'OVER'}", kept),
        Row("the slowest", delays[-1], delays[-1] / p50),
        Row("between two rounds", 1 / rate, 1, f"{rate:.1f}/s{'' if arrived else ': TOO FEW'}", arrived),
    ]


def wait_until_taken(connection: "psycopg.Connection[tuple[float, ...]]") -> None:
    deadline = time.monotonic() + PATIENCE
    while connection.execute(LEFT).fetchone() != (0,):
        if time.monotonic() > deadline:
            raise UntrueError(f"Rounds were left in the outbox after {PATIENCE} s.")
        time.sleep(0.2)


def verify(arriving: Arriving, connection: "psycopg.Connection[tuple[float, ...]]") -> None:
    if arriving.faults:
        raise UntrueError(f"{len(arriving.faults)} posts failed: {arriving.faults[0]}")
    rows: list = connection.execute(FOUND).fetchall()  # type: ignore[type-arg]
    findings = [
        Truth(ref, kind, tuple(boxes), player, first, second) for ref, kind, boxes, player, first, second in rows
    ]
    if wrong := differences(arriving.day.truth, findings):
        raise UntrueError("\n".join(["The planted truth was not found.", *wrong]))
