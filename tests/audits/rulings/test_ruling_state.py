"""The state of a ruling: one answer for its page, the API, the command and the report, at every moment."""

import datetime as dt
import io
import json
import re
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from audits.models import Incident, Ruling, RulingState
from audits.reports.kinds.rulings import Rulings
from audits.rulings.admin.orders import rulings_holding
from audits.rulings.precedents import PrecedentQuery, binding, precedents
from audits.rulings.reviews import standing_rulings
from audits.rulings.selectors import RulingFilter, rulings_found
from audits.rulings.services.corrective_actions import Basis, verify_ruling
from audits.rulings.services.rulings import ruling_make, ruling_supersede, ruling_withdraw
from games.models import Table
from tests.audits.decided import draft, incident_about, ruled, standing
from tests.audits.reports.asking import DAY, asked_by, rows_of
from tests.conftest import House
from tests.games.floor_setup import HOUR, MINUTE, NOON, ready_table, sign

DAYS = 24 * HOUR
ADMIN = "/admin/audits"


@pytest.fixture
def table(house: House, clock: Any) -> Table:
    clock.move_to(NOON - 2 * HOUR)
    found = ready_table(house, "TS-01", layout="C", limits=sign())
    clock.move_to(NOON)
    return found


def interpreted(house: House, table: Table, account: str = "Over-full.", **more: Any) -> Ruling:
    incident = incident_about(house, table, account=account)
    return ruling_make(actor=house["shift-manager"], incident=incident, draft=standing(**more))


# --- The same by page, API, command and report -------------------------------------------------------


def logged_in(house: House) -> Client:
    client = Client()
    client.force_login(house["auditor"])
    return client


def on_its_page(client: Client, ruling: Ruling) -> str:
    page = client.get(f"{ADMIN}/ruling/{ruling.pk}/change/").content.decode()
    (words,) = re.findall(r'Decision <span class="ts-state[^"]*">([^<]+)</span>', page)
    return str(words)


def in_the_list(client: Client, ruling: Ruling) -> str:
    page = client.get(f"{ADMIN}/ruling/").content.decode()
    row = page[page.index(f">{ruling}</a>") :]
    return str(re.findall(r'<span class="ts-state[^"]*">([^<]+)</span>', row)[0])


def by_command(*arguments: str) -> Any:
    out = io.StringIO()
    call_command("ruling", *arguments, "--json", stdout=out)
    return json.loads(out.getvalue())


def states(house: House, ruling: Ruling) -> set[str]:
    """The state of a ruling, asked in every way there is."""
    client = logged_in(house)
    assert in_the_list(client, ruling) == on_its_page(client, ruling)
    (of_report,) = [
        row["state"]
        for row in rows_of(Rulings(asked_by(house["compliance"], first=DAY, last=DAY + 9 * dt.timedelta(days=1))))
        if row["number"] == ruling.number
    ]
    (in_force,) = [state.value for state in RulingState if ruling in Ruling.objects.in_state(state)]
    listed = {one["number"]: one["state"] for one in client.get("/api/v1/rulings/").json()["results"]}
    of_incident = client.get(f"/api/v1/incidents/{ruling.incident.number}/").json()["rulings"]
    words = on_its_page(client, ruling).split(",")[0]
    return {
        words.replace(" ", "-"),
        of_report.lower().replace(" ", "-"),
        in_force,
        listed[ruling.number],
        client.get(f"/api/v1/rulings/{ruling.number}/").json()["state"],
        *(one["state"] for one in of_incident if one["number"] == ruling.number),
        by_command("show", ruling.number)["state"],
        *(one["state"] for one in by_command("list") if one["number"] == ruling.number),
    }


