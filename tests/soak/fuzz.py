"""Odd requests by everybody: whatever is asked of the site, it answers. Never a 5xx, never an unhandled exception."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any
from urllib.parse import quote, urlencode

from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from tests import servers
from tests.conftest import build_house, connected_to
from tests.soak.oddities import BODIES, BUTTONS, FIELDS, FORM, HEADERS, METHODS, ODD, PARAMETERS, QUERIES, SOUND

REQUESTS = 150


@dataclass(frozen=True)
class OddRequest:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    content_type: str


def scenario(seed: int) -> None:
    random = Random(seed)
    with servers.clone() as name, connected_to(name):
        visitors = people()
        for _ in range(REQUESTS):
            who = random.choice(list(visitors))
            verify_answered(random.choice(visitors[who]), who, odd_request(random))


def people() -> dict[str, list[Client]]:
    """Nobody, and somebody of each role: where a form's token is asked for, and, to get past it, where it is not."""
    house = build_house()
    visitors = {who: [Client(enforce_csrf_checks=True), Client(), Client()] for who in ("nobody", *house.people)}
    for role, person in house.people.items():
        for client in visitors[role]:
            client.force_login(person)
    return visitors


def verify_answered(client: Client, who: str, asked: OddRequest) -> None:
    try:
        headers = {"host": "localhost"} | asked.headers
        answer = client.generic(asked.method, asked.path, asked.body, asked.content_type, headers=headers)
        b"".join(answer)  # what is streamed is read to its end
    except Exception as error:
        error.add_note(f"{who} asked: {asked}")
        raise
    assert answer.status_code < 500, f"{answer.status_code} when {who} asked: {asked}"


# --- Making requests -------------------------------------------------------------------------------


def odd_request(random: Random) -> OddRequest:
    method = random.choice(METHODS)
    path = odd_path(random) + random.choice(["", f"?{odd_query(random)}"])
    headers = dict([random.choice(HEADERS)]) if random.random() < 0.2 else {}
    body, content_type = odd_body(random) if method != "GET" else (b"", FORM)
    return OddRequest(method, path, headers, body, content_type)


def odd_path(random: Random) -> str:
    """A page that there is, with something odd in the place of an id; now and then no page at all."""
    route = random.choice(ROUTES) if random.random() < 0.9 else "/admin/{}/{}/{}"
    return re.sub("{}", lambda _: quote(odd_value(random), safe=random.choice(["", "/", "/%"])), route)


def odd_query(random: Random) -> str:
    if random.random() < 0.1:
        return random.choice(QUERIES)
    return urlencode([(random.choice(PARAMETERS), odd_value(random)) for _ in range(random.randint(1, 4))])


def odd_body(random: Random) -> tuple[bytes, str]:
    """A sound form with some of its fields made odd and some left out; now and then no form at all."""
    if random.random() < 0.2:
        return random.choice(BODIES)
    form = FIELDS | dict(random.sample(sorted(BUTTONS.items()), random.randint(0, 2)))
    for name in random.sample(sorted(form), random.randint(0, 5)):
        form[name] = odd_value(random)
    for name in random.sample(sorted(form), random.randint(0, 3)):
        del form[name]
    return urlencode(form).encode(), FORM


def odd_value(random: Random) -> str:
    return random.choice(random.choice([ODD, SOUND]))


# --- Pages -----------------------------------------------------------------------------------------

#: `<path:object_id>` in a path, a group in a regular expression.
VARYING = re.compile(r"\([^)]*\)|<[^>]+>")


def routes(patterns: list[Any], before: str = "/") -> Iterator[str]:
    """Every address of the site, with {} where something varies."""
    for pattern in patterns:
        here = before + VARYING.sub("{}", str(pattern.pattern)).strip("^$")
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, here)
        elif isinstance(pattern, URLPattern):
            yield here


#: Readiness answers 503 where no worker is at work, and rightly so.
ROUTES = [route for route in routes(get_resolver().url_patterns) if route != "/readyz"]
