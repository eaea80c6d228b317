"""What every request passes: headers, bounds of bodies, quotas, throttles, and searches that upset PostgreSQL."""

import gzip
import io
import json
import os
import re
import time
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError
from django.test import Client
from django.test.client import MULTIPART_CONTENT
from django.utils import timezone

from audits.incidents.search import search
from audits.incidents.services.incidents import IncidentReport, incident_open
from audits.models import Evidence, Incident
from games.engine.errors import InputError
from games.models import ImportJob
from games.rounds import lines
from games.rounds.lines import Lines
from games.rounds.services import uploads
from games.rounds.services.uploads import LEFT_SECONDS, incoming
from taisai_backoffice.web import refusals
from taisai_backoffice.web.bodies import LARGEST_BODY, UPLOAD_ROUTES
from tests.audits.files import PNG
from tests.conftest import House
from tests.games.floor_setup import open_table
from tests.games.logins import logged_in
from tests.test_routes import PATHS

#: Rows of signs on which PostgreSQL's own reader of searches fails, and what it cannot store.
UPSETTING = [
    "-" * 50,
    "- " * 50,
    '"' * 51,
    '-"' * 50,
    "(" * 200,
    "\x00",
    "a\x00b",
    "\\",
    "%",
    "'",
    "-or " * 50,
    "x" * 5000,
]


def client_of(house: House, role: str) -> Client:
    return logged_in(house[role], raise_request_exception=False)


@pytest.fixture
def incident(house: House) -> Incident:
    report = IncidentReport(house.casino, timezone.now(), "other", "A quarrel.", table=open_table(house))
    return incident_open(actor=house["surveillance"], report=report)


class Unread(io.RawIOBase):
    """A body that nobody may read."""

    def read(self, size: int = -1) -> bytes:
        raise AssertionError("The body was read")


def announce(client: Client, path: str, length: int, kind: str = MULTIPART_CONTENT) -> Any:
    more: Any = {"wsgi.input": Unread(), "CONTENT_LENGTH": str(length), "CONTENT_TYPE": kind}
    return client.generic("POST", path, b"", **more)


# --- Headers ---------------------------------------------------------------------------------------


def test_nothing_of_the_api_or_of_a_persons_pages_is_kept(house: House) -> None:
    client = client_of(house, "compliance")
    for path in ("/api/v1/tables/", "/api/v1/docs/", "/admin/", "/admin/audits/incident/", "/admin/nowhere/"):
        assert "no-store" in client.get(path).headers["Cache-Control"], path
    assert "no-store" in Client().get("/api/v1/tables/").headers["Cache-Control"]
    assert "no-store" in Client().get("/healthz").headers["Cache-Control"]


@pytest.mark.parametrize(
    "path", ["/healthz", "/readyz", "/api/v1/docs/", "/api/v1/tables/", "/api/v1/nowhere/", "/nowhere"]
)
def test_only_unfolds_own_pages_evaluate_scripts(house: House, path: str) -> None:
    for client in (Client(), client_of(house, "compliance")):
        policy = client.get(path).headers["Content-Security-Policy"]
        is_unfold = path == "/nowhere" and settings.SESSION_COOKIE_NAME in client.cookies
        assert ("'unsafe-eval'" in policy) == is_unfold
        assert "base-uri 'none'" in policy
    for own in ("/admin/", "/admin/audits/incident/"):
        assert "'unsafe-eval'" in client_of(house, "compliance").get(own).headers["Content-Security-Policy"]
    assert "'unsafe-eval'" in Client().get("/admin/login/").headers["Content-Security-Policy"]


# --- Bodies ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("accept", "kind"),
    [("text/html", "text/html"), ("*/*", "text/html"), ("application/json", "application/problem+json")],
)
def test_a_program_that_accepts_no_page_is_refused_with_a_problem(house: House, accept: str, kind: str) -> None:
    answer = client_of(house, "pit-supervisor").get("/admin/games/staff/", headers={"accept": accept})
    assert (answer.status_code, answer.headers["Content-Type"].partition(";")[0]) == (403, kind)


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "OPTIONS"])
def test_a_page_is_opened_or_sent_and_takes_nothing_else(house: House, method: str) -> None:
    answer = client_of(house, "casino-manager").generic(method, "/admin/games/table/")
    assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, HEAD, POST")


def test_every_route_of_an_upload_is_there() -> None:
    assert set(PATHS) >= UPLOAD_ROUTES


@pytest.mark.parametrize(
    "path", ["/admin/login/", "/admin/audits/incident/add/", "/api/v1/incidents/", "/api/v1/rounds/"]
)
def test_a_body_of_more_than_a_megabyte_is_refused_before_it_is_read(house: House, path: str) -> None:
    for client in (Client(), client_of(house, "shift-manager")):
        answer = announce(client, path, LARGEST_BODY + 1, "application/json")
        assert answer.status_code == 413
        assert b"larger than 1 MB" in answer.content
        assert answer.headers["Content-Type"].startswith("application/problem+json" if "api" in path else "text/html")


