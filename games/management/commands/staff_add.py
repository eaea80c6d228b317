"""Add a person from the command line: how a new house gets its first administrator."""

import getpass
import sys
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from games.management.acting import ActingCommand, coded
from games.models import Casino, Pit
from games.roles import DEPARTMENTS, POSTS
from games.services.gate import Actor
from games.services.people import staff_create, staff_set_password


class Command(ActingCommand):
    help = "Adds a person. The password is asked for, or read from standard input with --password-stdin."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("number", help="the staff number")
        parser.add_argument("--name", required=True)
        parser.add_argument("--department", required=True, choices=DEPARTMENTS)
        parser.add_argument("--post", default="", choices=POSTS, help="only in the pit")
        parser.add_argument("--casino", metavar="CODE", help="left out for people who look after every casino")
        parser.add_argument("--pit", metavar="CODE")
        parser.add_argument("--email", default="", metavar="ADDRESS", help="where notices of findings go")
        parser.add_argument("--reason", default="Added from the command line")
        parser.add_argument("--no-password", action="store_true", help="the person cannot log in for now")
        parser.add_argument("--password-stdin", action="store_true")

    @transaction.atomic
    def act(self, actor: Actor, **options: Any) -> None:
        casino = coded(Casino, "--casino", options["casino"])
        pit = coded(Pit, "--pit", options["pit"], casino=casino)
        staff = staff_create(
            actor=actor, number=options["number"], name=options["name"], department=options["department"],
            post=options["post"], casino=casino, pit=pit, email=options["email"], reason=options["reason"],
        )  # fmt: skip
        if not options["no_password"]:
            password = sys.stdin.readline().rstrip("\n") if options["password_stdin"] else ask()
            staff_set_password(actor=actor, staff=staff, password=password, reason=options["reason"])
        self.stdout.write(f"Added {staff}.")


def ask() -> str:
    password = getpass.getpass("Password: ")
    if password != getpass.getpass("The same again: "):
        raise CommandError("The two passwords differ; nothing was written.")
    return password
