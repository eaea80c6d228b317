"""Print the pay table of a layout: every box with its odds, chance and house edge; or draw the felt."""

import csv
import io
from typing import Any

from django.core.management.base import CommandParser

from games.engine.felt import draw
from games.engine.json_output import paytable_rows
from games.engine.rules.loader import layout, rulebook
from games.management.rules_command import RulesCommand, as_json

COLUMNS = ("box", "type", "odds", "wins", "edge")


class Command(RulesCommand):
    help = "Every box of a layout with its bet type, odds to 1, chance in 216ths and house edge; svg draws the felt."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("rulebook")
        parser.add_argument("layout")
        parser.add_argument("--format", choices=("json", "csv", "text", "svg"), default="json")

    def answer(self, **options: Any) -> str:
        if options["format"] == "svg":
            book = rulebook(options["rulebook"])
            return draw(book, layout(book, options["layout"]))
        rows = paytable_rows(options["rulebook"], options["layout"])
        return {"json": as_json, "csv": as_csv, "text": as_text}[options["format"]](rows)


def flat(row: dict[str, Any]) -> dict[str, str]:
    """Join a list by spaces."""
    return {key: " ".join(map(str, value)) if isinstance(value, list) else str(value) for key, value in row.items()}


def as_csv(rows: list[dict[str, Any]]) -> str:
    output = io.StringIO()
    writer = csv.DictWriter(output, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(flat, rows))
    return output.getvalue().rstrip("\n")


def as_text(rows: list[dict[str, Any]]) -> str:
    lines = [dict(zip(COLUMNS, ("box", "bet type", "odds to 1", "of 216", "edge"), strict=True)), *map(flat, rows)]
    return "\n".join(
        f"{line['box']:<12} {line['type']:<11} {line['odds']:>9} {line['wins']:>7}  {line['edge']}" for line in lines
    )
