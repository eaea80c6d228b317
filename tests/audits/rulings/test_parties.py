"""A party is a fact: by the round's own record, or named and confirmed; and who decides where everybody is one."""

from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from audits.incidents.services.incidents import incident_people_add, party_confirm
from audits.models import (
    Consequence,
    ConsequenceDecision,
    Incident,
    IncidentState,
    PartyConfirmation,
    Ruling,
    RulingConsent,
)
from audits.rulings.conflict_of_interest import who_decides
from audits.rulings.services.corrective_actions import can_execute, consequence_execute
from audits.rulings.services.rulings import ruling_consent, ruling_make
from games.access.gate import Denied
from games.access.services.people import staff_create
from games.history.audited_save import OvertakenError
from games.models import Round, Staff, Table
from tests.audits.decided import draft, incident_about, ruled, settled_as, voided
from tests.audits.files import played
from tests.conftest import OPERATOR, House
from tests.games.floor_setup import MINUTE, ready_table, sign
from tests.games.logins import logged_in

MANAGERS = [("supervisor", "SHIFT-MANAGER"), ("supervisor", "CASINO-MANAGER")]


@pytest.fixture
def table(house: House) -> Table:
    return ready_table(house, "TS-01", layout="C", limits=sign())


@pytest.fixture
def named(house: House, table: Table) -> Incident:
    """A pit supervisor reports it, and names everybody who could rule."""
    return incident_about(house, table, role="pit-supervisor", people=MANAGERS)


@pytest.fixture
def barred(house: House, named: Incident) -> Incident:
    """All of it confirmed: nobody of the casino can rule."""
    for person in named.people.all():
        party_confirm(actor=house["surveillance"], person=person, reason="On the recording")
    return named


@pytest.fixture
def group(house: House) -> Staff:
    return staff_create(
        actor=OPERATOR, number="CM-GROUP", name="Group", department="pit", post="casino-manager", casino=None,
        pit=None, reason="Hired",
    )  # fmt: skip


def post(person: Staff, incident: Incident, call: str, **body: Any) -> Any:
    address = f"/api/v1/incidents/{incident.number}/{call}/?casino={incident.casino.code}"
    return logged_in(person).post(address, body, content_type="application/json")


# --- Named, and confirmed ---


def test_a_reporter_disqualifies_nobody_by_naming_them(house: House, named: Incident) -> None:
    page = logged_in(house["shift-manager"]).get(f"/admin/audits/incident/{named.pk}/change/").content.decode()
    assert page.count("named, not confirmed") == 2
    assert "No one of RWS can rule" not in page
    assert ruled(house, named).by == house["shift-manager"]


def test_who_is_named_and_confirmed_does_not_rule(house: House, barred: Incident) -> None:
    for role in ("shift-manager", "casino-manager"):
        with pytest.raises(Denied, match="dealt or supervised"):
            ruled(house, barred, role)
    page = logged_in(house["shift-manager"]).get(f"/admin/audits/incident/{barred.pk}/change/").content.decode()
    assert page.count("; confirmed by SURVEILLANCE") == 2


def test_it_is_confirmed_by_another_person_of_surveillance_or_compliance(house: House, table: Table) -> None:
    incident = incident_about(house, table, role="surveillance", people=MANAGERS[:1])
    person = incident.people.get()
    for role in ("pit-manager", "shift-manager", "casino-manager", "auditor", "administrator"):
        with pytest.raises(PermissionDenied):
            party_confirm(actor=house[role], person=person, reason="x")
    with pytest.raises(ValidationError, match="another person must confirm it"):
        party_confirm(actor=house["surveillance"], person=person, reason="I saw it")
    party_confirm(actor=house["compliance"], person=person, reason="On the recording")
    with pytest.raises(OvertakenError, match="was confirmed by COMPLIANCE"):
        party_confirm(actor=house.hire("S-2", "surveillance"), person=person, reason="Again")
    incident_people_add(actor=house["pit-manager"], incident=incident, people=[("witness", "PIT-MANAGER")])
    witness = incident.people.get(part="witness")
    with pytest.raises(ValidationError, match="only a dealer or supervisor"):
        party_confirm(actor=house["compliance"], person=witness, reason="x")


def test_by_sql_only_another_person_of_surveillance_or_compliance_confirms(house: House, named: Incident) -> None:
    person = named.people.all()[0]
    for role in ("pit-supervisor", "shift-manager", "auditor"):
        with pytest.raises(DatabaseError, match="may not confirm"), transaction.atomic():
            PartyConfirmation.objects.create(person=person, reason="x", by=house[role], who="x")
    with pytest.raises(DatabaseError, match="permission denied"), transaction.atomic():
        connection.cursor().execute("UPDATE audits_incidentperson SET part = 'dealer'")
    assert PartyConfirmation.objects.create(person=person, reason="x", by=house["compliance"], who="x")


