"""Every form of the product, sent empty, blank and with odd values, as every role: refused with a reason, no 500."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.db import transaction
from django.test import Client

from tests.conftest import House
from tests.games.logins import logged_in
from tests.test_routes import PATHS, QUERIES, ROLES, ROUTES, concrete, samples  # noqa: F401  a record of every kind

#: What is put into every field of a form at once.
ODD = {
    "blank": "", "spaces": "   ", "commas": ",,", "zero byte": "a\x00b", "negative": "-1", "huge": "9" * 40,
    "quote": "'\"><script>", "moment": "9999-12-31 23:59:59", "letters": "é漢",
}  # fmt: skip
HTTP_REFUSED, NOT_ALLOWED, HTTP_BROKEN = 400, 405, 500
CLOSED = (401, 403)
#: Not forms of a record: the session itself, and what answers without asking anything.
SESSION = {"admin:login", "admin:logout", "admin:password_change", "home"}
#: Buttons rather than forms: an empty one is a complete request, and does what the button says.
BUTTONS = {
    "admin:audits_finding_acknowledge", "admin:audits_finding_acknowledge_many", "admin:own_sessions",
}  # fmt: skip


class FormFields(HTMLParser):
    """The names of all fields that a page would send by POST."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.buttons: set[str] = set()
        self.is_inside = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag == "form":
            self.is_inside = (named.get("method") or "").lower() == "post" and "logout" not in (
                named.get("action") or ""
            )
        elif self.is_inside and named.get("name") and tag in ("input", "select", "textarea", "button"):
            is_button = tag == "button" or named.get("type") == "submit"
            (self.buttons if is_button else self.names).add(str(named["name"]))

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.is_inside = False


@contextmanager
def undone() -> Iterator[None]:
    """Whatever a form does is taken back, so that the next one finds the same house."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def client_of(house: House, role: str) -> Client:
    if role == "anonymous":
        return Client(raise_request_exception=False)
    return logged_in(house[role], raise_request_exception=False)


def said(answer: Any) -> str:
    """What an answer tells the person: errors at fields, messages, the text of a refusal."""
    if answer.status_code in (301, 302):
        return " ".join(map(str, get_messages(answer.wsgi_request))) or answer.headers["Location"]
    if answer.status_code >= HTTP_REFUSED:
        return re.sub(r"<[^>]*>", " ", answer.content.decode()).strip()
    for layer in answer.context or ():
        for name in ("form", "adminform", "errors"):
            held = layer.get(name)
            form = getattr(held, "form", held)
            if errors := getattr(form, "errors", None) or (held if name == "errors" else None):
                return str(errors)
    return " ".join(map(str, get_messages(answer.wsgi_request)))


def form_pages(house: House, role: str, held: dict[str, Any]) -> Iterator[tuple[str, str, set[str], set[str]]]:
    """Every page of the site that this role can open, with the fields of its forms."""
    client = client_of(house, role)
    column = ROLES.index(role)
    for name, path in PATHS.items():
        if not path.startswith("admin/") or name in SESSION or ROUTES[name][column] != 200:
            continue
        address = concrete(path, held) + QUERIES.get(name, "")
        answer: Any = client.get(address)
        if answer.streaming:
            b"".join(answer.streaming_content)  # read to its end, and so closed
        if answer.streaming or "text/html" not in answer.headers["Content-Type"]:
            continue
        found = FormFields(answer.content.decode())
        if names := found.names - {"csrfmiddlewaretoken"}:
            yield name, address, names, found.buttons


@pytest.mark.parametrize("role", ROLES[2:])
def test_no_route_breaks_when_nothing_is_sent(role: str, house: House, samples: dict[str, Any]) -> None:  # noqa: F811
    """Pages and API alike, wherever the role is let in (tests/test_routes.py posts to what it is not let into)."""
    client, broken, silent, column = client_of(house, role), [], [], ROLES.index(role)
    for name, path in PATHS.items():
        if name in SESSION or ROUTES[name][column] in CLOSED:
            continue
        as_json: Any = {"content_type": "application/json"} if name.startswith("api:") else {}
        with undone():
            answer: Any = client.post(concrete(path, samples) + QUERIES.get(name, ""), **as_json)
        told = b"".join(answer.streaming_content) if answer.streaming else said(answer)
        if answer.status_code >= HTTP_BROKEN and name != "readyz":
            broken.append((name, answer.status_code))
        elif answer.status_code >= HTTP_REFUSED and answer.status_code != NOT_ALLOWED and not told:
            silent.append(name)
    assert (broken, silent) == ([], [])


@pytest.mark.parametrize("role", ROLES[2:])
def test_every_form_sent_blank_says_what_is_missing(role: str, house: House, samples: dict[str, Any]) -> None:  # noqa: F811
    client, broken, silent, tried = client_of(house, role), [], [], 0
    for name, address, fields, _ in form_pages(house, role, samples):
        for how in ("blank", "spaces"):
            tried += 1
            with undone():
                answer = client.post(address, dict.fromkeys(fields, ODD[how]))
                told = said(answer)
            if answer.status_code >= HTTP_BROKEN:
                broken.append((name, how))
            elif not told and name not in BUTTONS:
                silent.append((name, how, answer.status_code))
    assert (broken, silent) == ([], [])
    assert tried or role in ("auditor",)


@pytest.mark.parametrize("role", ["casino-manager", "compliance", "surveillance", "administrator"])
def test_no_form_breaks_on_odd_values(role: str, house: House, samples: dict[str, Any]) -> None:  # noqa: F811
    """These roles reach every form of the product between them."""
    client, broken = client_of(house, role), []
    for name, address, fields, buttons in form_pages(house, role, samples):
        for how, value in ODD.items():
            with undone():
                answer = client.post(address, dict.fromkeys(fields | buttons, value))
            if answer.status_code >= HTTP_BROKEN:
                broken.append((name, how))
    assert broken == []
