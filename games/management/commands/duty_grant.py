"""Grant an acting appointment from the command line; only somebody in a post above it can (--as)."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from games.access.gate import Actor
from games.access.models.acting_appointment import ALL_PITS
from games.access.roles import access_policy
from games.access.services.acting_appointments import duty_grant
from games.management.acting_command import ActingCommand, coded, moment, person
from games.models import Pit


class Command(ActingCommand):
    help = "Lets a person act in another post from one moment to another (rule 1.5)."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("number", help="the staff number of who acts")
        parser.add_argument("post", choices=access_policy().posts)
        where = parser.add_mutually_exclusive_group(required=True)
        where.add_argument("--pit", metavar="CODE", help="one pit of the casino")
        where.add_argument("--all-pits", action="store_true", help="every pit of the casino")
        parser.add_argument("--from", dest="starts_at", required=True, metavar="MOMENT", help="ISO 8601 with an offset")
        parser.add_argument("--to", dest="ends_at", required=True, metavar="MOMENT")
        parser.add_argument("--reason", required=True)

    def act(self, actor: Actor, **options: Any) -> None:
        staff = person(options["number"], "number")
        if staff.casino is None:
            raise CommandError(f"{staff} belongs to no casino; only people of a casino act in its posts.")
        one_pit = coded(Pit, "--pit", options["pit"], casino=staff.casino)
        if one_pit is None and not options["all_pits"]:
            raise CommandError("--pit: name a pit, or say --all-pits.")
        duty = duty_grant(
            actor=actor, staff=staff, post=options["post"], casino=staff.casino,
            pit=one_pit or ALL_PITS,
            starts_at=moment("--from", options["starts_at"]), ends_at=moment("--to", options["ends_at"]),
            reason=options["reason"],
        )  # fmt: skip
        self.stdout.write(f"Granted: {duty}, until {duty.ends_at.isoformat()}.")