def test_a_party_is_confirmed_by_api_and_page(house: House, named: Incident) -> None:
    body = {"part": "supervisor", "reference": "SHIFT-MANAGER", "reason": "On the recording"}
    assert post(house["pit-manager"], named, "confirmations", **body).status_code == 403
    unknown = post(house["compliance"], named, "confirmations", **(body | {"reference": "X-1"}))
    assert (unknown.status_code, "add the person first" in unknown.content.decode()) == (400, True)
    done = post(house["compliance"], named, "confirmations", **body)
    assert done.status_code == 201
    assert [one["confirmed_by"] for one in done.json()["people"]] == ["COMPLIANCE Person COMPLIANCE, compliance", None]
    assert post(house["compliance"], named, "confirmations", **body).status_code == 409
    page = f"/admin/audits/incident/{named.pk}/confirm/"
    assert "CASINO-MANAGER" in logged_in(house["surveillance"]).get(page).content.decode()
    left = named.people.get(reference="CASINO-MANAGER")
    answer = logged_in(house["surveillance"]).post(page, {"person": left.pk, "reason": "On the recording"})
    assert answer.status_code == 302
    assert PartyConfirmation.objects.count() == 2


@pytest.fixture
def standing_in(house: House, table: Table, clock: Any) -> tuple[Round, Ruling]:
    """The shift manager stood in as supervisor of a round whose record names nobody; surveillance confirmed it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")  # who may rule asks the database's clock
        clock.move_to(cursor.fetchone()[0])
    one = played(table, timezone.now() - MINUTE, "R-1")
    incident = incident_about(house, table, one, role="pit-supervisor", people=MANAGERS[:1])
    party_confirm(actor=house["surveillance"], person=incident.people.get(), reason="On the recording")
    return one, ruled(house, incident, "casino-manager")


def test_a_confirmed_party_orders_nothing(house: House, standing_in: tuple[Round, Ruling]) -> None:
    one, ruling = standing_in
    manager, incident = house["shift-manager"], ruling.incident
    with pytest.raises(Denied, match="dealt or supervised"):
        settled_as(house, ruling, one, second=None, nets={0: 5_000})
    with pytest.raises(Denied, match="dealt or supervised"):
        voided(house, incident, one, ruling=ruling)
    body = {"kind": "settlement", "ruling": ruling.number, "rounds": ["R-1"], "reason": "x",
            "nets": [{"bet": 1, "net": "50.00"}]}  # fmt: skip
    assert post(manager, incident, "consequences", **body).status_code == 403
    page = logged_in(manager).get(f"/admin/audits/incident/{incident.pk}/change/").content.decode()
    assert "Void rounds" not in page
    assert "Amend settlement" not in page
    with pytest.raises(DatabaseError, match="may not order this"), transaction.atomic():
        Consequence.objects.create(
            casino=incident.casino, incident=incident, ruling=ruling, kind="settlement", round_ids=[one.pk],
            needs_second=True, amount=5_000, reason="x", by=manager, who="x",
        )  # fmt: skip
    assert not Consequence.objects.exists()


def test_a_confirmed_party_is_no_second_person(house: House, standing_in: tuple[Round, Ruling]) -> None:
    one, ruling = standing_in
    order = settled_as(house, ruling, one, "casino-manager", second=None, nets={0: 5_000})
    manager = house["shift-manager"]
    with pytest.raises(Denied, match="dealt or supervised"):
        consequence_execute(actor=manager, consequence=order, reason="Agreed")
    assert not can_execute(manager, order)
    page = logged_in(manager).post(f"/admin/audits/consequence/{order.pk}/execute/", {"reason": "Agreed"})
    call = logged_in(manager).post(
        f"/api/v1/consequences/{order.pk}/execute/", {"reason": "Agreed"}, content_type="application/json"
    )
    assert (page.status_code, call.status_code) == (403, 403)
    with pytest.raises(DatabaseError, match="may not be the second person"), transaction.atomic():
        ConsequenceDecision.objects.create(
            consequence=order, ordered_by=order.by, needs_second=True, outcome="executed", by=manager, who="x",
            reason="x",
        )  # fmt: skip
    third = house.hire("M-3", "shift-manager")
    assert consequence_execute(actor=third, consequence=order, reason="Seen").is_executed


def test_by_sql_too_a_party_is_known_by_the_number_that_was_sent(house: House, table: Table) -> None:
    """The round came before the person was on record."""
    one = played(table, timezone.now() - MINUTE, "R-1", supervisor="M-9")
    manager = house.hire("M-9", "shift-manager")
    assert one.supervisor_staff_id is None
    with connection.cursor() as cursor:
        cursor.execute("SELECT is_party(%s, %s)", [manager.pk, [one.pk]])
        assert cursor.fetchone() == (True,)


# --- Where everybody is disqualified ---


def test_the_page_and_the_api_say_who_can_decide(house: House, barred: Incident) -> None:
    assert "there is none. Ask an administrator to create such an account" in who_decides(barred)
    staff_create(
        actor=OPERATOR, number="CM-GROUP", name="Group", department="pit", post="casino-manager", casino=None,
        pit=None, reason="Hired",
    )  # fmt: skip
    said = "CM-GROUP Group can rule as group casino manager, with a reason, once compliance has consented."
    page = logged_in(house["shift-manager"]).get(f"/admin/audits/incident/{barred.pk}/change/").content.decode()
    assert said in page
    shown = logged_in(house["pit-supervisor"]).get(f"/api/v1/incidents/{barred.number}/").json()
    assert said in shown["ruling_needs"]


def test_the_group_rules_by_override_with_the_consent_of_compliance(
    house: House, barred: Incident, group: Staff
) -> None:
    with pytest.raises(Denied, match="without compliance's consent on record"):
        ruling_make(actor=group, incident=barred, draft=draft(override="Everybody is a party"))
    with pytest.raises(PermissionDenied):
        ruling_consent(actor=house["shift-manager"], incident=barred, ruler=group, reason="x")
    with pytest.raises(ValidationError, match="group casino manager"):
        ruling_consent(actor=house["compliance"], incident=barred, ruler=house["casino-manager"], reason="x")
    ruling_consent(actor=house["compliance"], incident=barred, ruler=group, reason="Everybody is a party")
    with pytest.raises(ValidationError, match="Give a reason for ruling in the place"):
        ruling_make(actor=group, incident=barred, draft=draft())
    ruling = ruling_make(actor=group, incident=barred, draft=draft(override="Everybody is a party"))
    assert (ruling.by, ruling.post) == (group, "casino manager")


def test_no_consent_is_given_where_somebody_of_the_casino_can_rule(house: House, named: Incident, group: Staff) -> None:
    with pytest.raises(ValidationError, match="SHIFT-MANAGER Person SHIFT-MANAGER can rule"):
        ruling_consent(actor=house["compliance"], incident=named, ruler=group, reason="Quicker")
    with pytest.raises(DatabaseError, match="Somebody of the casino can rule"), transaction.atomic():
        RulingConsent.objects.create(incident=named, ruler=group, by=house["compliance"], who="x", reason="x")
    with pytest.raises(Denied, match="without compliance's consent"):
        ruling_make(actor=group, incident=named, draft=draft(override="Quicker"))


def test_by_sql_the_group_does_not_rule_without_consent(house: House, barred: Incident, group: Staff) -> None:
    row: dict[str, Any] = {
        "casino": barred.casino, "pit": barred.pit, "table": barred.table, "incident": barred, "year": 2026,
        "serial": 900, "number": "RU-2026-000900", "kind": "not-covered", "situation": barred.situation,
        "rulebook": barred.rulebook, "question": "x",
        "facts": "x", "decision": "x", "reasoning": "x", "scope": "round", "by": group, "post": "casino manager",
        "who": "x", "override": "Everybody is a party",
    }  # fmt: skip
    with pytest.raises(DatabaseError, match="without the consent of compliance"), transaction.atomic():
        Ruling.objects.create(**row)
    with pytest.raises(DatabaseError, match="dealt or supervised"), transaction.atomic():
        Ruling.objects.create(**row | {"by": house["shift-manager"], "post": "shift manager"})
    for by, ruler in ((house["shift-manager"], group), (house["compliance"], house["casino-manager"])):
        with pytest.raises(DatabaseError, match="Compliance consents"), transaction.atomic():
            RulingConsent.objects.create(incident=barred, ruler=ruler, by=by, who="x", reason="x")
    RulingConsent.objects.create(incident=barred, ruler=group, by=house["compliance"], who="x", reason="x")
    with pytest.raises(DatabaseError, match="without the consent of compliance"), transaction.atomic():
        Ruling.objects.create(**row | {"override": ""})
    assert Ruling.objects.create(**row)


def test_consent_is_given_by_api_and_page(house: House, barred: Incident, group: Staff) -> None:
    body = {"ruler": group.number, "reason": "Everybody is a party"}
    assert post(house["shift-manager"], barred, "ruling-consents", **body).status_code == 403
    wrong = post(house["compliance"], barred, "ruling-consents", **(body | {"ruler": "SHIFT-MANAGER"}))
    assert wrong.status_code == 400
    page = f"/admin/audits/incident/{barred.pk}/consent/"
    answer = logged_in(house["compliance"]).post(page, {"ruler": group.pk, "reason": "Everybody is a party"})
    assert answer.status_code == 302
    again = post(house["compliance"], barred, "ruling-consents", **body)
    assert again.status_code == 409
    file = logged_in(group).get(f"/admin/audits/incident/{barred.pk}/change/").content.decode()
    assert "consented to a ruling by CM-GROUP" in file
    assert f"/admin/audits/incident/{barred.pk}/rule/" in file
    form = logged_in(group).get(f"/admin/audits/incident/{barred.pk}/rule/").content.decode()
    assert 'name="override"' in form
    sent = {
        "kind": "not-covered", "question": "Who?", "decision": "The patron.", "reasoning": "The recording.",
        "scope": "round", "override": "Everybody is a party",
    }  # fmt: skip
    logged_in(group).post(f"/admin/audits/incident/{barred.pk}/rule/", sent)
    barred.refresh_from_db()
    assert (barred.state, Ruling.objects.get().by) == (IncidentState.RULED, group)
