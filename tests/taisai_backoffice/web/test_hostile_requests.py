"""Requests that nobody sends by accident: lookups that no page offers, odd methods, bombs, huge names in faults."""

import gzip
import io
import json
import re
from typing import Any

import pytest
from django.conf import settings
from django.contrib.messages import get_messages
from django.test import Client, RequestFactory

from games.engine.errors import InputError
from games.models import Denial
from games.rounds.lines import LONGEST_LINE, MEGABYTE, Lines
from taisai_backoffice.environment import email
from taisai_backoffice.server import HttpAnswer
from taisai_backoffice.web.middleware import METHODS, RequestLineMiddleware
from tests.audits.files import seen
from tests.conftest import House
from tests.games.logins import logged_in
from tests.test_routes import PATHS

#: Asked of every list: columns that it does not show, records behind it, and what surveillance keeps to itself.
LOOKUPS = [
    "password__startswith=argon2", "is_confidential=1", "is_confidential__exact=1", "confidential=1",
    "entry__is_confidential=1", "casino__incidents__notes__text__contains=a", "by__password__startswith=a",
    "staff__password__startswith=a", "key_hash__startswith=a", "token_hash__startswith=a", "sha256__isnull=0",
    "history__id=1", "pk__in=1,2", "id__gt=0", "stored__startswith=a",
]  # fmt: skip
LISTS = [f"/{path}" for name, path in PATHS.items() if re.fullmatch(r"admin:\w+_changelist", name) and "<" not in path]


def client_of(house: House, role: str) -> Client:
    return logged_in(house[role], raise_request_exception=False)


def records(answer: Any) -> set[str]:
    """The records that a list leads to."""
    return set(re.findall(r'href="(/admin/[^"?]*/\d+/[^"?]*)', answer.content.decode()))


@pytest.mark.parametrize("role", ["pit-supervisor", "shift-manager", "administrator"])
def test_a_lookup_that_a_list_does_not_offer_is_refused_or_changes_nothing(house: House, role: str) -> None:
    seen(house, summary="A quarrel at seat 3.")
    seen(house, summary="A zebra at seat 3.", is_confidential=True)
    client = client_of(house, role)
    lists = [address for address in LISTS if client.get(address).status_code == 200]
    assert len(lists) > 5
    for address in lists:
        plain = client.get(address)
        for lookup in LOOKUPS:
            answer = client.get(f"{address}?{lookup}")
            assert answer.status_code in (200, 302, 400), (address, lookup)
            if answer.status_code == 200:
                assert records(answer) in (records(plain), set()), (address, lookup)
                assert "zebra" not in answer.content.decode()


@pytest.mark.parametrize("role", ["pit-manager", "shift-manager"])
def test_a_call_refuses_parameters_that_it_does_not_know(house: House, role: str) -> None:
    client = client_of(house, role)
    for path in ("log-entries", "incidents", "rulings", "rounds", "tables"):
        for lookup in ("is_confidential=1", "by__password__startswith=a", "id__gt=0"):
            assert client.get(f"/api/v1/{path}/?{lookup}").status_code == 400, (path, lookup)
        answer = client.get(f"/api/v1/{path}/?confidential=1")
        assert answer.status_code == 400 or answer.json()["results"] == [], path


# --- The request line, and headers of every answer -------------------------------------------------


@pytest.mark.parametrize("method", ["TRACE", "BREW", "CONNECT", "PROPFIND"])
@pytest.mark.parametrize("path", ["/admin/login/", "/api/v1/tables/", "/healthz", "/nowhere"])
def test_a_method_that_nothing_has_is_refused(house: House, method: str, path: str) -> None:
    answer = client_of(house, "compliance").generic(method, path, HTTP_COOKIE="secret=1")
    assert answer.status_code == 405
    assert set(answer.headers["Allow"].split(", ")) == METHODS
    assert b"secret" not in answer.content


