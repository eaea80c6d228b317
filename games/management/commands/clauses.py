"""Print how the product treats every numbered rule of a document, and how we read it where its words leave room."""

from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser

from games.clauses import Clause, clauses
from games.engine.rules.loader import rulebook, rulebooks
from games.engine.rules.readings import Reading
from games.engine.rules.rulebook import Rulebook
from games.management.rules_command import RulesCommand, as_json


class Command(RulesCommand):
    help = (
        "Every numbered rule: how the product treats it, by which modules, and which tests carry it. Then our "
        "readings: what else the words can mean, and which of it a standing interpretation can set."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("rulebook", nargs="?", help="one rulebook; defaults to all")
        parser.add_argument("--format", choices=("text", "json"), default="text")

    def answer(self, **options: Any) -> str:
        books = [rulebook(options["rulebook"])] if options["rulebook"] else list(rulebooks().values())
        if options["format"] == "json":
            rules = {book.id: [asdict(clause) for clause in clauses(book)] for book in books}
            return as_json(rules | {"readings": {book.id: readings_of(book) for book in books}})
        return "\n\n".join(as_text(book) for book in books)


def as_text(book: Rulebook) -> str:
    readings = [text for reading in book.readings.values() for text in reading_lines(reading)]
    head = f"{book.title}, version {book.version} ({book.id})"
    return "\n".join([head, *map(line, clauses(book)), "", "Our readings, where the words leave room", *readings])


def line(clause: Clause) -> str:
    treated = f"{clause.treatment}, planned: {clause.planned}" if clause.planned else clause.treatment
    why = f" Why: {clause.why}" if clause.why else ""
    by = ", ".join((*clause.modules, *(test.rpartition("::")[2] for test in clause.tests)))
    return f"{clause.rule:<14} {treated:<34} {clause.about}{why} {f'[{by}]' if by else ''}".rstrip()


def readings_of(book: Rulebook) -> list[dict[str, Any]]:
    return [asdict(reading) | {"rules": book.cite(*reading.rules)} for reading in book.readings.values()]


def reading_lines(reading: Reading) -> list[str]:
    """Write our reading, what else the words can mean, and what the document rules out."""
    lines = [f"{reading.name} ({', '.join(reading.rules) or 'the document is silent'}): {reading.text}"]
    for other in reading.alternatives:
        can_set = f" [a standing interpretation can set {reading.sets}: {other.value}]" if other.value else ""
        lines.append(f"    or: {other.text}{can_set}")
    lines += [
        f"    not {excluded.value}, by {', '.join(excluded.rules)}: {excluded.text}" for excluded in reading.excluded
    ]
    return lines
