"""Handovers: what a shift leaves to the next, signed by who leaves and by who takes over."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path

from audits.incidents.admin import fields
from audits.incidents.services.log import handover_sign, handover_take, open_matters
from audits.models import Handover, Incident
from games.access.gate import authorize, can, visible
from games.access.roles import may_be_confidential
from games.access.services.access_records import confidential_read
from games.models import Casino, Staff
from games.pages.gated import ActionForm, Button, actor_of, add_errors, require_safe, take_step
from games.pages.paging import keyset_page
from games.pages.written_once import WrittenOnceAdmin


class SignHandoverForm(forms.Form):
    watch = fields.text_field(
        "What to watch", required=True, most=10_000, rows=6, help_text="Or that there is nothing."
    )

    def __init__(self, *args: Any, actor: Staff, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if may_be_confidential("handover", actor.department):
            self.fields["is_confidential"] = fields.confidential_field()
        fields.offer_casino(self, actor)


class TakeForm(ActionForm):
    remarks = fields.text_field("Remarks", most=2000, rows=3)

    def __init__(self, *args: Any, thing: Handover, **kwargs: Any) -> None:
        super().__init__(*args, thing=thing, **kwargs)
        del self.fields["reason"]
        if thing.is_taken:
            raise ValidationError(f"This handover was signed by {thing.taken.who}; nothing has changed.")


@admin.register(Handover)
class HandoverAdmin(WrittenOnceAdmin):
    def has_add_permission(self, request: HttpRequest) -> bool:
        return can(request.user, "handover.sign")

    def get_urls(self) -> list[URLPattern]:
        take = self.admin_site.admin_view(self.take_view)
        return [path("<path:object_id>/take/", take, name="audits_handover_take"), *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        require_safe(request)
        actor = actor_of(request)
        authorize(actor, "handover.view")
        found = visible(actor, Handover.objects.select_related("casino", "pit__casino", "taken"))
        part = keyset_page(request, found, "at")
        confidential_read(actor, part.rows)
        context = self.page_context(request, "Handovers", part=part, may_sign=self.has_add_permission(request))
        return TemplateResponse(request, "incidents/handovers.html", context)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """What is open is shown before it is signed."""
        actor = actor_of(request)
        authorize(actor, "handover.sign")
        form = SignHandoverForm(request.POST if request.method == "POST" else None, actor=actor)
        if form.is_bound and form.is_valid():
            try:
                handover = sign(actor, form.cleaned_data)
            except ValidationError as error:
                add_errors(form, error)
            else:
                messages.success(request, f"{handover} is signed off; somebody else takes over.")
                return redirect(self.address(handover))
        matters = open_matters(actor, actor.casino) if actor.casino else {}
        context = self.page_context(
            request,
            "Sign off",
            form=form,
            incidents=named(actor, actor.casino, matters.get("open_incidents", [])),
            **matters,
        )
        return TemplateResponse(request, "incidents/handover_sign.html", context)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require_safe(request)
        actor = actor_of(request)
        handover: Handover = self.get_or_deny(request, object_id)
        confidential_read(actor, [handover])
        context = self.page_context(
            request, f"Handover {handover}", original=handover, handover=handover,
            incidents=named(actor, handover.casino, handover.open_incidents), buttons=self.buttons(actor, handover),
        )  # fmt: skip
        return TemplateResponse(request, "incidents/handover.html", context)

    def buttons(self, actor: Staff, handover: Handover) -> list[Button]:
        is_next = actor.department == handover.department and actor != handover.left_by
        if handover.is_taken or not is_next or not can(actor, "handover.sign", handover):
            return []
        return [Button(self.address(handover, "take"), "Take over", "handshake", is_main=True)]

    def take_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        handover = self.get_or_deny(request, object_id)
        confidential_read(actor_of(request), [handover])

        def take(actor: Staff, handover: Handover, values: dict[str, Any]) -> str:
            handover_take(actor=actor, handover=handover, remarks=values["remarks"])
            return f"You have taken over {handover}."

        return take_step(
            self.admin_site, request, handover, action="handover.sign", title="Take over", form_class=TakeForm,
            take=take, back=self.address(handover), above="incidents/handover_above.html",
            context={"handover": handover},
        )  # fmt: skip


def sign(actor: Staff, values: dict[str, Any]) -> Handover:
    casino = fields.casino_of(actor, values)
    if casino is None:
        raise ValidationError("Say in which casino.")
    return handover_sign(
        actor=actor, casino=casino, watch=values["watch"], is_confidential=values.get("is_confidential", False)
    )


def named(actor: Staff, casino: Casino | None, incidents: list[list[str]]) -> list[dict[str, Any]]:
    """The files that were open then, linked where the reader may open them."""
    numbers = [number for number, _ in incidents]
    known = {one.number: one for one in visible(actor, Incident.objects.filter(casino=casino, number__in=numbers))}
    return [{"number": number, "state": state, "file": known.get(number)} for number, state in incidents]
