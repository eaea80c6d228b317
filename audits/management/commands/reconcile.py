"""Reconcile a gaming day: every round settled anew by the rules and limits as they are known now, and compared."""

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
    help = "Settles every round of a gaming day anew and says what was paid wrongly, breached a limit or was irregular."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--day", required=True, metavar="YYYY-MM-DD", help="the gaming day")
        parser.add_argument("--table", metavar="CODE", help="only this table")
        parser.add_argument("--workers", type=int, default=1, metavar="N", help="processes at work (default 1)")
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
    """Who stops the command does not want others to go on with it. What ended meanwhile is as it is."""
    for run in runs:
        with suppress(ValidationError):
            run_cancel(actor=actor, run=run)


def work(runs: list[Run], workers: int, name: str) -> None:
    """All parts, by this process or by several; a part that another program works on is waited for."""
    keys = parts_of(runs)
    bar = bar_on_terminal(name, sum(part.rounds_expected for part in RunPart.objects.filter(pk__in=keys)))
    rounds = 0
    for done in parts_taken(keys, workers):
        rounds += done
        if bar:
            bar(rounds, rounds)


def parts_taken(keys: list[int], workers: int) -> Iterator[int]:
    """By this process and others beside it. What one of these leaves, because it was killed, is done here."""
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
    """Keys, each to one of those who read: they share the place in the file, and nobody holds a lock."""
    while packed := os.read(queue.fileno(), KEY):
        yield int.from_bytes(packed)


def help_out(queue: IO[bytes], done: "SimpleQueue[int]") -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command hears of it, and ends us
    for connection in connections.all():
        connection.connection = None  # this one is the parent's; ours is opened when it is needed
    for key in following(queue):
        done.put(take(key))


def take(key: int) -> int:
    done = part_take(key=key, wait=True) or RunPart.objects.get(pk=key)  # by somebody else
    return done.rounds


def counted(runs: list[Run]) -> dict[str, int]:
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
