"""What surveillance keeps to itself: seen by surveillance, compliance and auditors, and by no other way around."""

import io
import re
from itertools import pairwise
from typing import Any

import pytest
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.utils import timezone

from audits.incidents.search import evidence_of, search
from audits.incidents.services.evidence import camera_add, evidence_add, evidence_open
from audits.incidents.services.incidents import incident_note, incident_relate
from audits.incidents.services.log import handover_sign, handover_take, log_addendum
from audits.models import CustodyStep, Evidence, Handover, HandoverTaken, IncidentNote, LogEntry
from audits.rulings.services.corrective_actions import consequence_execute
from games.access.gate import Denied, can, within_reach
from games.models import Denial, LedgerLeaf
from taisai_backoffice.embedded.home import Home
from tests.audits.decided import ruled, voided
from tests.audits.files import PNG, opened, played, seen
from tests.conftest import House
from tests.games.floor_setup import bare_table, ready_table, sign
from tests.games.logins import logged_in

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
    said = " ".join(
        " ".join((denial.thing, denial.action, denial.door)) for denial in Denial.objects.filter(staff=actor)
    ).lower()
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


# --- Absent: by page as by API ---


def answer_of(client: Client, address: str, method: str = "get") -> tuple[int, str]:
    """The status, and what the page says without the key that was asked for and what changes with each request."""
    answer: Any = getattr(client, method)(address)
    key = re.search(r"/(\d{6,})/", address)
    text = answer.content.decode().replace(key.group(1) if key else "-", "KEY")
    return answer.status_code, re.sub(r'(nonce|csrf\w*|value|request_id)="[^"]*"', "", text)


PAGES = {
    LogEntry: ("logentry", ["change", "history", "append", "evidence"]),
    Evidence: ("evidence", ["change", "history", "copy", "picture"]),
    Handover: ("handover", ["change", "history", "take"]),
}


@pytest.mark.parametrize("role", PIT)
def test_a_page_of_it_answers_as_if_there_were_none(house: House, secrets: list[tuple[str, Model]], role: str) -> None:
    client = logged_in(house[role])
    for _, thing in secrets:
        name, pages = PAGES.get(type(thing), ("", []))
        for page in pages:
            for method in ("get", "post"):
                there = answer_of(client, f"/admin/audits/{name}/{thing.pk}/{page}/", method)
                nowhere = answer_of(client, f"/admin/audits/{name}/{thing.pk + 1}/{page}/", method)
                assert there == nowhere, (name, page, method)
                assert there[0] == 404 or (there[0], method) == (403, "post"), (name, page, method)


@pytest.mark.parametrize("role", PIT)
def test_a_call_for_it_answers_as_if_there_were_none(house: House, secrets: list[tuple[str, Model]], role: str) -> None:
    client = logged_in(house[role])
    for kind, calls in ((LogEntry, ["", "addenda/", "evidence/"]), (Evidence, ["", "content/"])):
        path = "log-entries" if kind is LogEntry else "evidence"
        for thing in (thing for _, thing in secrets if type(thing) is kind):
            for call in calls:
                method = "post" if call in ("addenda/", "evidence/") else "get"
                there = answer_of(client, f"/api/v1/{path}/{thing.pk}/{call}", method)
                nowhere = answer_of(client, f"/api/v1/{path}/{thing.pk + 1}/{call}", method)
                assert there == nowhere, (path, call)
                assert there[0] == 404


def test_a_role_without_any_right_to_it_learns_no_more(house: House, secrets: list[tuple[str, Model]]) -> None:
    client = logged_in(house["administrator"])
    for _, thing in secrets:
        if type(thing) in PAGES:
            address = f"/admin/audits/{PAGES[type(thing)][0]}"
            statuses = {client.get(f"{address}/{key}/change/").status_code for key in (thing.pk, thing.pk + 1)}
            assert statuses == {403}


def test_a_denial_is_the_same_for_what_is_confidential_and_for_what_is_not_there(
    house: House, secrets: list[tuple[str, Model]]
) -> None:
    entry = next(thing for _, thing in secrets if isinstance(thing, LogEntry))
    for key in (entry.pk, entry.pk + 1):
        logged_in(house["pit-manager"]).get(f"/admin/audits/logentry/{key}/change/")
        logged_in(house["pit-manager"]).get(f"/api/v1/log-entries/{key}/")
    made = list(Denial.objects.filter(staff=house["pit-manager"]).values_list("action", "thing"))
    assert made == [("logentry.view", "")] * 4


# --- Numbers that tell nothing ---


