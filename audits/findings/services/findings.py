"""The steps of a finding: acknowledge, assign, resolve, confirm, return, reopen. Each records who and why."""

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
#: Outcomes in which money changes hands.
WITH_MONEY = (Finding.Outcome.RECOVERED, Finding.Outcome.PAID)
UNRESOLVED: dict[str, Any] = {
    "outcome": "", "settled_amount": None, "resolution": "", "resolved_by": None, "resolved_at": None,
    "needs_confirmation": False, "confirmed_by": None, "confirmed_at": None,
}  # fmt: skip


@transaction.atomic
def finding_acknowledge(*, actor: Staff, finding: Finding, reason: str = "Seen") -> Finding:
    """Acknowledge a finding: its alert disappears and it is not escalated further."""
    current = _locked(finding)
    authorize(actor, "finding.acknowledge", current)
    verify_open(current)
    return _change(current, actor, reason, state=State.ACKNOWLEDGED, **_acknowledged(actor))


@transaction.atomic
def finding_assign(*, actor: Staff, finding: Finding, to: Staff | None, reason: str) -> Finding:
    """Assign a finding to a person who may resolve it, or remove the assignment."""
    current = _locked(finding)
    authorize(actor, "finding.assign", current)
    verify_unresolved(current)
    if to is not None and not can(to, "finding.resolve", current):
        raise ValidationError({"to": f"{to} may not resolve this finding. Choose another person."})
    if to == current.assigned_to:
        state = f"already assigned to {to}" if to else "not assigned"
        raise ValidationError({"to": f"This finding is {state}. Nothing has changed."})
    return _change(current, actor, reason, assigned_to=to)


@transaction.atomic
def finding_resolve(*, actor: Staff, finding: Finding, outcome: str, amount: int | None = None, reason: str) -> Finding:
    """Resolve a finding. At or above the casino's threshold, compliance must confirm it."""
    current = _locked(finding)
    authorize(actor, "finding.resolve", current)
    verify_unresolved(current)
    verify_reason(reason)
    verify_outcome(outcome, amount)
    now = timezone.now()
    at_stake = max(current.amount, amount or 0)
    acknowledged = _acknowledged(actor) if current.state == State.OPEN else {}
    return _change(
        current, actor, reason, state=State.RESOLVED, outcome=outcome, settled_amount=amount, resolved_by=actor,
        resolution=reason.strip(), resolved_at=now,
        needs_confirmation=at_stake >= confirm_from(current), **acknowledged,
    )  # fmt: skip


@transaction.atomic
def finding_confirm(*, actor: Staff, finding: Finding, reason: str) -> Finding:
    """Confirm a resolution, as compliance."""
    current = _locked(finding)
    authorize(actor, "finding.confirm", current)
    verify_awaits_confirmation(current)
    return _change(current, actor, reason, needs_confirmation=False, confirmed_by=actor, confirmed_at=timezone.now())


@transaction.atomic
def finding_return(*, actor: Staff, finding: Finding, reason: str) -> Finding:
    """Reject a resolution, as compliance: the finding must be resolved again."""
    current = _locked(finding)
    authorize(actor, "finding.confirm", current)
    verify_awaits_confirmation(current)
    return _change(current, actor, reason, state=State.ACKNOWLEDGED, **UNRESOLVED)


@transaction.atomic
def finding_reopen(*, actor: Staff, finding: Finding, reason: str) -> Finding:
    """Reopen a finding whose resolution was a mistake. The resolution stays in the history."""
    current = _locked(finding)
    authorize(actor, "finding.resolve", current)
    verify_resolved(current)
    return _change(current, actor, reason, state=State.ACKNOWLEDGED, **UNRESOLVED)


def verify_open(finding: Finding) -> None:
    """Raise unless the finding can be acknowledged."""
    verify_not_lapsed(finding)
    if finding.state != State.OPEN:
        raise OvertakenError(_overtaken(finding))


def verify_resolved(finding: Finding) -> None:
    """Raise unless the finding can be reopened."""
    if finding.state != State.RESOLVED:
        raise OvertakenError(_overtaken(finding))


def verify_unresolved(finding: Finding) -> None:
    """Raise unless the finding can be assigned or resolved."""
    verify_not_lapsed(finding)
    if finding.state == State.RESOLVED:
        raise OvertakenError(_overtaken(finding))


def verify_awaits_confirmation(finding: Finding) -> None:
    """Raise unless the finding can be confirmed or returned."""
    if not finding.needs_confirmation:
        raise OvertakenError(_overtaken(finding))


def verify_not_lapsed(finding: Finding) -> None:
    """Raise if the finding has lapsed."""
    if finding.is_lapsed:
        raise OvertakenError("This finding has lapsed: a later run no longer found it. Nothing has changed.")


def verify_outcome(outcome: str, amount: int | None) -> None:
    """Raise unless outcome and amount fit each other."""
    if outcome not in Finding.Outcome.values:
        raise ValidationError({"outcome": "Choose an outcome."})
    if outcome in WITH_MONEY and not amount:
        raise ValidationError({"amount": "Enter the amount that was recovered or paid."})
    if outcome not in WITH_MONEY and amount:
        raise ValidationError({"amount": "No money moves with this outcome. Leave the amount empty."})
    if amount is not None and amount < 0:
        raise ValidationError({"amount": "The amount cannot be negative. The outcome says who paid whom."})


def _locked(finding: Finding) -> Finding:
    """Lock the finding, so that steps are taken one at a time and a second click sees the first."""
    records = Finding.objects.select_for_update(of=("self",))
    return records.select_related("table__casino", "assigned_to", "resolved_by", "confirmed_by").get(pk=finding.pk)


def _acknowledged(actor: Staff) -> dict[str, Any]:
    return {"acknowledged_by": actor_name(actor), "acknowledged_at": timezone.now()}


def _change(finding: Finding, actor: Staff, reason: str, **values: Any) -> Finding:
    verify_reason(reason)
    record_change(finding, values, actor=actor, reason=reason)
    return finding


def _overtaken(finding: Finding) -> str:
    """Say which step was taken last, by whom and when."""
    steps = (
        ("confirmed", finding.confirmed_by, finding.confirmed_at),
        ("resolved", finding.resolved_by, finding.resolved_at),
        ("acknowledged", finding.acknowledged_by, finding.acknowledged_at),
    )
    for verb, who, at in steps:
        if at is not None:
            return f"This finding was {verb} by {who} at {as_text(at, finding.table.casino)}. Nothing has changed."
    return "This finding is open and not resolved. Nothing has changed."
