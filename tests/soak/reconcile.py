"""Day runs while workers, broker, database and schedulers are killed: what is found is what a calm run finds.

The same rounds, partly late, and the same limits that reach back are worked on twice: in a database where nothing
happens, and in one where all is killed and every message comes twice. Both are then the same, and as it was planted.
"""

import datetime as dt
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit

import psutil
import psycopg
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.db import connections

from audits.models import COUNTS, FIGURES, Run
from audits.reconciliation.services.arrivals import arrivals_take
from audits.reconciliation.services.runs import LOCK, part_take, parts_of, run_cancel, run_start
from audits.tasks import close_days, sweep, take_arrivals, take_part
from games.access.gate import Operator
from games.engine.signs.limits import Limits, Range
from games.limits.selectors import limits_at
from games.limits.services.proposals import limits_approve, limits_propose
from games.models import Casino, Staff, Table
from taisai_backoffice.embedded.database import migrate_new_home
from taisai_backoffice.embedded.home import Home
from taisai_backoffice.embedded.lease import Lease
from taisai_backoffice.embedded.postgres import DATABASE, Postgres, create_database
from taisai_backoffice.embedded.valkey import Valkey
from taisai_backoffice.run import ProcessPart, celery_command
from tests import servers
from tests.homes import bare_environment, quiet_port, throwaway_home
from tests.leading import led_to
from tests.patience import wait_for

FIRST_DAY, DAYS = dt.date(2026, 11, 10), 2
TABLES, ROUNDS_A_TABLE, FAULTS = 5, 90, 0.35  # tables of every rulebook
CORRECTED = ("TS-01", "TS-02", "TS-04", "TS-05")  # those that have one sign all the time
LATE = 0.2  # of the rounds
LONGEST_WAIT_SECONDS = 0.15  # about as long as a part takes
NOBODY = "redis://127.0.0.1:1/0"
PEOPLE = """
[[staff]]
number = "{number}"
name = "Person {number}"
casino = "RWS"
department = "pit"
post = "{post}"
"""
PROPOSER, APPROVER = ("SM1", "shift-manager"), ("CM1", "casino-manager")