def test_a_call_over_plain_http_is_refused_and_a_page_is_not(settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT = True
    reached: list[str] = []

    def site(request: Any) -> Any:
        reached.append(request.path)
        return Client().get("/healthz")

    door, made = RequestLineMiddleware(site), RequestFactory()
    answer = door(made.get("/api/v1/tables/", HTTP_AUTHORIZATION="Bearer x"))
    assert (answer.status_code, json.loads(answer.content)["title"]) == (403, "HTTPS needed")
    door(made.get("/api/v1/tables/", secure=True))
    door(made.get("/admin/"))
    assert reached == ["/api/v1/tables/", "/admin/"]


@pytest.mark.parametrize("path", ["/admin/login/", "/api/v1/tables/", "/healthz", "/nowhere"])
def test_every_answer_keeps_other_sites_out(path: str) -> None:
    headers = Client().get(path).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "Access-Control-Allow-Origin" not in headers
    policy = headers["Content-Security-Policy"]
    assert {"object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"} <= set(policy.split("; "))


def test_static_files_have_the_policy_and_are_for_this_site_alone() -> None:
    assert settings.WHITENOISE_ALLOW_ALL_ORIGINS is False
    order = settings.MIDDLEWARE
    assert order.index("csp.middleware.CSPMiddleware") < order.index("whitenoise.middleware.WhiteNoiseMiddleware")


def test_an_answer_without_django_has_its_headers_too() -> None:
    headers = dict(HttpAnswer.refusal(408, "x").headers)
    assert (headers["x-content-type-options"], headers["cache-control"]) == ("nosniff", "no-store")
    assert "frame-ancestors 'none'" in headers["content-security-policy"]


def test_what_a_page_said_is_in_no_cookie(house: House) -> None:
    """Messages name records and people; they are kept in the session, not in the browser."""
    client = client_of(house, "compliance")
    answer = client.post("/admin/confirm/", {"secret": "wrong"})
    assert answer.status_code == 200
    client.post("/admin/logout/")
    assert set(client.cookies) <= {settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME, settings.DEVICE_COOKIE_NAME}
    assert settings.MESSAGE_STORAGE.endswith("session.SessionStorage")
    assert list(get_messages(answer.wsgi_request)) == []


# --- Bombs and bounds ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bomb",
    [
        gzip.compress(b"a" * (LONGEST_LINE + 5 * MEGABYTE)),
        gzip.compress(b"{}\n" * (5 * MEGABYTE)),
        b"".join(gzip.compress(b" " * MEGABYTE + b"\n") for _ in range(20)),
        gzip.compress(gzip.compress(bytes(100 * MEGABYTE))),
    ],
    ids=["one line", "short lines", "many members", "packed twice"],
)
def test_a_packed_file_costs_no_more_than_its_bounds(bomb: bytes) -> None:
    """Refused early, or no larger unpacked than a hundred times itself."""
    read = Lines(io.BytesIO(bomb))
    try:
        for _ in read:
            pass
    except InputError:
        pass
    assert read.size <= max(LONGEST_LINE + 1, 100 * len(bomb)) + MEGABYTE


@pytest.mark.parametrize(
    "body",
    [
        {"x" * 900_000: 1}, {"kind": "x" * 900_000}, {"text": ["x" * 400_000] * 2},
        {f"{number}-{'x' * 800}": 1 for number in range(1000)},
    ],
    ids=["long name", "long value", "long list", "many long names"],
)  # fmt: skip
@pytest.mark.parametrize("path", ["advice", "incidents", "log-entries", "rounds"])
def test_a_refusal_is_short_whatever_was_sent(house: House, path: str, body: dict[str, Any]) -> None:
    answer = client_of(house, "shift-manager").post(
        f"/api/v1/{path}/", json.dumps(body), content_type="application/json"
    )
    assert answer.status_code in (400, 403)
    assert len(answer.content) < 50_000


def test_a_denial_is_short_whatever_was_asked_for(house: House) -> None:
    client = client_of(house, "administrator")
    client.get("/admin/games/round/" + "9" * 6000 + "/change/")
    client.get("/api/v1/incidents/" + "x" * 6000 + "/")
    assert all(len(denial.thing) + len(denial.door) < 2000 for denial in Denial.objects.all())


# --- Mail ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "encrypted"),
    [
        ("smtp://mail.example.com", True), ("smtp://10.0.0.7:25", True), ("smtp://user:x@localhost", True),
        ("smtps://mail.example.com", True), ("smtp://localhost:25", False), ("smtp://127.0.0.1", False),
    ],
)  # fmt: skip
def test_no_mail_leaves_the_machine_unencrypted(url: str, encrypted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMAIL_URL", url)
    read = email("EMAIL_URL")
    assert (read["EMAIL_USE_TLS"] or read["EMAIL_USE_SSL"]) is encrypted
    assert not (read["EMAIL_USE_TLS"] and read["EMAIL_USE_SSL"])
