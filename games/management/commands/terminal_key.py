"""Manage the keys of terminals from the command line: create one and print it once, list, bind, revoke."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from games.access.gate import Actor, authorize, visible
from games.floor.serializers import terminal_document
from games.management.acting_command import ActingCommand, coded
from games.management.rules_command import as_json
from games.models import Casino, Table, Terminal
from games.terminals.services import terminal_bind, terminal_create, terminal_revoke


class Command(ActingCommand):
    help = "Creates, lists, binds and revokes the keys of terminals."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="create|list|bind|revoke")
        create = self.add_verb(verbs, "create", "a new key, printed once and not stored")
        create.add_argument("--name", required=True, help="the terminal's name in every record")
        create.add_argument("--reason", default="Created on the command line")
        create.add_argument(
            "--source", default="", metavar="SOURCE",
            help="the source of its rounds, reserved for the keys that name it; defaults to any free source",
        )  # fmt: skip
        self.add_verb(verbs, "list", "terminals as JSON, without their keys")
        bind = self.add_verb(verbs, "bind", "other tables for a key")
        revoke = self.add_verb(verbs, "revoke", "a key stops working")
        for verb in (bind, revoke):
            verb.add_argument("name", metavar="NAME")
            verb.add_argument("--casino", metavar="CODE", help="if terminals of several casinos have this name")
            verb.add_argument("--reason", required=True)
        for verb in (create, bind):
            verb.add_argument("--tables", required=True, metavar="TS-01,TS-02", help="tables whose rounds it may send")

    def act(self, actor: Actor, **options: Any) -> None:
        verb, reason = options["verb"], options.get("reason", "")
        if verb == "create":
            tables = tables_of(options["tables"])
            name, source = options["name"].strip(), options["source"].strip()
            _, key = terminal_create(actor=actor, name=name, tables=tables, source=source, reason=reason)
            self.stdout.write(key)
        elif verb == "list":
            authorize(actor, "terminal.view")
            known = visible(actor, Terminal.objects.select_related("casino"))
            self.stdout.write(as_json([terminal_document(terminal) for terminal in known]))
        elif verb == "bind":
            terminal = terminal_named(actor, options["name"], options["casino"])
            changed = terminal_bind(actor=actor, terminal=terminal, tables=tables_of(options["tables"]), reason=reason)
            self.stdout.write(f"{terminal} has other tables." if changed else f"{terminal} already has these tables.")
        else:
            terminal = terminal_named(actor, options["name"], options["casino"])
            changed = terminal_revoke(actor=actor, terminal=terminal, reason=reason)
            self.stdout.write(f"{terminal} is revoked." if changed else f"{terminal} was already revoked.")


def tables_of(text: str) -> list[Table]:
    """Return the tables with these codes, or raise all faults at once."""
    asked = dict.fromkeys(code.strip().upper() for code in text.split(",") if code.strip())
    known = {table.code.upper(): table for table in Table.objects.select_related("casino")}
    if missing := [code for code in asked if code not in known]:
        raise CommandError("\n".join(f"--tables: there is no table {code}; check the code." for code in missing))
    return [known[code] for code in asked]


def terminal_named(actor: Actor, name: str, casino: str | None) -> Terminal:
    """Return a terminal by name, in the casino that is named, else in the actor's own."""
    named = coded(Casino, "--casino", casino)
    terminals = Terminal.objects.filter(name__iexact=name)
    if place := named.pk if named else actor.casino_id:
        terminals = terminals.filter(casino=place)
    match list(terminals):
        case [terminal]:
            return terminal
        case []:
            raise CommandError(f"NAME: there is no terminal {name}; see `terminal_key list`.")
        case _:
            raise CommandError(f"NAME: several casinos have a terminal {name}; choose one with --casino.")
