"""The checklist of an incident: every tick and untick kept with who and when."""

from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import DatabaseError, connection, transaction

from audits.incidents.checklist import checklist_of, steps_of
from audits.incidents.services.checklist import step_tick
from audits.incidents.services.incidents import incident_step
from audits.models import ChecklistTick, Incident
from games.models import LedgerLeaf, Table
from tests.audits.decided import incident_about
from tests.conftest import House
from tests.games.logins import logged_in


@pytest.fixture
def incident(house: House, table: Table) -> Incident:
    return incident_about(house, table, situation="die-not-flat")


def tick(house: House, incident: Incident, step: int = 1, is_done: bool = True, role: str = "pit-supervisor") -> Any:
    return step_tick(actor=house[role], incident=incident, step=step, is_done=is_done)


def page(house: House, incident: Incident, role: str = "pit-supervisor") -> str:
    answer = logged_in(house[role]).get(f"/admin/audits/incident/{incident.pk}/change/")
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_tick_keeps_who_in_which_post_and_when(house: House, incident: Incident) -> None:
    made = tick(house, incident)
    assert (made.step, made.ordinal, made.is_done, made.by) == (1, 1, True, house["pit-supervisor"])
    assert made.who == "PIT-SUPERVISOR Person PIT-SUPERVISOR, pit supervisor"
    assert made.text == steps_of(incident)[0]
    assert LedgerLeaf.objects.filter(kind="checklist-tick", subject=made.pk).count() == 1


def test_an_untick_is_on_record_beside_the_tick(house: House, incident: Incident) -> None:
    tick(house, incident)
    tick(house, incident, is_done=False, role="pit-manager")
    first = checklist_of(incident)[0]
    assert not first.is_done
    assert [(tick.ordinal, tick.is_done, tick.by) for tick in first.ticks] == [
        (1, True, house["pit-supervisor"]),
        (2, False, house["pit-manager"]),
    ]


def test_the_same_again_changes_nothing(house: House, incident: Incident) -> None:
    made = tick(house, incident)
    assert tick(house, incident, role="pit-manager") == made
    assert tick(house, incident, step=2, is_done=False) is None
    assert ChecklistTick.objects.count() == 1


@pytest.mark.parametrize("step", [0, -1, 99])
def test_a_step_that_is_not_there_is_refused(house: House, incident: Incident, step: int) -> None:
    with pytest.raises(ValidationError, match=f"has 4 steps; there is no step {step}"):
        tick(house, incident, step=step)
    assert not ChecklistTick.objects.exists()


@pytest.mark.parametrize("role", ["auditor", "administrator", "dealer"])
def test_who_may_not_change_a_file_ticks_nothing(house: House, incident: Incident, role: str) -> None:
    with pytest.raises(PermissionDenied):
        tick(house, incident, role=role)


def test_a_closed_file_is_not_ticked(house: House, incident: Incident) -> None:
    incident_step(actor=house["compliance"], incident=incident, to="closed", reason="Done")
    with pytest.raises(ValidationError, match="is closed"):
        tick(house, incident)
    assert 'name="tick"' not in page(house, incident)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audits_checklisttick SET is_done = false",
        "DELETE FROM audits_checklisttick",
        "INSERT INTO audits_checklisttick (incident_id, step, text, ordinal, is_done, at, who) SELECT incident_id, step, text, 2, true, at, who FROM audits_checklisttick",  # noqa: E501
        "INSERT INTO audits_checklisttick (incident_id, step, text, ordinal, is_done, at, who) SELECT incident_id, step, text, 1, true, at, who FROM audits_checklisttick",  # noqa: E501
        "INSERT INTO audits_checklisttick (incident_id, step, text, ordinal, is_done, at, who) SELECT incident_id, 0, text, 1, true, at, who FROM audits_checklisttick",  # noqa: E501
    ],
)
def test_the_database_keeps_ticks_as_they_were_written(house: House, incident: Incident, statement: str) -> None:
    tick(house, incident)
    with pytest.raises(DatabaseError), transaction.atomic():
        connection.cursor().execute(statement)
    assert ChecklistTick.objects.get().is_done


def test_the_page_ticks_and_shows_who_and_when(house: House, incident: Incident) -> None:
    client, address = logged_in(house["pit-supervisor"]), f"/admin/audits/incident/{incident.pk}/checklist/"
    assert 'name="tick" value="1"' in page(house, incident)
    answer = client.post(address, {"tick": "1"}, follow=True)
    shown = answer.content.decode()
    assert "Step 1 is ticked." in shown
    assert "Ticked by PIT-SUPERVISOR Person PIT-SUPERVISOR, pit supervisor" in shown
    assert 'name="untick" value="1"' in shown
    client.post(address, {"untick": "1"})
    shown = page(house, incident, "auditor")
    assert "Unticked by PIT-SUPERVISOR" in shown
    assert "All 2 changes" in shown
    assert 'name="tick"' not in shown  # an auditor looks


@pytest.mark.parametrize("sent", [{}, {"tick": ""}, {"tick": "x"}, {"untick": "99999999"}, {"tick": "9"}])
def test_the_page_tells_what_is_wrong(house: House, incident: Incident, sent: dict[str, str]) -> None:
    answer = logged_in(house["pit-supervisor"]).post(
        f"/admin/audits/incident/{incident.pk}/checklist/", sent, follow=True
    )
    shown = answer.content.decode()
    assert "Choose a step of the checklist" in shown or "there is no step 9" in shown
    assert not ChecklistTick.objects.exists()


def test_the_form_of_a_new_incident_offers_no_ticks_that_would_be_lost(house: House, table: Table) -> None:
    asked = {"table": str(table.pk), "situation": "die-not-flat", "casino": str(house.casino.pk)}
    shown = logged_in(house["pit-supervisor"]).get("/admin/audits/incident/advice/", asked).content.decode()
    assert "Return every stake of the round" in shown
    assert "checkbox" not in shown


def test_the_api_reads_and_ticks(house: House, incident: Incident) -> None:
    client, address = logged_in(house["pit-supervisor"]), f"/api/v1/incidents/{incident.number}/"
    sent = {"step": 2, "done": True}
    answer = client.post(f"{address}checklist/", sent, content_type="application/json")
    assert (answer.status_code, answer.json()["done"], len(answer.json()["ticks"])) == (200, True, 1)
    client.post(f"{address}checklist/", {"step": 2, "done": False}, content_type="application/json")
    second = client.get(address).json()["checklist"][1]
    assert (second["step"], second["done"]) == (2, False)
    assert [one["done"] for one in second["ticks"]] == [True, False]
    for faulty in (
        {},
        {"step": 0, "done": True},
        {"step": "1", "done": True},
        {"step": 1, "done": "yes"},
        {"step": 9, "done": True},
    ):
        assert client.post(f"{address}checklist/", faulty, content_type="application/json").status_code == 400, faulty
    assert (
        logged_in(house["auditor"]).post(f"{address}checklist/", sent, content_type="application/json").status_code
        == 403
    )
