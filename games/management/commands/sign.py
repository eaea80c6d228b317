"""Print a table's sign to a PDF, and record the print."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from games.access.gate import Actor, deny
from games.limits.selectors import NoLimitsError, limits_at
from games.limits.services.sign_prints import sign_print
from games.limits.signs.pdf import sign_pdf
from games.limits.signs.sign import sign_of
from games.management.acting_command import ActingCommand, moment
from games.models import Staff, Table


class Command(ActingCommand):
    help = "Prints a table's sign to a PDF file; a second print of the same sign says REPRINT."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("table", metavar="TABLE")
        parser.add_argument("--at", metavar="MOMENT", help="the moment of the sign; defaults to now")
        parser.add_argument("-o", dest="output", required=True, type=Path, metavar="FILE")

    def act(self, actor: Actor, **options: Any) -> None:
        table = Table.objects.select_related("casino").filter(code__iexact=options["table"]).first()
        if table is None:
            raise CommandError(f"TABLE: there is no table {options['table']}; check the code.")
        if not isinstance(actor, Staff):
            raise deny(actor, "table.print", table)
        at = moment("--at", options["at"]) if options["at"] else timezone.now()
        try:
            sign = limits_at(table=table, at=at)
        except NoLimitsError as error:
            raise CommandError(str(error)) from None
        if sign.assignment is None:
            raise CommandError(f"{table}: had no layout at that moment, so there is no sign.")
        path: Path = options["output"]
        try:
            with path.open("wb") as file:
                printed = sign_print(
                    actor=actor, table=table, limit_set=sign.limit_set, assignment=sign.assignment, form="pdf"
                )
                file.write(sign_pdf(sign_of(table, sign.limit_set, sign.assignment), printed))
        except OSError as error:
            raise CommandError(f"{path}: cannot be written ({error.strerror}); choose another file.") from None
        self.stdout.write(
            f"{path}: sign of {table}, {'reprint' if printed.is_reprint else 'original'} no. {printed.number}."
        )
