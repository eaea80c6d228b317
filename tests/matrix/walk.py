"""Walk the routes: fill in a path, ask as a role, take back what was done."""

import json
import logging
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection, transaction
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from games.access.services import denials
from tests.conftest import House
from tests.matrix.places import Samples, key_of

#: The model behind a call of the API, by the first part of its path.
CALLS = {
    "tables": "table", "limit-proposals": "limitproposal", "dice-sets": "diceset", "tumblers": "tumbler",
    "rounds": "round", "live-rounds": "liveround", "log-entries": "logentry", "evidence": "evidence",
    "incidents": "incident", "rulings": "ruling", "consequences": "consequence", "repayments": "repayment",
    "reports": "reportrun",
}  # fmt: skip
QUERIES = {"admin:autocomplete": "?app_label=games&model_name=duty&field_name=staff&term=", "api:search": "?q=dice"}
API_PAGE = "/api/v1/docs/"
IDLE_SECONDS = 300
NO_LOGIN = ("anonymous", "dealer")
OPEN_PLACE = re.compile(r"<\w+:\w+>|\(\[\^/\]\+\)")


def all_routes(resolver: URLResolver | None = None, prefix: str = "", names: str = "") -> Iterator[tuple[str, str]]:
    """Yield the name and the path of every route; one without a name goes by its path."""
    for entry in (resolver or get_resolver()).url_patterns:
        path = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from all_routes(entry, path, f"{names}{entry.namespace}:" if entry.namespace else names)
        elif isinstance(entry, URLPattern):
            yield (names + entry.name if entry.name else path), path


PATHS = dict(all_routes())


def model_of(path: str) -> str:
    """The model whose object a path names; empty where it names none."""
    if not OPEN_PLACE.search(path) or path.startswith(("admin/r/", "admin/second-factor/")):
        return ""
    parts = path.split("/")
    if parts[0] == "api":
        return CALLS[parts[2]]
    return "loginsession" if parts[1] == "sessions" else parts[2]


def filled(path: str, samples: Samples) -> str:
    """A path with its open places filled: `admin/games/pit/<path:object_id>/change/` and its like."""
    path = re.sub(r"\^\(\?P<app_label>[^)]*\)/\$", "games/", path).replace("(?P<url>.*)$", "nowhere")
    path = re.sub(r"<\w+:content_type_id>", key_of(samples["content_type"]), path)
    model = model_of(path)
    if not model:
        return "/" + OPEN_PLACE.sub("1", path)
    thing = samples[model]
    if "history/([^/]+)" in path:
        version = thing.history.order_by("history_id").first().pk
        path = path.replace("^([^/]+)/history/([^/]+)/$", f"{key_of(thing)}/history/{version}/")
    named = getattr(thing, "code" if model == "table" else "number", "")
    return "/" + OPEN_PLACE.sub(key_of(thing), re.sub(r"<str:\w+>", str(named), path))


class UndrawnMiddleware:
    """Leave out the drawing of a page, after its view has decided what it answers."""

    def __init__(self, get_response: Any) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> Any:
        return self.get_response(request)

    def process_template_response(self, request: HttpRequest, response: Any) -> Any:
        if isinstance(response, TemplateResponse):
            response.content = b""
        return response


class KeptConnection:
    """The second connection, by which denials are put on record: kept, as a pool does in production."""

    def __init__(self) -> None:
        self.kept = connection.copy()

    def copy(self) -> "KeptConnection":
        return self

    def cursor(self) -> Any:
        return self.kept.cursor()

    def close(self) -> None:
        """Left open for the next denial."""


@contextmanager
def quiet_denials() -> Iterator[None]:
    """Refusals by the thousand: on record by one connection, and not in the log."""
    kept = KeptConnection()
    logging.disable(logging.CRITICAL)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(denials, "connection", kept)
            yield
    finally:
        logging.disable(logging.NOTSET)
        kept.kept.close()


class Caller:
    """Everybody at one keyboard: a client that asks as one role after another. Nothing that is done stays done."""

    def __init__(self, house: House, accept: str = "application/json") -> None:
        """Without an `Accept` of pages, a refusal is a problem and no page has to be drawn for it."""
        self.client = Client(headers={"accept": accept})
        self.house = house
        self.cookies: dict[str, tuple[float, dict[str, str]]] = {}

    def cookies_of(self, role: str) -> dict[str, str]:
        """A session of the role, begun anew every few minutes: as nothing stays done, it is idle all the time."""
        since, cookies = self.cookies.get(role, (-IDLE_SECONDS, {}))
        if role in self.house.people and time.monotonic() - since >= IDLE_SECONDS:
            self.client.cookies = SimpleCookie()
            self.client.force_login(self.house[role])
            cookies = {name: one.value for name, one in self.client.cookies.items()}
            self.cookies[role] = time.monotonic(), cookies
        return cookies

    def ask(self, role: str, method: str, address: str, body: Any = None) -> int:
        """The status; a file that comes with it is read to its end, and so closed."""
        self.client.cookies = SimpleCookie(self.cookies_of(role))
        with transaction.atomic():
            accept = {"accept": "text/html"} if address == API_PAGE else None
            data, content_type = sent(address, method, body)
            answer: Any = self.client.generic(method, address, data, content_type, headers=accept)
            if answer.streaming:
                b"".join(answer.streaming_content)
            transaction.set_rollback(True)
        is_lost = answer.headers.get("Location", "").startswith("/admin/login/") and role not in NO_LOGIN
        assert not is_lost, f"{role} was asked to log in at {address}: the session is gone."
        return int(answer.status_code)


def sent(address: str, method: str, body: Any) -> tuple[str, str]:
    """What goes along with a request, and its type: JSON to a call, a form to a page."""
    if method in ("GET", "HEAD"):
        return "", ""
    if address.startswith("/api/"):
        return json.dumps(body or {}), "application/json"
    return urlencode(body or {}), "application/x-www-form-urlencoded"


def example_of(document: dict[str, Any], path: str) -> Any:
    """The body that the description of the API gives as an example of a POST; None where it describes none."""
    described = document["paths"].get("/" + re.sub(r"<\w+:(\w+)>", r"{\1}", path), {}).get("post", {})
    schema = described.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return next(iter(schema.get("examples", [])), None)
