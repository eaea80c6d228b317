"""Write a report of a day or a period as a file. Pending rounds of the period are reconciled first."""

import shutil
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from audits.management.day_options import period_of, table_of
from audits.models import ReportFormat, ReportRun
from audits.reports.registry import REPORTS
from audits.reports.services.production import report_take
from audits.reports.services.reports import report_ask, report_cancel, report_file
from games.access.gate import Actor
from games.management.acting_command import ActingCommand


class Command(ActingCommand):
    help = "Write a report of a gaming day or period as a file."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("kind", metavar="KIND", choices=sorted(REPORTS), help=", ".join(REPORTS))
        parser.add_argument("--day", metavar="D", help="a gaming day, as 2026-11-15")
        parser.add_argument("--from", dest="first", metavar="D", help="the first day of a period")
        parser.add_argument("--to", dest="last", metavar="D", help="its last day, which is included")
        parser.add_argument("--table", metavar="CODE", help="only this table")
        parser.add_argument("--format", required=True, choices=sorted(ReportFormat.values))
        parser.add_argument("-o", dest="output", type=Path, metavar="FILE", help="defaults to standard output")

    def act(self, actor: Actor, **options: Any) -> None:
        first, last = period_of(options)
        table = table_of(options["table"])
        run = report_ask(
            actor=actor, kind=options["kind"], format=options["format"], first=first, last=last, table=table
        )
        bar = ReportProgressBar() if sys.stderr.isatty() else None
        try:
            made = report_take(key=run.pk, on_progress=bar)
        except KeyboardInterrupt:
            report_cancel(actor=actor, run=run)
            raise
        finally:
            if bar is not None:
                bar.end()
        run = made or ReportRun.objects.get(pk=run.pk)
        if run.state != ReportRun.State.DONE:
            raise CommandError(run.fault or f"The report is {run.state}; run the command again.")
        self.hand_over(report_file(actor=actor, run=run), options["output"])
        if options["output"] is not None:
            self.hand_over_notes(options["output"], run.content.get("notes", []))

    def hand_over(self, made: Path, output: Path | None) -> None:
        """Copy the file whole, or print it."""
        if output is None:
            with made.open("rb") as file:
                self.print_bytes(file.read())
            return
        unfinished = output.with_name(f".{output.name}.unfinished")
        try:
            shutil.copyfile(made, unfinished)
            unfinished.replace(output)
        except OSError as error:
            raise CommandError(f"{output}: cannot be written ({error.strerror}); choose another file.") from None
        finally:
            unfinished.unlink(missing_ok=True)

    def print_bytes(self, content: bytes) -> None:
        stream: Any = self.stdout._out
        if hasattr(stream, "buffer"):
            stream.flush()
            stream.buffer.write(content)
            stream.buffer.flush()
        else:
            self.stdout.write(content.decode("utf-8", "replace"), ending="")

    def hand_over_notes(self, output: Path, notes: list[str]) -> None:
        """Print the notes of a report and write them to FILE.notes.txt; remove that file if there are none."""
        beside = output.with_name(f"{output.name}.notes.txt")
        if notes:
            beside.write_text("".join(f"{note}\n" for note in notes), encoding="utf-8")
        else:
            beside.unlink(missing_ok=True)
        for note in notes:
            self.stdout.write(note)


class ReportProgressBar:
    """A moving bar on one line of the terminal, with the number of rows so far; the total is not known in advance."""

    WIDTH, ROWS_A_STEP = 20, 2000

    def __call__(self, rows: int) -> None:
        place = rows // self.ROWS_A_STEP % self.WIDTH
        sys.stderr.write(f"\r[{'·' * place}#{'·' * (self.WIDTH - place - 1)}] {rows:,} rows")
        sys.stderr.flush()

    def end(self) -> None:
        sys.stderr.write("\n")
