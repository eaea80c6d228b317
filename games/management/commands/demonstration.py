"""The demonstration house: casino, pits and one person for each role, made at first run and left alone from then on."""

import datetime as dt
import json
import tomllib
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from games import roles
from games.models import Casino, Pit, Staff
from games.services.casinos import casino_create, pit_create
from games.services.duties import duty_grant
from games.services.gate import Operator
from games.services.people import staff_create, staff_set_password

PATH = Path(roles.__file__).with_name("demonstration.toml")
REASON = "Demonstration"
PASSWORD_BYTES = 12


class Command(BaseCommand):
    help = "Makes the demonstration house and prints its logins. For local use: production refuses it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="the logins as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.PRODUCTION:
            raise CommandError("The demonstration house is for local use; it is not made in production.")
        if not Casino.objects.exists():
            make_house(tomllib.loads(PATH.read_text()))
        logins = list(demonstration_logins())
        if options["json"]:
            self.stdout.write(json.dumps(logins))
        else:
            for login in logins:
                self.stdout.write(f"{login['role']:<16} {login['number']:<6} {login['password']}")


def make_house(data: dict[str, Any]) -> None:
    actor = Operator()
    for entry in data["casino"]:
        values = entry | {"gaming_day_starts": dt.time.fromisoformat(entry["gaming_day_starts"])}
        pits = values.pop("pits")
        casino = casino_create(actor=actor, reason=REASON, **values)
        for code, name in pits.items():
            pit_create(actor=actor, casino=casino, code=code, name=name, reason=REASON)
    for entry in data["staff"]:
        place = {
            "casino": Casino.objects.filter(code=entry.get("casino")).first(),
            "pit": Pit.objects.filter(casino__code=entry.get("casino"), code=entry.get("pit")).first(),
        }
        staff = staff_create(actor=actor, reason=REASON, **entry | place)
        if staff.is_staff:
            password = settings.HOME.secret(f"login-{staff.number}", PASSWORD_BYTES)
            staff_set_password(actor=actor, staff=staff, password=password, must_change=False, reason=REASON)
    stand_in()


def stand_in() -> None:
    """Somebody acts in a higher post, as on most days."""
    manager = Staff.objects.filter(post="shift-manager").first()
    dealer = Staff.objects.filter(post="dealer").first()
    if manager and dealer and dealer.casino:
        now = timezone.now()
        duty_grant(
            actor=manager, staff=dealer, post="pit-supervisor", casino=dealer.casino, pit=dealer.pit,
            starts_at=now, ends_at=now + dt.timedelta(hours=8), reason="Stands in for a supervisor on leave",
        )  # fmt: skip


def demonstration_logins() -> list[dict[str, str]]:
    """The logins as they are now: a password that was changed on the site is not known here any more."""
    logins = []
    for path in sorted((settings.HOME.path / "secrets").glob("login-*")):
        staff = Staff.objects.filter(number=path.name.removeprefix("login-")).first()
        if staff is not None:
            password = path.read_text().strip()
            role = roles.role_of(staff.department, staff.post)
            known = password if staff.check_password(password) else "(changed on the site)"
            logins.append({"role": role.name, "number": staff.number, "password": known})
    order = [role.name for role in roles.ROLES.values()]
    return sorted(logins, key=lambda login: order.index(login["role"]))