def test_a_standing_ruling_is_to_come_then_in_force_then_superseded_everywhere(
    house: House, table: Table, clock: Any
) -> None:
    first = interpreted(house, table, effective_from=NOON + 1 * DAYS)
    assert states(house, first) == {"to-come"}
    clock.move_to(NOON + 1 * DAYS)
    assert states(house, first) == {"in-force"}
    second = ruling_supersede(
        actor=house["casino-manager"], ruling=first, draft=standing(effective_from=NOON + 3 * DAYS)
    )
    assert (states(house, first), states(house, second)) == ({"in-force"}, {"to-come"})
    assert "in force, superseded from" in on_its_page(logged_in(house), first)
    clock.move_to(NOON + 3 * DAYS)
    assert (states(house, first), states(house, second)) == ({"superseded"}, {"in-force"})
    third = ruling_withdraw(
        actor=house["casino-manager"], ruling=second, reason="Wrong", effective_from=NOON + 4 * DAYS
    )
    assert (states(house, second), states(house, third)) == ({"in-force"}, {"withdrawal"})
    clock.move_to(NOON + 4 * DAYS)
    assert (states(house, second), states(house, third)) == ({"withdrawn"}, {"withdrawal"})


def test_a_ruling_on_one_case_holds_until_another_is_made(house: House, table: Table, clock: Any) -> None:
    first = ruled(house, incident_about(house, table))
    assert states(house, first) == {"in-force"}
    clock.shift(MINUTE)
    second = ruling_supersede(actor=house["casino-manager"], ruling=first, draft=draft())
    assert (states(house, first), states(house, second)) == ({"superseded"}, {"in-force"})
    clock.shift(MINUTE)
    ruling_withdraw(actor=house["casino-manager"], ruling=second, reason="Wrong")
    assert (states(house, first), states(house, second)) == ({"superseded"}, {"withdrawn"})


def test_the_state_is_asked_of_any_moment(house: House, table: Table, clock: Any) -> None:
    first = interpreted(house, table, effective_from=NOON + 1 * HOUR)
    clock.shift(MINUTE)
    second = ruling_supersede(
        actor=house["casino-manager"], ruling=first, draft=standing(effective_from=NOON + 2 * HOUR)
    )

    def at(moment: dt.datetime) -> list[str]:
        return [ruling.state for ruling in Ruling.objects.with_state(moment).order_by("pk")]

    moments = [NOON + hours * HOUR for hours in (0, 1, 2)]
    assert [at(moment) for moment in moments] == [
        ["to-come", "to-come"], ["in-force", "to-come"], ["superseded", "in-force"],
    ]  # fmt: skip
    assert list(Ruling.objects.in_state("in-force", at=NOON + 90 * MINUTE)) == [first]
    assert set(Ruling.objects.in_state("in-force", "superseded", at=NOON + 2 * HOUR)) == {first, second}


# --- What asks for the state ---------------------------------------------------------------------------


def test_the_register_is_filtered_by_the_state_that_it_shows(house: House, table: Table, clock: Any) -> None:
    first = interpreted(house, table)
    second = ruling_supersede(
        actor=house["casino-manager"], ruling=first, draft=standing(effective_from=NOON + 1 * DAYS)
    )

    def found(state: str) -> list[str]:
        client = logged_in(house)
        by_api = [one["number"] for one in client.get("/api/v1/rulings/", {"state": state}).json()["results"]]
        page = client.get(f"{ADMIN}/ruling/", {"state": state}).content.decode()
        assert by_api == [one.number for one in (second, first) if f">{one}</a>" in page]
        assert by_api == [one["number"] for one in by_command("list", f"--state={state}")]
        assert by_api == [one.number for one in rulings_found(house["auditor"], RulingFilter(state=state))]
        return by_api

    assert (found("in-force"), found("to-come"), found("superseded")) == ([first.number], [second.number], [])
    clock.move_to(NOON + 1 * DAYS)
    assert (found("in-force"), found("to-come"), found("superseded")) == ([second.number], [], [first.number])


