"""`make run` as a person has it: from nothing to a login page, and nothing left after Ctrl-C."""

import http.cookiejar
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psutil
import psycopg
import pytest

from games.access.roles import access_policy
from taisai_backoffice.embedded.home import PROJECT, Home
from taisai_backoffice.embedded.postgres import Postgres
from tests import servers
from tests.homes import (
    bare_environment,
    processes_of,
    programs_of,
    quiet_port,
    throwaway_home,
    verify_nothing_left,
)
from tests.patience import wait_for

LOGIN = re.compile(r"^ {4}(\S.*?) {2,}(\S+) +(\S+)$", re.MULTILINE)


class Run:
    """One start of the product, and what it has printed so far."""

    def __init__(self, home: Home, **environment: str) -> None:
        self.home = home
        self.output = home.path.parent / "output"
        with self.output.open("w") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "taisai_backoffice.run"], cwd=PROJECT, env=bare_environment(home, **environment),
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True, preexec_fn=_heed_ctrl_c,  # noqa: PLW1509
            )  # fmt: skip

    def said(self) -> str:
        return self.output.read_text()

    def is_ready(self) -> bool:
        assert self.process.poll() is None, self.said()
        return "Ctrl-C stops everything" in self.said()

    def address(self) -> str:
        found = re.search(r"back office: (http://\S+)", self.said())
        assert found, self.said()
        return found[1]

    def logins(self) -> dict[str, tuple[str, str]]:
        """Staff number and password for each role, as printed."""
        return {role: (number, password) for role, number, password in LOGIN.findall(self.said())}

    def interrupt(self) -> None:
        """Ctrl-C: the terminal tells everybody in the foreground."""
        os.killpg(self.process.pid, signal.SIGINT)

    def end(self) -> int:
        """Its exit code, when it has ended."""
        return self.process.wait(90)


def _heed_ctrl_c() -> None:
    """Tests that run in the background have it switched off."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def failed(home: Home, **environment: str) -> str:
    """What a start says that comes to nothing."""
    run = Run(home, **environment)
    assert run.end() == 1, run.said()
    return run.said()


class Browser:
    """Somebody at the site, with cookies."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))

    def open(self, path: str, **form: str) -> str:
        data = urllib.parse.urlencode(form).encode() if form else None
        with self.opener.open(urllib.parse.urljoin(self.address, path), data, timeout=30) as answer:
            return str(answer.read().decode())

    def log_in(self, number: str, password: str) -> str:
        """The page that follows."""
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', self.open("/admin/login/"))
        assert token
        form = {"username": number, "password": password, "csrfmiddlewaretoken": token[1], "next": "/admin/"}
        return self.open("/admin/login/", **form)


class Product:
    """A home and the run on it. A test that ends the run leaves the next start to whoever needs it."""

    def __init__(self, home: Home, **environment: str) -> None:
        self.home = home
        self.port = quiet_port()
        self.environment = environment
        self.run: Run | None = None

    def at_work(self) -> Run:
        if self.run is None or self.run.process.poll() is not None:
            self.run = Run(self.home, PORT=str(self.port), **self.environment)
        run = self.run
        wait_for(run.is_ready, lambda: f"it is not ready:\n{run.said()}", seconds=150)
        return run

    def close(self) -> None:
        if self.run is not None:
            self.run.process.terminate()
            self.run.end()


@pytest.fixture(scope="module")
def product() -> Iterator[Product]:
    """Nothing is played on its floor: most tests ask other things, and would have to wait for it."""
    with throwaway_home() as home, closing(Product(home, PLAY="no")) as product:
        yield product


def is_overview_of(name: str, page: str) -> bool:
    return "Overview |" in page and name in page


def worker_of(run: Run) -> psutil.Process:
    (worker,) = [one for one in psutil.Process(run.process.pid).children() if "worker" in one.cmdline()]
    return worker


def test_from_nothing_to_an_address_and_a_login_for_each_role(product: Product) -> None:
    run = product.at_work()
    assert run.address() == f"http://localhost:{product.port}/"
    roles = {role.name for role in access_policy().roles.values() if role.may and role.department}
    assert len(roles) == 8
    assert run.logins().keys() == roles


def test_a_printed_password_opens_the_site_and_another_does_not(product: Product) -> None:
    run = product.at_work()
    number, password = run.logins()["Shift manager"]
    assert is_overview_of("Siti Rahman", Browser(run.address()).log_in(number, password))
    assert not is_overview_of("Siti Rahman", Browser(run.address()).log_in(number, f"not-{password}"))


def test_a_second_run_on_a_home_at_work_is_told_where_the_first_one_is(product: Product) -> None:
    run = product.at_work()
    said = subprocess.run(
        [sys.executable, "-m", "taisai_backoffice.run"], cwd=PROJECT, capture_output=True, text=True, check=False,
        env=bare_environment(product.home, PORT=str(quiet_port())),
    )  # fmt: skip
    assert said.returncode == 1
    assert f"make run is at work already on {product.home.path}, at {run.address()}" in said.stderr
    assert run.is_ready()


