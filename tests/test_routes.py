"""Every route × role × method × place of the object, by tests/routes.toml: who may what, and nothing left unsaid."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.test import override_settings
from pytest_django import DjangoDbBlocker

from taisai_backoffice.web.middleware import METHODS, PAGE_METHODS
from tests import servers
from tests.conftest import House, build_house, connected_to
from tests.games.api_calls import DOCUMENT, one_connection
from tests.matrix.authors import AUTHORS, acted
from tests.matrix.expected import (
    ELSEWHERE,
    ONLY_LOOKED_AT,
    ONLY_READ,
    OUTSIDERS,
    PIT_ROLES,
    POSTS,
    ROLES,
    ROUTES,
    expected,
)
from tests.matrix.places import CASINO, OWN, PIT, Samples, all_samples, whole_house
from tests.matrix.walk import PATHS, QUERIES, Caller, example_of, filled, model_of, quiet_denials

__all__ = ["PATHS", "QUERIES", "ROLES", "ROUTES", "concrete", "samples"]  # what other walks of the routes use
UNDRAWN = "tests.matrix.walk.UndrawnMiddleware"


def concrete(path: str, samples: Samples) -> str:
    """A path with its open places filled from the own pit."""
    return filled(path, samples)


@pytest.fixture
def samples(house: House) -> Samples:
    """An object for each place that a path leaves open."""
    return whole_house(house)


# --- Nothing left unsaid ---


def test_every_route_has_its_line_and_every_line_its_route() -> None:
    assert set(PATHS) == set(ROUTES)
    assert {*POSTS, *ONLY_READ, *ONLY_LOOKED_AT, *ELSEWHERE} <= set(ROUTES)


def test_every_line_answers_for_every_role() -> None:
    rows = [*ROUTES.values(), *POSTS.values(), *(row for rows in ELSEWHERE.values() for row in rows.values())]
    assert {len(row) for row in rows} == {len(ROLES)}


# --- The walk ---


@pytest.fixture(scope="module")
def floor(django_db_blocker: DjangoDbBlocker) -> Iterator[tuple[House, dict[str, Samples]]]:
    """A house with an object of every kind in every place, made once. Nothing that a walk does there stays."""
    with servers.clone() as name, django_db_blocker.unblock(), connected_to(name), one_connection():
        house = build_house()
        yield house, all_samples(house)


@pytest.fixture(scope="module")
def caller(floor: tuple[House, dict[str, Samples]]) -> Iterator[Caller]:
    """Pages are not drawn: what they answer is decided before. One test below draws each of them once."""
    with override_settings(MIDDLEWARE=[*settings.MIDDLEWARE, UNDRAWN]), quiet_denials():
        yield Caller(floor[0])


def requests(samples: dict[str, Samples], role: str) -> Iterator[tuple[str, str, str]]:
    """What a role is asked to try: a route, a method, and where its object is.

    Without a login no object is looked for. What is in another pit is far only for people of one pit; of the other
    roles one tries it all the same, another one on each route.
    """
    farther = [role for role in ROLES if role not in (*OUTSIDERS, *PIT_ROLES)]
    for number, (name, path) in enumerate(PATHS.items()):
        places = [OWN]
        if model_of(path) and not name.startswith("admin/") and role not in OUTSIDERS:
            tries_pit = role in PIT_ROLES or role == farther[number % len(farther)]
            places += [place for place in (PIT, CASINO) if has_own(samples, place, model_of(path))]
            places = [place for place in places if place != PIT or tries_pit]
        for place in places:
            for method in ("GET", "POST"):
                yield name, method, place


def has_own(samples: dict[str, Samples], place: str, model: str) -> bool:
    """Some things belong to no pit, or to no casino."""
    return model in samples[place] and samples[place][model] is not samples[OWN][model]


@pytest.mark.parametrize("role", ROLES)
def test_each_role_gets_the_answer_that_the_data_says(
    role: str, floor: tuple[House, dict[str, Samples]], caller: Caller
) -> None:
    _, samples = floor
    wrong = {}
    for name, method, place in requests(samples, role):
        address = filled(PATHS[name], samples[place]) + QUERIES.get(name, "")
        body = example_of(DOCUMENT, PATHS[name]) if method == "POST" else None
        answer, wanted = caller.ask(role, method, address, body), expected(name, method, place, role)
        if answer != wanted:
            wrong[f"{method} {name}, {place}"] = f"{answer}, not {wanted}"
    assert wrong == {}


def test_what_is_only_looked_at_or_sent_takes_no_other_method(
    floor: tuple[House, dict[str, Samples]], caller: Caller
) -> None:
    """Pages before anybody is known; calls by their description, and 401 without a login."""
    wrong = {}
    for name, path in PATHS.items():
        address = filled(path, floor[1][OWN])
        is_call = name.startswith("api:") and name != "api:docs"
        taken = DOCUMENT["paths"].get("/" + re.sub(r"<\w+:(\w+)>", r"{\1}", path), {"get": {}})
        for method in ("PUT", "PATCH", "DELETE", "TRACE", "BREW"):
            if method.lower() not in taken:
                outside = 401 if method in METHODS else 405
                wanted = {"anonymous": outside, "casino-manager": 405} if is_call else {"casino-manager": 405}
                answers = {role: caller.ask(role, method, address) for role in wanted}
                if answers != wanted:
                    wrong[f"{method} {name}"] = answers
    assert wrong == {}
    assert PAGE_METHODS == ("GET", "HEAD", "POST")


def test_asking_for_the_headers_answers_as_asking_for_the_page(
    floor: tuple[House, dict[str, Samples]], caller: Caller
) -> None:
    """One role a route, another one on the next."""
    asked = {name: ROLES[number % len(ROLES)] for number, name in enumerate(PATHS)}
    answers = {
        name: caller.ask(role, "HEAD", filled(PATHS[name], floor[1][OWN]) + QUERIES.get(name, ""))
        for name, role in asked.items()
    }
    assert answers == {name: expected(name, "HEAD", OWN, role) for name, role in asked.items()}


def test_every_page_can_be_drawn(floor: tuple[House, dict[str, Samples]]) -> None:
    """By one of the roles that may open it, another one on the next page; a refusal, too."""
    house, samples = floor
    draws = Caller(house, accept="text/html, application/json")
    answers, wanted = {}, {}
    for number, (name, path) in enumerate(PATHS.items()):
        may = [role for role in ROLES if ROUTES[name][ROLES.index(role)] == 200] or ROLES[-1:]
        role = may[number % len(may)]
        answers[name] = draws.ask(role, "GET", filled(path, samples[OWN]) + QUERIES.get(name, ""))
        wanted[name] = expected(name, "GET", OWN, role)
    assert answers == wanted


# --- What the data itself has to say ---


def test_an_auditor_reads_everything_and_writes_nothing() -> None:
    pages = [
        name
        for name in PATHS
        if re.search(r"(games|audits|celery\w*)_.*_(change|simple_history|add|delete)$", name)
        and name != "admin:audits_reportrun_add"  # a report is an export, which writes nothing of the game
    ]
    assert pages
    assert {name: expected(name, "POST", OWN, "auditor") for name in pages} == dict.fromkeys(pages, 403)


def test_what_a_role_may_not_open_it_may_not_send_to_either() -> None:
    wrong = [
        (name, role)
        for name in PATHS
        for role in ROLES
        if expected(name, "GET", OWN, role) == 403 and expected(name, "POST", OWN, role) not in (403, 405)
    ]
    assert wrong == []


def test_nothing_of_another_casino_opens_for_anybody() -> None:
    wrong = [
        (name, method, role)
        for name, path in PATHS.items()
        if model_of(path) and not name.startswith("admin/")
        for method in ("GET", "POST")
        for role in ROLES
        if expected(name, method, CASINO, role) in (200, 201)
    ]
    assert wrong == []


# --- One's own and another's ---


@pytest.mark.parametrize("case", AUTHORS, ids=lambda case: f"{case['route']} {case['role']}")
@pytest.mark.parametrize("whose", ["own", "other"])
def test_the_author_is_not_who_decides(
    case: dict[str, Any], whose: str, floor: tuple[House, dict[str, Samples]], caller: Caller
) -> None:
    house, samples = floor
    assert acted(house, samples[OWN], caller, case, whose) == case[whose]
