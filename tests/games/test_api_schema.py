"""The description of the API is true: every route is in it, and no role's call gets an answer that is not in it."""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import schemathesis
from django.core.management import call_command
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from django.test import Client
from django.urls import resolve
from django.utils import timezone
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, settings
from pytest_django import DjangoDbBlocker
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from audits.api.ruling_schemas import RULING_SCHEMAS
from audits.api.schemas import INCIDENT_SCHEMAS
from audits.reading import LONGEST_LINE
from audits.services.consequences import Basis, consequence_execute, round_settle, rounds_void
from audits.services.evidence import evidence_add
from audits.services.incidents import Report, incident_note, incident_open
from audits.services.logs import log_write
from audits.services.rulings import Draft, ruling_make
from games.api.live_schemas import LIVE_SCHEMAS
from games.api.openapi import BODY_REFUSALS, REFUSALS
from games.api.schemas import BOX_KEY, DIFFERENTIAL_KEY, SCHEMAS
from games.engine.sign_edits import Edits
from games.models import Round, Table
from games.proposals import known_keys
from games.services.dice import dice_inspect
from games.services.limits import limits_approve, limits_edit
from games.services.live import live_open, live_step
from games.services.rounds import round_record
from games.services.settlement import Setting
from games.services.terminals import terminal_create
from tests import servers
from tests.audits.files import PNG
from tests.conftest import OPERATOR, PEOPLE, House, build_house, connected_to
from tests.games.engine.oracle import V6
from tests.games.floor import bare_table, dice_of, open_table
from tests.games.rounds.samples import current, line
from tests.test_routes import PATHS, ROUTES
from tests.test_routes import ROLES as ROUTE_ROLES

DOCUMENT: dict[str, Any] = SchemaGenerator().get_schema(public=True)
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
        filled = path.format(code="TS-01", key=1, number="IN-2026-000001")
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
    client = Client()
    client.force_login(house["administrator"])
    assert client.get("/api/v1/schema/").content.startswith(b"openapi: 3.1")
    assert client.get("/api/v1/schema/?format=json").json()["info"]["title"] == "Tai Sai back office"
    assert client.get("/api/v1/schema/", headers={"Accept": "application/json"}).json()["openapi"].startswith("3.1")


# --- Calls of every kind, by everybody -------------------------------------------------------------

ROLES = ["anonymous", *PEOPLE]
TOKEN = "c" * 32
CHECKS = [
    not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance,
    negative_data_rejection, unsupported_method,
]  # fmt: skip


def calls(*, thorough: bool) -> Any:
    """Calls made from the description, right and wrong, always the same; thorough: each parameter at its bounds."""
    generation = {"mode": "all", "deterministic": True, "with-security-parameters": False}
    config = {"seed": 1, "generation": generation, "phases": {"coverage": {"enabled": thorough}}}
    schema = schemathesis.openapi.from_dict(DOCUMENT, config=schemathesis.Config.from_dict(config))
    schema.app = get_wsgi_application()
    return schema


thorough, quick = calls(thorough=True), calls(thorough=False)


@pytest.fixture(scope="module")
def callers(django_db_blocker: DjangoDbBlocker) -> Iterator[dict[str, dict[str, Any]]]:
    """How each role calls, in a house that has everything once. Calls leave their mark there: it is a clone."""
    with servers.clone() as name, django_db_blocker.unblock(), connected_to(name), one_connection():
        house = build_house()
        table = open_table(house)
        bare_table(house, "TS-02", pit="P2")
        dice_inspect(
            actor=house["pit-supervisor"], dice_set=dice_of(house), result="damaged", seal_found="S-1", remarks="A chip"
        )
        for number in range(1, 7):
            lower = Edits({("single", "min"): number})
            proposal = limits_edit(actor=house["pit-manager"], edits={table: lower}, reason="Sample")
        limits_approve(actor=house["shift-manager"], proposal=proposal, reason="Agreed")
        round_record(actor=OPERATOR, line=line(current()), channel="api")
        _, key = terminal_create(actor=OPERATOR, name="T1", tables=[table], reason="Sample")
        live_open(actor=OPERATOR, document={"source": "floor", "ref": "L-1", "table": table.code})
        live_step(actor=OPERATOR, key=1, document={"call": "1", "kind": "place-bets"})
        report_incidents(house, table)
        rule(house, table)
        terminal = {"headers": {"Authorization": f"Bearer {key}"}}
        yield {role: credentials(house, role) for role in ROLES} | {"terminal": terminal}


