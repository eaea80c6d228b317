"""Print the limits in force at a table at a moment."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from games.engine.rules.loader import rulebook
from games.labels.money import limit_label
from games.limits.selectors import NoLimitsError, SignAt, limits_at
from games.limits.signs.sign import limits_document, rows
from games.management.acting_command import PlainCommand, moment
from games.management.rules_command import as_json
from games.models import Table


class Command(PlainCommand):
    help = "Prints the limits in force at a table at a moment, as known now or at another moment."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("table", metavar="TABLE")
        parser.add_argument("moment", metavar="MOMENT", help="ISO 8601 with an offset")
        parser.add_argument("--known-at", metavar="MOMENT", help="as known at that moment")
        parser.add_argument("--format", choices=("json", "text"), default="json")

    def handle(self, *args: Any, **options: Any) -> None:
        at = moment("MOMENT", options["moment"])
        known_at = moment("--known-at", options["known_at"]) if options["known_at"] is not None else None
        table = Table.objects.select_related("casino").filter(code__iexact=options["table"]).first()
        if table is None:
            raise CommandError(f"TABLE: there is no table {options['table']}; check the code.")
        try:
            sign = limits_at(table=table, at=at, known_at=known_at)
        except NoLimitsError as error:
            raise CommandError(str(error)) from None
        document = limits_document(sign)
        self.stdout.write(as_json(document) if options["format"] == "json" else as_text(sign, document))


def as_text(sign: SignAt, document: dict[str, Any]) -> str:
    game = f"{document['rulebook']}, layout {document['layout']}" if sign.assignment else "no layout"
    until = f" until {document['to']}" if document["to"] else ""
    origin = document["origin"]
    if sign.limit_set.decision:
        origin += f", proposed by {document['proposed_by']}, approved by {document['approved_by']}"
    lines = [
        f"{sign.table} at {document['at']}, as known at {document['known_at']}: {game}",
        f"in force from {document['from']}{until} (origin: {origin})",
        "",
    ]
    if sign.assignment:
        layout = rulebook(sign.assignment.rulebook).layouts[sign.assignment.layout]
        for row in rows(layout, sign.limits):
            name = f"{row.name} {row.boxes}".strip()
            lines.append(f"{name:<40} min {row.minimum:>10}  max {row.maximum:>12}  {row.odds}")
    for type_, amount in sign.limits.differential.items():
        lines.append(f"{'Differential ' + type_:<40} {limit_label(amount)}")
    return "\n".join(lines)
