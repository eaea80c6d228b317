"""Commands that write: as whom, and with which errors."""

import datetime as dt
import os
import subprocess
import sys
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from games.accounts.services.sign_in_links import link_use
from games.models import Denial, Duty, Staff
from taisai_backoffice.embedded.home import PROJECT
from tests import servers
from tests.conftest import House, build_house

NOW = timezone.now()
SPAN = [
    "--pit=P1", f"--from={(NOW + dt.timedelta(hours=2)).isoformat()}",
    f"--to={(NOW + dt.timedelta(days=30)).isoformat()}", "--reason=Leave",
]  # fmt: skip


def test_without_as_the_record_names_the_operator(house: House) -> None:
    call_command("staff_add", "IT1", "--name=First", "--department=it", "--no-link")
    assert Staff.objects.get(number="IT1").history.get().history_author == "Operator of the machine"


def test_a_person_is_added_with_an_address_for_notices(house: House) -> None:
    call_command("staff_add", "IT1", "--name=First", "--department=it", "--no-link", "--email=it1@house.example")
    assert Staff.objects.get(number="IT1").email == "it1@house.example"


def test_as_somebody_the_record_names_him(house: House) -> None:
    call_command("duty_grant", "DEALER", "pit-supervisor", "--as=shift-manager", *SPAN)
    assert Duty.objects.get().granted_by == house["shift-manager"]


def test_who_may_not_is_turned_away_on_record(house: House) -> None:
    with pytest.raises(CommandError, match="may not do this"):
        call_command("duty_grant", "DEALER", "pit-supervisor", "--as=PIT-MANAGER", *SPAN)
    assert Denial.objects.get(staff_id=house["pit-manager"].pk).door == "command duty_grant"


def test_the_operator_holds_no_post_and_grants_none(house: House) -> None:
    with pytest.raises(CommandError, match="Operator of the machine may not do this"):
        call_command("duty_grant", "DEALER", "pit-supervisor", *SPAN)


ADD = ["--name=N", "--department=it", "--no-link"]
GRANT = ["duty_grant", "DEALER", "pit-manager", "--reason=x", "--all-pits"]


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        (["staff_add", "N1", *ADD, "--as=NOBODY"], "--as: there is no person with the staff number"),
        (["staff_add", "N1", *ADD, "--casino=MOON"], "--casino: there is no casino MOON"),
        (["staff_add", "N 1", *ADD], "number: Use letters, digits"),
        (["staff_add", "N1", *ADD, "--email=nowhere"], "email: Enter a valid email address"),
        ([*GRANT, "--from=21:00", "--to=22:00"], "--from: 21:00 is not a time"),
        (
            [*GRANT, "--from=2026-11-15T21:00:00", "--to=2026-11-15T22:00:00Z"],
            "--from: 2026-11-15T21:00:00 has no offset",
        ),
        ([*GRANT, "--from=2026-13-45T21:00:00Z", "--to=x"], "is not a time"),
        (
            ["duty_grant", "NOBODY", "pit-manager", "--all-pits", "--from=x", "--to=x", "--reason=x"],
            "number: there is no person with the staff number",
        ),
        (["duty_grant", "DEALER", "pit-manager", "--from=x", "--to=x", "--reason=x"], "--pit --all-pits is required"),
        (["duty_grant", "DEALER", "pit-manager", "--pit=", "--from=x", "--to=x", "--reason=x"], "--pit"),
    ],
)
def test_a_fault_is_one_sentence_that_says_where(house: House, command: list[str], fault: str) -> None:
    before = Staff.objects.count()
    with pytest.raises(CommandError) as refusal:
        call_command(*command)
    (line,) = str(refusal.value).splitlines()
    assert fault in line
    assert (Staff.objects.count(), Duty.objects.count()) == (before, 0)


def test_every_fault_has_its_line(house: House) -> None:
    with pytest.raises(CommandError) as refusal:
        call_command("staff_add", "dealer", "--name=", "--department=it", "--no-link")
    assert str(refusal.value).splitlines() == [
        "name: This field cannot be blank.",
        "There is somebody with this staff number already.",
    ]


def manage(*arguments: str, database: str, **options: Any) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, PROJECT / "manage.py", *arguments],
        env=os.environ | {"DATABASE_URL": servers.database_url(database)},
        capture_output=True, text=True, check=False, **options,
    )  # fmt: skip


def test_from_a_shell_an_error_is_plain_and_a_first_account_gets_a_link(clone: str) -> None:
    build_house()
    arguments = ["staff_add", "IT1", "--name", "First", "--department", "it"]
    refused = manage(*arguments, "--password-stdin", database=clone, input="a long enough one\n")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == "unrecognized arguments: --password-stdin; see --help.\n"
    assert not Staff.objects.filter(number="IT1").exists()  # nothing half done
    added = manage(*arguments, database=clone)
    assert (added.returncode, added.stdout.splitlines()[0]) == (0, "Added IT1 First.")
    token = added.stdout.partition("/account/password/#")[2].strip()
    assert link_use(token=token, password="a long enough one").number == "IT1"
    again = manage("account_link", "IT1", database=clone)
    assert (again.returncode, "shown this once" in again.stdout) == (0, True)
    assert not Staff.objects.get(number="IT1").has_usable_password()


def test_who_stops_a_command_is_told_so_in_a_word() -> None:
    stopped = manage("shell", "--no-imports", "-c", "raise KeyboardInterrupt", database="nowhere")
    assert (stopped.returncode, stopped.stdout, stopped.stderr) == (130, "", "Stopped.\n")
