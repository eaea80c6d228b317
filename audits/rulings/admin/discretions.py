"""What the operator decided where a document leaves it to the operator: a form on the incident, a list, a page."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminSelectWidget

from audits.incidents.admin import fields
from audits.incidents.admin.steps import ActorForm
from audits.models import Discretion, Incident
from audits.rulings.discretion_scope import discretion_scope
from audits.rulings.presenters import with_words
from audits.rulings.services.discretions import discretion_record
from games.access.gate import authorize, can, visible
from games.models import Round, Staff
from games.pages.gated import actor_of, require_safe
from games.pages.paging import keyset_page
from games.pages.written_once import WrittenOnceAdmin


class DiscretionForm(ActorForm):
    bet = forms.IntegerField(
        label="Bet", required=False, min_value=1, widget=UnfoldAdminIntegerFieldWidget(),
        help_text="Its number in the round, from 1. Required for a bet that the house placed.",
    )  # fmt: skip
    decision = fields.text_field("What was decided", required=True, most=20_000, rows=3)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        discretion_scope(self.thing)  # where nothing is left to the operator, the reason is shown in place of the form
        rounds = visible(self.actor, Round.objects.filter(incidents__incident=self.thing)).order_by("started_at", "pk")
        self.fields["round"] = forms.ModelChoiceField(
            rounds, required=False, empty_label="–", widget=UnfoldAdminSelectWidget()
        )
        self.order_fields(["round", "bet", "decision", "reason"])


def record(actor: Staff, incident: Incident, values: dict[str, Any]) -> str:
    made = discretion_record(actor=actor, incident=incident, **values)
    return f"The decision is on record, by {made.rule}."


@admin.register(Discretion)
class DiscretionAdmin(WrittenOnceAdmin):
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False  # it is recorded on its incident

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        require_safe(request)
        actor = actor_of(request)
        authorize(actor, "discretion.view")
        part = keyset_page(
            request, visible(actor, Discretion.objects.select_related("table", "incident", "round")), "at"
        )
        return TemplateResponse(
            request, "rulings/discretions.html", self.page_context(request, "Discretion", part=part)
        )

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require_safe(request)
        actor = actor_of(request)
        made: Discretion = self.get_or_deny(request, object_id)
        context = self.page_context(
            request, f"Discretion {made}", original=made, made=made, rules=with_words([made.rule]),
            consequences=visible(actor, made.consequences.all()) if can(actor, "consequence.view", made) else [],
            sees_incident=made.incident is not None and can(actor, "incident.view", made.incident),
        )  # fmt: skip
        return TemplateResponse(request, "rulings/discretion.html", context)
