"""What surveillance keeps to itself: seen by surveillance, compliance and auditors, and by no other way around."""

import io
from typing import Any

import pytest
from django.db.models import Model

from audits.incidents.searching import evidence_of, search
from audits.models import CustodyStep, Evidence, Handover, HandoverTaken, IncidentNote, LogEntry
from audits.services.evidence import camera_add, evidence_add, evidence_open
from audits.services.incidents import incident_note
from audits.services.logs import handover_sign, handover_take, log_addendum
from games.models import Denial
from games.services.gate import Denied, can, within_reach
from taisai_backoffice.embedded.home import Home
from tests.audits.files import PNG, opened, seen
from tests.conftest import House
from tests.games.floor import bare_table

READERS = ["surveillance", "compliance", "auditor"]
PIT = ["pit-supervisor", "pit-manager", "shift-manager", "casino-manager"]
OTHERS = [*PIT, "administrator", "dealer"]
pytestmark = pytest.mark.usefixtures("clock")


@pytest.fixture
def secrets(house: House, settings: Any, tmp_path: Any) -> list[tuple[str, Model]]:
    """One of everything that can be confidential, each about a zebra, with the action that shows it."""
    settings.HOME = Home(tmp_path / "home")
    actor = house["surveillance"]
    incident = opened(house, "surveillance", "A quarrel.", table=bare_table(house))
    entry = seen(house, summary="Zebra at seat 3.", table=incident.table, is_confidential=True)
    handover = handover_sign(actor=actor, casino=house.casino, watch="The zebra", is_confidential=True)
    taken = handover_take(actor=house.hire("S-2", "surveillance"), handover=handover, remarks="The zebra is here.")
    evidence = evidence_add(
        actor=actor, about=incident, description="The zebra", name="zebra.png", content=io.BytesIO(PNG),
        is_confidential=True,
    )  # fmt: skip
    of_entry = camera_add(actor=actor, about=entry, description="The zebra", camera="C-17")
    return [
        ("logentry.view", entry),
        ("logentry.view", log_addendum(actor=actor, entry=entry, summary="The zebra again.")),
        ("incident.view", incident_note(actor=actor, incident=incident, text="The zebra.", is_confidential=True)),
        ("handover.view", handover),
        ("handover.view", taken),
        ("evidence.view", evidence),
        ("evidence.view", of_entry),
        ("evidence.view", evidence.custody.get()),
    ]


MODELS = (LogEntry, IncidentNote, Handover, HandoverTaken, Evidence, CustodyStep)


def test_three_roles_see_it_and_nobody_else_does(house: House, secrets: list[tuple[str, Model]]) -> None:
    assert {type(thing) for _, thing in secrets} == set(MODELS)
    for role in house.people:
        for action, thing in secrets:
            assert can(house[role], action, thing) == (role in READERS), (role, thing)
            found = within_reach(house[role], action, type(thing)._default_manager.filter(pk=thing.pk))
            assert found.exists() == (role in READERS), (role, thing)


def test_search_finds_it_for_three_roles_alone(house: House, secrets: list[tuple[str, Model]]) -> None:
    kinds = {"LogEntry": 2, "IncidentNote": 1}
    for role in house.people:
        found = [type(hit.thing).__name__ for hit in search(house[role], "zebra")]
        assert {kind: found.count(kind) for kind in kinds} == (kinds if role in READERS else dict.fromkeys(kinds, 0))
    stranger = house.hire("C-ELSE", "compliance", house.other)
    assert search(stranger, "zebra") == []


@pytest.mark.parametrize("role", OTHERS)
def test_a_refusal_says_nothing_of_what_it_is_about(house: House, secrets: list[tuple[str, Model]], role: str) -> None:
    actor = house[role]
    by_kind = {type(thing): thing for _, thing in secrets}
    note: Any = by_kind[IncidentNote]
    attempts = (
        lambda: log_addendum(actor=actor, entry=by_kind[LogEntry], summary="x"),  # type: ignore[arg-type]
        lambda: handover_take(actor=actor, handover=by_kind[Handover]),  # type: ignore[arg-type]
        lambda: evidence_open(actor=actor, evidence=by_kind[Evidence]),  # type: ignore[arg-type]
        lambda: camera_add(actor=actor, about=by_kind[LogEntry], description="x", camera="C-1"),  # type: ignore[arg-type]
        lambda: incident_note(actor=actor, incident=note.incident, text="The lion", is_confidential=True),
        lambda: opened(house, role, "x", table=note.incident.table, entry=by_kind[LogEntry]),
    )
    for attempt in attempts:
        with pytest.raises(Denied) as refusal:
            attempt()
        assert not {"zebra", "lion"} & set(str(refusal.value).lower().replace(".", " ").split())
    said = " ".join(" ".join((one.thing, one.action, one.door)) for one in Denial.objects.filter(staff=actor)).lower()
    assert said
    assert "zebra" not in said
    assert "lion" not in said


def test_evidence_beside_it_is_listed_without_it(house: House, secrets: list[tuple[str, Model]]) -> None:
    note: Any = next(thing for _, thing in secrets if isinstance(thing, IncidentNote))
    plain = camera_add(actor=house["pit-manager"], about=note.incident, description="The felt", camera="C-2")
    for role in PIT:
        assert list(evidence_of(house[role], note.incident)) == [plain]
    assert evidence_of(house["auditor"], note.incident).count() == 2


def test_compliance_writes_confidential_notes_too_and_reads_them(house: House) -> None:
    incident = opened(house)
    note = incident_note(actor=house["compliance"], incident=incident, text="Zebra", is_confidential=True)
    assert [role for role in house.people if can(house[role], "incident.view", note)] == READERS


# --- Search ---


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("quarrel", True), ("quarrels", True), ("QUARRELLED", True), ("quarreling", True), ('"loud quarrel"', True),
        ('"quarrel loud"', False), ("loud -quarrel", False), ("zebra or quarrel", True), ("zebra quarrel", False),
        ("seat 3", True), ("seat 4", False), ("", False), ("   ", False), ("the", False), ("'", False),
        ("&|!:*", False),
        ("' & | ! : * ( ) <-> \\", False), ("%", False), ('"', False), ("quarrel:*", True), ("quar", False),
    ],
)  # fmt: skip
def test_words_are_found_as_people_type_them(house: House, asked: str, found: bool) -> None:
    incident = opened(house, account="A loud quarrel at seat 3.")
    assert [hit.thing for hit in search(house["pit-supervisor"], asked)] == ([incident] if found else [])


def test_a_file_is_found_by_its_number_and_the_best_comes_first(house: House) -> None:
    files = [opened(house, account=f"A quarrel{' of a zebra' * count}.") for count in range(3)]
    assert [hit.thing for hit in search(house["pit-supervisor"], files[1].number)] == [files[1]]
    assert [hit.thing for hit in search(house["pit-supervisor"], "zebra")] == [files[2], files[1]]


def test_search_keeps_to_the_pit(house: House) -> None:
    opened(house, "shift-manager", "A zebra.", pit=house.pits["P2"])
    assert search(house["pit-supervisor"], "zebra") == []
    assert len(search(house["shift-manager"], "zebra")) == 1