def uploads_of(incident: Incident) -> list[str]:
    return [
        "/admin/games/importjob/add/",
        f"/admin/audits/incident/{incident.pk}/evidence/",
        "/api/v1/rounds/import/",
        f"/api/v1/incidents/{incident.number}/evidence/",
    ]


def test_an_upload_is_read_after_login_only(incident: Incident) -> None:
    client = Client(enforce_csrf_checks=True)
    client.cookies[settings.CSRF_COOKIE_NAME] = "c" * 32
    codes = [announce(client, path, 500 * LARGEST_BODY).status_code for path in uploads_of(incident)]
    assert codes == [302, 302, 401, 401]


def test_an_upload_is_read_with_permission_only(house: House, incident: Incident) -> None:
    """By an administrator, who may neither record rounds nor add evidence; with a token, which a form would carry."""
    client = logged_in(house["administrator"], enforce_csrf_checks=True)
    client.cookies[settings.CSRF_COOKIE_NAME] = "c" * 32
    for path in uploads_of(incident):
        more: Any = {"wsgi.input": Unread(), "CONTENT_LENGTH": str(500 * LARGEST_BODY), "HTTP_X_CSRFTOKEN": "c" * 32}
        assert client.generic("POST", path, b"", MULTIPART_CONTENT, **more).status_code == 403, path


def test_files_on_their_way_fill_no_more_than_the_quota_of_their_casino(house: House, settings: Any) -> None:
    settings.UPLOAD_QUOTA = 10_000
    manager = client_of(house, "casino-manager")
    (incoming(house.casino.pk) / "another").write_bytes(bytes(9_500))
    form = {"file": SimpleUploadedFile("rounds.ndjson", bytes(3_000_000))}
    answer = manager.post("/admin/games/importjob/add/", form)
    assert (answer.status_code, ImportJob.objects.count()) == (413, 0)
    assert "of this casino; try again when they are finished" in answer.content.decode()
    more: Any = {"content_type": "application/x-ndjson"}
    assert manager.post("/api/v1/rounds/import/", bytes(1_000), **more).status_code == 413
    assert [path.name for path in incoming(house.casino.pk).iterdir()] == ["another"]
    assert client_of(house, "compliance").post("/api/v1/rounds/import/", b"x", **more).status_code != 413
    (incoming(house.casino.pk) / "another").unlink()


def test_files_that_wait_count_and_what_a_killed_process_left_does_not(house: House, settings: Any) -> None:
    settings.UPLOAD_QUOTA = 10_000
    left = incoming(house.casino.pk) / "left"
    left.write_bytes(bytes(9_500))
    old = time.time() - LEFT_SECONDS - 60
    os.utime(left, (old, old))
    uploads.space_verify(house.casino.pk, 9_000)
    assert not left.exists()
    ImportJob.objects.create(casino=house.casino, by=house["casino-manager"], name="x", stored="x", size=9_500)
    with pytest.raises(uploads.UploadRefusedError):
        uploads.space_verify(house.casino.pk, 9_000)
    uploads.space_verify(house.other.pk, 9_000)


def test_evidence_fills_no_more_than_the_quota_of_its_casino(house: House, incident: Incident, settings: Any) -> None:
    client, path = client_of(house, "surveillance"), f"/api/v1/incidents/{incident.number}/evidence/"
    settings.EVIDENCE_QUOTA = len(PNG)

    def send() -> Any:
        return client.post(path, {"description": "x", "file": SimpleUploadedFile("felt.png", PNG)})

    assert send().status_code == 201
    answer = send()
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "file")
    assert Evidence.objects.count() == 1


# --- Files of rounds -------------------------------------------------------------------------------


def read(content: bytes) -> list[bytes]:
    return [line for _, line in Lines(io.BytesIO(content))]


def test_a_file_that_unpacks_to_more_than_rounds_ever_do_is_refused() -> None:
    bomb = gzip.compress(b"\n" * (20 * lines.MEGABYTE))
    with pytest.raises(InputError, match="unpacks to more than 100 times its size"):
        read(bomb)


def test_blank_lines_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MOST_LINES", 10)
    assert read(b"\n" * 10) == []
    with pytest.raises(InputError, match="more than 10 lines"):
        read(b"\n" * 11)


def test_a_file_that_takes_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LONGEST_SECONDS", -1)
    with pytest.raises(InputError, match="takes longer than"):
        read(b"\n" * lines.CLOCK_LINES)


def test_an_answer_names_the_first_hundred_faults(house: House) -> None:
    body = json.dumps({f"unknown-{number}": 1 for number in range(5000)})
    answer = client_of(house, "shift-manager").post("/api/v1/advice/", body, content_type="application/json")
    assert answer.status_code == 400
    assert len(answer.json().get("errors", [])) <= 100
    assert len(answer.content) < 50_000


# --- Searches --------------------------------------------------------------------------------------


