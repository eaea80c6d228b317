"""The settings of a casino: its shifts, and what the law requires where a patron disputes."""

from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from unfold.decorators import action

from audits.incidents.services.disputes import dispute_rule_set
from audits.incidents.services.shifts import shift_add, shift_change, shift_remove
from audits.models import DisputeRule, Shift
from games.access.gate import can
from games.models import Staff
from games.pages.gated import ActionForm, AuditedAdmin


class CasinosOwnAdmin(AuditedAdmin):
    """A setting of a casino. The right to change it includes adding it; its casino cannot be changed."""

    list_filter = ["casino"]
    list_select_related = ["casino"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return can(request.user, f"{self.opts.model_name}.change")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["casino"] if obj else []


@admin.register(Shift)
class ShiftAdmin(CasinosOwnAdmin):
    list_display = ["name", "starts", "casino"]
    fields = ["casino", "name", "starts", "reason"]
    actions_detail = ["remove"]

    def service_create(self, actor: Staff, values: dict[str, Any], reason: str) -> Model:
        return shift_add(actor=actor, reason=reason, **values)

    def service_update(self, actor: Staff, obj: Any, values: dict[str, Any], reason: str) -> None:
        shift_change(actor=actor, shift=obj, changes=values, reason=reason)

    @action(description="Remove", icon="remove_circle", permissions=["remove"])
    def remove(self, request: HttpRequest, object_id: str) -> HttpResponse:
        def take(actor: Staff, shift: Shift, values: dict[str, Any]) -> str:
            shift_remove(actor=actor, shift=shift, reason=values["reason"])
            return f"{shift} was removed; its entries stay."

        answer = self.step(
            request, object_id, action="shift.change", title="Remove", form_class=ActionForm, take=take
        )  # after the removal its page no longer exists
        is_gone = request.method == "POST" and self.get_object(request, object_id) is None
        return redirect("admin:audits_shift_changelist") if is_gone else answer

    def has_remove_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return can(request.user, "shift.change", self.get_object(request, str(object_id)))


@admin.register(DisputeRule)
class DisputeRuleAdmin(CasinosOwnAdmin):
    list_display = ["casino", "law", "authority", "days", "warn_days"]
    fields = ["casino", "law", "authority", "days", "warn_days", "reason"]

    def service_create(self, actor: Staff, values: dict[str, Any], reason: str) -> Model:
        casino = values.pop("casino")
        return dispute_rule_set(actor=actor, casino=casino, changes=values, reason=reason)

    def service_update(self, actor: Staff, obj: Any, values: dict[str, Any], reason: str) -> None:
        dispute_rule_set(actor=actor, casino=obj.casino, changes=values, reason=reason)
