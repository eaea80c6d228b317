"""Reconcile a gaming day: every round settled anew by the rules and limits as they are known now, and compared."""

import multiprocessing
import time
from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import connections

from audits.management.days import day_of, table_of
from audits.models import Run, RunPart
from audits.services.runs import casinos_of, part_take, parts_of, run_start
from games.management.acting import ActingCommand
from games.management.documents import as_json
from games.management.progress import bar_on_terminal
from games.models import Table
from games.services.gate import Actor, authorize

COUNTED = ("rounds", "bets", "discrepancies", "breaches", "irregularities")
MOST_WORKERS = 64


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
        work(runs, workers, f"{day}")
        seconds = round(time.perf_counter() - started, 3)
        counts: dict[str, Any] = {"day": day.isoformat(), **counted(runs), "seconds": seconds}
        if options["json"]:
            self.stdout.write(as_json(counts))
        else:
            self.stdout.write(words(counts, table))


def work(runs: list[Run], workers: int, name: str) -> None:
    """All parts, by this process or by several; a part that another program works on is waited for."""
    keys = parts_of(runs)
    bar = bar_on_terminal(name, sum(part.rounds_expected for part in RunPart.objects.filter(pk__in=keys)))
    rounds = 0
    for done in taken(keys, workers):
        rounds += done
        if bar:
            bar(rounds, rounds)


def taken(keys: list[int], workers: int) -> Iterator[int]:
    if workers == 1 or not keys[1:]:
        yield from map(take, keys)
        return
    connections.close_all()  # a child opens its own
    with multiprocessing.get_context("fork").Pool(min(workers, len(keys))) as pool:
        yield from pool.imap_unordered(take, keys)


def take(key: int) -> int:
    done = part_take(key=key, wait=True) or RunPart.objects.get(pk=key)  # by somebody else
    return done.rounds


def counted(runs: list[Run]) -> dict[str, int]:
    parts = RunPart.objects.filter(run__in=runs)
    if unfinished := parts.filter(is_done=False).count():
        raise CommandError(f"{unfinished} of the tables were not reconciled: the run was cancelled; run it again.")
    rows = list(parts.values_list(*COUNTED))
    return {name: sum(row[place] for row in rows) for place, name in enumerate(COUNTED)}


def words(counts: dict[str, Any], table: Table | None) -> str:
    where = f"{counts['day']}, {table}" if table else counts["day"]
    return (
        f"{where}: {counts['rounds']} rounds with {counts['bets']} bets in {counts['seconds']} s: "
        f"{counts['discrepancies']} discrepancies, {counts['breaches']} breaches, "
        f"{counts['irregularities']} irregularities."
    )
