"""Add a person from the command line: how a new house gets its first administrators."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django.db import transaction

from games.access.gate import Actor
from games.access.roles import access_policy
from games.access.services.people import account_reset, staff_create
from games.accounts.services.account_proposals import pending
from games.management.account_text import account_text
from games.management.acting_command import ActingCommand, coded
from games.models import Casino, Pit


class Command(ActingCommand):
    help = "Adds a person and prints a one-time sign-in link, or sends it where there is an e-mail address."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("number", help="the staff number")
        parser.add_argument("--name", required=True)
        parser.add_argument("--department", required=True, choices=access_policy().departments)
        parser.add_argument("--post", default="", choices=access_policy().posts, help="only in the pit")
        parser.add_argument("--casino", metavar="CODE", help="left out for people who look after every casino")
        parser.add_argument("--pit", metavar="CODE")
        parser.add_argument("--email", default="", metavar="ADDRESS", help="where the link and notices of findings go")
        parser.add_argument("--reason", default="Added from the command line")
        parser.add_argument("--no-link", action="store_true", help="the person cannot sign in for now")

    @transaction.atomic
    def act(self, actor: Actor, **options: Any) -> None:
        casino = coded(Casino, "--casino", options["casino"])
        pit = coded(Pit, "--pit", options["pit"], casino=casino)
        reason = options["reason"]
        staff = staff_create(
            actor=actor, number=options["number"], name=options["name"], department=options["department"],
            post=options["post"], casino=casino, pit=pit, email=options["email"], reason=reason,
        )  # fmt: skip
        self.stdout.write(f"Added {staff}.")
        if waiting := pending(staff):
            self.stdout.write(account_text(waiting))
        elif staff.is_staff and not options["no_link"]:
            self.stdout.write(
                account_text(account_reset(actor=actor, staff=staff, site=settings.SITE_URL, reason=reason))
            )
