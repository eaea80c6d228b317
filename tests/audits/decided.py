"""Rulings and what follows from them, for tests."""

from typing import Any

from audits.models import Consequence, Incident, Ruling, RulingKind, Scope
from audits.services.consequences import Basis, round_settle, rounds_void
from audits.services.rulings import Draft, ruling_make
from games.models import Round, Table
from tests.audits.files import opened
from tests.conftest import House
from tests.games.engine.oracle import V6

REASON = "As ruled"


def draft(**more: Any) -> Draft:
    values: dict[str, Any] = {
        "kind": RulingKind.NOT_COVERED, "question": "Who is owed what?", "decision": "The patron is paid.",
        "reasoning": "The recording shows it.",
    } | more  # fmt: skip
    return Draft(**values)


def standing(**more: Any) -> Draft:
    values: dict[str, Any] = {
        "kind": RulingKind.INTERPRETATION, "scope": Scope.STANDING, "rules": [f"{V6}#5.1.2"],
    } | more  # fmt: skip
    return draft(**values)


def incident_about(house: House, table: Table, *rounds: Round, **more: Any) -> Incident:
    values: dict[str, Any] = {"role": "surveillance", "table": table, "rounds": list(rounds)} | more
    return opened(house, **values)


def ruled(house: House, incident: Incident, role: str = "shift-manager", **more: Any) -> Ruling:
    return ruling_make(actor=house[role], incident=incident, draft=draft(**more))


def settled_as(house: House, ruling: Ruling, one: Round, role: str = "shift-manager", **more: Any) -> Consequence:
    basis = Basis(ruling.incident, ruling)
    return round_settle(actor=house[role], basis=basis, round=one, reason=REASON, **more)


def voided(house: House, incident: Incident, *rounds: Round, role: str = "shift-manager", **basis: Any) -> Consequence:
    return rounds_void(actor=house[role], basis=Basis(incident, **basis), rounds=rounds, reason=REASON)
