"""Calls made from the description of the API, by everybody, in a house that has everything once."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from django.utils import timezone
from drf_spectacular.generators import SchemaGenerator
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from audits.incidents.parser import LONGEST_LINE
from audits.incidents.services.evidence import evidence_add
from audits.incidents.services.incidents import IncidentReport, incident_note, incident_open
from audits.incidents.services.log import log_write
from audits.rulings.services.corrective_actions import Basis, consequence_execute, round_settle, rounds_void
from audits.rulings.services.rulings import RulingDraft, ruling_make
from games.engine.signs.edits import Edits
from games.floor.services.dice import dice_inspect
from games.limits.services.proposals import limits_approve, limits_edit
from games.live.services import live_open, live_step
from games.models import Round, Table
from games.rounds.services.recording import round_record
from games.settlement_policies.services import Setting
from games.terminals.services import terminal_create
from tests import servers
from tests.audits.files import PNG
from tests.conftest import OPERATOR, PEOPLE, House, build_house, connected_to
from tests.games.engine.oracle import V6
from tests.games.floor_setup import bare_table, dice_of, open_table
from tests.games.logins import logged_in
from tests.games.rounds.samples import current, line

DOCUMENT: dict[str, Any] = SchemaGenerator().get_schema(public=True)
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


@contextmanager
def everybody() -> Iterator[dict[str, dict[str, Any]]]:
    """How each role calls, in a house that has everything once. Calls leave their mark there: it is a clone."""
    with servers.clone() as name, connected_to(name), one_connection():
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
    report = IncidentReport(
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
            report=IncidentReport(house.casino, timezone.now(), "other", account, table=table, rounds=[one]),
        )
        for account in ("A late bet.", "Another late bet.")
    ]
    words: dict[str, Any] = {
        "kind": "interpretation", "question": "Does it count?", "decision": "No.", "reasoning": "It was late.",
    }  # fmt: skip
    standing = RulingDraft(rules=[f"{V6}#5.7"], scope="standing", setting=Setting(excess="filled"), **words)
    first = ruling_make(actor=manager, incident=filed[0], draft=standing)
    second = ruling_make(
        actor=manager, incident=filed[1], draft=RulingDraft(rules=[f"{V6}#5.7"], follows=first, **words)
    )
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
    client = logged_in(house[role])
    session = client.cookies["taisai_session"].value
    return {"cookies": {"taisai_session": session, "taisai_csrf": TOKEN}, "headers": {"X-CSRFToken": TOKEN}}


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
