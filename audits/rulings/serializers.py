"""Rulings and corrective actions as JSON, for API and commands, as far as the reader may see them."""

import datetime as dt
from typing import Any

from django.utils import timezone

from audits.models import (
    Consequence,
    Correction,
    Discretion,
    Incident,
    Repayment,
    RepaymentMark,
    Ruling,
)
from audits.rulings.corrections.damage import left_out
from audits.rulings.corrections.previews import preview_of
from audits.rulings.precedents import Precedent
from audits.rulings.presenters import order_rests_on, ruling_rests_on
from audits.rulings.selectors import STATES
from audits.rulings.services.corrective_actions import marks_of
from games.access.gate import can, visible
from games.engine.money import format_money
from games.engine.rules.citation import cite
from games.engine.rules.readings import Reading
from games.engine.rules.rulebook import Rulebook
from games.floor.moments import as_text
from games.models import Casino, Round, SettlementPolicy
from games.settlement_policies.selectors import faults_of

#: A withdrawal is a state of its own, by which the register is not filtered.
SHOWN_STATES = (*STATES, "withdrawal")

# --- Rulings ---------------------------------------------------------------------------------------


def ruling_line(ruling: Ruling) -> dict[str, Any]:
    """Return a ruling as in lists."""
    casino = ruling.casino
    return {
        "number": ruling.number,
        "casino": casino.code,
        "pit": ruling.pit.code if ruling.pit else None,
        "table": ruling.table.code if ruling.table else None,
        "incident": ruling.incident.number,
        "kind": ruling.kind,
        "situation": ruling.situation,
        "rulebook": ruling.rulebook or None,
        "rules": ruling.rules,
        "readings": ruling.readings,
        "question": ruling.question,
        "decision": ruling.decision,
        "scope": ruling.scope,
        "effective_from": _moment(ruling.effective_from, casino),
        "state": state_of(ruling),
        "replaces": _number(ruling.replaces),
        "replaced_by": _number(getattr(ruling, "replaced_by", None)),
        "ruled_by": ruling.who,
        "post": ruling.post,
        "rests_on": [reading.name for reading in ruling_rests_on(ruling)],
        "made_at": as_text(ruling.made_at, casino),
    }


def ruling_document(actor: Any, ruling: Ruling) -> dict[str, Any]:
    """Return the whole record of a ruling, with its readings and corrective actions."""
    casino = ruling.casino
    consequences = visible(actor, of_consequences(ruling.consequences.all()))
    return ruling_line(ruling) | {
        "facts": ruling.facts,
        "reasoning": ruling.reasoning,
        "follows": _seen(actor, ruling.follows),
        "departs_from": _seen(actor, ruling.departs_from),
        "departure": ruling.departure or None,
        "override": ruling.override or None,
        "policy": _policy(actor, ruling),
        "reviews": [
            {
                "rulebook": review.rulebook,
                "outcome": review.outcome,
                "who": review.who,
                "at": as_text(review.at, casino),
            }
            for review in ruling.reviews.all()
        ],
        "consequences": [consequence_document(actor, consequence) for consequence in consequences],
    }


def state_of(ruling: Ruling) -> str:
    """In force until the moment from which another takes its place; what only withdraws one never is."""
    later = getattr(ruling, "replaced_by", None)
    if later is not None and (later.effective_from is None or later.effective_from <= timezone.now()):
        return "withdrawn" if later.is_withdrawal else "superseded"
    return "withdrawal" if ruling.is_withdrawal else "in-force"


def precedent_document(precedent: Precedent) -> dict[str, Any]:
    return {
        "ruling": ruling_line(precedent.ruling),
        "in_force": precedent.is_in_force,
        "same_situation": precedent.is_same_situation,
        "shared_rules": list(precedent.shared_rules),
    }


