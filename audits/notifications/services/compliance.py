"""Compliance is notified of changes of rounds that were settled: of each once, from the casino's amount on.

The notice is written in the transaction that executes the change; the database takes one for each corrective action.
"""

from audits.findings.labels import money
from audits.findings.services.escalation import people_in
from audits.models import Consequence, ConsequenceNotice, Notice, ruling_setting_of
from games.access.roles import access_policy


def compliance_notify(order: Consequence) -> Notice | None:
    """Write the notice of an executed corrective action; none where it moves less than the casino's amount."""
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
    """Say what was changed, by how much, on what basis, and by whom."""
    casino, rounds = order.incident.casino, len(order.round_ids)
    basis = order.ruling or (f"discretion {order.discretion}" if order.discretion else ", ".join(order.rules))
    lines = [
        f"{order} on {order.incident} was executed: {rounds} round{'' if rounds == 1 else 's'}, "
        f"{casino.currency} {money(order.amount)} moved, by {basis}.",
        f"Ordered by {order.who}: {order.reason}",
        f"Executed by {order.decision.who}: {order.decision.reason}",
    ]
    if not order.needs_second:
        lines.append(
            "It took no second person: it moves less than the casino's amount, or the round was not settled or void."
        )
    return "\n".join(lines)
