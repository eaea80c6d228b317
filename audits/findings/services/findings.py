"""The life of a finding: acknowledged, assigned, resolved, confirmed; each step by somebody, with a reason."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from audits.findings.services.weighing import confirm_from
from audits.models import Finding
from games.access.gate import actor_name, authorize, can
from games.floor.moments import as_text
from games.history.audited_save import OvertakenError, record_change, verify_reason
from games.models import Staff

State = Finding.State
#: Outcomes by which money changes hands.
WITH_MONEY = (Finding.Outcome.RECOVERED, Finding.Outcome.PAID)
UNRESOLVED: dict[str, Any] = {
    "outcome": "", "settled_amount": None, "resolution": "", "resolved_by": None, "resolved_at": None,
    "needs_confirmation": False, "confirmed_by": None, "confirmed_at": None,
}  # fmt: skip


@transaction.atomic
def finding_acknowledge(*, actor: Staff, finding: Finding, reason: str = "Seen") -> Finding:
    """Somebody has seen it: its alert goes away, and nobody else is told."""
    current = _locked(finding)
    authorize(actor, "finding.acknowledge", current)
    verify_open(current)
    return _change(current, actor, reason, state=State.ACKNOWLEDGED, **_seen(actor))


@transaction.atomic
def finding_assign(*, actor: Staff, finding: Finding, to: Staff | None, reason: str) -> Finding:
    """To somebody who may resolve it, or to nobody."""
    current = _locked(finding)
    authorize(actor, "finding.assign", current)
    verify_unresolved(current)
    if to is not None and not can(to, "finding.resolve", current):
        raise ValidationError({"to": f"{to} may not resolve this finding; choose somebody who may."})
    if to == current.assigned_to:
        raise ValidationError({"to": f"It is assigned to {to or 'nobody'} already; nothing has changed."})
    return _change(current, actor, reason, assigned_to=to)


@transaction.atomic
def finding_resolve(*, actor: Staff, finding: Finding, outcome: str, amount: int | None = None, reason: str) -> Finding:
    """Resolve a finding. From the casino's amount on compliance has to confirm it."""
    current = _locked(finding)
    authorize(actor, "finding.resolve", current)
    verify_unresolved(current)
    verify_reason(reason)
    verify_outcome(outcome, amount)
    now = timezone.now()
    at_stake = max(current.amount, amount or 0)
    seen = _seen(actor) if current.state == State.OPEN else {}
    return _change(
        current, actor, reason, state=State.RESOLVED, outcome=outcome, settled_amount=amount, resolved_by=actor,
        resolution=reason.strip(), resolved_at=now,
        needs_confirmation=at_stake >= confirm_from(current), **seen,
    )  # fmt: skip


@transaction.atomic
def finding_confirm(*, actor: Staff, finding: Finding, reason: str) -> Finding:
    """Compliance has looked at the resolution, and agrees."""
    current = _locked(finding)
    authorize(actor, "finding.confirm", current)
    verify_awaits_confirmation(current)
    return _change(current, actor, reason, needs_confirmation=False, confirmed_by=actor, confirmed_at=timezone.now())


@transaction.atomic
def finding_return(*, actor: Staff, finding: Finding, reason: str) -> Finding:
    """Compliance does not agree: the finding goes back to those who resolve it."""
    current = _locked(finding)
    authorize(actor, "finding.confirm", current)
    verify_awaits_confirmation(current)
    return _change(current, actor, reason, state=State.ACKNOWLEDGED, **UNRESOLVED)


@transaction.atomic
def finding_reopen(*, actor: Staff, finding: Finding, reason: str) -> Finding:
    """The resolution was a mistake; it stays in the history."""
    current = _locked(finding)
    authorize(actor, "finding.resolve", current)
    verify_resolved(current)
    return _change(current, actor, reason, state=State.ACKNOWLEDGED, **UNRESOLVED)


def verify_open(finding: Finding) -> None:
    verify_stands(finding)
    if finding.state != State.OPEN:
        raise OvertakenError(_overtaken(finding))


def verify_resolved(finding: Finding) -> None:
    if finding.state != State.RESOLVED:
        raise OvertakenError(_overtaken(finding))


def verify_unresolved(finding: Finding) -> None:
    verify_stands(finding)
    if finding.state == State.RESOLVED:
        raise OvertakenError(_overtaken(finding))


def verify_awaits_confirmation(finding: Finding) -> None:
    if not finding.needs_confirmation:
        raise OvertakenError(_overtaken(finding))


def verify_stands(finding: Finding) -> None:
    """What lapsed waits for nobody any more."""
    if finding.is_lapsed:
        raise OvertakenError("This finding is no longer found, so there is nothing to do; nothing has changed.")


def verify_outcome(outcome: str, amount: int | None) -> None:
    if outcome not in Finding.Outcome.values:
        raise ValidationError({"outcome": "Choose what came of it."})
    if outcome in WITH_MONEY and not amount:
        raise ValidationError({"amount": "Say how much was recovered or paid."})
    if outcome not in WITH_MONEY and amount:
        raise ValidationError({"amount": "Nothing was recovered or paid by this outcome; leave the amount out."})
    if amount is not None and amount < 0:
        raise ValidationError({"amount": "An amount is not negative; the outcome says which way it went."})


def _locked(finding: Finding) -> Finding:
    """One step at a time; the second click finds what the first did."""
    records = Finding.objects.select_for_update(of=("self",))
    return records.select_related("table__casino", "assigned_to", "resolved_by", "confirmed_by").get(pk=finding.pk)


def _seen(actor: Staff) -> dict[str, Any]:
    return {"acknowledged_by": actor_name(actor), "acknowledged_at": timezone.now()}


def _change(finding: Finding, actor: Staff, reason: str, **values: Any) -> Finding:
    verify_reason(reason)
    record_change(finding, values, actor=actor, reason=reason)
    return finding


def _overtaken(finding: Finding) -> str:
    """Where it stands, the last step first."""
    steps = (
        ("confirmed", finding.confirmed_by, finding.confirmed_at),
        ("resolved", finding.resolved_by, finding.resolved_at),
        ("acknowledged", finding.acknowledged_by, finding.acknowledged_at),
    )
    for verb, who, at in steps:
        if at is not None:
            return f"This finding was {verb} by {who} at {as_text(at, finding.table.casino)}; nothing has changed."
    return "This finding is open, and not resolved; nothing has changed."
