"""Rulings from the command line: list them, show one with its corrective actions. No command rules."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from audits.incidents.situations import situations
from audits.management.commands.incident import period
from audits.management.day_options import table_of
from audits.management.ruling_text import ruling_line_text, ruling_text
from audits.models import Ruling, RulingKind, Scope
from audits.rulings.numbers import rulings_numbered
from audits.rulings.selectors import STATES, RulingFilter, rulings_found
from audits.rulings.serializers import ruling_document, ruling_line
from games.access.gate import Actor, authorize
from games.engine.rules.loader import published
from games.management.acting_command import ActingCommand
from games.management.rules_command import as_json


class Command(ActingCommand):
    help = "List and show rulings, as far as you may see them."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="list|show")
        listing = self.add_verb(verbs, "list", "list rulings, the newest first")
        listing.add_argument("--kind", choices=RulingKind.values, help="only of this kind")
        listing.add_argument("--scope", choices=Scope.values, help="only for one case, or only standing ones")
        listing.add_argument("--state", choices=STATES, help="only in this state now")
        listing.add_argument("--rulebook", choices=published(), metavar="ID", help="only on this rulebook")
        listing.add_argument(
            "--situation", choices=list(situations()), metavar="SITUATION", help="only on this situation"
        )
        listing.add_argument("--table", metavar="CODE", help="only at this table")
        listing.add_argument("--day", metavar="D", help="only of this gaming day, as 2026-11-15")
        listing.add_argument("--from", dest="first", metavar="D", help="only of this gaming day and later ones")
        listing.add_argument("--to", dest="last", metavar="D", help="only of this gaming day and earlier ones")
        show = self.add_verb(verbs, "show", "show a ruling with its reasons, links and corrective actions")
        show.add_argument("number", metavar="NUMBER", help="such as RU-2026-000045")
        show.add_argument("--casino", metavar="CODE", help="required if several casinos have this number")
        for verb in (listing, show):
            verb.add_argument("--json", action="store_true", help="as JSON")

    def act(self, actor: Actor, **options: Any) -> None:
        authorize(actor, "ruling.view")
        if options["verb"] == "list":
            lines = [ruling_line(ruling) for ruling in rulings_found(actor, filter_from(options))]
            self.stdout.write(as_json(lines) if options["json"] else "\n".join(map(ruling_line_text, lines)))
            return
        document = ruling_document(actor, ruling_numbered(actor, options))
        self.stdout.write(as_json(document) if options["json"] else ruling_text(document))


def filter_from(options: dict[str, Any]) -> RulingFilter:
    table = table_of(options["table"])
    named: dict[str, Any] = {name: options[name] or "" for name in ("kind", "scope", "state", "rulebook", "situation")}
    return RulingFilter(table=table.code if table else "", period=period(options), **named)


def ruling_numbered(actor: Actor, options: dict[str, Any]) -> Ruling:
    number = options["number"]
    match rulings_numbered(actor, number, options["casino"]):
        case [ruling]:
            authorize(actor, "ruling.view", ruling)
            return ruling
        case []:
            raise CommandError(f"NUMBER: there is no ruling {number!r:.40}; see `ruling list`.")
        case _:
            raise CommandError(f"NUMBER: several casinos have a ruling {number}; choose with --casino.")