def report_incidents(house: House, table: Table) -> None:
    """Something of everything, open and confidential."""
    surveillance = house["surveillance"]
    for is_confidential in (False, True):
        log_write(
            actor=surveillance, casino=house.casino, table=table, at=timezone.now(), summary="A die leaned.",
            is_confidential=is_confidential,
        )  # fmt: skip
    report = Report(
        house.casino, timezone.now(), "interruption", "The lights went out.", table=table,
        facts={"known_dice": "2,?,?"}, rounds=list(Round.objects.all()), people=[("patron", "seat-3")],
    )  # fmt: skip
    incident = incident_open(actor=surveillance, report=report)
    incident_note(actor=surveillance, incident=incident, text="Seen.", is_confidential=True)
    evidence_add(actor=surveillance, about=incident, description="Felt", name="x.png", content=io.BytesIO(PNG))


def rule(house: House, table: Table) -> None:
    """A ruling that stands, one that follows it, a round settled by that, and a void that waits for a second person."""
    manager, one = house["shift-manager"], Round.objects.get()
    filed = [
        incident_open(
            actor=house["surveillance"],
            report=Report(house.casino, timezone.now(), "other", account, table=table, rounds=[one]),
        )
        for account in ("A late bet.", "Another late bet.")
    ]
    words: dict[str, Any] = {
        "kind": "interpretation", "question": "Does it count?", "decision": "No.", "reasoning": "It was late.",
    }  # fmt: skip
    standing = Draft(rules=[f"{V6}#5.7"], scope="standing", setting=Setting(excess="filled"), **words)
    first = ruling_make(actor=manager, incident=filed[0], draft=standing)
    second = ruling_make(actor=manager, incident=filed[1], draft=Draft(rules=[f"{V6}#5.7"], follows=first, **words))
    order = round_settle(actor=manager, basis=Basis(filed[1], second), round=one, dice=[6, 6, 5], reason="As ruled")
    consequence_execute(actor=house["casino-manager"], consequence=order, reason="Agreed")
    rounds_void(actor=manager, basis=Basis(filed[0], first), rounds=[one], reason="As ruled")


@contextmanager
def one_connection() -> Iterator[None]:
    """Thousands of calls would else open and close as many."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    try:
        yield
    finally:
        for signal in (request_started, request_finished):
            signal.connect(close_old_connections)


def credentials(house: Any, role: str) -> dict[str, Any]:
    if role == "anonymous":
        return {}
    client = Client()
    client.force_login(house[role])
    session = client.cookies["taisai_session"].value
    return {"cookies": {"taisai_session": session, "taisai_csrf": TOKEN}, "headers": {"X-CSRFToken": TOKEN}}


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


def aim(call: Any) -> None:
    """At things that are there: nobody hits upon them by chance."""
    match call.path_parameters:
        case {"key": _} if call.operation.path.endswith("/content/"):
            call.path_parameters["key"] = 0  # these calls leave a file open that they are sent
        case {"key": int() as key}:
            call.path_parameters["key"] = key % 9
        case {"number": str()}:
            series = "RU" if "/rulings/" in call.operation.path else "IN"
            call.path_parameters["number"] = f"{series}-{timezone.now().year}-000001"
    match call.body:
        case {"tables": [str()]}:
            call.body["tables"] = ["TS-01"]
        case {"table": str() as code} if 0 < len(code.strip()) <= LONGEST_LINE:
            call.body["table"] = "TS-01"
        case {"incident": str() as number} if 0 < len(number.strip()) <= LONGEST_LINE:
            call.body["incident"] = f"IN-{timezone.now().year}-000001"


@pytest.mark.parametrize("role", ROLES)
def test_those_calls_come_as_far_as_the_role_may(role: str, callers: Any) -> None:
    answer = quick["/api/v1/tables/"]["GET"].Case().call(**callers[role])
    assert answer.status_code == ROUTES["api:tables"][ROUTE_ROLES.index(role)]