def search_pages() -> list[str]:
    """Every list with a search field of the admin, and the searches of our own."""
    listed = [
        f"/{path}?q=" for name, path in PATHS.items() if re.fullmatch(r"admin:\w+_changelist", name) and "<" not in path
    ]
    own = [
        "/admin/audits/incident/search/?q=", "/admin/audits/incident/?text=", "/admin/audits/logentry/?text=",
        "/admin/audits/ruling/?text=", "/admin/games/round/?player=", "/admin/search/?s=",
        "/api/v1/search/?q=", "/api/v1/incidents/?text=", "/api/v1/log-entries/?text=", "/api/v1/rulings/?text=",
        "/api/v1/rounds/?player=", "/api/v1/rounds/?table=", "/api/v1/rounds/?dealer=", "/api/v1/incidents/?table=",
    ]  # fmt: skip
    return [*listed, *own]


@pytest.mark.parametrize("text", UPSETTING, ids=lambda text: repr(text[:8]))
def test_a_search_that_upsets_postgresql_is_an_empty_result(house: House, text: str, settings: Any) -> None:
    settings.PERSON_SEARCHES_A_MINUTE = 10_000
    client = client_of(house, "compliance")
    for address in search_pages():
        path, _, name = address.partition("?")
        answer = client.get(path, {name.removesuffix("="): text})
        assert answer.status_code < 500, (address, text)
        if path in ("/api/v1/search/", "/admin/audits/incident/search/"):
            assert answer.status_code in (200, 400)


def test_fifty_hyphens_find_nothing(house: House, incident: Incident) -> None:
    assert search(house["compliance"], "-" * 50) == []
    assert search(house["compliance"], "quarrel -- " + "-" * 50) != []
    assert client_of(house, "compliance").get("/api/v1/search/", {"q": "-" * 50}).json()["results"] == []


# --- Throttles -------------------------------------------------------------------------------------


def test_a_person_searches_as_often_as_a_person_can(house: House, settings: Any) -> None:
    settings.PERSON_SEARCHES_A_MINUTE = 3
    client = client_of(house, "compliance")
    cache.clear()
    addresses = ("/api/v1/search/?q=dice", "/admin/audits/incident/search/?q=dice", "/api/v1/rounds/?player=x")
    codes = [client.get(address).status_code for address in addresses]
    program, page = client.get(addresses[0]), client.get(addresses[1])
    if 429 in codes or program.status_code == 200:  # the minute has changed on the way
        pytest.skip("the minute changed")
    assert (program.status_code, program.headers["Content-Type"]) == (429, "application/problem+json")
    assert 1 <= int(program.headers["Retry-After"]) <= 60
    assert (page.status_code, "More than 3 searches in this minute" in page.content.decode()) == (429, True)
    assert client.get("/api/v1/search/").status_code != 429  # no search
    assert client_of(house, "auditor").get(addresses[0]).status_code == 200


def test_runs_and_exports_are_counted_by_themselves(house: House, settings: Any) -> None:
    settings.PERSON_RUNS_A_MINUTE = settings.PERSON_EXPORTS_A_MINUTE = 0
    client = client_of(house, "casino-manager")
    assert client.post("/admin/audits/run/add/", {}).status_code == 429
    assert client.get("/admin/audits/run/add/").status_code == 200
    assert client.get(f"/admin/games/table/{open_table(house).pk}/sign/").status_code == 429


# --- Outages ---------------------------------------------------------------------------------------


def failing(*arguments: Any, **named: Any) -> Any:
    raise OperationalError("the server closed the connection unexpectedly")


@pytest.mark.parametrize(("path", "kind"), [("/api/v1/tables/", "application/problem+json"), ("/admin/", "text/html")])
def test_a_database_failure_is_503_with_a_time_to_come_back(
    house: House, monkeypatch: pytest.MonkeyPatch, path: str, kind: str
) -> None:
    client = client_of(house, "compliance")
    monkeypatch.setattr("games.access.gate.capacities", failing)
    answer = client.get(path)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert answer.headers["Content-Type"].startswith(kind)
    assert "closed the connection" not in answer.content.decode()


def test_a_full_disk_is_an_outage_and_a_fault_of_ours_is_not() -> None:
    assert refusals.is_outage(OSError(28, "No space left on device"))
    assert not refusals.is_outage(FileNotFoundError(2, "x"))
    assert not refusals.is_outage(ValueError())


def test_a_fault_of_ours_is_a_problem_for_programs_and_a_small_page_for_people(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = client_of(house, "compliance")

    def broken(*arguments: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr("games.access.gate.capacities", broken)
    program, page = client.get("/api/v1/tables/"), client.get("/admin/")
    assert (program.status_code, program.headers["Content-Type"]) == (500, "application/problem+json")
    assert (page.status_code, "Something went wrong" in page.content.decode()) == (500, True)
    assert "ZeroDivisionError" not in (program.content + page.content).decode()
