"""Import files of rounds (NDJSON, also gzipped)."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from games.access.gate import Actor
from games.engine.errors import InputError
from games.engine.json_input import is_plain_text
from games.management.acting_command import ActingCommand
from games.management.progress import bar_on_terminal
from games.management.rules_command import as_json
from games.rounds.services.imports import Imported, rounds_import


class Command(ActingCommand):
    help = "Imports rounds: all of a file or nothing of it. Files before a faulty one stay; later ones are not read."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("files", metavar="FILE", nargs="+", type=Path)
        parser.add_argument("--json", action="store_true", help="the counts as JSON")

    def act(self, actor: Actor, **options: Any) -> None:
        done = [self._file(actor, path) for path in options["files"]]
        counts = {
            "files": len(done), "rounds": sum(imported.rounds for imported in done),
            "new": sum(imported.new for imported in done), "repeated": sum(imported.repeated for imported in done),
        }  # fmt: skip
        if options["json"]:
            self.stdout.write(as_json(counts))
        else:
            self.stdout.write(
                "Files {files}, rounds {rounds}: {new} new, {repeated} already on record.".format(**counts)
            )

    def _file(self, actor: Actor, path: Path) -> Imported:
        if not is_plain_text(str(path)):
            raise CommandError(f"{str(path)!a}: the name cannot be recorded; rename the file.")
        try:
            with path.open("rb") as stream:
                total = path.stat().st_size
                bar = bar_on_terminal(path.name, total)
                return rounds_import(actor=actor, stream=stream, name=path.name, progress=bar)
        except OSError as error:
            raise CommandError(f"{path}: cannot be read ({error.strerror}); name a file of rounds.") from None
        except InputError as error:
            raise CommandError("\n".join(f"{path}: {fault}" for fault in error.faults)) from None
