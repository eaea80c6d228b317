"""`ruling list|show`: what they print, for whom, and with which errors."""

import io
import json
import re
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from audits.incidents.services.incidents import IncidentReport, incident_open
from audits.models import Incident, Ruling
from audits.rulings.services.rulings import ruling_make, ruling_supersede
from games.floor.moments import gaming_day
from games.models import Denial, Table
from games.settlement_policies.services import Setting
from tests.audits.decided import draft, incident_about, ruled, settled_as, standing
from tests.audits.files import played
from tests.conftest import OPERATOR, House
from tests.games.engine.oracle import V6
from tests.games.floor_setup import MINUTE, bare_table, ready_table, sign
from tests.games.rounds.samples import bet
from tests.games.rules.test_commands import manage


@pytest.fixture
def table(house: House) -> Table:
    return ready_table(house, "TS-01", layout="C", limits=sign())


@pytest.fixture
def incident(house: House, table: Table) -> Incident:
    bets = [bet("seat-1", "small", "100", net="100"), bet("seat-2", "big", "60", net="-60")]
    return incident_about(house, table, played(table, timezone.now() - MINUTE, "R-1", bets))


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command("ruling", *arguments, stdout=out)
    return out.getvalue()


def run_json(*arguments: str) -> Any:
    return json.loads(run(*arguments, "--json"))


def refusal(*arguments: str) -> list[str]:
    with pytest.raises(CommandError) as error:
        run(*arguments)
    return str(error.value).splitlines()


def test_rulings_are_listed_by_what_is_asked_for(house: House, incident: Incident) -> None:
    bare_table(house, "TS-02", pit="P2")
    late = incident_about(house, Table.objects.get(code="TS-02"), account="Late.", situation="late-bet")
    stands = ruling_make(actor=house["shift-manager"], incident=late, draft=standing(rules=[f"{V6}#5.7"]))
    case = ruled(house, incident, decision="Seat 2\nis paid.\x1b[2J")
    assert [one["number"] for one in run_json("list")] == [case.number, stands.number]
    assert [one["number"] for one in run_json("list", "--as=pit-supervisor")] == [case.number]
    day = gaming_day(house.casino, timezone.now()).isoformat()
    for arguments in (
        ["--kind=interpretation"], ["--scope=standing"], ["--situation=late-bet"], ["--table=TS-02"],
        ["--state=in-force", "--scope=standing", f"--rulebook={V6}", f"--from={day}", f"--to={day}"],
    ):  # fmt: skip
        assert [one["number"] for one in run_json("list", *arguments)] == [stands.number], arguments
    assert run_json("list", "--to=2020-01-01") == run_json("list", "--state=withdrawn") == []
    first, second = run("list").splitlines()
    assert re.match(r"RU-\d{4}-000002 .* TS-01 +not-covered +round +in-force +other +Seat 2 is paid\.", first)
    assert ("\x1b" in first, "TS-02" in second) == (False, True)


def test_a_ruling_is_shown_with_all_that_follows_from_it(house: House, incident: Incident) -> None:
    first = ruled(house, incident, facts="Two chips.", rules=[f"{V6}#5.14"])
    settled_as(house, first, incident.rounds.get().round, dice=[6, 6, 5])
    text = run("show", first.number.lower())
    for words in (
        first.number, "in-force", incident.number, "Who is owed what?", "Two chips.", "The patron is paid.",
        "The recording shows it.", f"{V6}#5.14", "R-1: settled on 6, 6, 5", "seat-2: 120.00 (nothing marked)",
    ):  # fmt: skip
        assert words in text
    again = ruling_supersede(actor=house["casino-manager"], ruling=first, draft=draft())
    assert f"superseded by {again.number}" in run("show", first.number, "--as=AUDITOR")
    assert f"Replaces {first.number}" in run("show", again.number)
    assert [one["kind"] for one in run_json("show", first.number)["consequences"]] == ["settlement"]


def test_a_standing_one_is_shown_with_its_policy(house: House, incident: Incident) -> None:
    ruling = ruling_make(
        actor=house["shift-manager"], incident=incident, draft=standing(setting=Setting("filled", 500))
    )
    text = run("show", ruling.number, "--as=COMPLIANCE")
    assert ("excess: filled" in text, "rounding: 5.00" in text, "In force from" in text) == (True, True, True)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["list", "--from=soon"], "--from: 'soon' is not a day"),
        (["list", "--from=2026-11-15", "--to=2026-11-14"], "--to: 2026-11-14 is before"),
        (["list", "--table=TS-99"], "--table: there is no table"),
        (["list", "--as=ADMINISTRATOR"], "may not do this"),
        (["list", "--as=NOBODY"], "--as: there is no person with the staff number"),
        (["show", "RU-2026-000999"], "NUMBER: there is no ruling 'RU-2026-000999'"),
        (["show", "7"], "NUMBER: there is no ruling '7'"),
    ],
)
def test_a_wrong_question_is_told(house: House, arguments: list[str], fault: str) -> None:
    (told,) = refusal(*arguments)
    assert fault in told


def test_who_may_not_see_it_is_told_and_that_is_on_record(house: House, table: Table) -> None:
    far = ruled(house, incident_about(house, bare_table(house, "TS-02", pit="P2"), account="Far."))
    assert "may not do this" in refusal("show", far.number, "--as=PIT-MANAGER")[0]
    assert Denial.objects.filter(door="command ruling", staff_id=house["pit-manager"].pk).exists()


def test_a_number_of_several_casinos_is_asked_back(house: House, incident: Incident) -> None:
    ruling = ruled(house, incident)
    report = IncidentReport(house.other, timezone.now(), "other", "Elsewhere.")
    elsewhere = incident_open(actor=OPERATOR, report=report)
    manager = house.hire("M-ELSE", "shift-manager", house.other)
    there = ruling_make(actor=manager, incident=elsewhere, draft=draft(decision="Elsewhere."))
    assert there.number == ruling.number
    assert "choose with --casino" in refusal("show", ruling.number)[0]
    assert run_json("show", ruling.number, "--casino=ELSE")["decision"] == "Elsewhere."
    assert Ruling.objects.count() == 2


def test_there_is_no_way_to_rule_by_command(house: House, incident: Incident) -> None:
    with pytest.raises(CommandError):
        run("make", incident.number)


def test_from_a_shell_a_wrong_call_is_one_sentence(clone: str) -> None:
    for arguments, code in ((["show"], 2), (["list", "--kind=whim"], 2), (["show", "RU-2026-000001"], 1)):
        done = manage("ruling", *arguments, database=clone)
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (code, "", 1)
