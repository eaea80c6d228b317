"""A new role goes into roles.toml, nowhere else: two of them in a copy of the file, and what they then may do."""

import datetime as dt
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connections
from django.test import Client
from django.utils import timezone

from audits.findings.admin.steps import resolvers
from audits.findings.services.escalation import findings_escalate, people_in
from audits.models import Notice
from audits.rulings.conflict_of_interest import rulers_of
from games.access import roles
from games.access.gate import capacities
from games.access.models.acting_appointment import ALL_PITS
from games.access.roles import AccessPolicy, access_policy, load, may_be_confidential, role_of, role_of_post
from games.access.selectors import staff_who_may
from games.access.services.acting_appointments import duty_grant
from games.access.services.people import local_password_set, staff_create
from games.accounts.services.second_factors import needs_factor
from games.accounts.services.sessions import idle_time
from games.models import Casino, Duty, Staff
from taisai_backoffice.embedded.home import PROJECT
from tests.conftest import OPERATOR, House, build_house
from tests.games.logins import PASSWORD, is_in, log_in, logged_in
from tests.matrix.places import Samples, whole_house
from tests.matrix.walk import PATHS, filled, quiet_denials

GUARDIAN, DEPUTY = "responsible-gaming", "deputy-shift-manager"
#: All that is edited for the two of them.
EDITS = (
    ('"pit-supervisor", "pit-manager", ', f'"pit-supervisor", "pit-manager", "{DEPUTY}", '),
    ('escalation = ["pit-manager", ', f'escalation = ["pit-manager", "{DEPUTY}", '),
    ('short_idle = ["pit"]', f'short_idle = ["pit", "{GUARDIAN}"]'),
    ('it = "IT"\n', f'it = "IT"\n{GUARDIAN} = "Responsible gaming"\n'),
    ('disputes = "compliance"', f'disputes = "{GUARDIAN}"'),
    ('incidentnote = ["surveillance", ', f'incidentnote = ["{GUARDIAN}", "surveillance", '),
    ("[role.shift-manager]", f'[role.{DEPUTY}]\nname = "Deputy shift manager"\ndepartment = "pit"\npost = "{DEPUTY}"\n'
     'reach = "casino"\nas = "pit-manager"\nsecond_factor = true\nmay = ["ruling.make"]\n\n[role.shift-manager]'),
    ("[role.administrator]", f'[role.{GUARDIAN}]\nname = "Responsible gaming"\ndepartment = "{GUARDIAN}"\n'
     'reach = "casino"\nmay = ["casino.view", "report.view", "incident.view", "dispute.view", "confidential.view"]\n\n'
     "[role.administrator]"),
)  # fmt: skip
#: What the generated migration replaces; the test does the same to its own database.
CHECKS = {
    "staff_department_known": "games_staff", "staff_post_known": "games_staff", "duty_post_known": "games_duty",
}  # fmt: skip
LIST = "_changelist"
#: The list of reports asks for the right to read reports.
READ_AS = {"reportrun": "report"}


def copied() -> str:
    text = roles.PATH.read_text()
    for old, new in EDITS:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


@pytest.fixture
def policy(clone: str, monkeypatch: pytest.MonkeyPatch) -> AccessPolicy:
    """The copy in force, in a database that knows its departments and posts."""
    policy = load(copied())
    posts = [(post, policy.role_of("pit", post).name) for post in policy.posts]
    with connections["owner"].cursor() as cursor:
        for name, table in CHECKS.items():
            cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
    for model in (Staff, Duty):
        kept = [constraint for constraint in model._meta.constraints if constraint.name not in CHECKS]
        monkeypatch.setattr(model._meta, "constraints", kept)
    for field, choices in (
        (Staff._meta.get_field("department"), list(policy.departments.items())),
        (Staff._meta.get_field("post"), posts),
        (Duty._meta.get_field("post"), posts),
    ):  # fmt: skip
        monkeypatch.setattr(field, "choices", choices)
    monkeypatch.setattr(roles, "in_force", policy)
    return policy


@pytest.fixture
def house(policy: AccessPolicy) -> House:
    """People of today's roles, and one of each new one."""
    house = build_house()
    for role, place in ((GUARDIAN, (GUARDIAN, "")), (DEPUTY, ("pit", DEPUTY))):
        person = staff_create(
            actor=OPERATOR, number=role[:9].upper(), name=f"A {role}", department=place[0], post=place[1],
            casino=house.casino, reason="Hired",
        )  # fmt: skip
        local_password_set(actor=OPERATOR, staff=person, password=PASSWORD, reason="First password")
        house.people[role] = person
    return house


@pytest.fixture
def samples(house: House) -> Samples:
    return whole_house(house)


