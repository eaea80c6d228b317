"""Duties: who acts in which post, granted and ended here."""

from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils import timezone
from unfold.decorators import action, display

from games.admin.gated import AuditedAdmin, ServiceForm, StepForm
from games.models import Duty, Staff
from games.services.duties import duty_end, duty_grant, verify_duty
from games.services.gate import authorize, can


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

    @display(description="Where")
    def where(self, duty: Duty) -> str:
        return str(duty.pit or duty.casino.code)

    @display(description="State", label={"acting": "success", "to come": "info", "over": None})
    def state(self, duty: Duty) -> str:
        now = timezone.now()
        return "to come" if duty.starts_at > now else "acting" if duty.ends_at > now else "over"

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "staff":
            kwargs["queryset"] = Staff.objects.filter(department="pit", is_active=True)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False  # a duty is granted and ended, not edited

    def service_create(self, actor: Staff, values: dict[str, Any], reason: str) -> Model:
        return duty_grant(actor=actor, reason=reason, **values)

    # --- Ending one ---

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.end_view)
        return [path("<path:object_id>/end/", view, name="games_duty_end"), *super().get_urls()]

    @action(description="End now", icon="stop_circle", permissions=["end_now"])
    def end_now(self, request: HttpRequest, object_id: int) -> HttpResponse:
        return redirect("admin:games_duty_end", object_id)

    def has_end_now_permission(self, request: HttpRequest, object_id: str | int) -> bool:
        duty = self.get_object(request, str(object_id))
        return duty is not None and duty.ends_at > timezone.now() and can(request.user, "duty.end", duty)

    def end_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        def take(actor: Staff, duty: Duty, values: dict[str, Any]) -> str:
            duty_end(actor=actor, duty=duty, reason=values["reason"])
            return f"Ended: {duty}."

        return self.step(request, object_id, action="duty.end", title="End now", form_class=StepForm, take=take)