def test_keys_of_what_can_be_confidential_leave_no_gap_to_count(house: House, secrets: list[tuple[str, Model]]) -> None:
    """Seconds and chance: one confidential entry between two others leaves what an empty minute leaves."""
    tables = [model._meta.db_table for model in MODELS]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name, column_default, is_identity FROM information_schema.columns "
            "WHERE column_name = 'id' AND table_name = ANY (%s)",
            [tables],
        )
        found = {table: (default, is_identity) for table, default, is_identity in cursor.fetchall()}
    assert found == dict.fromkeys(tables, ("chance_key()", "NO"))
    keys = [seen(house, summary=f"Entry {number}").pk for number in range(20)]
    assert keys == sorted(keys)
    assert max(keys) < 2**53
    assert min(later - earlier for earlier, later in pairwise(keys)) > 1
    assert len({key % 4096 for key in keys}) > 10  # the lower bits are chance


def test_the_chain_of_a_table_has_no_leaf_of_what_is_confidential(
    house: House, secrets: list[tuple[str, Model]]
) -> None:
    """The page of a round shows the place of its leaf in the chain of its table."""
    table = LogEntry.objects.exclude(table=None).first().table  # type: ignore[union-attr]
    kinds = LedgerLeaf.objects.filter(chain__name=f"table:{table.pk}").values_list("kind", flat=True)  # type: ignore[union-attr]
    assert set(kinds) & {"log-entry", "incident-note", "evidence"} == set()
    assert LedgerLeaf.objects.filter(chain__name=f"casino:{house.casino.pk}", kind="log-entry").count() == 2


# --- No lookup beyond the filters of a page ---


@pytest.mark.parametrize(
    ("page", "lookup"),
    [
        ("games/staff", "password__startswith=pbkdf2"), ("games/staff", "email__contains=@"),
        ("games/denial", "thing__contains=entry"), ("games/table", "incidents__notes__is_confidential=1"),
        ("games/table", "log_entries__is_confidential__exact=1"), ("audits/notice", "text__contains=zebra"),
        ("games/casino", "incidents__notes__text__contains=zebra"), ("games/staff", "casino__incidents__id=1"),
    ],
)  # fmt: skip
def test_a_list_takes_no_lookup_that_it_does_not_offer(house: House, page: str, lookup: str) -> None:
    role = "compliance" if page in ("games/denial", "audits/notice") else "shift-manager"
    assert logged_in(house[role]).get(f"/admin/{page}/?{lookup}").status_code == 400


def test_a_list_takes_the_filters_that_it_offers(house: House) -> None:
    for lookup in ("department__exact=pit", f"casino__id__exact={house.casino.pk}", "is_active__exact=1"):
        assert logged_in(house["shift-manager"]).get(f"/admin/games/staff/?{lookup}").status_code == 200, lookup
    assert logged_in(house["compliance"]).get("/admin/games/denial/?at__year=2026").status_code == 200


# --- Related files and rounds ---


def test_a_related_file_of_another_pit_is_not_named(house: House) -> None:
    mine, other = opened(house), opened(house, "shift-manager", "Far away.", pit=house.pits["P2"])
    incident_relate(actor=house["shift-manager"], incident=mine, other=other, reason="The same patron")
    for role, is_seen in (("pit-supervisor", False), ("shift-manager", True)):
        page = logged_in(house[role]).get(f"/admin/audits/incident/{mine.pk}/change/").content.decode()
        assert (other.number in page, "The same patron" in page) == (is_seen, is_seen)
        document = logged_in(house[role]).get(f"/api/v1/incidents/{mine.number}/").content.decode()
        assert (other.number in document) == is_seen


def test_a_file_and_what_follows_from_it_show_only_the_rounds_within_sight(house: House) -> None:
    near = ready_table(house, "TS-01", layout="C", limits=sign())
    far = ready_table(house, "TS-02", layout="C", limits=sign(), pit="P2")
    rounds = [played(near, timezone.now(), "NEAR-1"), played(far, timezone.now(), "FAR-1")]
    incident = opened(house, "surveillance", table=near, rounds=rounds)
    ruling = ruled(house, incident)
    order = voided(house, incident, *rounds, ruling=ruling)
    consequence_execute(actor=house["casino-manager"], consequence=order, reason="Agreed")
    addresses = (
        f"/admin/audits/incident/{incident.pk}/change/", f"/api/v1/incidents/{incident.number}/",
        f"/admin/audits/consequence/{order.pk}/change/", f"/api/v1/consequences/{order.pk}/",
    )  # fmt: skip
    for address in addresses:
        said = logged_in(house["pit-manager"]).get(address).content.decode()
        assert ("NEAR-1" in said, "FAR-1" in said) == (True, False), address
        said = logged_in(house["shift-manager"]).get(address).content.decode()
        assert ("NEAR-1" in said, "FAR-1" in said) == (True, True), address


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
