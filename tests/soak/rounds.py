"""Rounds come by API and by file while an import, a web worker or PostgreSQL is killed: each is on record once."""

import datetime as dt
import http.client
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from threading import Event, Lock, Thread
from typing import Any

import psutil
import psycopg

from taisai_backoffice.embedded.database import migrate_new_home, urls
from taisai_backoffice.embedded.home import PROJECT, Home
from taisai_backoffice.embedded.lease import Lease
from taisai_backoffice.embedded.postgres import Postgres
from taisai_backoffice.run import ProcessPart, web_command
from tests.homes import bare_environment, quiet_port, throwaway_home
from tests.ledgers import verify_tables
from tests.patience import wait_for

FLOOR = """
[[casino]]
code = "RWS"
name = "Resort casino"
timezone = "Asia/Singapore"
currency = "SGD"
gaming_day_starts = "06:00"
"""
TABLE = """
[[table]]
casino = "RWS"
pit = "P1"
code = "{code}"
rulebook = "rws-tai-sai-v6"
layout = "C"
chip_unit = "0.01"
from = 2026-01-01T06:00:00+08:00
"""
TABLES = ("TS-01", "TS-02")
CLIENTS = 4
ROUNDS_A_FILE = 1500
SHARED = 40  # of a file's rounds, sent by the clients as well
LONGEST_WAIT_SECONDS = 0.6  # about as long as such a file takes
IMPORTING = (
    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND xact_start IS NOT NULL "
    "AND application_name = 'import'"
)


