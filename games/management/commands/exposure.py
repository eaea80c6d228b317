"""Print the house result of a set of bets on every throw."""

from typing import Any

from django.core.management.base import CommandParser

from games.engine.json_output import exposure_document
from games.management.rules_command import RulesCommand, add_file, as_json, in_file, read_document


class Command(RulesCommand):
    help = "The house's result on each of the 56 throws, the worst case, mean and standard deviation."

    def add_arguments(self, parser: CommandParser) -> None:
        add_file(parser)
        parser.add_argument("--format", choices=("json", "text"), default="json")

    def answer(self, **options: Any) -> str:
        document = read_document(options["file"])
        result = in_file(options["file"], lambda: exposure_document(document))
        return as_json(result) if options["format"] == "json" else as_table(result)


def as_table(result: dict[str, Any]) -> str:
    lines = ["dice     chance     house"]
    for throw in result["throws"]:
        lines.append(f"{dice_text(throw['dice'])}   {throw['ways']:>2}/216  {throw['house']:>15}")
    worst = result["worst"]
    lines.append(f"worst    {dice_text(worst['dice'])}   {worst['house']:>15}")
    lines += [f"mean             {result['mean']:>18}", f"sd               {result['sd']:>18}"]
    return "\n".join(lines)


def dice_text(dice: list[int]) -> str:
    return " ".join(map(str, dice))
