"""People: who they are, and their passwords."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.password_validation import password_validators_help_text_html, validate_password
from django.core.exceptions import ValidationError
from django.db.models import Model, Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from unfold.decorators import action, display
from unfold.widgets import UnfoldAdminPasswordWidget

from games.admin.gated import AuditedAdmin, ServiceForm, StepForm
from games.models import Duty, Staff
from games.services.gate import can, standings
from games.services.people import (
    staff_create,
    staff_set_password,
    staff_update,
    verify_pit_of_casino,
    verify_rights_not_own,
)


class StaffForm(ServiceForm):
    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        verify_pit_of_casino(values.get("pit"), values.get("casino"))
        if self.instance.pk is not None:
            verify_rights_not_own(actor=self.actor, staff=Staff.objects.get(pk=self.instance.pk), changes=values)
        return values


class PasswordForm(StepForm):
    """A first or forgotten password, given by somebody else: its owner has to choose his own at the next login."""

    password = forms.CharField(
        widget=UnfoldAdminPasswordWidget(attrs={"autocomplete": "new-password"}),
        strip=False,
        help_text=password_validators_help_text_html,
    )
    again = forms.CharField(
        label="The same again", widget=UnfoldAdminPasswordWidget(attrs={"autocomplete": "new-password"}), strip=False
    )
    field_order = ["password", "again", "reason"]

    def clean_password(self) -> str:
        validate_password(self.cleaned_data["password"], self.thing)
        return str(self.cleaned_data["password"])

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if "password" in values and values["password"] != values.get("again"):
            raise ValidationError({"again": "The two passwords differ; type the same one twice."})
        return values


@admin.register(Staff)
class StaffAdmin(AuditedAdmin):
    form = StaffForm
    list_display = ["number", "name", "held_now", "department", "where", "active", "last_login"]
    list_filter = ["department", "post", "is_active", "casino", "pit"]
    list_filter_submit = True
    list_select_related = ["casino", "pit__casino"]
    search_fields = ["number", "name"]
    fields = ["number", "name", "department", "post", "casino", "pit", "email", "is_active", "reason"]
    actions_detail = ["set_password"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Staff]:
        current = Duty.objects.filter(ends_at__gt=timezone.now()).select_related("casino", "pit")
        return (
            super().get_queryset(request).prefetch_related(Prefetch("duties", queryset=current, to_attr="known_duties"))
        )

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """A filter in the address would let one guess a password's hash letter by letter."""
        return not lookup.startswith("password") and super().lookup_allowed(lookup, value, request)

    @display(description="Post now")
    def held_now(self, staff: Staff) -> str:
        return ", ".join(str(standing) for standing in standings(staff)).capitalize() or "–"

    @display(description="Where", ordering="casino__code")
    def where(self, staff: Staff) -> str:
        return str(staff.pit or (staff.casino.code if staff.casino else "every casino"))

    @display(description="Active", boolean=True, ordering="is_active")
    def active(self, staff: Staff) -> bool:
        return staff.is_active

    def service_create(self, actor: Staff, values: dict[str, Any], reason: str) -> Model:
        return staff_create(actor=actor, reason=reason, **values)

    def service_update(self, actor: Staff, obj: Any, values: dict[str, Any], reason: str) -> None:
        staff_update(actor=actor, staff=obj, changes=values, reason=reason)

    @action(description="Set password", icon="key", permissions=["set_password"])
    def set_password(self, request: HttpRequest, object_id: str) -> HttpResponse:
        def take(actor: Staff, staff: Staff, values: dict[str, Any]) -> str:
            staff_set_password(actor=actor, staff=staff, password=values["password"], reason=values["reason"])
            return f"{staff} has a new password, and has to change it at the next login."

        return self.step(
            request, object_id, action="staff.password", title="Set password", form_class=PasswordForm, take=take
        )

    def has_set_password_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return can(request.user, "staff.password", self.get_object(request, str(object_id)))
