"""What the operator decided where a document leaves it to him: a short form on the incident, a list, a page."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from unfold.widgets import UnfoldAdminSelectWidget

from audits.admin import incident_fields as fields
from audits.admin.incident_steps import ActorForm
from audits.admin.listing import part_of
from audits.admin.written_once import WrittenOnceAdmin
from audits.models import Discretion, Incident
from audits.rulings.shown import with_words
from audits.services.rulings import discretion_record
from games.admin.gated import actor_of, only_to_look
from games.engine.loader import rulebook, rulebooks
from games.models import Round, Staff
from games.services.gate import authorize, can, visible


class DiscretionForm(ActorForm):
    decision = fields.words("What was decided", required=True, most=20_000, rows=3)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not leaves_room(self.thing):
            raise ValidationError(f"The rulebook of {self.thing} leaves nothing to the operator; ask for a ruling.")
        rounds = visible(self.actor, Round.objects.filter(incidents__incident=self.thing)).order_by("started_at", "pk")
        self.fields["round"] = forms.ModelChoiceField(
            rounds, required=False, empty_label="–", widget=UnfoldAdminSelectWidget()
        )
        self.order_fields(["round", "decision", "reason"])


def record(actor: Staff, incident: Incident, values: dict[str, Any]) -> str:
    made = discretion_record(actor=actor, incident=incident, **values)
    return f"The decision is on record, by {made.rule}."


def leaves_room(incident: Incident) -> bool:
    """Whether the document of a file leaves anything to the operator."""
    if incident.table_id is None or incident.rulebook not in rulebooks():
        return False
    return any(one.action == "discretion" for one in rulebook(incident.rulebook).situations)


@admin.register(Discretion)
class DiscretionAdmin(WrittenOnceAdmin):
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False  # it is recorded on its incident

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        only_to_look(request)
        actor = actor_of(request)
        authorize(actor, "discretion.view")
        part = part_of(request, visible(actor, Discretion.objects.select_related("table", "incident", "round")), "at")
        return TemplateResponse(request, "admin/discretions.html", self.page_context(request, "Discretion", part=part))

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        only_to_look(request)
        actor = actor_of(request)
        made: Discretion = self.found(request, object_id)
        context = self.page_context(
            request, f"Discretion {made}", original=made, made=made, rules=with_words([made.rule]),
            sees_incident=made.incident is not None and can(actor, "incident.view", made.incident),
        )  # fmt: skip
        return TemplateResponse(request, "admin/discretion.html", context)
