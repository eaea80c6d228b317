"""Acting appointments (in code: duties): who acts in which post. Granted and ended here."""

import datetime as dt
import re
from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import AutocompleteSelect
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from unfold.decorators import action, display
from unfold.widgets import UnfoldAdminSelectWidget

from games.access.gate import authorize, can, visible
from games.access.models.acting_appointment import ALL_PITS, Everywhere, acting_limits_of
from games.access.services.acting_appointments import PLACE_NEEDED, duty_draft, duty_end, duty_grant, verify_duty
from games.models import Casino, Duty, Pit, Staff
from games.pages.gated import ActionForm, AuditedAdmin, ServiceForm, actor_of

SHIFT = dt.timedelta(hours=8)


class IdAutocomplete(AutocompleteSelect):
    """An autocomplete that looks up valid ids only. Django's own queries the database with any text sent."""

    def optgroups(self, name: str, value: Sequence[str], attr: dict[str, Any] | None = None) -> Any:
        return super().optgroups(name, [key for key in value if re.fullmatch(r"\d{1,18}", str(key), re.ASCII)], attr)


class DutyForm(ServiceForm):
    where = forms.ChoiceField(
        label="Pits", widget=UnfoldAdminSelectWidget(),
        help_text="One pit, or all pits of the casino. There is no default.",
        error_messages={"required": PLACE_NEEDED, "invalid_choice": PLACE_NEEDED},
    )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "where" in self.fields:  # absent on a read-only page
            self.pits = {str(pit.pk): pit for pit in visible(self.actor, Pit.objects.select_related("casino"))}
            one_pit = [(key, str(pit)) for key, pit in self.pits.items()]
            every = (ALL_PITS.value, "All pits of the casino")
            self.fields["where"].choices = [("", "Choose one pit, or all pits"), *one_pit, every]  # type: ignore[attr-defined]

    def clean_where(self) -> Pit | Everywhere:
        chosen = self.cleaned_data["where"]
        return self.pits.get(chosen) or ALL_PITS

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if not self.errors:
            duty = duty_draft(actor=self.actor, **appointment_values(values))
            verify_duty(capacity=authorize(self.actor, "duty.add", duty), duty=duty)
        return values


def appointment_values(values: dict[str, Any]) -> dict[str, Any]:
    """Return the form's values as the service takes them."""
    names = ("staff", "post", "casino", "starts_at", "ends_at", "reason")
    return {name: values[name] for name in names if name in values} | {"pit": values["where"]}


@admin.register(Duty)
class DutyAdmin(AuditedAdmin):
    form = DutyForm
    list_display = ["staff", "post", "where", "state", "starts_at", "ends_at", "granted_by", "reason"]
    list_filter = ["post", "casino", "scope", "pit"]
    list_select_related = ["staff", "casino", "pit__casino", "granted_by"]
    search_fields = ["staff__number", "staff__name", "reason"]
    autocomplete_fields = ["staff"]
    fields = ["staff", "post", "casino", "where", "starts_at", "ends_at", "reason"]
    change_form_outer_before_template = "access/acting_note.html"
    actions_detail = ["end_now"]

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "staff":
            kwargs["widget"] = IdAutocomplete(db_field, self.admin_site)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    @display(description="Pits")
    def where(self, duty: Duty) -> str:
        return duty.place

    @display(description="State", label={"acting": "success", "to come": "info", "over": None})
    def state(self, duty: Duty) -> str:
        now = timezone.now()
        return "to come" if duty.starts_at > now else "acting" if duty.ends_at > now else "over"

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Start now and last one shift by default. The pit has no default."""
        now = timezone.localtime().replace(second=0, microsecond=0)
        actor = actor_of(request)
        asked: dict[str, Any] = super().get_changeform_initial_data(request)
        return {"casino": actor.casino_id, "starts_at": now, "ends_at": now + SHIFT} | asked

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False  # an appointment is granted and ended, never edited

    def service_create(self, actor: Staff, values: dict[str, Any], reason: str) -> Model:
        return duty_grant(actor=actor, **appointment_values(values | {"reason": reason}))

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None) -> Any:
        """Show the form with the bounds of each casino in which the person may appoint."""
        casinos = [(casino, acting_limits_of(casino)) for casino in visible(request.user, Casino.objects.all())]
        return super().add_view(request, form_url, {"casinos": casinos} | (extra_context or {}))

    @action(description="End now", icon="stop_circle", permissions=["end_now"])
    def end_now(self, request: HttpRequest, object_id: str) -> HttpResponse:
        def take(actor: Staff, duty: Duty, values: dict[str, Any]) -> str:
            duty_end(actor=actor, duty=duty, reason=values["reason"])
            return f"Acting appointment ended: {duty}."

        return self.step(request, object_id, action="duty.end", title="End now", form_class=ActionForm, take=take)

    def has_end_now_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        duty = self.get_object(request, str(object_id))
        return duty is not None and duty.ends_at > timezone.now() and can(request.user, "duty.end", duty)
