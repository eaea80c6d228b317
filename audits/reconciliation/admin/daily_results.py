"""Pages of daily results and closed days: the current and the frozen figures of a table and gaming day."""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.formats import date_format
from unfold.decorators import display
from unfold.widgets import UnfoldAdminTextInputWidget

from audits.findings.labels import kind_name
from audits.models import COUNTS, FIGURES, Category, ClosedSummary, DayClose, DaySummary, Figures
from audits.reports.notes import table_notes
from games.access.gate import authorize, can, visible, within_reach
from games.labels.money import money_label
from games.pages.fields import day_field
from games.pages.gated import GatedAdmin, actor_of, require_safe

ROWS = 60
LARGEST_OFFSET = 10_000_000
#: The labels of the figures: counts, then amounts.
NUMBERS = {
    "rounds": "Rounds", "settled": "Settled", "voids": "Void", "unfinished": "Unfinished", "bets": "Bets",
}  # fmt: skip
AMOUNTS = {
    "turnover": "Turnover", "house_recorded": "House result, recorded", "house_expected": "House result, expected",
    "difference": "Difference", "by_ruling_amount": "Changed by rulings",
    "theoretical": "Theoretical result", "deviation": "Standard deviation",
}  # fmt: skip
FINDINGS = {
    "discrepancies": "Discrepancies", "breaches": "Breaches", "irregularities": "Irregularities",
    "procedural": "Procedural", "by_ruling": "By ruling",
}  # fmt: skip


@dataclass(frozen=True)
class DayLine:
    """A figure: its label, its current value and its frozen value."""

    name: str
    now: str
    frozen: str | None = None

    @property
    def has_changed(self) -> bool:
        return self.frozen is not None and self.frozen != self.now


class SummarySearch(forms.Form):
    first = day_field("Gaming day from", required=False)
    last = day_field("Gaming day to", required=False)
    table = forms.CharField(required=False, max_length=20, widget=UnfoldAdminTextInputWidget())


