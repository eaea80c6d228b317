"""Load set-up data: casinos, pits, tables, limits, staff and table states."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from games.access.gate import Actor
from games.engine.errors import InputError
from games.engine.json_input import LARGEST_TEXT, is_plain_text
from games.floor.floor_file import Floor, entries_of, read_floor
from games.floor.services.floor_file import floor_load
from games.management.acting_command import ActingCommand


class Command(ActingCommand):
    help = (
        "Loads a floor file (TOML): all of it, or nothing with every fault reported. Loading it again changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("file", metavar="FILE", type=Path)

    def act(self, actor: Actor, **options: Any) -> None:
        path: Path = options["file"]
        floor, changed = load(actor, path)
        counts = ", ".join(f"{kind} {count}" for kind, count in entries_of(floor))
        done = f"{changed} new or changed" if changed else "already on record; nothing has changed"
        self.stdout.write(f"{path}: {counts}; {done}.")


def load(actor: Actor, path: Path) -> tuple[Floor, int]:
    """Read and load one file. Every fault and every change is a sentence with the file's name."""
    if not is_plain_text(str(path)):
        raise CommandError(f"{str(path)!a}: the name cannot be recorded; rename the file.")
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_TEXT + 1)
    except OSError as error:
        raise CommandError(f"{path}: cannot be read ({error.strerror}); name a floor file.") from None
    try:
        floor = read_floor(content)
        return floor, floor_load(actor=actor, floor=floor, source=path.name)
    except InputError as error:
        raise CommandError("\n".join(f"{path}: {fault}" for fault in error.faults)) from None
