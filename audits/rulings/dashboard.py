"""Rulings on the first page: what waits for somebody who rules, for a second person, or for a player's money."""

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse

from audits.findings.labels import money
from audits.incidents.dashboard import MOST_COUNTED, SHOWN
from audits.incidents.labels import situation_label
from audits.models import Incident, IncidentState
from audits.rulings.reviews import to_review
from audits.rulings.selectors import consequences_waiting, repayments_open
from games.access.gate import can, visible
from games.models import Staff


@dataclass(frozen=True)
class Waiting:
    """A thing that waits: what it is called, where it is done, and what else there is to say of it."""

    what: str
    address: str
    more: str


@dataclass(frozen=True)
class Work:
    """Of one kind: how many, the oldest of them, and where all of them are."""

    title: str
    count: str
    rows: list[Waiting]
    every: str


def ruling_overview(staff: Staff) -> dict[str, Any]:
    """None of it for whoever neither rules nor pays."""
    work = []
    if can(staff, "ruling.make"):
        work += [_awaiting(staff), _second(staff)]
    if can(staff, "repayment.mark"):
        work.append(_unpaid(staff))
    if can(staff, "ruling.make"):
        work.append(_reviews(staff))
    return {"ruling_work": work}


def counted(found: QuerySet[Any]) -> str:
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
    return Work("Waits for a second person", counted(found), rows, every)


def _unpaid(staff: Staff) -> Work:
    found = repayments_open(staff)
    rows = [
        Waiting(
            repayment.player, reverse("admin:audits_consequence_change", args=[repayment.consequence_id]),
            f"{'gets' if repayment.amount > 0 else 'gives back'} {money(abs(repayment.amount))}, {repayment.consequence.incident}",
        )
        for repayment in found[:SHOWN]
    ]  # fmt: skip
    every = f"{reverse('admin:audits_consequence_changelist')}?show=unpaid"
    return Work("Repayments not paid", counted(found), rows, every)


def _reviews(staff: Staff) -> Work:
    found = to_review(staff)
    rows = [
        Waiting(str(review.ruling), reverse("admin:audits_ruling_change", args=[review.ruling.pk]), review.why)
        for review in found[:SHOWN]
    ]
    return Work("Rulings to review", str(len(found)), rows, reverse("admin:audits_ruling_standing"))