def reading_document(book: Rulebook, reading: Reading) -> dict[str, Any]:
    """Return one of our readings, with its alternatives and what a standing interpretation may set."""
    return {
        "name": reading.name,
        "rules": book.cite(*reading.rules),
        "text": reading.text,
        "alternatives": [
            {"text": alternative.text, "value": alternative.value or None} for alternative in reading.alternatives
        ],
        "sets": reading.sets or None,
        "excluded": [
            {"value": exclusion.value, "rules": book.cite(*exclusion.rules), "text": exclusion.text}
            for exclusion in reading.excluded
        ],
    }


def _policy(actor: Any, ruling: Ruling) -> dict[str, Any] | None:
    """Return the settlement policy of a ruling; one that sets nothing ends what the ruling before had set."""
    policy = SettlementPolicy.objects.filter(casino=ruling.casino, ruling=ruling.number).first()
    if policy is None or not can(actor, "settlementpolicy.view", policy):
        return None
    return {
        "rulebook": policy.rulebook,
        "from": as_text(policy.starts_at, ruling.casino),
        "excess": policy.excess or None,
        "rounding": format_money(policy.rounding) if policy.rounding else None,
        "not_applied": " ".join(faults_of(policy).values()) or None,
        "replaces": policy.replaces.ruling if policy.replaces else None,
    }


def _seen(actor: Any, other: Ruling | None) -> str | None:
    """Return the number of another ruling if the actor may see it."""
    return other.number if other is not None and can(actor, "ruling.view", other) else None


def _number(ruling: Ruling | None) -> str | None:
    return ruling.number if ruling else None


# --- Corrective actions ----------------------------------------------------------------------------


def of_consequences(consequences: Any) -> Any:
    """Join all that the documents of corrective actions need."""
    return consequences.select_related("incident__casino", "incident__pit", "table", "ruling", "decision", "dice_set")


def consequence_line(consequence: Consequence) -> dict[str, Any]:
    """Return a corrective action as in lists."""
    casino = consequence.incident.casino
    decision = getattr(consequence, "decision", None)
    return {
        "id": consequence.pk,
        "incident": consequence.incident.number,
        "ruling": _number(consequence.ruling),
        "discretion": consequence.discretion_id,
        "kind": consequence.kind,
        "rules": consequence.rules,
        "rests_on": [reading.name for reading in order_rests_on(consequence)],
        "state": decision.outcome if decision else "waiting",
        "needs_second": consequence.needs_second,
        "amount": format_money(consequence.amount),
        "round_count": len(consequence.round_ids),
        "reason": consequence.reason,
        "ordered_by": consequence.who,
        "ordered_at": as_text(consequence.at, casino),
        "decided_by": decision.who if decision else None,
        "decided_at": as_text(decision.at, casino) if decision else None,
        "decision_reason": decision.reason if decision else None,
    }


def consequence_document(actor: Any, consequence: Consequence) -> dict[str, Any]:
    """Return a corrective action with its rounds, their corrections, and each player's refund or recovery."""
    casino, asked = consequence.incident.casino, consequence.asked
    seen = visible(actor, Round.objects.filter(pk__in=consequence.round_ids))
    rounds = seen.select_related("table").order_by("started_at", "pk")
    corrections = consequence.corrections.filter(round__in=seen.values("pk"))
    corrections = corrections.select_related("round__table").order_by("round__started_at", "pk")
    may_see = can(actor, "repayment.view", consequence.incident)
    repayments = consequence.repayments.prefetch_related("marks") if may_see else []
    return consequence_line(consequence) | {
        "table": consequence.table.code if consequence.table else None,
        "dice": asked.get("dice"),
        "nets": [
            {"bet": int(place) + 1, "net": format_money(net)} for place, net in (asked.get("nets") or {}).items()
        ],
        "affected": _affected(consequence),
        "preview": _preview(actor, consequence),
        "rounds": [_round(round_) for round_ in rounds],
        "corrections": [correction_document(correction, casino) for correction in corrections],
        "repayments": [repayment_document(repayment, casino) for repayment in repayments],
    }  # fmt: skip


