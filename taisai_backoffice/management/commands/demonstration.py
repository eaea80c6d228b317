"""Create the demonstration casino once: a floor of twelve tables and people of every role."""

import datetime as dt
import json
import tomllib
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from games.access import roles
from games.access.gate import Operator
from games.access.services.acting_appointments import duty_grant
from games.access.services.people import local_password_set
from games.engine.rules.loader import rulebook
from games.engine.signs.edits import Edits
from games.floor.services.dice import dice_fit, dice_inspect, dice_set_create
from games.floor.services.tables import in_force, opening_checks_sign, table_open, table_suspend
from games.floor.services.tumblers import tumbler_create, tumbler_fit, tumbler_inspect
from games.limits.presets import read_preset
from games.limits.services.presets import preset_add
from games.limits.services.proposals import limits_approve, limits_edit, limits_reject
from games.management.commands.load_floor import load
from games.models import LimitProposal, Staff, Table

PATH = Path(__file__).parents[1] / "demonstration.toml"
PRESETS = PATH.with_name("demonstration_presets.toml")
REASON = "Demonstration"
PASSWORD_BYTES = 12
#: The login that shows the casino of the other operator.
ELSEWHERE = "SM41"
CLOSED, SUSPENDED = "TS-04", "TS-09"


class Command(BaseCommand):
    help = "Create the demonstration casino and print its logins. For local use only."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print the logins as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.PRODUCTION:
            raise CommandError("The demonstration casino is for local use; it is not created in production.")
        make_floor()
        logins = list(demonstration_logins())
        if options["json"]:
            self.stdout.write(json.dumps(logins))
        else:
            for login in logins:
                self.stdout.write(f"{login['role']:<16} {login['number']:<6} {login['password']}")


@transaction.atomic
def make_floor() -> None:
    """Load the demonstration floor file, then start a day on it. A home that has tables is left unchanged."""
    if Table.objects.exists():
        return
    actor = Operator()
    load(actor, PATH)
    give_passwords(actor)
    appoint_stand_in()
    open_tables()
    add_presets()
    propose_limits()


def give_passwords(actor: Operator) -> None:
    """Set a login for each role, and one for the other operator's casino. An administrator admits the others."""
    seen: set[tuple[str, str]] = set()
    for staff in Staff.objects.all():
        if staff.is_staff and ((staff.department, staff.post) not in seen or staff.number == ELSEWHERE):
            seen.add((staff.department, staff.post))
            password = settings.HOME.secret(f"login-{staff.number}", PASSWORD_BYTES)
            local_password_set(actor=actor, staff=staff, password=password, reason=REASON)


def appoint_stand_in() -> None:
    """Appoint a person to act in a higher post, as on most days."""
    dealer = Staff.objects.get(number="D101")
    now = timezone.now()
    if dealer.casino and dealer.pit:
        duty_grant(
            actor=Staff.objects.get(number="SM31"), staff=dealer, post="pit-supervisor", casino=dealer.casino,
            pit=dealer.pit, starts_at=now, ends_at=now + dt.timedelta(hours=8),
            reason="Replaces a supervisor on leave",
        )  # fmt: skip


def open_tables() -> None:
    """Fit dice and a tumbler to every table, open most tables, suspend one and leave one closed."""
    for number, table in enumerate(Table.objects.all(), 1):
        pit = table.pit
        manager = Staff.objects.get(post="pit-manager", pit=pit)
        supervisor = Staff.objects.get(post="pit-supervisor", pit=pit)
        if pit is None:
            continue
        dice = dice_set_create(
            actor=manager, casino=table.casino, pit=pit, code=f"DS-{number:02d}",
            serials=[f"RWS-{number:02d}{letter}" for letter in "ABC"], seal=f"SL-{4200 + number}", reason=REASON,
        )  # fmt: skip
        dice_inspect(actor=supervisor, dice_set=dice, result="good", seal_found=dice.seal)
        dice_fit(actor=manager, dice_set=dice, table=table, reason="New dice for the week")
        fit_tumbler(manager, supervisor, table, number)
        if table.code == CLOSED:
            continue
        checks = rulebook(in_force(table).rulebook).opening_checks
        if checks:
            opening_checks_sign(actor=supervisor, table=table, passed={check.name: True for check in checks})
        table_open(actor=manager, table=table, reason="Start of the day")
        if table.code == SUSPENDED:
            table_suspend(actor=manager, table=table, reason="Two areas of the layout do not light up")


def fit_tumbler(manager: Staff, supervisor: Staff, table: Table, number: int) -> None:
    if table.pit is None:
        return
    tumbler = tumbler_create(
        actor=manager, casino=table.casino, pit=table.pit, code=f"TB-{number:02d}", serial=f"TBX-{7700 + number}",
        activation="electronic", lock=f"LK-{3100 + number}", reason=REASON,
    )  # fmt: skip
    tumbler_inspect(actor=supervisor, tumbler=tumbler, result="good", lock_found=tumbler.lock)
    tumbler_fit(actor=manager, tumbler=tumbler, table=table, reason="Serviced")


def propose_limits() -> None:
    """Propose changes of limits: one pending, one approved for later, one rejected."""
    evening = timezone.now().replace(minute=0, second=0, microsecond=0) + dt.timedelta(hours=3)
    manager, west = Staff.objects.get(number="M21"), Staff.objects.get(number="M22")
    shift = Staff.objects.get(number="SM31")

    def proposed(by: Staff, codes: list[str], lowest: int, reason: str, starts_at: dt.datetime | None) -> LimitProposal:
        edits = Edits({("big-small", "min"): lowest * 100})
        tables = Table.objects.filter(code__in=codes).select_related("casino")
        return limits_edit(
            actor=by, edits=dict.fromkeys(tables, edits), starts_at=starts_at, reason=reason
        )  # fmt: skip

    proposed(manager, ["TS-02", "TS-03"], 100, "A busy weekend: fewer small bets at the two middle tables", None)
    later = proposed(west, ["TS-06"], 50, "The evening crowd plays higher", evening)
    limits_approve(actor=shift, proposal=later, reason="As every Monday")
    no = proposed(west, ["TS-07"], 100, "A patron asked for it", None)
    limits_reject(actor=shift, proposal=no, reason="The high-limit pit is open; direct the patron there")


def add_presets() -> None:
    """Add the limit presets that this floor often uses."""
    shift = Staff.objects.get(number="SM31")
    casino = Table.objects.select_related("casino").get(code="TS-01").casino
    for name, limits in tomllib.loads(PRESETS.read_text(), parse_float=str).items():
        preset_add(actor=shift, casino=casino, name=name, limits=read_preset(limits), reason=REASON)


def demonstration_logins() -> list[dict[str, str]]:
    """List the logins as they are now. A password changed on the site is not shown."""
    logins = []
    for path in sorted((settings.HOME.path / "secrets").glob("login-*")):
        staff = Staff.objects.filter(number=path.name.removeprefix("login-")).first()
        if staff is not None:
            password = path.read_text().strip()
            role = roles.role_of(staff.department, staff.post)
            known = password if staff.check_password(password) else "(changed on the site)"
            name = f"{role.name} ({staff.casino})" if staff.number == ELSEWHERE else role.name
            logins.append({"role": name, "number": staff.number, "password": known})
    order = [role.name for role in roles.access_policy().roles.values()]
    return sorted(logins, key=lambda login: order.index(login["role"]) if login["role"] in order else len(order))
