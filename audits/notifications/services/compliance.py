"""Notify compliance once of each executed corrective action at or above the casino's threshold.

The notification is written in the transaction that executes the action. The database allows one for each action.
"""

from audits.findings.services.escalation import people_in
from audits.models import Consequence, ConsequenceNotice, Notice, ruling_setting_of
from games.access.roles import access_policy
from games.labels.money import money_label
from games.labels.rules import rules_label


def compliance_notify(order: Consequence) -> Notice | None:
    """Notify compliance of an executed corrective action; None if it moves less than the casino's threshold."""
    casino = order.incident.casino
    if order.amount < ruling_setting_of(casino).notify_from:
        return None
    role = access_policy().notified["corrective-actions"]
    people = people_in(role, casino)
    notice = Notice.objects.create(
        casino=casino, role=role, text=text_of(order), people=[str(person) for person in people],
        recipients=[person.pk for person in people],
    )  # fmt: skip
    ConsequenceNotice.objects.create(consequence=order, notice=notice)
    return notice


def text_of(order: Consequence) -> str:
    """Write what was changed, by how much, on what basis, and by whom."""
    casino, rounds = order.incident.casino, len(order.round_ids)
    basis = order.ruling or (f"discretion {order.discretion}" if order.discretion else rules_label(order.rules))
    lines = [
        f"{order} on {order.incident} was executed: {rounds} round{'' if rounds == 1 else 's'}, "
        f"{casino.currency} {money_label(order.amount)} moved. Basis: {basis}.",
        f"Ordered by {order.who}: {order.reason}",
        f"Executed by {order.decision.who}: {order.decision.reason}",
    ]
    if not order.needs_second:
        lines.append(
            "No second person was needed: the amount is below the casino's threshold, or the round was neither settled "
            "nor void."
        )
    return "\n".join(lines)
