"""Resets of second factors: one administrator proposes, another confirms."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from unfold.decorators import action, display

from games.access.gate import can, visible
from games.accounts.services.second_factors import factor_reset_confirm, factor_reset_propose, is_expired, verify_reset
from games.models import FactorReset, Staff
from games.pages.gated import ActionForm, GatedAdmin, actor_of, take_step


class ResetForm(forms.ModelForm):  # type: ignore[type-arg]
    """Whose second factor to reset, and the reason. Faults from the service appear at their field."""

    actor: Staff

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if values.get("staff"):
            verify_reset(actor=self.actor, staff=values["staff"])
        return values


class ConfirmResetForm(ActionForm):
    """A form without a reason field: the button is the decision."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["reason"]
        self.fields["sure"] = forms.BooleanField(
            label="I checked that this person asked for it",
            help_text="All their second factors are removed and their sessions end. They set up new ones at login.",
        )


@admin.register(FactorReset)
class FactorResetAdmin(GatedAdmin):
    form = ResetForm
    list_display = ["staff", "state", "proposed_by", "proposed_at", "confirmed_by", "reason"]
    list_select_related = ["staff", "proposed_by", "confirmation__confirmed_by"]
    search_fields = ["staff__number", "staff__name", "reason"]
    fields = ["staff", "reason"]
    actions_detail = ["confirm_reset"]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["staff", "reason", "proposed_by", "proposed_at", "confirmed_by"] if obj else ["staff", "reason"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return self.get_fields(request, obj) if obj else []

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, change, **kwargs)
        form.actor = actor_of(request)
        return form

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "staff":
            kwargs["queryset"] = visible(request.user, Staff.objects.filter(is_active=True))
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    @display(description="State", label={"confirmed": "success", "waits": "warning", "expired": None})
    def state(self, reset: FactorReset) -> str:
        return "confirmed" if confirmation_of(reset) else "expired" if is_expired(reset) else "waits"

    @display(description="Confirmed by")
    def confirmed_by(self, reset: FactorReset) -> str:
        confirmation = confirmation_of(reset)
        return str(confirmation.confirmed_by) if confirmation else "–"

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: FactorReset, form: Any, change: bool) -> None:
        values = form.cleaned_data
        obj.pk = factor_reset_propose(actor=actor_of(request), staff=values["staff"], reason=values["reason"]).pk

    @action(description="Confirm", icon="check_circle", permissions=["confirm_reset"])
    def confirm_reset(self, request: HttpRequest, object_id: str) -> HttpResponse:
        reset = self.get_object(request, object_id)
        if reset is None:
            raise Http404(f"There is no reset {object_id}.")

        def take(actor: Staff, reset: FactorReset, values: dict[str, Any]) -> str:
            factor_reset_confirm(actor=actor, reset=reset)
            return f"The second factors of {reset.staff} were removed."

        return take_step(
            self.admin_site, request, reset, action="factorreset.confirm", title="Confirm reset",
            form_class=ConfirmResetForm, take=take, back=reverse("admin:games_factorreset_change", args=[reset.pk]),
        )  # fmt: skip

    def has_confirm_reset_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        reset = self.get_object(request, str(object_id))
        return reset is not None and not confirmation_of(reset) and can(request.user, "factorreset.confirm", reset)


def confirmation_of(reset: FactorReset) -> Any:
    return getattr(reset, "confirmation", None)
