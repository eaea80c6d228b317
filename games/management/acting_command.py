"""The base of our commands: the person they act as, and errors of one sentence per fault."""

import argparse
import datetime as dt
import sys
from collections.abc import Iterator
from typing import Any, NoReturn

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Model

from games.access.gate import Actor, Denied, Operator, entry_point
from games.floor.moments import MomentError, parse_moment
from games.models import Staff


class PlainCommand(BaseCommand):
    """A command whose faults go to standard error as sentences, one a line, without usage or traceback."""

    _called_from_command_line: bool  # set by Django

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        if self._called_from_command_line:
            setattr(parser, "error", self._wrong_call)  # noqa: B010  argparse would print its usage as well
        return parser

    def _wrong_call(self, message: str) -> NoReturn:
        self.stderr.write(f"{message}; see --help.")
        sys.exit(2)

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except CommandError as error:
            if not self._called_from_command_line:
                raise
            self.stderr.write(str(error))
            sys.exit(error.returncode)


class ActingCommand(PlainCommand):
    """A command that writes, as the person of `--as`, or else as the operator of the machine."""

    def add_arguments(self, parser: CommandParser) -> None:
        add_as(parser)

    def add_verb(self, verbs: Any, name: str, words: str) -> Any:
        """Add a verb to a command of several verbs; `--as` may come before or after it."""
        verb = verbs.add_parser(name, help=words)
        if self._called_from_command_line:
            verb.error = self._wrong_call
        add_as(verb, default=argparse.SUPPRESS)
        return verb

    def handle(self, *args: Any, **options: Any) -> str | None:
        token = entry_point.set(f"command {type(self).__module__.rpartition('.')[2]}")
        try:
            return self.act(acting(options["acting_as"]), **options)
        except ValidationError as error:
            raise CommandError("\n".join(sentences(error))) from None
        except Denied as error:
            raise CommandError(str(error)) from None
        finally:
            entry_point.reset(token)

    def act(self, actor: Actor, **options: Any) -> str | None:
        raise NotImplementedError(f"{type(self)} must define what it does")


def add_as(parser: Any, default: Any = None) -> None:
    words = "act as this person; without it, as the operator"
    parser.add_argument("--as", dest="acting_as", metavar="STAFF_NUMBER", default=default, help=words)


def acting(number: str | None) -> Actor:
    return Operator() if number is None else person(number, "--as")


def person(number: str, where: str) -> Staff:
    try:
        return Staff.objects.get_by_natural_key(number)
    except Staff.DoesNotExist:
        raise CommandError(
            f"{where}: there is no person with the staff number {number}; check it, or add the person first."
        ) from None


def coded(model: type[Model], where: str, code: str | None, **place: Any) -> Any:
    """Return the casino or pit with a code; None if no code is given."""
    if code is None:
        return None
    record = model._default_manager.filter(code=code, **place).first()
    if record is None:
        raise CommandError(f"{where}: there is no {model._meta.verbose_name} {code}; check the code.")
    return record


def moment(where: str, text: str) -> dt.datetime:
    """Read a time with its offset; anything else is an error that names its place."""
    try:
        return parse_moment(text)
    except MomentError as error:
        raise CommandError(f"{where}: {error}.") from None


def sentences(error: ValidationError) -> Iterator[str]:
    """Yield each fault with the field it is about."""
    if hasattr(error, "error_dict"):
        for field, faults in error.message_dict.items():
            yield from (fault if field == "__all__" else f"{field}: {fault}" for fault in faults)
    else:
        yield from error.messages
