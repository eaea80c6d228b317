"""Who read what: every read of something confidential, of evidence, every player search and export is on record."""

import datetime as dt
import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.utils import timezone

from audits.incidents.services.evidence import evidence_add
from audits.incidents.services.incidents import IncidentReport, incident_note, incident_open
from audits.incidents.services.log import handover_sign, log_write
from games.access.services.access_records import WINDOW
from games.models import AccessRecord
from tests.audits.files import PNG
from tests.conftest import House
from tests.games.floor_setup import open_table
from tests.games.logins import logged_in

SECRET = "quicksilver"


@pytest.fixture
def secret(house: House) -> dict[str, Any]:
    """A confidential note, log entry, handover and piece of evidence."""
    now, author, table = timezone.now(), house["surveillance"], open_table(house)
    entry = log_write(
        actor=author, casino=house.casino, at=now, summary=f"Entry {SECRET}", table=table, is_confidential=True
    )
    incident = incident_open(
        actor=author, report=IncidentReport(house.casino, now, "other", "Plain account", table=table)
    )
    note = incident_note(actor=author, incident=incident, text=f"Note {SECRET}", is_confidential=True)
    evidence = evidence_add(
        actor=author, about=incident, description=f"Evidence {SECRET}", name="x.png", content=io.BytesIO(PNG),
        is_confidential=True,
    )  # fmt: skip
    handover = handover_sign(actor=author, casino=house.casino, watch=f"Watch {SECRET}", is_confidential=True)
    return {"entry": entry, "incident": incident, "note": note, "evidence": evidence, "handover": handover}


def read(client: Client, address: str) -> str:
    answer: Any = client.get(address)
    assert answer.status_code == 200, address
    return b"".join(answer.streaming_content).decode("latin-1") if answer.streaming else answer.content.decode()


PAGES = [
    "/admin/audits/incident/{incident.pk}/change/", "/admin/audits/incident/search/?q=quicksilver",
    "/admin/audits/logentry/", "/admin/audits/logentry/{entry.pk}/change/", "/admin/audits/logentry/{entry.pk}/append/",
    "/admin/audits/evidence/", "/admin/audits/evidence/{evidence.pk}/change/", "/admin/audits/handover/",
    "/admin/audits/handover/{handover.pk}/change/", "/api/v1/incidents/{incident.number}/",
    "/api/v1/log-entries/", "/api/v1/log-entries/{entry.pk}/", "/api/v1/search/?q=quicksilver",
    "/api/v1/incidents/{incident.number}/evidence/", "/api/v1/evidence/{evidence.pk}/",
]  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
def test_what_shows_something_confidential_says_who_saw_it(house: House, secret: dict[str, Any], page: str) -> None:
    role = "surveillance" if page.endswith("/append/") else "compliance"
    address = page.format(**secret)
    text = read(logged_in(house[role]), address)
    known = AccessRecord.objects.filter(staff=house[role], kind="confidential", casino=house.casino)
    assert SECRET in text
    assert known.exists()
    assert known[0].door.startswith("GET ")
    assert role in known[0].who


def test_what_is_plain_is_not_on_record(house: House, secret: dict[str, Any]) -> None:
    address = f"/admin/audits/incident/{secret['incident'].pk}/change/"
    assert SECRET not in read(logged_in(house["pit-manager"]), address)
    assert not AccessRecord.objects.exists()


def test_the_command_that_shows_a_file_is_on_record(house: House, secret: dict[str, Any], capsys: Any) -> None:
    call_command("incident", "show", secret["incident"].number, "--as", "COMPLIANCE")
    assert SECRET in capsys.readouterr().out
    assert AccessRecord.objects.get().door == "command incident"


def test_reading_again_within_minutes_is_one_record_and_another_person_is_another(
    house: House, secret: dict[str, Any]
) -> None:
    address = f"/admin/audits/logentry/{secret['entry'].pk}/change/"
    for role in ("compliance", "compliance", "auditor"):
        read(logged_in(house[role]), address)
    assert AccessRecord.objects.filter(kind="confidential").count() == 2
    old = AccessRecord.objects.filter(staff=house["auditor"]).get()
    AccessRecord.objects.create(
        staff=house["surveillance"], who="x", kind="confidential", thing=old.thing, at=timezone.now() - 2 * WINDOW
    )
    read(logged_in(house["surveillance"]), address)
    assert AccessRecord.objects.filter(staff=house["surveillance"]).count() == 2


