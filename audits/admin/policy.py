"""How a casino weighs its findings: amounts as money, times in minutes, with a history."""

from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from unfold.decorators import display

from audits.admin.fields import MoneyField
from audits.admin.history import ReadableHistoryAdmin
from audits.models import FindingPolicy
from audits.services.policies import policy_set
from audits.words import money
from games.admin.gated import ServiceForm, actor_of
from games.models import Casino, Staff
from games.services.gate import can, visible, within_reach


class PolicyForm(ServiceForm):
    medium_from = MoneyField(label="Medium from", help_text="A finding of this amount is of medium severity.")
    high_from = MoneyField(label="High from", help_text="It stands on the overview until somebody acknowledges it.")
    confirm_from = MoneyField(
        label="Confirmed by compliance from", help_text="A resolution of this amount or more waits for compliance."
    )


@admin.register(FindingPolicy)
class FindingPolicyAdmin(ReadableHistoryAdmin):
    form = PolicyForm
    list_display = ["casino", "medium", "high", "confirmed", "low_for", "medium_for", "high_for"]
    list_select_related = ["casino"]
    list_before_template = "admin/policy_defaults.html"
    fields = [
        "casino", "medium_from", "high_from", "confirm_from", "escalate_low_after", "escalate_medium_after",
        "escalate_high_after", "reason",
    ]  # fmt: skip

    @display(description="Medium from", ordering="medium_from")
    def medium(self, policy: FindingPolicy) -> str:
        return money(policy.medium_from)

    @display(description="High from", ordering="high_from")
    def high(self, policy: FindingPolicy) -> str:
        return money(policy.high_from)

    @display(description="Confirmed from", ordering="confirm_from")
    def confirmed(self, policy: FindingPolicy) -> str:
        return money(policy.confirm_from)

    @display(description="Low may lie for")
    def low_for(self, policy: FindingPolicy) -> str:
        return f"{policy.escalate_low_after} min"

    @display(description="Medium")
    def medium_for(self, policy: FindingPolicy) -> str:
        return f"{policy.escalate_medium_after} min"

    @display(description="High")
    def high_for(self, policy: FindingPolicy) -> str:
        return f"{policy.escalate_high_after} min"

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Casinos without a policy of their own are named, with the defaults that hold for them."""
        casinos = visible(request.user, Casino.objects.filter(finding_policy=None))
        context = {"without": casinos, "defaults": FindingPolicy()}
        answer: HttpResponse = super().changelist_view(request, {**context, **(extra_context or {})})
        return answer

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Where a casino within reach has none yet."""
        if not can(request.user, "findingpolicy.change"):
            return False
        casinos = Casino.objects.filter(finding_policy=None)
        return within_reach(request.user, "findingpolicy.change", casinos).exists()

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["casino"] if obj else []

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "casino":
            casinos = Casino.objects.filter(finding_policy=None)
            kwargs["queryset"] = within_reach(request.user, "findingpolicy.change", casinos)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """What holds now: the defaults."""
        asked: dict[str, Any] = super().get_changeform_initial_data(request)
        policy = FindingPolicy()
        amounts = {name: getattr(policy, name) for name in ("medium_from", "high_from", "confirm_from")}
        return {"casino": actor_of(request).casino_id, **amounts, **asked}

    def service_create(self, actor: Staff, values: dict[str, Any], reason: str) -> Model:
        casino = values.pop("casino")
        return policy_set(actor=actor, casino=casino, changes=values, reason=reason)

    def service_update(self, actor: Staff, obj: Any, values: dict[str, Any], reason: str) -> None:
        policy_set(actor=actor, casino=obj.casino, changes=values, reason=reason)
