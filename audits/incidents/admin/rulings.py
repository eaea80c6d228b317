"""On the pages of an incident: it is ruled on, with the precedents in sight, and what follows is ordered."""

from functools import partial
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from audits.models import Incident, IncidentState, Ruling
from audits.rulings.admin.discretions import DiscretionForm, record
from audits.rulings.admin.orders import ORDERS, order_buttons, order_page
from audits.rulings.admin.ruling_form import draft_page, initial_of, may_rule, precedents_piece
from audits.rulings.admin.settlement_form import discretion_settle_page, settle_page
from audits.rulings.discretion_scope import leaves_room
from audits.rulings.services.rulings import RulingDraft, ruling_make, verify_unruled
from games.access.gate import authorize, can
from games.models import Staff
from games.pages.gated import Button, actor_of, require_safe, take_step
from games.pages.steps import PageStep

__all__ = ["RulingViews", "discretion_buttons", "order_buttons", "rule_buttons"]


def address(incident: Incident, page: str = "change") -> str:
    return reverse(f"admin:audits_incident_{page}", args=[incident.pk])


def rule_buttons(actor: Staff, incident: Incident) -> list[Button]:
    if incident.state in (IncidentState.RULED, IncidentState.CLOSED) or not may_rule(actor, incident):
        return []
    return [Button(address(incident, "rule"), "Rule", "gavel", is_main=True)]


def discretion_buttons(actor: Staff, incident: Incident) -> list[Button]:
    if not leaves_room(incident) or not can(actor, "discretion.add", incident):
        return []
    return [Button(address(incident, "discretion"), "Decide by discretion", "how_to_reg")]


class RulingViews:
    """The part of the incident's pages that is about rulings."""

    admin_site: Any
    get_or_deny: Any

    def ruling_views(self) -> dict[str, Any]:
        views = {
            "rule": self.rule_view, "settle": self.settle_view, "discretion": self.discretion_view,
            "discretion-settle": self.discretion_settle_view,
        }  # fmt: skip
        return views | {one.name: partial(self.order_view, order=one) for one in ORDERS}

    def rule_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Who was not quick enough is told, and keeps what he wrote."""
        incident: Incident = self.get_or_deny(request, object_id)
        authorize(actor_of(request), "ruling.make", incident)
        if request.method != "POST":
            try:
                verify_unruled(incident)
            except ValidationError as error:
                messages.error(request, " ".join(error.messages))
                return redirect(address(incident))

        def make(actor: Staff, draft: RulingDraft) -> Ruling:
            return ruling_make(actor=actor, incident=incident, draft=draft)

        return draft_page(
            self.admin_site, request, incident, title=f"Rule: {incident}", initial=initial_of(incident), make=make,
            back=address(incident),
        )  # fmt: skip

    def precedents_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        require_safe(request)
        return precedents_piece(request, self.get_or_deny(request, object_id))

    def order_view(self, request: HttpRequest, object_id: str, order: PageStep) -> HttpResponse:
        return order_page(self.admin_site, request, self.get_or_deny(request, object_id), order)

    def settle_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return settle_page(self.admin_site, request, self.get_or_deny(request, object_id))

    def discretion_settle_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return discretion_settle_page(self.admin_site, request, self.get_or_deny(request, object_id))

    def discretion_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        incident: Incident = self.get_or_deny(request, object_id)
        form = type("DiscretionForm", (DiscretionForm,), {"actor": actor_of(request)})
        return take_step(
            self.admin_site, request, incident, action="discretion.add", title="Decide by discretion",
            form_class=form, take=record, back=address(incident),
        )  # fmt: skip