@dataclass
class Site:
    """What a kill hits, and how to reach it. The database keeps its port, so the web server outlives it."""

    home: Home
    postgres: Postgres
    environment: dict[str, str]
    port: int
    web: ProcessPart | None = None

    def manage(self, *arguments: str) -> str:
        done = subprocess.run(
            manage_command(*arguments), env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def start_web(self) -> None:
        log = self.home.folder("logs") / "web.log"
        self.web = ProcessPart("Web server", web_command("127.0.0.1", self.port, workers=2), self.environment, log)

    def stop_web(self) -> None:
        if self.web is not None:
            self.web.stop()

    def ask(self, statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.postgres.url("app"), autocommit=True) as connection:
            return connection.execute(statement, list(parameters)).fetchall()


def manage_command(*arguments: str) -> list[str]:
    return [sys.executable, str(PROJECT / "manage.py"), *arguments]


# --- What is sent ----------------------------------------------------------------------------------


def round_of(ref: str, number: int) -> dict[str, Any]:
    start = dt.datetime(2026, 11, 1, 4, tzinfo=dt.UTC) + dt.timedelta(seconds=number)
    steps: list[tuple[str, dict[str, Any]]] = [
        ("place-bets", {}), ("no-more-bets", {}), ("result", {"dice": [1, 3, 6]}), ("settled", {}),
    ]  # fmt: skip
    events = [
        {"kind": kind, "at": (start + dt.timedelta(seconds=index)).isoformat(), **more}
        for index, (kind, more) in enumerate(steps)
    ]
    bets = [{"player": f"seat-{seat}", "box": "small", "stake": "5", "net": "5"} for seat in range(number % 4)]
    return {"source": "soak", "ref": ref, "table": TABLES[number % 2], "dealer": ref, "events": events, "bets": bets}


@dataclass
class Post:
    """Rounds that clients send, and what each was told."""

    told: dict[str, Counter[int]] = field(default_factory=dict)
    refusals: list[str] = field(default_factory=list)
    shared: list[dict[str, Any]] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    def note(self, ref: str, code: int) -> None:
        with self.lock:
            self.told.setdefault(ref, Counter())[code] += 1

    def acknowledged(self) -> int:
        with self.lock:
            return sum(map(Counter.total, self.told.values()))


class Terminal(Thread):
    """Sends one round after another, each until it is acknowledged, whatever happens meanwhile."""

    def __init__(self, mark: str, port: int, key: str, post: Post, random: Random) -> None:
        super().__init__(daemon=True)
        self.mark, self.port, self.key, self.posting, self.random = mark, port, key, post, random
        self.ended = Event()

    def run(self) -> None:
        number = 0
        while not self.ended.is_set():
            number += 1
            document = round_of(f"{self.mark}-{number}", number)
            if self.posting.shared and self.random.random() < 0.3:
                document = self.random.choice(self.posting.shared)
            self.send(document)

    def send(self, document: dict[str, Any]) -> None:
        content = json.dumps(document).encode()
        while True:
            with suppress(OSError, http.client.HTTPException):
                code, text = self.call(content)
                if code in (200, 201):
                    return self.posting.note(document["ref"], code)
                if code < 500 and code != 429:
                    self.posting.refusals.append(f"{document['ref']}: {code} {text}")
                    return None
            time.sleep(0.05)

    def call(self, content: bytes) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json", "Host": "localhost"}
            connection.request("POST", "/api/v1/rounds/", content, headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode(errors="replace")
        finally:
            connection.close()


@dataclass(frozen=True)
class File:
    path: Path
    own: list[str]  # the refs that nobody else sends
    rounds: int

    @classmethod
    def write(cls, folder: Path, mark: str) -> "tuple[File, list[dict[str, Any]]]":
        documents = [round_of(f"{mark}-{number}", number) for number in range(ROUNDS_A_FILE)]
        path = folder / f"{mark}.ndjson"
        path.write_text("".join(f"{json.dumps(document)}\n" for document in documents))
        shared = documents[:: ROUNDS_A_FILE // SHARED]
        theirs = {one["ref"] for one in shared}
        own = [document["ref"] for document in documents if document["ref"] not in theirs]
        return cls(path, own, len(documents)), shared


# --- Kills -----------------------------------------------------------------------------------------


def kill_import(site: Site, importing: "subprocess.Popen[str]", random: Random) -> None:
    importing.kill()


def kill_web_worker(site: Site, importing: "subprocess.Popen[str]", random: Random) -> None:
    workers = web_workers(site)
    victim = random.choice(sorted(workers))
    psutil.Process(victim).kill()
    wait_for(
        lambda: not is_web_running(site) or len(web_workers(site) - {victim}) == len(workers),
        "no worker took the place of the killed one",
    )
    if not is_web_running(site):  # one that dies young again and again: granian gives up, and is started anew
        site.stop_web()
        site.start_web()


def is_web_running(site: Site) -> bool:
    return site.web is not None and site.web.is_running()


def web_workers(site: Site) -> set[int]:
    assert site.web is not None
    with suppress(psutil.NoSuchProcess):
        children = psutil.Process(site.web.process.pid).children()
        return {one.pid for one in children if "granian" in one.name() or "python" in one.name()}
    return set()


def kill_postgres(site: Site, importing: "subprocess.Popen[str]", random: Random) -> None:
    psutil.Process(site.postgres.pid()).kill()
    wait_for(lambda: not site.postgres.is_running(), "PostgreSQL is still there")
    site.postgres.start()


#: What can be killed, and how; their order decides which seed begins with which.
KILLS: dict[str, Callable[[Site, "subprocess.Popen[str]", Random], None]] = {
    "import": kill_import,
    "web worker": kill_web_worker,
    "PostgreSQL": kill_postgres,
}


def scenario(seed: int) -> None:
    with throwaway_home() as home:
        survive(home, seed, kills=4)


def survive(home: Home, seed: int, kills: int) -> None:
    random = Random(seed)
    names = list(KILLS)
    plan = [names[seed % len(names)], *(random.choice(names) for _ in range(kills - 1))]
    with at_work(home) as site:
        key = prepare(site, f"S{seed}")
        post = Post()
        terminals = [
            Terminal(f"S{seed}-T{number}", site.port, key, post, Random(seed * 100 + number))
            for number in range(CLIENTS)
        ]
        for terminal in terminals:
            terminal.start()
        files = [kill_once(site, post, name, f"S{seed}-F{step}", random) for step, name in enumerate(plan)]
        for terminal in terminals:
            terminal.ended.set()
        for terminal in terminals:
            terminal.join(120)
            assert not terminal.is_alive(), "a terminal is still not answered"
        verify(site, post, files, f"S{seed}-")


@contextmanager
def at_work(home: Home) -> Iterator[Site]:
    postgres = Postgres(home, options=(f"port={quiet_port()}",))
    with ExitStack() as stack:
        stack.callback(Lease.take(postgres, prepare=lambda: migrate_new_home(postgres)).give_back)
        more = {"DATABASE_URL": urls(postgres)["DATABASE_URL"], "TERMINAL_CALLS_A_MINUTE": "1000000"}
        site = Site(home, postgres, bare_environment(home, **more), quiet_port())
        stack.callback(site.stop_web)
        site.start_web()
        yield site


def prepare(site: Site, mark: str) -> str:
    """A floor of two tables, where there is none yet, and a key."""
    floor = site.home.path / "floor.toml"
    floor.write_text(FLOOR + "".join(TABLE.format(code=code) for code in TABLES))
    site.manage("load_floor", str(floor))
    return site.manage("terminal_key", "create", "--name", mark, "--tables", ",".join(TABLES)).strip()


def kill_once(site: Site, post: Post, name: str, mark: str, random: Random) -> File:
    """Somewhere in the middle of a file, while posts are under way. Afterwards the file is imported until it is in."""
    file, post.shared = File.write(site.home.path, mark)
    enough = post.acknowledged() + random.randint(5, 60)
    wait_for(lambda: post.acknowledged() >= enough, lambda: f"only {post.acknowledged()} of {enough} posts")
    with start_import(site, file) as importing:
        wait_for(lambda: site.ask(IMPORTING) or importing.poll() is not None, "the import does not begin")
        time.sleep(random.uniform(0, LONGEST_WAIT_SECONDS))
        KILLS[name](site, importing, random)
        importing.communicate(timeout=120)
    wait_for(lambda: not site.ask(IMPORTING), "the session of the import is still there")
    is_in = verify_whole(site, file)
    assert is_in or importing.returncode != 0, "the import said that it is done, and the file is not there"
    if not is_in:
        with start_import(site, file) as again:
            out, errors = again.communicate(timeout=120)
        assert again.returncode == 0, errors
        counts = json.loads(out)
        assert (counts["files"], counts["rounds"]) == (1, file.rounds)
        assert verify_whole(site, file)
    return file


def start_import(site: Site, file: File) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        manage_command("import_rounds", str(file.path), "--json"), env=site.environment | {"PGAPPNAME": "import"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


# --- What has to be true ---------------------------------------------------------------------------


def verify_whole(site: Site, file: File) -> bool:
    """All of the file's own rounds or none of them; and the file is on record just where they are."""
    ((found,),) = site.ask("SELECT count(*) FROM games_round WHERE ref = ANY(%s)", [file.own])
    ((files,),) = site.ask("SELECT count(*) FROM games_importedfile WHERE name = %s", [file.path.name])
    assert (found, files) in ((0, 0), (len(file.own), 1)), f"half a file: {found} of {len(file.own)}, {files} files"
    return bool(files)


def verify(site: Site, post: Post, files: list[File], mark: str) -> None:
    assert post.refusals == []
    tables = [key for (key,) in site.ask("SELECT id FROM games_table")]
    found = {ref for _, ref in verify_tables(site.ask, tables) if ref.startswith(mark)}
    sent = set(post.told).union(*(file.own for file in files))
    assert sent - found == set(), "acknowledged, and not there"
    assert [ref for ref, told in post.told.items() if told[201] > 1] == [], "new twice"
    of_files = {one["ref"] for file in files for one in map(json.loads, file.path.read_text().splitlines())}
    assert found - sent - of_files == set(), "rounds that nobody sent"
    wrong = site.ask("SELECT ref FROM games_round WHERE dealer <> ref OR cardinality(players) <> cardinality(boxes)")
    assert wrong == [], "rounds that are not as they were sent"
    uneven = site.ask(
        "SELECT name FROM games_importedfile f WHERE new <> (SELECT count(*) FROM games_round WHERE imported_id = f.id)"
    )
    assert uneven == [], "files that count other rounds than there are"