@pytest.mark.parametrize("door", ["page", "api"])
def test_evidence_opened_or_copied_is_on_record(house: House, secret: dict[str, Any], door: str) -> None:
    key, client = secret["evidence"].pk, logged_in(house["compliance"])
    if door == "api":
        read(client, f"/api/v1/evidence/{key}/content/")
    else:
        read(client, f"/admin/audits/evidence/{key}/picture/")
    assert AccessRecord.objects.get(kind="evidence").staff == house["compliance"]


@pytest.mark.parametrize(
    ("address", "what"),
    [
        ("/admin/games/round/?player=M-1", "rounds of player M-1"),
        ("/api/v1/rounds/?player=M-1", "rounds of player M-1"),
        ("/admin/audits/incident/search/?q=smith", "incidents and log: smith"),
        ("/admin/audits/incident/?text=smith", "incidents and log: smith"),
        ("/admin/audits/logentry/?text=smith", "incidents and log: smith"),
        ("/api/v1/search/?q=smith", "incidents and log: smith"),
    ],
)
def test_every_search_for_a_player_is_on_record(house: House, address: str, what: str) -> None:
    read(logged_in(house["pit-manager"]), address)
    assert AccessRecord.objects.get(kind="search").thing == what
    read(logged_in(house["pit-manager"]), address.partition("?")[0]) if "search" not in address else None
    assert AccessRecord.objects.count() == 1


def test_every_export_is_on_record_each_time(house: House, tmp_path: Path) -> None:
    arguments = [
        "report",
        "breaches",
        "--day=2026-11-15",
        "--format=csv",
        f"-o={tmp_path / 'x.csv'}",
        "--as=COMPLIANCE",
    ]
    for _ in range(2):
        call_command(*arguments)
    things = AccessRecord.objects.filter(kind="export").values_list("thing", flat=True)
    assert [thing.partition(" (")[0] for thing in things] == ["report breaches, 2026-11-15, all tables, csv"] * 2


def test_what_cannot_be_recorded_is_not_read(house: House, secret: dict[str, Any], monkeypatch: Any) -> None:
    def broken(*args: Any, **kwargs: Any) -> None:
        raise DatabaseError("the disk is full")

    monkeypatch.setattr(AccessRecord.objects, "bulk_create", broken)
    client = logged_in(house["compliance"], raise_request_exception=False)
    for address in (
        f"/admin/audits/incident/{secret['incident'].pk}/change/", f"/api/v1/evidence/{secret['evidence'].pk}/content/",
        f"/api/v1/log-entries/{secret['entry'].pk}/", "/api/v1/rounds/?player=M-1",
    ):  # fmt: skip
        answer: Any = client.get(address)
        assert answer.status_code >= 500
        assert SECRET not in answer.content.decode()


def test_records_are_written_once(house: House) -> None:
    AccessRecord.objects.create(who="x", kind="export", thing="x")
    for statement in ("UPDATE games_accessrecord SET who = 'y'", "DELETE FROM games_accessrecord"):
        with pytest.raises(Exception, match="permission denied"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)


def test_compliance_finds_records_by_person_kind_and_days_within_their_casino(house: House) -> None:
    now = timezone.now()
    for staff, kind, thing, at, casino in (
        (house["auditor"], "export", "first thing", now, house.casino),
        (house["surveillance"], "evidence", "second thing", now - dt.timedelta(days=9), house.casino),
        (house["auditor"], "search", "third thing", now, house.other),
    ):
        AccessRecord.objects.create(staff=staff, who="x", kind=kind, thing=thing, at=at, casino=casino)
    client = logged_in(house["compliance"])

    def listed(query: str) -> set[str]:
        page = read(client, f"/admin/games/accessrecord/?{query}")
        return {word for word in ("first", "second", "third") if f"{word} thing" in page}

    week_ago = f"{now - dt.timedelta(days=7):%Y-%m-%d}"
    assert listed("") == {"first", "second"}
    assert listed("person=auditor") == {"first"}
    assert listed("kind__exact=evidence") == {"second"}
    assert listed(f"at_from={week_ago}") == {"first"}
    assert listed(f"at_to={week_ago}") == {"second"}
    assert listed("person=%00") == {"first", "second"}
