"""A report of a day or a period, as a file. What waits to be reconciled in that period is reconciled first."""

import datetime as dt
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from audits.exports.plain import FORMATS
from audits.management.days import period_of, table_of
from audits.reports import Asked, reports
from audits.reports.notes import approval_notes
from audits.services.arrivals import arrivals_take, outbox_of
from games.management.acting import ActingCommand
from games.services.access_records import export_made
from games.services.gate import Actor, authorize, name_of

ATTEMPTS = 20


class Command(ActingCommand):
    help = "Writes what was found in a day or period: discrepancies, breaches, irregularities, procedure, by ruling."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("kind", metavar="KIND", choices=sorted(reports()), help=", ".join(reports()))
        parser.add_argument("--day", metavar="D", help="a gaming day, as 2026-11-15")
        parser.add_argument("--from", dest="first", metavar="D", help="the first day of a period")
        parser.add_argument("--to", dest="last", metavar="D", help="its last day, which is included")
        parser.add_argument("--table", metavar="CODE", help="only this table")
        parser.add_argument("--format", required=True, choices=sorted(FORMATS))
        parser.add_argument("-o", dest="output", type=Path, metavar="FILE", help="else it is printed")

    def act(self, actor: Actor, **options: Any) -> None:
        first, last = period_of(options)
        table = table_of(options["table"])
        authorize(actor, "report.export", table)
        settle_pending(actor, first, last, table)
        export_made(actor, export_label(options, first, last), table.casino if table else None)
        report = reports()[options["kind"]]
        asked = Asked(actor, first, last, table)
        lines = FORMATS[options["format"]](report.COLUMNS, report.rows(asked))
        if options["output"] is None:
            self.stdout.write("".join(lines), ending="")
        else:
            write(options["output"], lines)
            notes = approval_notes(asked)
            write_notes(options["output"], notes)
            for note in notes:
                self.stdout.write(note)


def export_label(options: dict[str, Any], first: dt.date, last: dt.date) -> str:
    days = str(first) if first == last else f"{first} to {last}"
    return f"report {options['kind']}, {days}, {options['table'] or 'all tables'}, {options['format']}"


def settle_pending(actor: Actor, first: dt.date, last: dt.date, table: Any) -> None:
    """Until nothing of the period waits; somebody else may be at work on it meanwhile."""
    days = {first + dt.timedelta(days=number) for number in range((last - first).days + 1)}
    for _ in range(ATTEMPTS):
        pending = outbox_of(days, table)
        if not pending:
            return
        arrivals_take(only=pending, who=name_of(actor))
    raise CommandError("Rounds of the period are still being reconciled; try again in a moment.")


def write_notes(path: Path, notes: Sequence[str]) -> None:
    """Write what the report has to say beside its rows to FILE.notes.txt; no such file stays where there is nothing."""
    beside = path.with_name(f"{path.name}.notes.txt")
    if notes:
        write(beside, (f"{note}\n" for note in notes))
    else:
        beside.unlink(missing_ok=True)


def write(path: Path, lines: Iterator[str]) -> None:
    """Whole or not at all: a report that was cut short is not mistaken for a complete one."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        with unfinished.open("w", encoding="utf-8", newline="") as file:
            file.writelines(lines)
        unfinished.replace(path)
    except OSError as error:
        raise CommandError(f"{path}: cannot be written ({error.strerror}); choose another file.") from None
    finally:
        unfinished.unlink(missing_ok=True)
