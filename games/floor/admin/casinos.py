"""Casinos and pits."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from unfold.decorators import action

from games.access.gate import authorize, can
from games.floor.services.casinos import casino_update, pit_create, pit_update
from games.limits.admin.proposal_form import propose
from games.models import Casino, Pit, Staff, Table
from games.pages.gated import AuditedAdmin, actor_of


@admin.register(Casino)
class CasinoAdmin(AuditedAdmin):
    list_display = ["code", "name", "operator", "timezone", "currency", "gaming_day_starts", "notice_minutes"]
    search_fields = ["code", "name"]
    fields = [
        "code",
        "name",
        "operator",
        "timezone",
        "currency",
        "gaming_day_starts",
        "notice_minutes",
        "open_round_minutes",
        "idle_minutes",
        "office_idle_minutes",
        "report_days",
        "report_files_by_email",
        "reason",
    ]

    def service_update(self, actor: Staff, obj: Any, values: dict[str, Any], reason: str) -> None:
        casino_update(actor=actor, casino=obj, changes=values, reason=reason)


@admin.register(Pit)
class PitAdmin(AuditedAdmin):
    list_display = ["code", "name", "casino"]
    list_filter = ["casino"]
    list_select_related = ["casino"]
    search_fields = ["code", "name"]
    fields = ["casino", "code", "name", "reason"]
    actions_detail = ["propose"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["casino"] if obj else []  # the casino of a pit is fixed

    @action(description="Propose limits for all tables", icon="edit_note", permissions=["propose"])
    def propose(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Propose new limits for every table that is in the pit now."""
        pit: Pit | None = self.get_object(request, object_id)
        if pit is None:
            raise Http404(f"There is no pit {object_id}.")
        authorize(actor_of(request), "limits.propose", pit)
        back = reverse("admin:games_pit_change", args=[pit.pk])
        tables = list(Table.objects.standing_in(pit.pk).select_related("casino"))
        if not tables:
            messages.error(request, f"There are no tables in {pit}.")
            return redirect(back)
        return propose(self.admin_site, request, tables, title=f"Propose limits: {pit}", back=back)

    def has_propose_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return can(request.user, "limits.propose", self.get_object(request, str(object_id)))

    def service_create(self, actor: Staff, values: dict[str, Any], reason: str) -> Model:
        return pit_create(actor=actor, reason=reason, **values)

    def service_update(self, actor: Staff, obj: Any, values: dict[str, Any], reason: str) -> None:
        pit_update(actor=actor, pit=obj, changes=values, reason=reason)