@admin.register(DaySummary)
class DaySummaryAdmin(GatedAdmin):
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        require_safe(request)
        actor = actor_of(request)
        authorize(actor, "daysummary.view")
        form = SummarySearch(request.GET or None)
        start = _number(request.GET.get("start", ""))
        summaries: list[DaySummary] = []
        if not form.is_bound or form.is_valid():
            matching = _filtered(visible(actor, DaySummary.objects.select_related("table")), form)
            summaries = list(matching.order_by("-gaming_day", "table__code", "pk")[start : start + ROWS + 1])
        shown = summaries[:ROWS]
        is_whole = start == 0 and len(summaries) <= ROWS
        asked = {name: value for name, value in request.GET.items() if name != "start" and value}
        context = {
            **self.admin_site.each_context(request),
            "title": "Daily results", "form": form, "summaries": shown, "opts": self.opts, "start": start,
            "older": urlencode(asked | {"start": start + ROWS}) if len(summaries) > ROWS else None,
            "total": total_of(shown) if is_whole and len(shown) > 1 else None,
            "sees_closes": can(actor, "dayclose.view"),
        }  # fmt: skip
        return TemplateResponse(request, "reconciliation/day_summaries.html", context)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require_safe(request)
        summary: DaySummary = self.get_or_deny(request, object_id)
        table, day = summary.table, summary.gaming_day
        frozen = ClosedSummary.objects.filter(table=table, close__gaming_day=day)
        closed = frozen.select_related("close__run").first()
        context = {
            **self.admin_site.each_context(request),
            "title": f"{table}, {date_format(day, 'DATE_FORMAT')}", "original": summary, "summary": summary,
            "closed": closed, "notes": table_notes(table, day), "opts": self.opts,
            "groups": lines_of(summary, closed), "kinds": kinds_of(summary, closed),
            "has_changed": closed is not None and has_changed(summary, closed),
            "sees_findings": can(request.user, "finding.view", table),
        }  # fmt: skip
        return TemplateResponse(request, "reconciliation/day_summary.html", context)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the page itself: the only history of a daily result is its frozen figures."""
        return self.change_view(request, object_id)


@admin.register(DayClose)
class DayCloseAdmin(GatedAdmin):
    list_display = ["gaming_day", "casino", "at", "run", "tables"]
    list_filter = ["casino"]
    list_select_related = ["casino", "run"]
    date_hierarchy = "gaming_day"
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        closes: QuerySet[Any] = super().get_queryset(request).annotate(tables=Count("summaries"))
        return closes

    @display(description="Tables")
    def tables(self, close: Any) -> int:
        return int(close.tables)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False  # only the system closes a day

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require_safe(request)
        close: DayClose | None = self.get_object(request, object_id)
        if close is None:
            raise Http404(f"There is no closed day {object_id}.")
        authorize(actor_of(request), "dayclose.view", close)
        frozen = within_reach(request.user, "dayclose.view", close.summaries.select_related("table"))
        now = {
            day_summary.table_id: day_summary
            for day_summary in DaySummary.objects.filter(gaming_day=close.gaming_day, table__casino=close.casino_id)
        }
        rows = [(closed, now.get(closed.table_id)) for closed in frozen]
        context = {
            **self.admin_site.each_context(request),
            "title": f"Closed day {close}", "original": close, "close": close, "opts": self.opts,
            "rows": [(closed, current, bool(current and has_changed(current, closed))) for closed, current in rows],
        }  # fmt: skip
        return TemplateResponse(request, "reconciliation/day_close.html", context)


def has_changed(now: Figures, frozen: Figures) -> bool:
    """Say whether figures have changed since they were frozen."""
    return any(getattr(now, name) != getattr(frozen, name) for name in (*FIGURES, *COUNTS, "kinds"))


def lines_of(now: Figures, frozen: Figures | None) -> list[list[DayLine]]:
    """Return the figures in groups, each with its frozen value if the day is closed."""
    groups: Sequence[tuple[dict[str, str], Any]] = ((NUMBERS, _count), (AMOUNTS, _amount), (FINDINGS, _count))
    return [
        [DayLine(title, show(now, name), show(frozen, name) if frozen else None) for name, title in names.items()]
        for names, show in groups
    ]


def kinds_of(now: Figures, frozen: Figures | None) -> list[DayLine]:
    """Count the findings by category and kind; 0 for frozen kinds that are no longer found."""
    before = frozen.kinds if frozen else {}
    return [
        DayLine(_kind(key), str(now.kinds.get(key, 0)), str(before.get(key, 0)) if frozen else None)
        for key in sorted({*now.kinds, *before})
    ]


def _kind(key: str) -> str:
    category, _, kind = key.partition(" ")
    return f"{Category(category).label}: {kind_name(category, kind).lower()}"


def _count(figures: Figures, name: str) -> str:
    return f"{getattr(figures, name):,}"


def _amount(figures: Figures, name: str) -> str:
    return money_label(getattr(figures, name))


def total_of(summaries: Iterable[DaySummary]) -> DaySummary:
    """Add daily results up. Standard deviations are added by their squares."""
    total = DaySummary(**dict.fromkeys((*FIGURES, *COUNTS), 0))
    for summary in summaries:
        for name in (*FIGURES, *COUNTS):
            setattr(total, name, getattr(total, name) + getattr(summary, name))
    return total


def _filtered(summaries: QuerySet[DaySummary], form: SummarySearch) -> QuerySet[DaySummary]:
    asked = form.cleaned_data if form.is_bound else {}
    by: dict[str, dt.date | str | None] = {
        "gaming_day__gte": asked.get("first"), "gaming_day__lte": asked.get("last"),
        "table__code": asked.get("table") or None,
    }  # fmt: skip
    return summaries.filter(**{name: value for name, value in by.items() if value is not None})


def _number(text: str) -> int:
    """Return the offset of a page. An address that cannot be read starts at the newest."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < len(str(LARGEST_OFFSET)) else 0
