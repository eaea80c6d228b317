"""Casinos and pits."""

from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from games.admin.gated import AuditedAdmin
from games.models import Casino, Pit, Staff
from games.services.casinos import casino_update, pit_create, pit_update


@admin.register(Casino)
class CasinoAdmin(AuditedAdmin):
    list_display = ["code", "name", "timezone", "currency", "gaming_day_starts"]
    search_fields = ["code", "name"]
    fields = ["code", "name", "timezone", "currency", "gaming_day_starts", "reason"]

    def service_update(self, actor: Staff, obj: Any, values: dict[str, Any], reason: str) -> None:
        casino_update(actor=actor, casino=obj, changes=values, reason=reason)


@admin.register(Pit)
class PitAdmin(AuditedAdmin):
    list_display = ["code", "name", "casino"]
    list_filter = ["casino"]
    list_select_related = ["casino"]
    search_fields = ["code", "name"]
    fields = ["casino", "code", "name", "reason"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["casino"] if obj else []  # a pit stays in its casino

    def service_create(self, actor: Staff, values: dict[str, Any], reason: str) -> Model:
        return pit_create(actor=actor, reason=reason, **values)

    def service_update(self, actor: Staff, obj: Any, values: dict[str, Any], reason: str) -> None:
        pit_update(actor=actor, pit=obj, changes=values, reason=reason)
