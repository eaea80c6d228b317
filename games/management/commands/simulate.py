"""Write simulated rounds with known faults planted in them."""

import datetime as dt
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from games.engine.errors import InputError
from games.engine.json_input import is_plain_text
from games.floor.floor_file import read_floor
from games.management.progress import bar_on_terminal
from games.management.rules_command import RulesCommand
from games.simulation.closures import State
from games.simulation.house import MOST_TABLES, first_day, floor_text
from games.simulation.played_floor import tables_of
from games.simulation.schedule import SHORTEST, most_rounds
from games.simulation.writer import days_played, files_of, write

FAULTS = 0.02
A_DAY = 24 * 60 * 60
LAST_DAY = dt.date(2999, 1, 1)


class Command(RulesCommand):
    help = (
        "Writes rounds for import_rounds with known faults planted in them, FILE.floor.toml for load_floor, and "
        "FILE.truth.json: every discrepancy, breach, irregularity and procedural fault to be found. "
        "Touches no database."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--day", required=True, metavar="D", help="the first gaming day, as 2026-11-15")
        parser.add_argument("--days", type=int, default=1, metavar="N", help="how many days (default 1)")
        parser.add_argument("--tables", type=int, required=True, metavar="N")
        parser.add_argument("--rounds-per-table", type=int, required=True, metavar="M", help="a day")
        parser.add_argument("--seed", type=int, required=True, metavar="S", help="the same seed gives the same bytes")
        words = f"the share of rounds with a fault, from 0 to 1 (default {FAULTS})"
        parser.add_argument("--faults", type=float, default=FAULTS, metavar="RATE", help=words)
        parser.add_argument(
            "-o", dest="output", required=True, type=Path, metavar="FILE", help="gzipped if it ends in .gz"
        )

    def answer(self, **options: Any) -> str:
        path: Path = options["output"]
        try:
            verify_place(path)
            return self._written(path, wanted_days(options), options)
        except OSError as error:
            raise InputError(f"{str(path)[:60]}: cannot be written ({error.strerror}); choose another file.") from None

    def _written(self, path: Path, days: list[dt.date], options: dict[str, Any]) -> str:
        verify_numbers(options)
        floor = floor_text(tables=options["tables"], day=days[0], is_sound=not options["faults"])
        rounds = options["rounds_per_table"]
        tables = list(tables_of(read_floor(floor.encode()), days[0]))
        states: list[State] = []
        played = days_played(
            tables=tables, days=days, rounds=rounds, seed=options["seed"], faults=options["faults"],
            states=states if options["faults"] else None,
        )  # fmt: skip
        bar = bar_on_terminal(path.name, len(tables) * len(days) * rounds)
        progress = (lambda done: bar(done, done)) if bar else None
        count, bets = write(path, floor=floor, played=played, states=states, progress=progress)
        return f"{path}: rounds {count}, bets {bets}; beside it {files_of(path)[1].name} and {files_of(path)[2].name}."


def wanted_days(options: dict[str, Any]) -> list[dt.date]:
    text, count = options["day"], options["days"]
    try:
        day = dt.datetime.strptime(text, "%Y-%m-%d").date()  # noqa: DTZ007  a day has no offset
    except ValueError:
        raise InputError(f"--day: {text!r:.40} is not a day; write it as 2026-11-15.") from None
    if day < first_day():
        raise InputError(f"--day: on {day} not every rulebook is in force yet; choose {first_day()} or later.")
    if count < 1:
        raise InputError(f"--days: {count} is not a number of days; write 1 or more.")
    if day >= LAST_DAY or count > (LAST_DAY - day).days:
        raise InputError(f"--day, --days: {day} and {count} is out of range; check year and number.")
    return [day + dt.timedelta(days=number) for number in range(count)]


def verify_numbers(options: dict[str, Any]) -> None:
    tables, rounds, faults = options["tables"], options["rounds_per_table"], options["faults"]
    most = most_rounds(A_DAY)
    found = []
    if not 1 <= tables <= MOST_TABLES:
        found.append(f"--tables: {tables} is not a number of tables; write 1 to {MOST_TABLES}.")
    if rounds < 1:
        found.append(f"--rounds-per-table: {rounds} is not a number of rounds; write 1 or more.")
    if rounds > most:
        found.append(
            f"--rounds-per-table: {rounds} do not fit into a day, at {SHORTEST} seconds each; write at most {most}."
        )
    if not 0 <= faults <= 1:
        found.append(f"--faults: {faults} is not a share; write a number from 0 to 1.")
    if found:
        raise InputError(*found)


def verify_place(path: Path) -> None:
    if not is_plain_text(str(path)):
        raise InputError(f"-o: {str(path)!a:.60} is not a file name; choose another.")
    if not path.parent.is_dir():
        raise InputError(f"-o: there is no folder {path.parent}; create it first, or choose another.")
    for written in (path, *(files_of(path) if path.name else ())):
        if written.is_dir():
            raise InputError(f"-o: {written} is a folder; name a file.")
