"""The base of the rules commands: read a FILE or standard input, and report the engine's faults."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from games.engine.errors import InputError
from games.engine.json_input import LARGEST_TEXT, parse_json
from games.management.acting_command import PlainCommand


class RulesCommand(PlainCommand):
    """A command that asks the engine; touches no database and changes nothing."""

    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.stdout.write(self.answer(**options))
        except InputError as error:
            raise CommandError(str(error)) from None

    def answer(self, **options: Any) -> str:
        raise NotImplementedError(f"{type(self)} must define its answer")


def add_file(parser: CommandParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a JSON file, or - for standard input")


def read_document(name: str) -> Any:
    """Read the JSON of a file, or of standard input, up to the largest size of a round."""
    if name == "-":
        return parse_json(sys.stdin.buffer.read(LARGEST_TEXT + 1))
    try:
        with Path(name).open("rb") as file:
            text = file.read(LARGEST_TEXT + 1)
    except OSError as error:
        raise InputError(f"{name}: cannot be read ({error.strerror}); name a file, or - for standard input.") from None
    return in_file(name, lambda: parse_json(text))


def in_file(name: str, work: Callable[[], Any]) -> Any:
    """Prefix each fault with the name of the file."""
    try:
        return work()
    except InputError as error:
        raise InputError(*(f"{name}: {fault}" for fault in error.faults)) from None


def as_json(value: object) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False)
