"""Print what a rulebook says about a situation."""

from typing import Any

from django.core.management.base import CommandParser

from games.engine.errors import InputError
from games.engine.json_output import advise_document
from games.management.rules_command import RulesCommand, as_json


class Command(RulesCommand):
    help = "What a rulebook says about a situation: action, rules, authority, and why."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("rulebook")
        parser.add_argument("situation")
        parser.add_argument(
            "--fact", action="append", default=[], metavar="NAME=VALUE", help="such as known_dice=2,?,?"
        )

    def answer(self, **options: Any) -> str:
        return as_json(advise_document(options["rulebook"], options["situation"], facts(options["fact"])))


def facts(given: list[str]) -> dict[str, str]:
    facts: dict[str, str] = {}
    for text in given:
        name, separator, value = text.partition("=")
        if not separator or not name:
            raise InputError(f"--fact: {text!r:.60} is not NAME=VALUE; write it as settled=no.")
        if name in facts:
            raise InputError(f"--fact: {name} is given twice; keep one of them.")
        facts[name] = value
    return facts
