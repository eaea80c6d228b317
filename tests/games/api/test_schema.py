"""The description of the API is true: every route is in it, and no role's call gets an answer that is not in it."""

import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from django.core.management import call_command
from django.urls import resolve
from hypothesis import HealthCheck, settings
from pytest_django import DjangoDbBlocker

from audits.api.schemas import INCIDENT_SCHEMAS
from audits.rulings.api.schemas import RULING_SCHEMAS
from games.api.openapi import BODY_REFUSALS, REFUSALS
from games.api.schemas import BOX_KEY, DIFFERENTIAL_KEY, SCHEMAS
from games.limits.serializers import known_keys
from games.live.api.schemas import LIVE_SCHEMAS
from tests.games.api_calls import CHECKS, DOCUMENT, ROLES, aim, calls, everybody
from tests.games.logins import logged_in
from tests.test_routes import PATHS, ROUTES
from tests.test_routes import ROLES as ROUTE_ROLES

ALL = SCHEMAS | LIVE_SCHEMAS | INCIDENT_SCHEMAS | RULING_SCHEMAS
METHODS = {"get", "post", "put", "patch", "delete"}
OPERATIONS = {
    (path, method): operation
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
    if method in METHODS
}

# --- The document ----------------------------------------------------------------------------------


def described(route: str) -> str:
    return "/" + re.sub(r"<\w+:(\w+)>", r"{\1}", route)


CALLS = {described(path) for name, path in PATHS.items() if name.startswith("api:")}
OURSELVES = {"/api/v1/schema/", "/api/v1/docs/"}


def test_every_route_is_described_and_every_description_has_its_route() -> None:
    assert set(DOCUMENT["paths"]) == CALLS - OURSELVES


def test_every_method_of_a_route_is_described() -> None:
    for path in DOCUMENT["paths"]:
        key = uuid.UUID(int=0) if "/reports/" in path else 1
        filled = path.format(code="TS-01", key=key, number="IN-2026-000001")
        view = resolve(filled).func.cls()  # type: ignore[attr-defined]
        taken = {method.lower() for method in view.allowed_methods} & METHODS
        assert {method for one, method in OPERATIONS if one == path} == taken, path


def test_it_is_valid_and_made_without_a_warning(tmp_path: Path) -> None:
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(tmp_path / "schema.yaml"))
    assert (tmp_path / "schema.yaml").stat().st_size > 0


@pytest.mark.parametrize("call", OPERATIONS, ids=" ".join)
def test_every_call_says_what_it_is_for_and_how_it_is_refused(call: tuple[str, str]) -> None:
    operation = OPERATIONS[call]
    assert operation["summary"]
    assert all(parameter.get("description") for parameter in operation.get("parameters", []))
    wanted = REFUSALS | (BODY_REFUSALS if "requestBody" in operation else {})
    assert set(operation["responses"]) > {str(code.value) for code in wanted}


@pytest.mark.parametrize("name", [name for name, schema in ALL.items() if "examples" in schema])
def test_an_example_is_what_it_is_an_example_of(name: str) -> None:
    schema = {"$ref": f"#/components/schemas/{name}", "components": {"schemas": ALL}}
    checker = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
    assert [list(checker.iter_errors(example)) for example in ALL[name]["examples"]] == [[]]


def test_the_names_of_boxes_are_those_of_the_rulebooks() -> None:
    assert all(re.search(BOX_KEY["pattern"], key) for key in known_keys()["boxes"])
    assert set(DIFFERENTIAL_KEY["enum"]) == known_keys()["differential"]


# --- Who may read it -------------------------------------------------------------------------------


def test_it_is_read_as_yaml_or_json(house: Any) -> None:
    client = logged_in(house["administrator"])
    assert client.get("/api/v1/schema/").content.startswith(b"openapi: 3.1")
    assert client.get("/api/v1/schema/?format=json").json()["info"]["title"] == "Tai Sai back office"
    assert client.get("/api/v1/schema/", headers={"Accept": "application/json"}).json()["openapi"].startswith("3.1")


@pytest.mark.parametrize("method", ["OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE"])
def test_its_page_is_only_read(house: Any, method: str) -> None:
    client = logged_in(house["pit-manager"])
    assert client.generic(method, "/api/v1/docs/").status_code == 405
    assert client.head("/api/v1/docs/").status_code == 200


# --- Calls of every kind, by everybody -------------------------------------------------------------

thorough, quick = calls(thorough=True), calls(thorough=False)


@pytest.fixture(scope="module")
def callers(django_db_blocker: DjangoDbBlocker) -> Iterator[dict[str, dict[str, Any]]]:
    with django_db_blocker.unblock(), everybody() as callers:
        yield callers


@thorough.parametrize()
@settings(deadline=None, max_examples=10, suppress_health_check=[HealthCheck.too_slow])
def test_who_may_do_most_gets_no_answer_that_is_not_described(case: Any, callers: Any) -> None:
    aim(case)
    case.call_and_validate(checks=CHECKS, **callers["casino-manager"])


@pytest.mark.parametrize("role", [*ROLES, "terminal"])
@quick.parametrize()
@settings(deadline=None, max_examples=2, suppress_health_check=[HealthCheck.too_slow])
def test_nobody_gets_an_answer_that_is_not_described(case: Any, role: str, callers: Any) -> None:
    aim(case)
    case.call_and_validate(checks=CHECKS, **callers[role])


@pytest.mark.parametrize("role", ROLES)
def test_those_calls_come_as_far_as_the_role_may(role: str, callers: Any) -> None:
    answer = quick["/api/v1/tables/"]["GET"].Case().call(**callers[role])
    assert answer.status_code == ROUTES["api:tables"][ROUTE_ROLES.index(role)]
