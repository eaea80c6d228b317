"""Create a one-time sign-in link from the command line: for the first accounts of a new installation."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from games.access.gate import Actor
from games.access.services.people import account_reset
from games.management.account_text import account_text
from games.management.acting_command import ActingCommand, person


class Command(ActingCommand):
    help = "Creates a one-time sign-in link, valid for 24 hours. The person's current password stops working."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("number", help="the staff number")
        parser.add_argument("--reason", default="Asked for on the command line")

    def act(self, actor: Actor, **options: Any) -> None:
        staff = person(options["number"], "NUMBER")
        done = account_reset(actor=actor, staff=staff, site=settings.SITE_URL, reason=options["reason"])
        self.stdout.write(account_text(done))
