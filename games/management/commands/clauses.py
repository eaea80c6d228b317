"""How the product treats every numbered rule of a document."""

from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser

from games.clauses import Clause, clauses
from games.engine.loader import rulebook, rulebooks
from games.engine.rulebook import Rulebook
from games.management.documents import RulesCommand, as_json


class Command(RulesCommand):
    help = "Every numbered rule: how the product treats it, by which modules, and which tests carry it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("rulebook", nargs="?", help="one rulebook; all of them where it is left out")
        parser.add_argument("--format", choices=("text", "json"), default="text")

    def answer(self, **options: Any) -> str:
        books = [rulebook(options["rulebook"])] if options["rulebook"] else list(rulebooks().values())
        if options["format"] == "json":
            return as_json({book.id: [asdict(clause) for clause in clauses(book)] for book in books})
        return "\n\n".join(as_text(book) for book in books)


def as_text(book: Rulebook) -> str:
    return "\n".join([f"{book.title}, version {book.version} ({book.id})", *map(line, clauses(book))])


def line(clause: Clause) -> str:
    treated = f"{clause.treatment}, planned: {clause.planned}" if clause.planned else clause.treatment
    by = ", ".join((*clause.modules, *(test.rpartition("::")[2] for test in clause.tests)))
    return f"{clause.rule:<14} {treated:<34} {clause.about} {f'[{by}]' if by else ''}".rstrip()
