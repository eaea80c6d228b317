"""Discretion of the casino operator (Division 9, 4.3 and 4.9): on record, and the settlement amended by it."""

import datetime as dt
from collections.abc import Mapping

from django.core.exceptions import ValidationError
from django.db import transaction

from audits.incidents.services.incidents import incident_locked
from audits.models import Consequence, Discretion, Incident
from audits.rulings.corrections.plans import RoundChange, settled_by
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
    """Keep what the operator decided and why, where the document leaves it to the operator. Bets count from 1."""
    post = authorize(actor, "discretion.add", incident)
    current = incident_locked(incident)  # a second click waits for the first
    scope = discretion_scope(current)
    if round is None and (bet is not None or scope.bets == HOUSE_PLACED):
        raise ValidationError({"round": "Name the round that the bet is of."})
    if bet is None and scope.bets == HOUSE_PLACED:
        raise ValidationError({"bet": f"Name the bet: {', '.join(scope.rules)} speaks here of {scope.about}."})
    if round is not None:
        verify_bets(current, scope, round, [] if bet is None else [bet - 1])
    verify_reason(reason)
    if not decision.strip():
        raise ValidationError({"decision": "Say what was decided."})
    record = Discretion(
        casino=current.casino, pit=current.pit, table=current.table, incident=current, round=round, bet=bet,
        rule=cite(current.rulebook, scope.rules[0]), decision=decision.strip(), reason=reason.strip(), by=actor,
        post=str(post), who=actor_name(actor),
    )  # fmt: skip
    verify_texts(record)
    if Discretion.objects.filter(incident=current, decision=record.decision, round=round, bet=bet).exists():
        raise OvertakenError("This is on record already; nothing has changed.")
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
    """Amend the settlement of single bets as a discretion has it; the rules decide all other bets. Places from 0.

    A bet that was paid so at the table keeps its net: what changes is what is expected of it.
    """
    if discretion.incident is None:
        raise ValidationError(f"Discretion {discretion} is on no incident; record it on one first.")
    basis = locked(Basis(discretion.incident, discretion=discretion))
    played = verify_round(discretion, round)
    verify_rounds(basis.incident, [played])
    authorize(actor, "consequence.order", played)
    verify_no_party(actor, basis.incident, [played])
    verify_scope(basis.incident, discretion, played, nets)
    lock_days([played])
    (books,) = standing_nets_of([played])
    after = settled_by(books, nets, discretion.rule.partition("#")[2])
    return order_changes(
        actor, basis, Consequence.Kind.DISCRETION, reason, [RoundChange(books, after)], rules=[discretion.rule],
        asked={"nets": {str(place): net for place, net in nets.items()}},
    )  # fmt: skip


def verify_round(discretion: Discretion, played: Round | None) -> Round:
    """The round that the record names; where it names none, the one that is asked for."""
    if discretion.round is not None and played is not None and discretion.round != played:
        raise ValidationError({"rounds": f"The discretion is about {discretion.round}; name that round."})
    found = discretion.round or played
    if found is None:
        raise ValidationError({"rounds": "The discretion names no round; name the one to settle."})
    return found