@pytest.mark.parametrize("role", [GUARDIAN, DEPUTY])
def test_people_of_a_new_role_log_in_see_what_they_may_and_are_refused_the_rest(house: House, role: str) -> None:
    client = Client()
    log_in(client, house[role].number)
    assert is_in(client)
    may = role_of(house[role].department, house[role].post).may
    answers = dict(lists(client))
    expected = {model: 200 if f"{READ_AS.get(model, model)}.view" in may else 403 for model in answers}
    assert answers == expected
    assert {200, 403} == set(answers.values())


def lists(client: Client) -> Iterator[tuple[str, int]]:
    """Yield each model with a list, and what its page answers."""
    with quiet_denials():
        for name, path in PATHS.items():
            if name.endswith(LIST) and "<" not in path:
                yield path.split("/")[2], client.get(f"/{path}").status_code


def test_a_new_department_reads_reports_and_an_incident_but_writes_nothing(house: House, samples: Samples) -> None:
    client = logged_in(house[GUARDIAN])
    pages = [filled(PATHS[f"admin:audits_incident_{name}"], samples) for name in ("change", "note")]
    with quiet_denials():
        assert [client.get(path).status_code for path in pages] == [200, 403]
        assert client.get(filled(PATHS["admin:games_table_change"], samples)).status_code == 403


def test_decisions_that_name_departments_and_posts_are_read_from_the_copy(house: House) -> None:
    guardian, deputy = house[GUARDIAN], house[DEPUTY]
    casino = Casino.objects.get(pk=house.casino.pk)
    assert people_in(access_policy().notified["disputes"], casino) == [guardian]
    assert may_be_confidential("incidentnote", GUARDIAN)
    assert not may_be_confidential("logentry", GUARDIAN)
    assert idle_time(guardian) == idle_time(house["dealer"]) != idle_time(house["auditor"])
    assert (needs_factor(guardian), needs_factor(deputy)) == (False, True)
    assert (guardian.is_privileged, deputy.is_privileged) == (True, True)  # what is confidential, and rulings
    assert str(capacities(deputy)[0]) == "deputy shift manager"


def test_a_new_post_resolves_rules_and_is_told_of_findings_in_its_turn(house: House, samples: Samples) -> None:
    deputy = house[DEPUTY]
    assert deputy in resolvers(samples["finding"])
    assert deputy in rulers_of(samples["incident"])
    assert {person.post for person in staff_who_may("ruling.make")} == {DEPUTY, "shift-manager", "casino-manager"}
    samples["finding"]._meta.model.objects.update(state="open")
    for hours in (50, 100):
        findings_escalate(now=timezone.now() + dt.timedelta(hours=hours))
    notices = Notice.objects.filter(role__in=access_policy().posts).order_by("pk")
    told = dict(notices.values_list("role", "recipients"))
    assert list(told) == ["pit-manager", DEPUTY]
    assert told[DEPUTY] == [deputy.pk]


def test_people_act_in_a_new_post_and_are_ranked_by_it(house: House) -> None:
    now = timezone.now()
    duty_grant(
        actor=house["casino-manager"], staff=house["pit-manager"], post=DEPUTY, casino=house.casino, pit=ALL_PITS,
        starts_at=now, ends_at=now + dt.timedelta(hours=1), reason="Stands in",
    )  # fmt: skip
    held = [capacity.role.code for capacity in capacities(house["pit-manager"])]
    assert held == [DEPUTY, "pit-manager"]
    assert roles.is_above("shift-manager", DEPUTY)
    assert roles.is_above(DEPUTY, "pit-manager")
    assert role_of_post(DEPUTY).code == DEPUTY


def test_what_the_database_accepts_follows_by_one_generated_migration(tmp_path: Path) -> None:
    """Only choices and checks of departments and posts change; nothing in Python is edited."""
    copy = tmp_path / "roles.toml"
    copy.write_text(copied())
    program = (
        "import sys; from pathlib import Path; from games.access import roles;"
        "roles.in_force = roles.load(Path(sys.argv.pop(1)).read_text());"
        "from django.core.management import execute_from_command_line; execute_from_command_line(sys.argv)"
    )
    command = [sys.executable, "-W", "ignore", "-c", program, str(copy), "makemigrations", "--dry-run"]
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "taisai_backoffice.settings"}
    ran: Any = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    steps = {line.strip() for line in ran.stdout.splitlines() if line.strip().startswith(("+", "-", "~"))}
    altered = {step for step in steps if step.startswith("~")}
    assert {step.split(" on ")[0] for step in altered} == {"~ Alter field department", "~ Alter field post"}
    replaced = {step.split()[3] for step in steps - altered}
    assert replaced == {*CHECKS, "duty_one_step_or_casino_manager"}
