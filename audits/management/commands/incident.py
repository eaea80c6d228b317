"""Incidents from the command line: open one, list them, show one with its advice."""

import datetime as dt
from collections.abc import Iterable
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from audits.incidents.parser import day_of, read_report
from audits.incidents.search import IncidentFilter, SearchPeriod, incidents_found, incidents_numbered
from audits.incidents.serializers import incident_document, incident_line
from audits.incidents.services.incidents import incident_open
from audits.incidents.situations import situations
from audits.management.day_options import table_of
from audits.management.incident_text import file_text, line_text
from audits.models import Incident, IncidentPerson, IncidentState
from games.access.gate import Actor, authorize
from games.engine.errors import InputError
from games.management.acting_command import ActingCommand, sentences
from games.management.commands.advise import facts
from games.management.rules_command import as_json

#: Fields of a report by the options that give them.
OPTIONS = {
    "casino": "--casino", "table": "--table", "occurred_from": "--at", "occurred_to": "--to", "facts": "--fact",
    "situation": "--situation", "account": "--account", "rounds": "--round", "people": "--person",
}  # fmt: skip


class Command(ActingCommand):
    help = "Open, list and show incidents, as far as you may see them."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="open|list|show")
        self.add_open(verbs)
        listing = self.add_verb(verbs, "list", "list incidents, the newest first")
        listing.add_argument("--day", metavar="D", help="only of this gaming day, as 2026-11-15")
        listing.add_argument("--from", dest="first", metavar="D", help="only of this gaming day and later ones")
        listing.add_argument("--to", dest="last", metavar="D", help="only of this gaming day and earlier ones")
        listing.add_argument("--table", metavar="CODE", help="only at this table")
        listing.add_argument("--state", choices=IncidentState.values, help="only in this state")
        show = self.add_verb(verbs, "show", "show an incident with its advice, steps, people, rounds and notes")
        show.add_argument("number", metavar="NUMBER", help="such as IN-2026-000123")
        show.add_argument("--casino", metavar="CODE", help="required if several casinos have this number")
        for verb in (listing, show):
            verb.add_argument("--json", action="store_true", help="as JSON")

    def add_open(self, verbs: Any) -> None:
        new = self.add_verb(verbs, "open", "open an incident; prints its number and the advice")
        new.add_argument("--casino", metavar="CODE", help="required if neither table nor person determines it")
        new.add_argument("--table", metavar="CODE", help="without it, there is no advice")
        new.add_argument("--at", metavar="MOMENT", help="when it happened or began; defaults to now")
        new.add_argument("--to", metavar="MOMENT", help="when it ended")
        new.add_argument("--situation", required=True, metavar="SITUATION", help=", ".join(situations()))
        repeated: dict[str, Any] = {"action": "append", "default": []}
        new.add_argument("--fact", metavar="NAME=VALUE", help="such as known_dice=2,?,?", **repeated)
        new.add_argument("--account", required=True, metavar="TEXT", help="what happened")
        new.add_argument("--round", dest="rounds", metavar="REF", help="a round that it is about", **repeated)
        parts = "|".join(IncidentPerson.Part.values)
        new.add_argument(
            "--person", dest="people", metavar="PART=REFERENCE", help=f"a person who was present: {parts}", **repeated
        )
        new.add_argument("--json", action="store_true", help="as JSON")

    def act(self, actor: Actor, **options: Any) -> None:
        if options["verb"] == "list":
            lines = listed(actor, options)
            self.stdout.write(as_json(lines) if options["json"] else "\n".join(map(line_text, lines)))
            return
        incident = opened(actor, options) if options["verb"] == "open" else incident_numbered(actor, options)
        document = incident_document(actor, incident)
        self.stdout.write(as_json(document) if options["json"] else file_text(document))


def opened(actor: Actor, options: dict[str, Any]) -> Incident:
    authorize(actor, "incident.open")
    try:
        return incident_open(actor=actor, report=read_report(actor, report_document(options)))
    except InputError as error:
        raise CommandError("\n".join(map(by_option, error.faults))) from None
    except ValidationError as error:
        raise CommandError("\n".join(map(by_option, sentences(error)))) from None


def report_document(options: dict[str, Any]) -> dict[str, Any]:
    """Return the report as the API takes it."""
    return {
        "casino": options["casino"],
        "table": options["table"],
        "occurred_from": timezone.now().isoformat() if options["at"] is None else options["at"],
        "occurred_to": options["to"],
        "situation": options["situation"],
        "facts": facts(options["fact"]),
        "account": options["account"],
        "rounds": options["rounds"],
        "people": list(people(options["people"])),
    }


def people(given: Iterable[str]) -> Iterable[dict[str, str]]:
    for text in given:
        part, separator, reference = text.partition("=")
        if not separator:
            raise InputError(f"--person: {text!r:.60} is not PART=REFERENCE; write it as dealer=D102.")
        yield {"part": part, "reference": reference}


def by_option(fault: str) -> str:
    """Replace the field of a fault by its option."""
    field, separator, words = fault.partition(": ")
    name = field.partition("[")[0].partition(".")[0]
    return f"{OPTIONS[name]}: {words}" if separator and name in OPTIONS else fault


def listed(actor: Actor, options: dict[str, Any]) -> list[dict[str, Any]]:
    authorize(actor, "incident.view")
    table = table_of(options["table"])
    wanted = IncidentFilter(table.code if table else None, options["state"], None, period(options))
    return [incident_line(incident) for incident in incidents_found(actor, wanted)]


def period(options: dict[str, Any]) -> SearchPeriod:
    """Read the period: `--day`, or `--from` and `--to`; without any, all days."""
    single, first, last = (
        None if options[name] is None else day(option, options[name])
        for name, option in (("day", "--day"), ("first", "--from"), ("last", "--to"))
    )
    if single is not None and (first or last):
        raise CommandError("--day: cannot be combined with --from or --to; give a day or a period.")
    if first and last and last < first:
        raise CommandError(f"--to: {last} is before {first}; give the first day as --from and the last as --to.")
    return SearchPeriod(single or first, single or last)


def day(option: str, text: str) -> dt.date:
    try:
        return day_of(text)
    except ValueError:
        raise CommandError(f"{option}: {text!r:.40} is not a day; write it as 2026-11-15.") from None


def incident_numbered(actor: Actor, options: dict[str, Any]) -> Incident:
    authorize(actor, "incident.view")
    number = options["number"]
    match incidents_numbered(actor, number, options["casino"]):
        case [incident]:
            authorize(actor, "incident.view", incident)
            return incident
        case []:
            raise CommandError(f"NUMBER: there is no incident {number!r:.40}; see `incident list`.")
        case _:
            raise CommandError(f"NUMBER: several casinos have an incident {number}; choose with --casino.")
