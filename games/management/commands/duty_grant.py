"""Grant a duty from the command line; only somebody in a post above it can (--as)."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from games.management.acting import ActingCommand, coded, moment, person
from games.models import Pit
from games.roles import POSTS
from games.services.duties import duty_grant
from games.services.gate import Actor


class Command(ActingCommand):
    help = "Lets a person act in a higher post from one moment to another (rule 1.5)."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("number", help="the staff number of who acts")
        parser.add_argument("post", choices=POSTS[1:])
        parser.add_argument("--pit", metavar="CODE", help="left out for the whole casino")
        parser.add_argument("--from", dest="starts_at", required=True, metavar="MOMENT", help="ISO 8601 with an offset")
        parser.add_argument("--to", dest="ends_at", required=True, metavar="MOMENT")
        parser.add_argument("--reason", required=True)

    def act(self, actor: Actor, **options: Any) -> None:
        staff = person(options["number"], "number")
        if staff.casino is None:
            raise CommandError(f"{staff} belongs to no casino; only people of the pit act in its posts.")
        duty = duty_grant(
            actor=actor, staff=staff, post=options["post"], casino=staff.casino,
            pit=coded(Pit, "--pit", options["pit"], casino=staff.casino),
            starts_at=moment("--from", options["starts_at"]), ends_at=moment("--to", options["ends_at"]),
            reason=options["reason"],
        )  # fmt: skip
        self.stdout.write(f"Granted: {duty}, until {duty.ends_at.isoformat()}.")
