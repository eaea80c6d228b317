"""Evidence over HTTP: what is taken, how large it may be, and how it leaves the house."""

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from django.utils import timezone

from audits.incidents.services.evidence import evidence_folder
from audits.incidents.services.incidents import IncidentReport, incident_open
from audits.incidents.services.log import log_write
from audits.models import CustodyStep, Evidence, Incident
from taisai_backoffice.web import uploads
from taisai_backoffice.web.uploads import BoundedUploadHandler, UploadTooLargeError
from tests.conftest import House
from tests.games.floor_setup import open_table
from tests.games.logins import logged_in

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(40)
GIGABYTES_5 = 5 * 1024**3


@pytest.fixture
def incident(house: House) -> Incident:
    report = IncidentReport(house.casino, timezone.now(), "other", "A quarrel.", table=open_table(house))
    return incident_open(actor=house["surveillance"], report=report)


def address(incident: Incident) -> str:
    return f"/api/v1/incidents/{incident.number}/evidence/"


def send(house: House, incident: Incident, name: str = "felt.png", content: bytes = PNG, **fields: Any) -> Any:
    form = {"description": "The felt", "file": SimpleUploadedFile("x", content)} | fields
    form["file"].name = name  # as a program may send it: Django's own client makes names plain
    return logged_in(house["surveillance"]).post(address(incident), form)


def stored() -> set[Path]:
    return set(evidence_folder().iterdir())


def test_a_file_is_kept_hashed_and_fetched_as_a_file(house: House, incident: Incident) -> None:
    answer = send(house, incident, confidential="true")
    made = answer.json()
    assert (answer.status_code, made["confidential"], made["incident"]) == (201, True, incident.number)
    assert (made["file"]["name"], made["file"]["type"], made["file"]["size"]) == ("felt.png", "image/png", len(PNG))
    fetched = logged_in(house["compliance"]).get(
        f"/api/v1/evidence/{made['id']}/content/", headers={"Accept": "image/png"}
    )
    assert b"".join(fetched) == PNG
    assert {name: fetched.headers[name] for name in ("Content-Type", "Content-Disposition", "Content-Length")} == {
        "Content-Type": "application/octet-stream",
        "Content-Disposition": 'attachment; filename="felt.png"',
        "Content-Length": str(len(PNG)),
    }
    assert fetched.headers["X-Content-Type-Options"] == "nosniff"
    assert fetched.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert fetched.headers["Cache-Control"] == "no-store"
    (listed,) = logged_in(house["auditor"]).get(address(incident)).json()["results"]
    assert [step["what"] for step in listed["custody"]] == ["added", "copied"]
    assert "COMPLIANCE" in listed["custody"][1]["who"]


def test_a_name_of_any_letters_comes_back_as_it_was(house: House, incident: Incident) -> None:
    made = send(house, incident, name='der "Filz" 骰.png').json()
    fetched = logged_in(house["auditor"]).get(f"/api/v1/evidence/{made['id']}/content/")
    assert b"".join(fetched) == PNG
    assert fetched.headers["Content-Disposition"] == ("attachment; filename*=utf-8''der%20%22Filz%22%20%E9%AA%B0.png")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("logo.svg", b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'),
        ("logo.png", b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'),
        ("page.html", b"<script>alert(1)</script>"),
        ("bomb.zip", b"PK\x03\x04" + bytes(60)),
        ("bomb.pdf", b"PK\x03\x04" + bytes(60)),
        ("felt.pdf", PNG),
        ("felt", PNG),
        ("felt.png", b""),
    ],
)
def test_what_is_not_taken_is_refused_with_a_reason_and_not_kept(
    house: House, incident: Incident, name: str, content: bytes
) -> None:
    before = stored()
    answer = send(house, incident, name, content)
    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == ["file"]
    assert (stored(), Evidence.objects.count()) == (before, 0)


def test_a_path_in_a_name_leads_nowhere(house: House, incident: Incident) -> None:
    form = encode_multipart(BOUNDARY, {"description": "x", "file": SimpleUploadedFile("NAME.png", PNG)})
    for name in (b"../../etc/felt.png", b"C:\\\\temp\\\\felt.png"):
        body = form.replace(b"NAME.png", name)
        answer = logged_in(house["surveillance"]).generic("POST", address(incident), body, MULTIPART_CONTENT)
        assert answer.json()["file"]["name"] == "felt.png"
    assert all(path.name.isalnum() for path in stored())


# --- Size ---


class Unread(io.RawIOBase):
    """A body that nobody may read."""

    def read(self, size: int = -1) -> bytes:
        raise AssertionError("The body was read")


def announce(client: Client, path: str, length: str) -> Any:
    """A form whose body says how long it is, and fails the test when it is read."""
    more: Any = {"wsgi.input": Unread(), "CONTENT_LENGTH": length, "CONTENT_TYPE": MULTIPART_CONTENT}
    return client.generic("POST", path, b"", **more)


def test_five_gigabytes_are_refused_before_a_byte_is_read(house: House, incident: Incident) -> None:
    answer = announce(logged_in(house["surveillance"]), address(incident), str(GIGABYTES_5))
    assert (answer.status_code, answer.headers["Content-Type"]) == (413, "application/problem+json")
    assert "larger than 1024 MB" in answer.json()["detail"]


def test_so_they_are_where_the_token_is_looked_for_in_the_form(house: House, incident: Incident) -> None:
    client = logged_in(house["casino-manager"], enforce_csrf_checks=True)
    client.cookies["taisai_csrf"] = "c" * 32
    answer = announce(client, "/admin/games/importjob/add/", str(GIGABYTES_5))
    assert answer.status_code == 413
    assert b"larger than 1024 MB" in answer.content


