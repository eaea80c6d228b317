"""The time of `/healthz` while 16 clients guess passwords and 50 connections send slow bodies, against idle."""

import http.client
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from statistics import median
from urllib.parse import urlencode

from bench.measure import Row
from bench.site.slow_bodies import slow_bodies
from bench.site.web import site
from taisai_backoffice.embedded.database import migrate, urls
from taisai_backoffice.embedded.home import PROJECT, Home
from taisai_backoffice.embedded.lease import Lease
from taisai_backoffice.embedded.postgres import Postgres
from taisai_backoffice.embedded.valkey import Valkey

TITLE = "Guessing: /healthz while 16 clients guess, each as if from an address of its own, and 50 send slow bodies"
CLIENTS = 16
SECONDS = 10
MOST = 5  # times the idle time
PAUSE = 0.02


def run(home: Home) -> list[Row]:
    with ExitStack() as stack:
        postgres, valkey = Postgres(home), Valkey(home)
        stack.callback(Lease.take(postgres, prepare=lambda: migrate(postgres)).give_back)
        stack.callback(Lease.take(valkey).give_back)
        own = {"BROKER_URL": valkey.url(), "TAISAI_HOME": str(home.path), "TRUSTED_PROXIES": "1"}
        environment = os.environ | urls(postgres) | own
        command = [sys.executable, PROJECT / "manage.py", "collectstatic", "--noinput", "-v0"]
        subprocess.run(command, env=environment, check=True)
        address = stack.enter_context(site(home, environment, pool=True))
        host = address.removeprefix("http://").partition("/")[0]
        # Measured in a separate process: in this one, the guessing threads would delay the clock.
        prober = stack.enter_context(ProcessPoolExecutor(1, multiprocessing.get_context("spawn")))
        prober.submit(health, host, 2).result()  # both workers are warm
        quiet = prober.submit(health, host, SECONDS).result()
        guessers = [Guesser(host, number) for number in range(CLIENTS)]
        stack.enter_context(slow_bodies(int(host.rpartition(":")[2])))
        for guesser in guessers:
            guesser.start()
        time.sleep(1)
        guessed = prober.submit(health, host, SECONDS).result()
        for guesser in guessers:
            guesser.stop.set()
        for guesser in guessers:
            guesser.join()
    return rows_of(quiet, guessed, guessers)


def health(host: str, seconds: float) -> list[float]:
    """Return the times of one call after the other, with a short pause between them."""
    connection = http.client.HTTPConnection(host, timeout=30)
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        started = time.perf_counter()
        connection.request("GET", "/healthz")
        answer = connection.getresponse()
        answer.read()
        if answer.status != http.client.OK:
            raise RuntimeError(f"/healthz answered {answer.status}")
        times.append(time.perf_counter() - started)
        time.sleep(PAUSE)
    connection.close()
    return times


class Guesser(threading.Thread):
    """A client that guesses as fast as it is answered, a different account each time; only the site slows it."""

    def __init__(self, host: str, number: int) -> None:
        super().__init__(daemon=True)
        self.host, self.number = host, number
        self.stop = threading.Event()
        self.answers: dict[int, int] = {}

    def run(self) -> None:
        connection = http.client.HTTPConnection(self.host, timeout=60)
        token, cookie = self.first_page(connection)
        turn = 0
        while not self.stop.is_set():
            turn += 1
            body = urlencode({"csrfmiddlewaretoken": token, "username": f"X{self.number}-{turn}", "password": "guess"})
            headers = {
                "Content-Type": "application/x-www-form-urlencoded", "Cookie": f"taisai_csrf={cookie}",
                "X-Forwarded-For": f"198.18.{self.number}.{turn % 250}",
            }  # fmt: skip
            try:
                connection.request("POST", "/admin/login/", body, headers)
                answer = connection.getresponse()
                answer.read()
            except (OSError, http.client.HTTPException):  # refused before the body was read: open a new connection
                connection.close()
                continue
            self.answers[answer.status] = self.answers.get(answer.status, 0) + 1
        connection.close()

    def first_page(self, connection: http.client.HTTPConnection) -> tuple[str, str]:
        """Return the token that a form has to send, and its cookie."""
        connection.request("GET", "/admin/login/")
        answer = connection.getresponse()
        page = answer.read().decode()
        cookie = answer.headers["Set-Cookie"].partition("taisai_csrf=")[2].partition(";")[0]
        return page.partition('name="csrfmiddlewaretoken" value="')[2].partition('"')[0], cookie


def rows_of(quiet: list[float], guessed: list[float], guessers: list[Guesser]) -> list[Row]:
    answers: dict[int, int] = {}
    for guesser in guessers:
        for status, count in guesser.answers.items():
            answers[status] = answers.get(status, 0) + count
    named = ", ".join(f"{count} × {status}" for status, count in sorted(answers.items()))
    base, ratio = median(quiet), median(guessed) / median(quiet)
    quiet_tail, tail = p95(quiet), p95(guessed)
    tail_ratio = tail / quiet_tail
    return [
        Row("/healthz, quiet (median)", base, 1, f"{len(quiet)} calls"),
        Row(
            "/healthz, 16 guess, 50 slow bodies (median)", median(guessed), ratio,
            f"{len(guessed)} calls; guesses answered {named}; at most × {MOST}", is_kept=ratio < MOST,
        ),
        Row("/healthz, quiet (p95)", quiet_tail, 1),
        Row(
            "/healthz, 16 guess, 50 slow bodies (p95)", tail, tail_ratio,
            f"× {tail / base:.1f} the quiet median; at most × {MOST} the quiet p95", is_kept=tail_ratio < MOST,
        ),
    ]  # fmt: skip


def p95(times: list[float]) -> float:
    return sorted(times)[int(len(times) * 0.95)]
