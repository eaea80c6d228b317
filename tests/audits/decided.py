"""Rulings and what follows from them, for tests."""

from typing import Any

from audits.models import Consequence, Incident, Ruling, RulingKind, Scope
from audits.rulings.services.corrective_actions import Basis, consequence_execute, round_settle, rounds_void
from audits.rulings.services.rulings import RulingDraft, ruling_make
from games.models import Round, Table
from tests.audits.files import opened
from tests.conftest import House
from tests.games.engine.oracle import V6
from tests.thresholds import in_force

REASON = "As ruled"


def draft(**more: Any) -> RulingDraft:
    values: dict[str, Any] = {
        "kind": RulingKind.NOT_COVERED, "question": "Who is owed what?", "decision": "The patron is paid.",
        "reasoning": "The recording shows it.",
    } | more  # fmt: skip
    return RulingDraft(**values)


def standing(**more: Any) -> RulingDraft:
    values: dict[str, Any] = {
        "kind": RulingKind.INTERPRETATION, "scope": Scope.STANDING, "rules": [f"{V6}#5.1.2"],
    } | more  # fmt: skip
    return draft(**values)


def incident_about(house: House, table: Table, *rounds: Round, **more: Any) -> Incident:
    values: dict[str, Any] = {"role": "surveillance", "table": table, "rounds": list(rounds)} | more
    return opened(house, **values)


def ruled(house: House, incident: Incident, role: str = "shift-manager", **more: Any) -> Ruling:
    return ruling_make(actor=house[role], incident=incident, draft=draft(**more))


def settled_as(
    house: House, ruling: Ruling, round_: Round, role: str = "shift-manager", second: str | None = "casino-manager",
    **more: Any,
) -> Consequence:  # fmt: skip
    """Ordered by one person and, where it waits, executed by a second one; without a second it is left waiting."""
    basis = Basis(ruling.incident, ruling)
    order = round_settle(actor=house[role], basis=basis, round=round_, reason=REASON, **more)
    return executed(house, order, second) if order.is_waiting and second else order


def executed(house: House, order: Consequence, role: str = "casino-manager") -> Consequence:
    return consequence_execute(actor=house[role], consequence=order, reason="Agreed")


def voided(house: House, incident: Incident, *rounds: Round, role: str = "shift-manager", **basis: Any) -> Consequence:
    return rounds_void(actor=house[role], basis=Basis(incident, **basis), rounds=rounds, reason=REASON)


def amounts(house: House, **amounts: Any) -> None:
    """Put the casino's amounts in force, in minor units: `second_person_from`, `notify_from`."""
    in_force(house, "rulings", **amounts)
