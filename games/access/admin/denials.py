"""Access denials: what the gate denied. Read-only."""

from django.contrib import admin

from games.models import Denial
from games.pages.gated import GatedAdmin


@admin.register(Denial)
class DenialAdmin(GatedAdmin):
    list_display = ["at", "who", "action", "thing", "door"]
    search_fields = ["who", "action", "thing", "door"]
    date_hierarchy = "at"
    list_filter = ["casino"]
    readonly_fields = ["at", "who", "action", "thing", "door", "casino", "staff"]
