"""Rulings on the dashboard: what waits for a ruling, a second person, a payment or a review."""

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse

from audits.incidents.dashboard import MOST_COUNTED, SHOWN
from audits.incidents.labels import situation_label
from audits.models import Incident, IncidentState
from audits.rulings.reviews import to_review
from audits.rulings.selectors import consequences_waiting, repayments_open
from games.access.gate import can, visible
from games.labels.money import money_label
from games.models import Staff


@dataclass(frozen=True)
class Waiting:
    """A waiting item: its name, the address of its page, and more about it."""

    what: str
    address: str
    more: str


@dataclass(frozen=True)
class Work:
    """The waiting items of one kind: how many, the oldest of them, and the address of the full list."""

    title: str
    count: str
    rows: list[Waiting]
    every: str


def ruling_overview(staff: Staff) -> dict[str, Any]:
    """Return the waiting work for people who rule or pay; nothing for others."""
    work = []
    if can(staff, "ruling.make"):
        work += [_awaiting(staff), _second(staff)]
    if can(staff, "repayment.mark"):
        work.append(_unpaid(staff))
    if can(staff, "ruling.make"):
        work.append(_reviews(staff))
    return {"ruling_work": work}


def counted(found: QuerySet[Any]) -> str:
    """Count up to the limit, then say "more than"."""
    count = found.order_by()[: MOST_COUNTED + 1].count()
    return f"more than {MOST_COUNTED}" if count > MOST_COUNTED else str(count)


def _awaiting(staff: Staff) -> Work:
    files = visible(staff, Incident.objects.filter(state=IncidentState.AWAITING)).select_related("table")
    rows = [
        Waiting(
            str(file), reverse("admin:audits_incident_change", args=[file.pk]),
            f"{f'{file.table}, ' if file.table else ''}{situation_label(file.situation)}",
        )
        for file in files.defer("advice").order_by("state_since", "pk")[:SHOWN]
    ]  # fmt: skip
    every = f"{reverse('admin:audits_incident_changelist')}?state={IncidentState.AWAITING}"
    return Work("Awaiting a ruling", counted(files), rows, every)


def _second(staff: Staff) -> Work:
    found = consequences_waiting(staff)
    rows = [
        Waiting(
            str(order), reverse("admin:audits_consequence_change", args=[order.pk]), f"{order.incident}, {order.who}"
        )
        for order in found[:SHOWN]
    ]
    every = f"{reverse('admin:audits_consequence_changelist')}?show=waiting"
    return Work("Waiting for a second person", counted(found), rows, every)


def _unpaid(staff: Staff) -> Work:
    found = repayments_open(staff)
    rows = [
        Waiting(
            repayment.player, reverse("admin:audits_consequence_change", args=[repayment.consequence_id]),
            f"{'Refund' if repayment.amount > 0 else 'Recovery'} {money_label(abs(repayment.amount))}, "
            f"{repayment.consequence.incident}",
        )
        for repayment in found[:SHOWN]
    ]  # fmt: skip
    every = f"{reverse('admin:audits_consequence_changelist')}?show=unpaid"
    return Work("Refunds and recoveries not paid", counted(found), rows, every)


def _reviews(staff: Staff) -> Work:
    found = to_review(staff)
    rows = [
        Waiting(str(review.ruling), reverse("admin:audits_ruling_change", args=[review.ruling.pk]), review.why)
        for review in found[:SHOWN]
    ]
    return Work("Rulings to review", str(len(found)), rows, reverse("admin:audits_ruling_standing"))
