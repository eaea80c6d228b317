"""Access denials: what the gate denied. Read-only."""

from django.contrib import admin
from unfold.decorators import display

from games.models import Denial
from games.pages.gated import GatedAdmin


@admin.register(Denial)
class DenialAdmin(GatedAdmin):
    list_display = ["at", "who", "action", "thing", "entry_point"]
    search_fields = ["who", "action", "thing", "door"]
    date_hierarchy = "at"
    list_filter = ["casino"]
    fields = readonly_fields = ["at", "who", "action", "thing", "entry_point", "casino", "staff"]

    @display(description="Page, call or command", ordering="door")
    def entry_point(self, denial: Denial) -> str:
        return denial.door or "–"
