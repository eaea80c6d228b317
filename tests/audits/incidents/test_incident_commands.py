"""`incident open|list|show`: what they print, for whom, and with which errors."""

import io
import json
import re
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from audits.incidents.services.incidents import IncidentReport, incident_note, incident_open
from audits.models import Incident
from games.floor.moments import as_text, gaming_day
from games.models import Denial, Round, Table
from games.rounds.services.recording import round_record
from tests.conftest import OPERATOR, House
from tests.games.floor_setup import HOUR, bare_table, open_table
from tests.games.rounds.samples import current, line

OPEN = ("open", "--table=TS-01", "--situation=die-not-flat", "--account=It leaned.")


@pytest.fixture
def table(house: House) -> Table:
    return open_table(house)


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command("incident", *arguments, stdout=out)
    return out.getvalue()


def run_json(*arguments: str) -> Any:
    return json.loads(run(*arguments, "--json"))


def refusal(*arguments: str) -> list[str]:
    with pytest.raises(CommandError) as error:
        run(*arguments)
    return str(error.value).splitlines()


def test_a_file_is_opened_as_somebody_with_its_advice(house: House, table: Table) -> None:
    round_record(actor=OPERATOR, line=line(current()), channel="api")
    ref = Round.objects.get().ref
    at = as_text(timezone.now() - HOUR, house.casino)
    text = run(*OPEN, f"--at={at}", f"--round={ref}", "--person=dealer=D102", "--person=patron=seat-3",
               "--as=PIT-SUPERVISOR")  # fmt: skip
    incident = Incident.objects.get()
    assert (incident.reported_by, incident.state) == (house["pit-supervisor"], "open")
    for words in (incident.number, "It leaned.", "rws-tai-sai-v6#5.5.2", "[ ] Return every stake", ref, "dealer D102"):
        assert words in text
    assert run_json("show", incident.number.lower(), "--as=auditor")["occurred_from"] == at


def test_without_as_the_record_names_the_operator(house: House, table: Table) -> None:
    made = run_json(*OPEN)
    assert (made["reported_by"], made["advice"]["action"]) == ("Operator of the machine", "void")
    assert Incident.objects.get().reported_by is None


def test_facts_are_given_by_name(house: House, table: Table) -> None:
    made = run_json("open", "--table=TS-01", "--situation=interruption", "--account=Dark.", "--fact=known_dice=2,?,?")
    assert (made["facts"], made["advice"]["action"]) == ({"known_dice": "2,?,?"}, "conclude")
    assert "known_dice = 2,?,?" in run("show", made["number"])


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["--table=TS-99"], "--table: there is no table 'TS-99'"),
        (["--at=21:07"], "--at: 21:07 is not a time"),
        (["--at=2999-01-01T00:00:00Z"], "--at: This moment is in the future"),
        (["--to=2020-01-01T00:00:00Z"], "--to: The end is before the beginning"),
        (["--situation=fire"], "--situation: 'fire' is not a valid choice"),
        (["--situation=interruption"], "--situation: known_dice: interruption needs this fact"),
        (["--fact=colour=red"], "--situation: colour: die-not-flat has no such fact"),
        (["--fact=colour"], "--fact: 'colour' is not NAME=VALUE"),
        (["--account= "], "--account: is empty"),
        (["--account=\udcff"], "--account: is empty, or is not plain text"),
        (["--round=R-1"], "--round: there is no round 'R-1'"),
        (["--person=dealer"], "--person: 'dealer' is not PART=REFERENCE"),
        (["--person=king=K1"], "--person: 'king' is not a part"),
        (["--casino=MOON"], "--casino: there is no casino 'MOON'"),
        (["--casino=ELSE"], "--table: TS-01 is not a table of this casino"),
        (["--as=NOBODY"], "--as: there is no person with the staff number"),
        (["--as=AUDITOR"], "may not do this"),
    ],
)
def test_a_fault_is_one_sentence_and_nothing_is_written(
    house: House, table: Table, arguments: list[str], fault: str
) -> None:
    (told,) = refusal(*OPEN, *arguments)
    assert fault in told
    assert not Incident.objects.exists()


