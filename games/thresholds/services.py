"""Thresholds of a casino: changed by two compliance people, in force from the next gaming day on."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from games.access.gate import actor_name, authorize, can
from games.access.selectors import staff_who_may
from games.floor.moments import as_text, day_starts, gaming_day
from games.history.audited_save import OvertakenError, verify_reason
from games.ledger.services import LedgerEntry, ledger_append
from games.models import Casino, Staff, ThresholdChange, ThresholdDecision
from games.thresholds.selectors import checked, kind_of, pending_change, thresholds_planned

Outcome = ThresholdDecision.Outcome


@transaction.atomic
def threshold_propose(
    *, actor: Staff, casino: Casino, kind: str, values: Mapping[str, Any], reason: str
) -> ThresholdChange:  # fmt: skip
    """Propose new values; another compliance person decides. One proposal of a kind waits at a time."""
    authorize(actor, "thresholdchange.propose", ThresholdChange(casino=casino))
    known = kind_of(kind)
    current = Casino.objects.select_for_update().get(pk=casino.pk)
    verify_reason(reason)
    if (waiting := pending_change(current, kind)) is not None:
        raise ValidationError(
            f"Proposal {waiting} by {waiting.who} waits for a decision; have it decided or withdrawn first."
        )
    proposed = checked(known, current, values)
    if proposed == known.values(thresholds_planned(current, kind)):
        raise ValidationError("These thresholds are already approved. Change at least one value.")
    change = ThresholdChange.objects.create(
        casino=current, kind=kind, proposed=proposed, reason=reason.strip(), proposed_by=actor, who=actor_name(actor)
    )
    held = (kind, proposed, change.reason, change.who, change.at.astimezone(dt.UTC))
    ledger_append(current, LedgerEntry("threshold-change", change.pk, held))
    return change


def threshold_approve(*, actor: Staff, change: ThresholdChange, reason: str) -> ThresholdDecision:
    """Approve a proposal as a second compliance person: in force from the next gaming day of the casino."""
    return _decide(actor, change, Outcome.APPROVED, "thresholdchange.approve", reason)


def threshold_reject(*, actor: Staff, change: ThresholdChange, reason: str) -> ThresholdDecision:
    return _decide(actor, change, Outcome.REJECTED, "thresholdchange.reject", reason)


def threshold_withdraw(*, actor: Staff, change: ThresholdChange, reason: str) -> ThresholdDecision:
    return _decide(actor, change, Outcome.WITHDRAWN, "thresholdchange.withdraw", reason)


@transaction.atomic
def _decide(actor: Staff, change: ThresholdChange, outcome: Outcome, action: str, reason: str) -> ThresholdDecision:
    authorize(actor, action, change)
    casino = Casino.objects.select_for_update().get(pk=change.casino_id)
    current = ThresholdChange.objects.select_related("decision", "proposed_by").get(pk=change.pk)
    verify_undecided(current, casino)
    verify_decider(actor, current, outcome)
    verify_reason(reason)
    now = timezone.now()
    decision = ThresholdDecision.objects.create(
        change=current,
        proposed_by=current.proposed_by,
        outcome=outcome,
        decided_by=actor,
        who=actor_name(actor),
        at=now,
        reason=reason.strip(),
        effective_from=next_gaming_day(casino, now) if outcome == Outcome.APPROVED else None,
    )
    starts_at = decision.effective_from.astimezone(dt.UTC) if decision.effective_from else None
    held = (current.kind, current.pk, outcome, starts_at, decision.reason, decision.who, now.astimezone(dt.UTC))
    ledger_append(casino, LedgerEntry("threshold-decision", decision.pk, held))
    return decision


def verify_undecided(change: ThresholdChange, casino: Casino) -> None:
    if (made := getattr(change, "decision", None)) is not None:
        at = as_text(made.at, casino)
        raise OvertakenError(f"Proposal {change} was {made.outcome} by {made.who} at {at}; nothing has changed.")


def verify_decider(actor: Staff, change: ThresholdChange, outcome: Outcome) -> None:
    is_own = actor.pk == change.proposed_by_id
    if outcome == Outcome.WITHDRAWN and not is_own:
        raise ValidationError(f"Only {change.proposed_by} withdraws this proposal; reject it instead.")
    if outcome != Outcome.WITHDRAWN and is_own:
        raise ValidationError(f"You proposed this yourself. {who_decides(change)}")


def deciders(change: ThresholdChange) -> list[Staff]:
    """Return who may decide on a change now: other compliance people of its casino, or of no single casino."""
    here = Q(casino=change.casino_id) | Q(casino=None)
    people = staff_who_may("thresholdchange.approve").filter(here).exclude(pk=change.proposed_by_id)
    return [person for person in people.order_by("number") if can(person, "thresholdchange.approve", change)]


def who_decides(change: ThresholdChange) -> str:
    """Say who can decide on a change, or what to do where no one can."""
    if people := deciders(change):
        return f"It can be decided by {', '.join(map(str, people))}."
    return (
        f"No other compliance person can decide it. Ask an administrator for an account of a second compliance person "
        f"of {change.casino.code}, or of no single casino. Until then the present thresholds stay in force."
    )


def next_gaming_day(casino: Casino, moment: dt.datetime) -> dt.datetime:
    """Return when the next gaming day of a casino begins."""
    return day_starts(casino, gaming_day(casino, moment) + dt.timedelta(days=1))
