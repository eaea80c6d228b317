"""Reconcile a gaming day: settle every round again by the rules and limits as known now, and compare."""

import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.queues import SimpleQueue
from tempfile import TemporaryFile
from typing import IO, Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.db import connections

from audits.management.day_options import day_of, table_of
from audits.models import Run, RunPart
from audits.reconciliation.services.runs import casinos_of, part_take, parts_of, run_cancel, run_start
from games.access.gate import Actor, authorize
from games.management.acting_command import ActingCommand
from games.management.progress import bar_on_terminal
from games.management.rules_command import as_json
from games.models import Table

COUNTED = ("rounds", "bets", "discrepancies", "breaches", "irregularities")
MOST_WORKERS = 64
KEY = 8  # bytes


class Command(ActingCommand):
    help = "Settle every round of a gaming day again; count wrong payments, breaches of limits and irregularities."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--day", required=True, metavar="YYYY-MM-DD", help="the gaming day")
        parser.add_argument("--table", metavar="CODE", help="only this table")
        parser.add_argument(
            "--workers", type=int, default=1, metavar="N", help="number of worker processes (default 1)"
        )
        parser.add_argument("--json", action="store_true", help="the counts as JSON")

    def act(self, actor: Actor, **options: Any) -> None:
        day, table = day_of("--day", options["day"]), table_of(options["table"])
        workers = options["workers"]
        if not 1 <= workers <= MOST_WORKERS:
            raise CommandError(f"--workers: {workers} is not a number of workers; write 1 to {MOST_WORKERS}.")
        authorize(actor, "run.start", table)
        started = time.perf_counter()
        casinos = casinos_of(actor=actor, day=day, table=table)
        runs = [run_start(actor=actor, casino=casino, day=day, table=table) for casino in casinos]
        try:
            work(runs, workers, f"{day}")
        except KeyboardInterrupt:
            cancel(actor, runs)
            raise
        seconds = round(time.perf_counter() - started, 3)
        counts: dict[str, Any] = {"day": day.isoformat(), **counted(runs), "seconds": seconds}
        if options["json"]:
            self.stdout.write(as_json(counts))
        else:
            self.stdout.write(summary_text(counts, table))


def cancel(actor: Actor, runs: list[Run]) -> None:
    """Cancel the runs, so that no other worker continues them. Finished ones stay."""
    for run in runs:
        with suppress(ValidationError):
            run_cancel(actor=actor, run=run)


def work(runs: list[Run], workers: int, name: str) -> None:
    """Reconcile all parts with one process or several; wait for parts that another program is working on."""
    keys = parts_of(runs)
    bar = bar_on_terminal(name, sum(part.rounds_expected for part in RunPart.objects.filter(pk__in=keys)))
    rounds = 0
    for done in parts_taken(keys, workers):
        rounds += done
        if bar:
            bar(rounds, rounds)


def parts_taken(keys: list[int], workers: int) -> Iterator[int]:
    """Reconcile parts in this process and in helpers; this process finishes what a killed helper leaves."""
    context = multiprocessing.get_context("fork")
    done = context.SimpleQueue()
    with TemporaryFile() as queue:
        queue.write(b"".join(key.to_bytes(KEY) for key in keys))
        queue.flush()
        queue.seek(0)
        helpers = [context.Process(target=help_out, args=(queue, done), daemon=True) for _ in keys[1:workers]]
        try:
            for helper in helpers:
                helper.start()
            for key in following(queue):
                yield take(key)
                while not done.empty():
                    yield done.get()
            for helper in helpers:
                helper.join()
        finally:
            for helper in helpers:
                helper.kill()
    while not done.empty():
        yield done.get()
    for key in RunPart.objects.filter(pk__in=keys, is_done=False).values_list("pk", flat=True) if helpers else ():
        yield take(key)


def following(queue: IO[bytes]) -> Iterator[int]:
    """Yield keys, each to one process only: all share one position in the file, so no lock is needed."""
    while packed := os.read(queue.fileno(), KEY):
        yield int.from_bytes(packed)


def help_out(queue: IO[bytes], done: "SimpleQueue[int]") -> None:
    """Reconcile parts in a helper process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command receives it, and ends the helpers
    for connection in connections.all():
        connection.connection = None  # the parent's connection; a new one is opened when needed
    for key in following(queue):
        done.put(take(key))


def take(key: int) -> int:
    """Reconcile one part; return its number of rounds."""
    done = part_take(key=key, wait=True) or RunPart.objects.get(pk=key)  # done by another worker
    return done.rounds


def counted(runs: list[Run]) -> dict[str, int]:
    """Add up the counts of all parts."""
    parts = RunPart.objects.filter(run__in=runs)
    if unfinished := parts.filter(is_done=False).count():
        raise CommandError(f"{unfinished} of the tables were not reconciled: the run was cancelled; run it again.")
    rows = list(parts.values_list(*COUNTED))
    return {name: sum(row[place] for row in rows) for place, name in enumerate(COUNTED)}


def summary_text(counts: dict[str, Any], table: Table | None) -> str:
    where = f"{counts['day']}, {table}" if table else counts["day"]
    return (
        f"{where}: {counts['rounds']} rounds with {counts['bets']} bets in {counts['seconds']} s: "
        f"{counts['discrepancies']} discrepancies, {counts['breaches']} breaches, "
        f"{counts['irregularities']} irregularities."
    )