def test_a_taken_port_is_a_clear_message_and_starts_nothing() -> None:
    with throwaway_home() as home, socket.socket() as taken:
        port = quiet_port()
        taken.bind(("127.0.0.1", port))
        taken.listen()
        said = failed(home, PORT=str(port))
        assert f"Port {port} on 127.0.0.1 cannot be used (Address already in use)" in said
        assert f"PORT={port + 1} make run" in said
        assert {path.name for path in home.path.iterdir()} == {"locks"}
        assert processes_of(home) == []


@pytest.mark.parametrize("port", ["0", "65536", "-1", "8000.5", "web"])
def test_a_port_that_is_none_is_a_clear_message(port: str, tmp_path: Path) -> None:
    said = failed(Home(tmp_path / "home"), PORT=port)
    assert said.strip() == f"PORT is {port!r}; set it to a number from 1 to 65535."


def test_with_servers_of_ones_own_none_is_started() -> None:
    with throwaway_home() as home, servers.clone() as name:
        own = {
            "DATABASE_URL": servers.database_url(name),
            "DATABASE_OWNER_URL": servers.database_url(name, "owner"),
            "BROKER_URL": f"{servers.servers()[1].url().removesuffix('/0')}/7",  # a queue that no other test reads
        }
        with closing(Product(home, **own)) as product:
            run = product.at_work()
            assert run.logins() == {}
            assert "Tai Sai" in Browser(run.address()).open("/admin/login/")
            run.interrupt()
            assert run.end() == 0, run.said()
        assert {path.name for path in home.path.iterdir()}.isdisjoint({"postgres", "valkey"})
        verify_nothing_left(home)


def test_the_heartbeat_goes_from_the_scheduler_to_the_worker_and_into_the_database(product: Product) -> None:
    product.at_work()
    done = """
        SELECT 1 FROM django_celery_results_taskresult
        WHERE task_name = 'taisai_backoffice.celery.heartbeat' AND periodic_task_name = 'heartbeat'
        AND status = 'SUCCESS'
    """
    with psycopg.connect(Postgres(product.home).url("app"), autocommit=True) as connection:
        wait_for(lambda: connection.execute(done).fetchone(), lambda: "no heartbeat came through")


def test_ctrl_c_leaves_nothing_and_the_next_run_shows_the_same_data(product: Product) -> None:
    first = product.at_work()
    logins = first.logins()
    browser = Browser(first.address())
    browser.log_in(*logins["Auditor"])
    assert processes_of(product.home)
    first.interrupt()
    assert first.end() == 0, first.said()
    verify_nothing_left(product.home)

    second = product.at_work()
    assert second.process.pid != first.process.pid
    assert second.logins() == logins
    assert is_overview_of("Peter Wong", browser.open("/admin/")), "the session of the first run is gone"


def test_an_impatient_second_ctrl_c_does_not_cut_the_stopping_short(product: Product) -> None:
    run = product.at_work()
    worker = worker_of(run)
    while run.process.poll() is None:
        run.interrupt()
        time.sleep(0.1)
    assert run.end() == 0, run.said()
    assert not worker.is_running(), "stopped, it said, and the worker is still at work"
    verify_nothing_left(product.home)


def test_the_parts_of_a_killed_run_end_with_it_and_the_next_run_takes_its_servers_over(product: Product) -> None:
    run = product.at_work()
    pid = Postgres(product.home).pid()
    run.process.kill()
    run.end()
    servers_alone = {"postgres", "valkey-server"}
    wait_for(lambda: programs_of(product.home) <= servers_alone, lambda: f"still at work: {processes_of(product.home)}")
    product.at_work()
    assert Postgres(product.home).pid() == pid


def test_when_the_worker_dies_the_run_says_so_and_leaves_nothing(product: Product) -> None:
    run = product.at_work()
    worker_of(run).kill()
    assert run.end() == 1
    assert "Worker has stopped." in run.said()
    verify_nothing_left(product.home)


def test_the_floor_gets_its_last_days_and_is_played_live(product: Product) -> None:
    product.close()
    rounds = "SELECT count(*), count(DISTINCT (source, ref)), sum(cardinality(players)) FROM games_round"
    in_play = "SELECT count(*) FROM games_liveround WHERE steps_taken > 0"

    def ask(statement: str) -> tuple[int, ...]:
        with psycopg.connect(Postgres(product.home).url("app"), autocommit=True) as connection:
            return connection.execute(statement).fetchone() or ()

    with closing(Product(product.home)) as playing:
        first = playing.at_work()
        wait_for(lambda: "Played live until" in first.said(), lambda: f"not filled:\n{first.said()}", seconds=150)
        wait_for(lambda: ask(in_play)[0] > 0, "no table is played live")
        found, names, bets = ask(rounds)
        assert found == names
        assert 60_000 < bets < 85_000  # five days and what is over of the sixth
        first.interrupt()
        assert first.end() == 0, first.said()
    verify_nothing_left(product.home)