def test_a_draft_is_bound_by_what_is_in_force_now(house: House, table: Table, clock: Any) -> None:
    first = interpreted(house, table)
    later = incident_about(house, table, account="Over-full once more.")
    second = ruling_supersede(
        actor=house["casino-manager"], ruling=first, draft=standing(effective_from=NOON + 1 * DAYS)
    )

    def binds() -> tuple[Ruling | None, dict[str, bool]]:
        asked = PrecedentQuery(later.rulebook, later.situation, first.rules, first.question)
        found = precedents(house["shift-manager"], later, asked)
        return binding(later, first.rules), {one.ruling.number: one.is_in_force for one in found}

    assert binds() == (first, {first.number: True, second.number: False})
    assert set(standing_rulings(house["auditor"])) == {first, second}
    clock.move_to(NOON + 1 * DAYS)
    assert binds() == (second, {first.number: False, second.number: True})
    assert set(standing_rulings(house["auditor"])) == {second}


def test_a_corrective_action_rests_on_a_ruling_until_its_end(house: House, table: Table, clock: Any) -> None:
    first = interpreted(house, table)
    last = ruling_withdraw(actor=house["casino-manager"], ruling=first, reason="Wrong", effective_from=NOON + 1 * DAYS)
    basis = Basis(first.incident, first)
    assert (verify_ruling(basis), rulings_holding(first.incident)) == (first, [first])
    clock.move_to(NOON + 1 * DAYS)
    with pytest.raises(ValidationError, match=f"{first} is no longer in force: see {last}"):
        verify_ruling(basis)
    with pytest.raises(ValidationError, match="only withdraws another ruling"):
        verify_ruling(Basis(last.incident, last))
    assert rulings_holding(first.incident) == []


# --- Lists of many --------------------------------------------------------------------------------------


def many(house: House, table: Table, numbers: range) -> list[Incident]:
    """Rulings of every state, each on an incident of its own."""
    incidents = [incident_about(house, table, account=f"Over-full, no. {number}.") for number in numbers]
    for number, incident in zip(numbers, incidents, strict=True):
        follows = binding(incident, standing().rules)
        made = ruling_make(
            actor=house["shift-manager"], incident=incident,
            draft=standing(follows=follows, effective_from=NOON + DAYS if number % 4 == 1 else None),
        )  # fmt: skip
        if number % 4 == 2:
            ruling_supersede(actor=house["casino-manager"], ruling=made, draft=standing())
        if number % 4 == 3:
            ruling_withdraw(actor=house["casino-manager"], ruling=made, reason="Wrong")
    return incidents


def test_lists_of_rulings_ask_as_often_for_thirty_as_for_three(house: House, table: Table) -> None:
    client = Client()
    client.force_login(house["shift-manager"])
    incident = incident_about(house, table, account="Over-full at last.")
    addresses = {
        "page": f"{ADMIN}/ruling/",
        "standing page": f"{ADMIN}/ruling/standing/",
        "API": "/api/v1/rulings/",
        "precedents by API": f"/api/v1/incidents/{incident.number}/precedents/",
        "form with its precedents": f"{ADMIN}/incident/{incident.pk}/rule/",
    }

    def asked() -> dict[str, int]:
        counts = {}
        for name, address in addresses.items():
            assert client.get(address).status_code == 200  # what is asked once a process is known from now on
            with CaptureQueriesContext(connection) as queries:
                client.get(address)
            counts[name] = len(queries)
        with CaptureQueriesContext(connection) as queries:
            by_command("list")
        return counts | {"command": len(queries)}

    many(house, table, range(4))
    few = asked()
    many(house, table, range(4, 30))
    assert Ruling.objects.count() > 30
    assert asked() == few


def test_an_incident_asks_as_often_for_many_rulings_as_for_one(house: House, table: Table, clock: Any) -> None:
    incident = incident_about(house, table)
    last = ruled(house, incident)
    client = logged_in(house)
    addresses = (f"{ADMIN}/incident/{incident.pk}/change/", f"/api/v1/incidents/{incident.number}/")

    def asked() -> list[int]:
        counts = []
        for address in addresses:
            client.get(address)
            with CaptureQueriesContext(connection) as queries:
                client.get(address)
            counts.append(len(queries))
        return counts

    one = asked()
    for _ in range(6):
        clock.shift(MINUTE)
        last = ruling_supersede(actor=house["casino-manager"], ruling=last, draft=draft())
    assert asked() == one
