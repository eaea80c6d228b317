"""Tables played live, five times faster than life: the time of an answer, and whether any event is lost."""

import datetime as dt
import json
import os
import subprocess
import sys
from contextlib import ExitStack

import psycopg

from bench.floors import Floor
from bench.measure import Row
from bench.site.web import site
from taisai_backoffice.embedded.database import migrate
from taisai_backoffice.embedded.home import PROJECT, Home
from taisai_backoffice.embedded.lease import Lease
from taisai_backoffice.embedded.postgres import Postgres
from taisai_backoffice.embedded.valkey import Valkey

SECONDS = float(os.environ.get("BENCH_SECONDS") or 60)
TABLES, SPEED = 20, 5
NO_THROTTLE = str(10**9)
TITLE = f"{TABLES} tables played live for {SECONDS:.0f} s at {SPEED} times real speed, granian with 2 workers"
ON_RECORD = (
    "SELECT (SELECT count(*) FROM games_livestep), (SELECT count(*) FROM games_round), "
    "(SELECT count(*) FROM games_liveround WHERE ended_at IS NULL)"
)


def run(home: Home) -> list[Row]:
    with ExitStack() as stack:
        postgres, valkey = Postgres(home), Valkey(home)
        stack.callback(Lease.take(postgres, prepare=lambda: migrate(postgres)).give_back)
        stack.callback(Lease.take(valkey).give_back)
        floor = Floor(home, postgres)
        day = (dt.datetime.now(dt.UTC) - dt.timedelta(days=1)).date().isoformat()
        played = home.folder("bench") / "live.ndjson"
        floor.manage("collectstatic", "--noinput", "-v0")
        size = ["--day", day, "--tables", str(TABLES), "--rounds-per-table", "1", "--seed", "1", "--faults", "0"]
        floor.manage("simulate", *size, "-o", str(played))
        text = f"{played}.floor.toml"
        floor.manage("load_floor", text)
        codes = ",".join(f"TS-{number:02d}" for number in range(1, TABLES + 1))
        key = floor.manage("terminal_key", "create", "--name", "Bench", "--tables", codes).strip()
        environment = floor.environment | {"BROKER_URL": valkey.url(), "TERMINAL_CALLS_A_MINUTE": NO_THROTTLE}
        address = stack.enter_context(site(home, environment, pool=True)).removesuffix("/admin/login/")
        command = [sys.executable, "-m", "bench.rounds.live_player", address, key, text, day, str(SECONDS), str(SPEED)]
        done = subprocess.run(command, env=environment, cwd=PROJECT, check=True, stdout=subprocess.PIPE)
        with psycopg.connect(postgres.url("app"), autocommit=True) as connection:
            on_record = connection.execute(ON_RECORD).fetchone()
    return rows_of(json.loads(done.stdout), on_record or (0, 0, 0))


def rows_of(found: dict[str, list[float] | int], on_record: tuple[int, ...]) -> list[Row]:
    times = sorted(found["times"])  # type: ignore[arg-type]
    steps, rounds, errors = found["steps"], found["rounds"], found["errors"]
    whole = not errors and on_record == (steps, rounds, 0)
    p50, p99 = times[len(times) // 2], times[int(len(times) * 0.99)]
    verdict = "none lost" if whole else f"on record {on_record}; {errors}"
    return [
        Row("p50 of an answer", p50, 1, f"{len(times):,} calls, {len(times) / SECONDS:.0f}/s"),
        Row("p99 of an answer", p99, p99 / p50, f"{steps:,} steps of {rounds:,} rounds: {verdict}"),
    ]
