"""The casino operator's discretion (Division 9, 4.3 and 4.9): record a decision, and amend the settlement by it."""

import datetime as dt
from collections.abc import Mapping

from django.core.exceptions import ValidationError
from django.db import transaction

from audits.incidents.services.incidents import incident_locked
from audits.models import Consequence, Discretion, Incident
from audits.rulings.corrections.plans import RoundChange, settled_by_discretion
from audits.rulings.corrections.standing_nets import standing_nets_of
from audits.rulings.discretion_scope import HOUSE_PLACED, discretion_scope, verify_bets, verify_scope
from audits.rulings.services.corrective_actions import (
    Basis,
    lock_days,
    locked,
    order_changes,
    verify_no_party,
    verify_rounds,
)
from games.access.gate import actor_name, authorize
from games.engine.rules.citation import cite
from games.history.audited_save import OvertakenError, verify_reason, verify_texts
from games.ledger.services import LedgerEntry, ledger_append
from games.models import Round, Staff


@transaction.atomic
def discretion_record(
    *, actor: Staff, incident: Incident, decision: str, reason: str, round: Round | None = None, bet: int | None = None
) -> Discretion:  # fmt: skip
    """Record a decision by the operator's discretion, where the rulebook allows it. Bets count from 1."""
    post = authorize(actor, "discretion.add", incident)
    current = incident_locked(incident)  # a second click waits for the first
    scope = discretion_scope(current)
    if round is None and (bet is not None or scope.bets == HOUSE_PLACED):
        raise ValidationError({"round": "Choose the round of the bet."})
    if bet is None and scope.bets == HOUSE_PLACED:
        raise ValidationError({"bet": f"Enter the bet: {', '.join(scope.rules)} is about {scope.about}."})
    if round is not None:
        verify_bets(current, scope, round, [] if bet is None else [bet - 1])
    verify_reason(reason)
    if not decision.strip():
        raise ValidationError({"decision": "Enter the decision."})
    record = Discretion(
        casino=current.casino, pit=current.pit, table=current.table, incident=current, round=round, bet=bet,
        rule=cite(current.rulebook, scope.rules[0]), decision=decision.strip(), reason=reason.strip(), by=actor,
        post=str(post), who=actor_name(actor),
    )  # fmt: skip
    verify_texts(record)
    if Discretion.objects.filter(incident=current, decision=record.decision, round=round, bet=bet).exists():
        raise OvertakenError("This decision is already on record; nothing has changed.")
    record.save(force_insert=True)
    held = (
        current.number, round.ref if round else None, record.rule, record.decision, record.reason, record.who,
        record.at.astimezone(dt.UTC), bet,
    )  # fmt: skip
    ledger_append(record.table, LedgerEntry("discretion", record.pk, held))
    return record


@transaction.atomic
def discretion_settle(
    *, actor: Staff, discretion: Discretion, nets: Mapping[int, int], reason: str, round: Round | None = None
) -> Consequence:  # fmt: skip
    """Amend the settlement of single bets by a discretion; the rules decide all other bets. Places count from 0.

    A bet already paid as decided keeps its net; only its expected net changes.
    """
    if discretion.incident is None:
        raise ValidationError(f"Discretion {discretion} has no incident; record the decision on one first.")
    basis = locked(Basis(discretion.incident, discretion=discretion))
    played = verify_round(discretion, round)
    verify_rounds(basis.incident, [played])
    authorize(actor, "consequence.order", played)
    verify_no_party(actor, basis.incident, [played])
    verify_scope(basis.incident, discretion, played, nets)
    lock_days([played])
    (standing_nets,) = standing_nets_of([played])
    after = settled_by_discretion(standing_nets, nets, discretion.rule.partition("#")[2])
    return order_changes(
        actor, basis, Consequence.Kind.DISCRETION, reason, [RoundChange(standing_nets, after)], rules=[discretion.rule],
        asked={"nets": {str(place): net for place, net in nets.items()}},
    )  # fmt: skip


def verify_round(discretion: Discretion, played: Round | None) -> Round:
    """Return the round that the discretion names, or the given one where it names none."""
    if discretion.round is not None and played is not None and discretion.round != played:
        raise ValidationError({"rounds": f"The discretion is about {discretion.round}; choose that round."})
    found = discretion.round or played
    if found is None:
        raise ValidationError({"rounds": "The discretion names no round; choose the one to settle."})
    return found
