"""Settle one round by its rulebook: for disputes, training and other programs."""

from typing import Any

from django.core.management.base import CommandParser

from games.engine.json_output import settle_document
from games.management.rules_command import RulesCommand, add_file, as_json, in_file, read_document


class Command(RulesCommand):
    help = "Settles one round, with the rule for each bet: JSON in, JSON out. Touches no database."

    def add_arguments(self, parser: CommandParser) -> None:
        add_file(parser)

    def answer(self, **options: Any) -> str:
        document = read_document(options["file"])
        return as_json(in_file(options["file"], lambda: settle_document(document)))