def test_every_fault_has_its_line(house: House, table: Table) -> None:
    told = refusal(*OPEN, "--table=TS-99", "--at=x", "--round=R-1")
    assert [fault.partition(":")[0] for fault in told] == ["--at", "--round", "--table"]
    assert refusal("open", "--situation=other", "--account=x") == ["--casino: is missing; name the casino."]


def test_files_are_listed_by_day_table_and_state(house: House, table: Table) -> None:
    bare_table(house, "TS-02", pit="P2")
    for code in ("TS-01", "TS-02"):
        run("open", f"--table={code}", "--situation=other", f"--account=At {code}.")
    day = gaming_day(house.casino, timezone.now()).isoformat()
    assert [one["table"] for one in run_json("list", f"--day={day}")] == ["TS-02", "TS-01"]
    assert [one["table"] for one in run_json("list", f"--from={day}", "--table=TS-01", "--state=open")] == ["TS-01"]
    assert run_json("list", "--to=2020-01-01") == run_json("list", "--state=closed") == []
    assert [one["table"] for one in run_json("list", "--as=pit-supervisor")] == ["TS-01"]
    first, second = run("list").splitlines()
    assert re.match(r"IN-\d{4}-000002 .* TS-02 .* open .* other .* At TS-02\.$", first)
    assert "TS-01" in second


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["list", "--day=soon"], "--day: 'soon' is not a day"),
        (["list", "--to=9999-12-31"], "--to: '9999-12-31' is not a day"),
        (["list", "--day=2026-11-15", "--to=2026-11-15"], "--day: cannot be combined with"),
        (["list", "--from=2026-11-15", "--to=2026-11-14"], "--to: 2026-11-14 is before"),
        (["list", "--table=TS-99"], "--table: there is no table"),
        (["list", "--as=ADMINISTRATOR"], "may not do this"),
        (["show", "IN-2026-000999"], "NUMBER: there is no incident 'IN-2026-000999'"),
        (["show", "7"], "NUMBER: there is no incident '7'"),
    ],
)
def test_a_wrong_question_is_told(house: House, table: Table, arguments: list[str], fault: str) -> None:
    (told,) = refusal(*arguments)
    assert fault in told


def test_a_file_is_shown_as_far_as_one_may_see_it(house: House, table: Table) -> None:
    report = IncidentReport(house.casino, timezone.now(), "other", "A quarrel.\x1b[2J", table=table)
    incident = incident_open(actor=house["surveillance"], report=report)
    incident_note(actor=house["surveillance"], incident=incident, text="The zebra.", is_confidential=True)
    incident_note(actor=house["surveillance"], incident=incident, text="All is well.")
    for reader in ((), ("--as=PIT-MANAGER",), ("--as=SHIFT-MANAGER",)):
        text = run("show", incident.number, *reader)
        assert ("All is well." in text, "zebra" in text, "\x1b" in text) == (True, False, False)
        assert "zebra" not in run("show", incident.number, "--json", *reader)
    assert "CONFIDENTIAL The zebra." in run("show", incident.number, "--as=AUDITOR")
    bare_table(house, "TS-02", pit="P2")
    far = incident_open(
        actor=house["surveillance"],
        report=IncidentReport(house.casino, timezone.now(), "other", "x", table=Table.objects.get(code="TS-02")),
    )
    assert "may not do this" in refusal("show", far.number, "--as=PIT-MANAGER")[0]
    assert Denial.objects.filter(door="command incident", staff_id=house["pit-manager"].pk).exists()


def test_a_number_of_several_casinos_is_asked_back(house: House, table: Table) -> None:
    run(*OPEN)
    run("open", "--casino=ELSE", "--situation=other", "--account=Elsewhere.")
    number = Incident.objects.first().number  # type: ignore[union-attr]
    assert "choose with --casino" in refusal("show", number)[0]
    assert run_json("show", number, "--casino=ELSE")["account"] == "Elsewhere."
    assert run_json("show", number, "--as=auditor")["account"] == "It leaned."
