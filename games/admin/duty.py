"""Duties: who acts in which post, granted and ended here."""

import datetime as dt
import re
from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.contrib.admin.widgets import AutocompleteSelect
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from unfold.decorators import action, display

from games.admin.gated import AuditedAdmin, ServiceForm, StepForm, actor_of
from games.models import Duty, Staff
from games.services.duties import duty_end, duty_grant, verify_duty
from games.services.gate import authorize, can

SHIFT = dt.timedelta(hours=8)


class SoundAutocomplete(AutocompleteSelect):
    """Looks up only what can be an id: Django's own would ask the database for whatever was sent."""

    def optgroups(self, name: str, value: Sequence[str], attr: dict[str, Any] | None = None) -> Any:
        return super().optgroups(name, [one for one in value if re.fullmatch(r"\d{1,18}", str(one), re.ASCII)], attr)


class DutyForm(ServiceForm):
    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if not self.errors:
            duty = Duty(granted_by=self.actor, **{name: values[name] for name in values if name != "reason"})
            verify_duty(standing=authorize(self.actor, "duty.add", duty), duty=duty)
        return values


@admin.register(Duty)
class DutyAdmin(AuditedAdmin):
    form = DutyForm
    list_display = ["staff", "post", "where", "state", "starts_at", "ends_at", "granted_by", "reason"]
    list_filter = ["post", "casino", "pit"]
    list_select_related = ["staff", "casino", "pit__casino", "granted_by"]
    search_fields = ["staff__number", "staff__name", "reason"]
    autocomplete_fields = ["staff"]
    fields = ["staff", "post", "casino", "pit", "starts_at", "ends_at", "reason"]
    actions_detail = ["end_now"]

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "staff":
            kwargs["widget"] = SoundAutocomplete(db_field, self.admin_site)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    @display(description="Where")
    def where(self, duty: Duty) -> str:
        return str(duty.pit or duty.casino.code)

    @display(description="State", label={"acting": "success", "to come": "info", "over": None})
    def state(self, duty: Duty) -> str:
        now = timezone.now()
        return "to come" if duty.starts_at > now else "acting" if duty.ends_at > now else "over"

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Most duties begin now, here, and last a shift."""
        now = timezone.localtime().replace(second=0, microsecond=0)
        actor = actor_of(request)
        asked: dict[str, Any] = super().get_changeform_initial_data(request)
        return {"casino": actor.casino_id, "starts_at": now, "ends_at": now + SHIFT} | asked

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False  # a duty is granted and ended, not edited

    def service_create(self, actor: Staff, values: dict[str, Any], reason: str) -> Model:
        return duty_grant(actor=actor, reason=reason, **values)

    @action(description="End now", icon="stop_circle", permissions=["end_now"])
    def end_now(self, request: HttpRequest, object_id: str) -> HttpResponse:
        def take(actor: Staff, duty: Duty, values: dict[str, Any]) -> str:
            duty_end(actor=actor, duty=duty, reason=values["reason"])
            return f"Ended: {duty}."

        return self.step(request, object_id, action="duty.end", title="End now", form_class=StepForm, take=take)

    def has_end_now_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        duty = self.get_object(request, str(object_id))
        return duty is not None and duty.ends_at > timezone.now() and can(request.user, "duty.end", duty)