def _preview(actor: Any, consequence: Consequence) -> list[dict[str, Any]]:
    """Return the bets that a waiting order would change, in the rounds that the reader may see."""
    return [
        {
            "round": _round(change.before.round),
            "bets": [
                {"bet": number, "player": player, "box": box, "stake": format_money(stake),
                 "before": format_money(before), "after": format_money(after)}
                for number, player, box, stake, before, after in bets
            ],
        }
        for change, bets in preview_of(actor, consequence).changes
    ]  # fmt: skip


def _affected(consequence: Consequence) -> dict[str, Any] | None:
    """Return the damaged dice set, the affected period, and the part that was ordered with its reason."""
    if consequence.dice_set is None:
        return None
    casino = consequence.incident.casino
    return {
        "dice_set": consequence.dice_set.code,
        "radius_from": _moment(consequence.radius_from, casino),
        "radius_to": _moment(consequence.radius_to, casino),
        "from": _moment(consequence.affected_from, casino),
        "to": _moment(consequence.affected_to, casino),
        "narrowing": consequence.narrowing or None,
        "left_out": left_out(consequence).count(),
    }


def correction_document(correction: Correction, casino: Casino) -> dict[str, Any]:
    return {
        "round": _round(correction.round),
        "ordinal": correction.ordinal,
        "void": correction.is_void,
        "settled": correction.is_settled,
        "dice": correction.dice,
        "deltas": [format_money(delta) for delta in correction.deltas],
        "nets": [format_money(net) for net in correction.nets],
        "decided": correction.decided,
        "rules": [cite(correction.round.rulebook, rule) for rule in correction.rules],
        "who": correction.who,
        "at": as_text(correction.at, casino),
    }


def repayment_document(repayment: Repayment, casino: Casino) -> dict[str, Any]:
    standing = marks_of(repayment)
    return {
        "id": repayment.pk,
        "player": repayment.player,
        "amount": format_money(repayment.amount),
        "rounds": repayment.rounds,
        "told": standing[RepaymentMark.What.TOLD],
        "paid": standing[RepaymentMark.What.PAID],
        "marks": [
            {"what": mark.what, "note": mark.note or None, "who": mark.who, "at": as_text(mark.at, casino)}
            for mark in repayment.marks.all()
        ],
    }


def _round(round_: Round) -> dict[str, Any]:
    return {"id": round_.pk, "source": round_.source, "ref": round_.ref, "table": round_.table.code}


# --- Discretion, and the decisions on an incident ----------------------------------------------------


def discretion_document(record: Discretion) -> dict[str, Any]:
    return {
        "id": record.pk,
        "casino": record.casino.code,
        "table": record.table.code,
        "incident": record.incident.number if record.incident else None,
        "round": _round(record.round) if record.round else None,
        "bet": record.bet,
        "rule": record.rule,
        "decision": record.decision,
        "reason": record.reason,
        "decided_by": record.who,
        "post": record.post,
        "at": as_text(record.at, record.casino),
    }


def decided_of(actor: Any, incident: Incident) -> dict[str, Any]:
    """Return all decisions on an incident, the oldest first."""
    rulings = incident.rulings.select_related("casino", "pit", "table", "incident", "replaces", "replaced_by")
    discretions = incident.discretions.select_related("casino", "table", "incident", "round__table")
    return {
        "rulings": [ruling_line(ruling) for ruling in visible(actor, rulings).order_by("pk")],
        "consequences": [
            consequence_line(consequence)
            for consequence in visible(actor, of_consequences(incident.consequences.order_by("pk")))
        ],
        "discretions": [discretion_document(discretion) for discretion in visible(actor, discretions).order_by("pk")],
    }


def _moment(moment: dt.datetime | None, casino: Casino) -> str | None:
    return as_text(moment, casino) if moment else None