def test_a_call_carries_its_token_in_the_header_and_no_form_is_read_for_it(house: House, incident: Incident) -> None:
    client = logged_in(house["surveillance"], enforce_csrf_checks=True)
    client.cookies["taisai_csrf"] = "c" * 32
    assert announce(client, address(incident), str(GIGABYTES_5)).status_code == 403


def test_what_comes_is_counted_and_cut_off(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.LARGEST_EVIDENCE = 100
    monkeypatch.setattr(uploads, "LARGEST_UPLOAD", 0)
    handler = BoundedUploadHandler()
    handler.new_file("file", "felt.png", "image/png", None)
    handler.receive_data_chunk(bytes(100), 0)
    path = Path(handler.file.temporary_file_path())
    assert path.exists()
    with pytest.raises(UploadTooLargeError):
        handler.receive_data_chunk(b"x", 100)
    assert not path.exists()


def test_a_file_above_the_bound_of_evidence_leaves_nothing(house: House, incident: Incident, settings: Any) -> None:
    settings.LARGEST_EVIDENCE = len(PNG) - 1
    before = stored()
    answer = send(house, incident)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "file")
    assert (stored(), Evidence.objects.count()) == (before, 0)


def test_a_body_without_its_length_is_no_file(house: House, incident: Incident) -> None:
    answer = announce(logged_in(house["surveillance"]), address(incident), "")
    assert (answer.status_code, [error["field"] for error in answer.json()["errors"]]) == (400, ["file"])


# --- Forms ---


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"description": " "}, "description"),
        ({"confidential": "maybe"}, "confidential"),
        ({"colour": "red"}, "colour"),
        ({"description": ["x", "y"]}, "description"),
    ],
)
def test_a_form_that_is_wrong_is_told(house: House, incident: Incident, fields: dict[str, Any], fault: str) -> None:
    answer = send(house, incident, **fields)
    assert (answer.status_code, [error["field"] for error in answer.json()["errors"]]) == (400, [fault])
    assert not Evidence.objects.exists()


def test_one_file_at_a_time_under_its_name(house: House, incident: Incident) -> None:
    client = logged_in(house["surveillance"])
    for form in (
        {"description": "x"},
        {"description": "x", "picture": SimpleUploadedFile("felt.png", PNG)},
        {"description": "x", "file": [SimpleUploadedFile("felt.png", PNG), SimpleUploadedFile("b.png", PNG)]},
    ):
        assert client.post(address(incident), form).status_code == 400
    assert client.post(address(incident), "x=1", content_type="application/x-www-form-urlencoded").status_code == 415
    assert client.generic("POST", address(incident), b"--nonsense", MULTIPART_CONTENT).status_code == 400
    assert not Evidence.objects.exists()


def test_a_camera_is_named_without_a_file(house: House, incident: Incident) -> None:
    client = logged_in(house["pit-supervisor"])
    body = {"description": "The throw", "camera": "C-14", "time_code": "21:07:12:04", "keep_until": "2027-02-15"}
    made = client.post(address(incident), body, content_type="application/json")
    assert (made.status_code, made.json()["camera"], made.json()["file"]) == (201, "C-14", None)
    content = client.get(f"/api/v1/evidence/{made.json()['id']}/content/")
    assert (content.status_code, content.headers["Content-Type"]) == (404, "application/problem+json")
    wrong = client.post(address(incident), {"description": "x", "camera": ""}, content_type="application/json")
    assert [error["field"] for error in wrong.json()["errors"]] == ["camera"]


# --- Who ---


def test_confidential_evidence_is_nowhere_for_the_pit(house: House, incident: Incident) -> None:
    key = send(house, incident, confidential="true").json()["id"]
    for role in ("pit-supervisor", "pit-manager", "shift-manager", "casino-manager"):
        client = logged_in(house[role])
        assert client.get(address(incident)).json()["results"] == []
        hidden, missing = (client.get(f"/api/v1/evidence/{one}/content/") for one in (key, key + 1))
        assert (hidden.status_code, missing.status_code) == (404, 404)
        assert client.get(f"/api/v1/evidence/{key}/").status_code == 404
    assert CustodyStep.objects.count() == 1


def test_evidence_of_a_confidential_entry_is_confidential_itself(house: House) -> None:
    entry = log_write(
        actor=house["surveillance"], casino=house.casino, at=timezone.now(), summary="Seen.", is_confidential=True
    )
    path = f"/api/v1/log-entries/{entry.pk}/evidence/"
    form = {"description": "x", "file": SimpleUploadedFile("felt.png", PNG), "confidential": "false"}
    assert logged_in(house["pit-manager"]).post(path, form).status_code == 404
    form["file"] = SimpleUploadedFile("felt.png", PNG)
    made = logged_in(house["surveillance"]).post(path, form).json()
    assert (made["confidential"], made["entry"], made["incident"]) == (True, entry.pk, None)


def test_who_writes_nothing_adds_nothing(house: House, incident: Incident) -> None:
    form = {"description": "x", "file": SimpleUploadedFile("felt.png", PNG)}
    for role, answer in (("auditor", 403), ("administrator", 403)):
        assert logged_in(house[role]).post(address(incident), form).status_code == answer
    assert Client().post(address(incident), form).status_code == 401
    assert not Evidence.objects.exists()


def test_a_file_that_was_changed_on_the_disk_is_not_handed_out(house: House, incident: Incident) -> None:
    before = stored()
    key = send(house, incident).json()["id"]
    (path,) = stored() - before
    path.write_bytes(PNG + b"x")
    answer = logged_in(house["auditor"]).get(f"/api/v1/evidence/{key}/content/")
    assert (answer.status_code, "hash differs" in answer.json()["detail"]) == (400, True)
    assert [step.what for step in CustodyStep.objects.all()] == ["added"]
