"""Access records: who read what. Read-only."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import RangeDateFilter, TextFilter
from unfold.decorators import display
from unfold.utils import parse_date_str

from games.models import AccessRecord
from games.pages.gated import GatedAdmin


class PersonFilter(TextFilter):
    title, parameter_name = "staff number", "person"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        number = (self.value() or "").strip().replace("\x00", "")
        return queryset.filter(staff__number__iexact=number) if number else queryset


class DaysFilter(RangeDateFilter):
    """Filter by a range of days, both included, on the clock of the person's casino.

    Unfold's own filter takes times without a zone.
    """

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        for end, lookup in (("from", "gte"), ("to", "lte")):
            day = parse_date_str(str(self.used_parameters.get(f"{self.field_path}_{end}", "")))
            if day is not None:
                queryset = queryset.filter(**{f"{self.field_path}__date__{lookup}": day})
        return queryset


@admin.register(AccessRecord)
class AccessRecordAdmin(GatedAdmin):
    list_display = ["at", "who", "kind", "thing", "entry_point"]
    list_filter = [PersonFilter, "kind", ("at", DaysFilter), "casino"]
    list_filter_submit = True
    search_fields = ["who", "thing", "door"]
    date_hierarchy = "at"
    fields = readonly_fields = ["at", "who", "kind", "thing", "entry_point", "casino", "staff"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @display(description="Page, call or command", ordering="door")
    def entry_point(self, record: AccessRecord) -> str:
        return record.door or "–"