# --- What is worked on -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Story:
    """Rounds in three files, the last two of them late, and limits that are corrected before the third comes."""

    folder: Path
    files: tuple[Path, Path, Path]
    floor: Path
    truth: dict[str, list[dict[str, Any]]]
    corrected: str
    since: dt.datetime

    @classmethod
    def write(cls, folder: Path, seed: int) -> "Story":
        random, path = Random(seed), folder / f"{seed}.ndjson"
        call_command(
            "simulate", f"--day={FIRST_DAY}", f"--days={DAYS}", f"--tables={TABLES}", f"--seed={seed}",
            f"--rounds-per-table={ROUNDS_A_TABLE}", f"--faults={FAULTS}", f"-o{path}", stdout=StringIO(),
        )  # fmt: skip
        corrected = random.choice(CORRECTED)
        hours = random.randint(7, 15)
        since = dt.datetime.combine(FIRST_DAY, dt.time(0), dt.timezone(dt.timedelta(hours=8)))
        floor = folder / f"{seed}.ndjson.floor.toml"
        with floor.open("a") as file:
            file.writelines(PEOPLE.format(number=number, post=post) for number, post in (PROPOSER, APPROVER))
        truth = json.loads((folder / f"{seed}.ndjson.truth.json").read_text())
        files = split(path, random, corrected)
        return cls(folder, files, floor, truth, corrected, since + dt.timedelta(hours=hours))

    def load(self) -> None:
        call_command("load_floor", str(self.floor), stdout=StringIO())

    def record(self, number: int) -> None:
        call_command("import_rounds", str(self.files[number]), stdout=StringIO())

    def correct(self) -> None:
        """The sign allowed a third of what was thought: some findings are new, and some are none any more."""
        table = Table.objects.get(code=self.corrected)
        before = limits_at(table=table, at=self.since).limits
        lines = {key: Range(one.minimum, _third(one)) for key, one in before.by_key.items()}
        apart = {key: amount // 3 for key, amount in before.differential.items()}
        proposer, approver = (Staff.objects.get(number=number) for number, _ in (PROPOSER, APPROVER))
        proposal = limits_propose(
            actor=proposer, tables=[table], limits=Limits(lines, apart), starts_at=self.since, is_correction=True,
            reason="The sign was read wrongly",
        )  # fmt: skip
        limits_approve(actor=approver, proposal=proposal, reason="Seen on the film")


def _third(line: Range) -> int | None:
    return None if line.maximum is None else max(line.maximum // 3, line.minimum or 0)


def split(path: Path, random: Random, corrected: str) -> tuple[Path, Path, Path]:
    """In time and late ones; of the table whose limits are corrected, none comes late before that."""
    lines: tuple[list[str], ...] = ([], [], [])
    for line in path.read_text().splitlines(keepends=True):
        is_late = random.random() < LATE
        last = json.loads(line)["table"] == corrected or random.random() < 0.5
        lines[(2 if last else 1) if is_late else 0].append(line)
    files = [path.with_suffix(f".{number}.ndjson") for number in range(len(lines))]
    for file, part in zip(files, lines, strict=True):
        file.write_text("".join(part))
    return files[0], files[1], files[2]


# --- What comes of it ------------------------------------------------------------------------------

FOUND = """
SELECT r.source, r.ref, t.code, f.gaming_day, f.category, f.key, f.ordinal, f.kind, f.rule, f.rules, f.boxes, f.player,
    f.position, f.stake, f.expected, f.recorded, f.placed, f.permitted, f.detail, f.amount, f.severity, f.rulebook,
    f.engine, l.starts_at, l.revision, f.state, f.lapsed_at IS NOT NULL
FROM audits_finding f JOIN games_round r ON r.id = f.round_id JOIN games_table t ON t.id = f.table_id
    LEFT JOIN games_limitset l ON l.id = f.limit_set_id
ORDER BY r.source, r.ref, f.key
"""
CHANGED = """
SELECT r.ref, h.key, h.history_change_reason FROM audits_historicalfinding h JOIN games_round r ON r.id = h.round_id
ORDER BY 1, 2, 3
"""
SUMMARIES = f"""
SELECT t.code, s.gaming_day, {", ".join(f"s.{name}" for name in (*FIGURES, *COUNTS, "kinds"))}
FROM audits_daysummary s JOIN games_table t ON t.id = s.table_id ORDER BY 1, 2
"""


def on_record(url: str) -> dict[str, list[tuple[Any, ...]]]:
    """All that is to be the same."""
    return {name: ask(url, statement) for name, statement in
            {"found": FOUND, "changed": CHANGED, "summaries": SUMMARIES}.items()}  # fmt: skip


def ask(url: str, statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(statement, list(parameters)).fetchall()


def calm(story: Story) -> dict[str, list[tuple[Any, ...]]]:
    """One thing after the other, with no worker but this process."""
    with servers.clone() as name, led_to(database_url=servers.database_url(name), broker_url=NOBODY):
        story.load()
        story.record(0)
        arrivals_take()
        story.correct()
        arrivals_take()
        story.record(1)
        story.record(2)
        arrivals_take()
        before = on_record(servers.database_url(name))
        for day in days():
            run = run_start(actor=Operator(), casino=Casino.objects.get(), day=day)
            for key in parts_of([run]):
                part_take(key=key)
        found = on_record(servers.database_url(name))
        verify_same(before, found)
        verify_truth(story)
        assert any(row[-1] for row in found["found"]), "nothing has lapsed"
        return found


def days() -> list[dt.date]:
    return [FIRST_DAY + dt.timedelta(days=number) for number in range(DAYS)]


def verify_truth(story: Story) -> None:
    """What was planted at the tables whose limits nobody corrected, and nothing else."""
    for kind, planted in story.truth.items():
        told = StringIO()
        call_command("report", kind, "--from", f"{days()[0]}", "--to", f"{days()[-1]}", "--format=json", stdout=told)
        rows = {json.dumps(row) for row in json.loads(told.getvalue()) if row["table"] != story.corrected}
        assert rows == {json.dumps(row) for row in planted if row["table"] != story.corrected}, kind


def verify_same(calm: dict[str, list[tuple[Any, ...]]], other: dict[str, list[tuple[Any, ...]]]) -> None:
    for name in calm:
        rows, others = (list(map(repr, one[name])) for one in (calm, other))
        missing, strange = sorted(set(rows) - set(others)), sorted(set(others) - set(rows))
        assert not missing, f"{name}: {len(missing)} rows are missing, as {missing[:2]}; in their place {strange[:2]}"
        assert len(rows) == len(others), f"{name}: {len(others) - len(rows)} rows too many, as {strange[:2]}"


# --- A site of one's own ---------------------------------------------------------------------------

PARTS = {
    "worker-1": ("worker", "--concurrency", "1", "--hostname", "one@%h"),
    "worker-2": ("worker", "--concurrency", "1", "--hostname", "two@%h"),
    "scheduler-1": ("beat", "--pidfile", ""),
    "scheduler-2": ("beat", "--pidfile", ""),
}
WORKERS = ("worker-1", "worker-2")
CLOSED = """
SELECT c.gaming_day, r.state, count(s.id) FROM audits_dayclose c JOIN audits_run r ON r.id = c.run_id
    JOIN audits_closedsummary s ON s.close_id = c.id GROUP BY c.id, r.id ORDER BY 1
"""
AT_WORK = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND classid = %s"
UNDER_WAY = "SELECT 1 FROM audits_run WHERE state = 'running' UNION ALL SELECT 1 FROM games_outbox LIMIT 1"


@dataclass
class Site:
    """What is killed. Both servers keep their ports, so that what outlives them finds them again."""

    home: Home
    postgres: Postgres
    valkey: Valkey
    database: str
    random: Random
    parts: dict[str, ProcessPart] = field(default_factory=dict)
    runs: list[Run] = field(default_factory=list)
    cancelled: dict[int, set[int]] = field(default_factory=dict)  # what was done of them

    @property
    def url(self) -> str:
        return self.postgres.url("app", self.database)

    def start(self, name: str) -> None:
        more = {"DATABASE_URL": self.url, "BROKER_URL": self.valkey.url(), "SWEEP_SECONDS": "1"}
        log = self.home.folder("logs") / f"{name}.log"
        self.parts[name] = ProcessPart(name, celery_command(*PARTS[name]), bare_environment(self.home, **more), log)

    def supervise(self) -> None:
        """What has ended is started again, as somebody does in every house."""
        for name, part in list(self.parts.items()):
            if not part.is_running():
                part.stop()
                self.start(name)

    def kill(self, *names: str) -> None:
        for name in names:
            os.killpg(self.parts[name].process.pid, signal.SIGKILL)
        for name in names:
            self.parts[name].process.wait()
        self.supervise()

    def stop(self) -> None:
        for part in self.parts.values():
            part.process.terminate()
        for part in self.parts.values():
            part.stop()

    def is_at_work(self) -> bool:
        return bool(ask(self.url, AT_WORK, [LOCK]))

    def is_done(self) -> bool:
        self.supervise()
        return not ask(self.url, UNDER_WAY) and not self.is_at_work()


@contextmanager
def at_work(home: Home, seed: int) -> Iterator[Site]:
    postgres, valkey = Postgres(home, options=(f"port={quiet_port()}",)), Valkey(home)
    with ExitStack() as stack:
        stack.callback(Lease.take(postgres, prepare=lambda: migrate_new_home(postgres)).give_back)
        stack.callback(Lease.take(valkey).give_back)
        with psycopg.connect(postgres.url("postgres", "postgres"), autocommit=True) as connection:
            create_database(connection, f"seed_{seed}", template=DATABASE)
        site = Site(home, postgres, valkey, f"seed_{seed}", Random(seed))
        stack.callback(site.stop)
        for name in PARTS:
            site.start(name)
        yield site


# --- Kills -----------------------------------------------------------------------------------------


def kill_worker(site: Site) -> None:
    """The whole of it: what it was at comes back to the queue long after the sweep has found it."""
    site.kill(site.random.choice(WORKERS))


def kill_process(site: Site) -> None:
    """The one that does the work; its worker makes another, and gives it the task again."""
    for child in psutil.Process(site.parts[site.random.choice(WORKERS)].process.pid).children():
        child.kill()


def kill_workers(site: Site) -> None:
    site.kill(*WORKERS)


def kill_database(site: Site) -> None:
    psutil.Process(site.postgres.pid()).kill()
    wait_for(lambda: not site.postgres.is_running(), "PostgreSQL is still there")
    site.postgres.start()
    connections.close_all()


def kill_broker(site: Site) -> None:
    """Started again as it was: it has its port, and what was queued."""
    server = psutil.Process(site.valkey.pid())
    program = server.exe()
    server.kill()
    wait_for(lambda: not site.valkey.is_running(), "Valkey is still there")
    time.sleep(site.random.uniform(0, 1))
    subprocess.run([program, str(site.valkey.folder / "valkey.conf")], check=True, stdout=subprocess.DEVNULL)
    wait_for(lambda: answers(site.valkey.url()), "Valkey does not answer")


def answers(url: str) -> bool:
    parts = urlsplit(url)
    with socket.socket() as probe:
        return probe.connect_ex((str(parts.hostname), parts.port or 0)) == 0


def kill_scheduler(site: Site) -> None:
    site.kill("scheduler-1")


#: What can be killed, and how; their order decides which seed begins with which.
KILLS: dict[str, Callable[[Site], None]] = {
    "worker": kill_worker,
    "database": kill_database,
    "broker": kill_broker,
    "process": kill_process,
    "workers": kill_workers,
    "scheduler": kill_scheduler,
}


def kill_once(site: Site, name: str) -> None:
    """Somewhere in the middle of a part; there is always one, since a run begins where none is under way."""
    deadline = time.monotonic() + 60
    while not site.is_at_work():
        assert time.monotonic() < deadline, "no worker takes a part"
        site.supervise()
        if not ask(site.url, "SELECT 1 FROM audits_run WHERE state = 'running'"):
            begin(site)
    time.sleep(site.random.uniform(0, LONGEST_WAIT_SECONDS))
    KILLS[name](site)


# --- What happens meanwhile ------------------------------------------------------------------------


def begin(site: Site) -> Run:
    """A run over one of the days, of which the workers hear twice, as of all else."""
    day = site.random.choice(days())
    run = run_start(actor=Operator(), casino=Casino.objects.get(), day=day, send=take_part.delay)
    site.runs.append(run)
    for key in parts_of([run]):
        take_part.delay(key)
    for _ in range(3):
        take_arrivals.delay()
    sweep.delay()
    return run


def cancel(site: Site) -> None:
    """In the middle, where it is not over by then."""
    run = begin(site)
    wait_for(lambda: site.is_at_work() or Run.objects.get(pk=run.pk).is_over, "no worker takes a part")
    try:
        run_cancel(actor=Operator(), run=run)
    except ValidationError:
        return
    site.cancelled[run.pk] = set(run.parts.filter(is_done=True).values_list("pk", flat=True))


def correct(site: Site, story: Story) -> None:
    """Once what is on record of that table has been looked at: it is then certain what was found and lapses."""
    waiting = (
        "SELECT 1 FROM games_outbox o JOIN games_round r ON r.id = o.round_id JOIN games_table t ON t.id = r.table_id "
        "WHERE t.code = %s LIMIT 1"
    )
    wait_for(lambda: not ask(site.url, waiting, [story.corrected]), "the outbox is not taken")
    story.correct()


def close(site: Site) -> None:
    for _ in range(3):
        close_days.delay()


def end(site: Site) -> None:
    """All that was begun is done. What was to close the days was perhaps killed: the schedule sends it once more."""
    wait_for(site.is_done, lambda: f"still under way: {left(site)}", seconds=120)
    close(site)
    closed = "SELECT 1 FROM audits_dayclose HAVING count(*) = %s"
    wait_for(lambda: ask(site.url, closed, [DAYS]), lambda: f"the days are not closed: {left(site)}")
    wait_for(site.is_done, lambda: f"still under way: {left(site)}")


def meanwhile(site: Site, story: Story, steps: int) -> list[list[Callable[[], None]]]:
    """For each step what happens in it: in any order, but for the rounds that come after the correction."""
    in_order = (lambda: story.record(1), lambda: correct(site, story), lambda: story.record(2))
    planned: list[list[Callable[[], None]]] = [[] for _ in range(steps)]
    for number, happens in zip(sorted(site.random.choices(range(steps), k=len(in_order))), in_order, strict=True):
        planned[number].append(happens)
    for happens in (lambda: cancel(site), lambda: close(site)):
        step = site.random.choice(planned)
        step.insert(site.random.randint(0, len(step)), happens)
    return planned


def scenario(seed: int) -> None:
    with throwaway_home() as home:
        survive(home, seed, kills=6)


def survive(home: Home, seed: int, kills: int) -> None:
    names = list(KILLS)
    random = Random(seed)
    plan = [names[seed % len(names)], *(random.choice(names) for _ in range(kills - 1))]
    with at_work(home, seed) as site:
        story = Story.write(home.path, seed)
        expected = calm(story)
        with led_to(database_url=site.url, broker_url=site.valkey.url()):
            story.load()
            story.record(0)
            for name, events in zip(plan, meanwhile(site, story, kills), strict=True):
                begin(site)
                for happens in events:
                    happens()
                kill_once(site, name)
            end(site)
            verify_runs(site)
        verify_same(expected, on_record(site.url))


def left(site: Site) -> str:
    runs = ask(site.url, "SELECT id, kind, state FROM audits_run WHERE state = 'running'")
    parts = ask(site.url, "SELECT run_id, count(*) FROM audits_runpart WHERE NOT is_done GROUP BY 1")
    return f"runs {runs}, parts {parts}, outbox {ask(site.url, 'SELECT count(*) FROM games_outbox')}"


def verify_runs(site: Site) -> None:
    """Each is done wholly, or cancelled with what was done by then and nothing else; each day is closed once."""
    for run in Run.objects.exclude(kind=Run.Kind.ARRIVAL):
        done = set(run.parts.filter(is_done=True).values_list("pk", flat=True))
        if run.pk in site.cancelled:
            assert run.state == Run.State.CANCELLED
            assert done == site.cancelled[run.pk], "parts of a cancelled run were done afterwards"
        else:
            assert run.state == Run.State.DONE
            assert done == set(run.parts.values_list("pk", flat=True))
    short = ask(site.url, "SELECT 1 FROM audits_runpart WHERE is_done AND rounds < rounds_expected")
    assert not short, "parts that left out rounds"
    closed = ask(site.url, CLOSED)
    assert closed == [(day, "done", TABLES) for day in days()], closed
