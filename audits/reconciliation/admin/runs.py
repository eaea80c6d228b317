"""Pages of reconciliation runs: list, start, progress, cancel."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import Count, Q, Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from unfold.widgets import UnfoldAdminSelectWidget

from audits.findings.selectors import changes_of
from audits.models import COUNTS, Run
from audits.reconciliation.services.runs import run_cancel, run_start
from audits.tasks import take_part
from games.access.gate import authorize, can, visible, within_reach
from games.models import Casino, Staff, Table
from games.pages.fields import day_field
from games.pages.gated import ActionForm, Button, GatedAdmin, actor_of, add_errors, require_safe, take_step

ROWS = 50
KINDS: dict[str, tuple[str, Q]] = {
    "": ("Gaming days and closings", ~Q(kind=Run.Kind.ARRIVAL)),
    "arrivals": ("Arrivals", Q(kind=Run.Kind.ARRIVAL)),
    "all": ("All", Q()),
}


class StartForm(forms.Form):
    """Choose a gaming day of a casino, with all tables or one."""

    day = day_field("Gaming day")
    casino = forms.ModelChoiceField(Casino.objects.none(), widget=UnfoldAdminSelectWidget(), empty_label=None)
    table = forms.ModelChoiceField(
        Table.objects.none(), required=False, widget=UnfoldAdminSelectWidget(), empty_label="All tables"
    )

    def __init__(self, *args: Any, actor: Staff, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        casinos = within_reach(actor, "run.start", Casino.objects.all())
        tables = within_reach(actor, "run.start", Table.objects.select_related("casino"))
        for name, queryset in (("casino", casinos), ("table", tables)):
            field = self.fields[name]
            if isinstance(field, forms.ModelChoiceField):
                field.queryset = queryset

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        table, casino = values.get("table"), values.get("casino")
        if table and casino and table.casino != casino:
            raise ValidationError(
                {"table": f"{table} is not a table of {casino}. Choose another table, or all tables."}
            )
        return values


class CancelRunForm(ActionForm):
    """A step without a reason."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["reason"]


@admin.register(Run)
class RunAdmin(GatedAdmin):
    def has_add_permission(self, request: HttpRequest) -> bool:
        return can(request.user, "run.start")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_urls(self) -> list[URLPattern]:
        cancel = self.admin_site.admin_view(self.cancel_view)
        return [path("<path:object_id>/cancel/", cancel, name="audits_run_cancel"), *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """List runs, the newest first. A page continues where the last one ended."""
        require_safe(request)
        actor = actor_of(request)
        authorize(actor, "run.view")
        kind = request.GET.get("kind", "")
        kind = kind if kind in KINDS else ""
        before = _key(request.GET.get("before", ""))
        runs = visible(actor, Run.objects.filter(KINDS[kind][1])).select_related("casino").order_by("-pk")
        page = list((runs.filter(pk__lt=before) if before else runs)[: ROWS + 1])
        context = {
            **self.admin_site.each_context(request),
            "title": "Reconciliation runs", "opts": self.opts, "runs": _counted(page[:ROWS]),
            "before": before, "kind": kind,
            "older": page[ROWS - 1].pk if len(page) > ROWS else None,
            "kinds": [(name, title) for name, (title, _) in KINDS.items()],
            "buttons": [Button(reverse("admin:audits_run_add"), "Start a run", "play_arrow", True)]
            if can(actor, "run.start") else [],
        }  # fmt: skip
        return TemplateResponse(request, "reconciliation/runs.html", context)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        actor = actor_of(request)
        authorize(actor, "run.start")
        initial = {"day": request.GET.get("day"), "casino": actor.casino_id, "table": _key(request.GET.get("table"))}
        form = StartForm(request.POST if request.method == "POST" else None, actor=actor, initial=initial)
        if form.is_bound and form.is_valid():
            try:
                run = run_start(actor=actor, send=take_part.delay, **form.cleaned_data)
            except ValidationError as error:
                add_errors(form, error)
            else:
                messages.success(request, f"Run {run} started.")
                return redirect("admin:audits_run_change", run.pk)
        context = {**self.admin_site.each_context(request), "title": "Start a run", "form": form, "opts": self.opts,
                   "button": "Start", "back": reverse("admin:audits_run_changelist"),
                   "above": "reconciliation/run_start_above.html"}  # fmt: skip
        return TemplateResponse(request, "pages/step.html", context)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show a run: progress over all its tables, and the findings of the tables within reach."""
        require_safe(request)
        run: Run = self.get_or_deny(request, object_id, "run.view")
        parts = run.parts.all()
        reached = within_reach(request.user, "run.view", parts.select_related("table")).order_by("table__code", "pk")
        progress = parts.aggregate(expected=Sum("rounds_expected"), read=Sum("rounds_read"))
        context = {
            **self.admin_site.each_context(request),
            "title": f"Reconciliation run {run}", "original": run, "run": run, "opts": self.opts,
            "parts": reached, "percent": _percent(progress), **progress, "buttons": self.buttons(request, run),
            "counts": reached.order_by().aggregate(
                **{name: Sum(name) for name in ("rounds", "bets", *COUNTS)}, tables=Count("pk"),
                done=Count("pk", filter=Q(is_done=True)),
            ),
            "changes": changes_of(actor_of(request), run) if run.gaming_day and run.is_over else {},
        }  # fmt: skip
        return TemplateResponse(request, "reconciliation/run.html", context)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Redirect to the run's page, which says who started and who ended it."""
        require_safe(request)
        return redirect("admin:audits_run_change", self.get_or_deny(request, object_id, "run.view").pk)

    def cancel_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        run: Run = self.get_or_deny(request, object_id, "run.cancel")

        def take(actor: Staff, thing: Run, values: dict[str, Any]) -> str:
            run_cancel(actor=actor, run=thing)
            return f"Run {thing} is cancelled. Results of finished tables are kept."

        return take_step(
            self.admin_site, request, run, action="run.cancel", title="Cancel the run", form_class=CancelRunForm,
            take=take, back=reverse("admin:audits_run_change", args=[run.pk]),
            above="reconciliation/run_cancel_above.html",
        )  # fmt: skip

    def buttons(self, request: HttpRequest, run: Run) -> list[Button]:
        if run.is_over or run.kind == Run.Kind.CLOSE or not can(request.user, "run.cancel", run):
            return []
        return [Button(reverse("admin:audits_run_cancel", args=[run.pk]), "Cancel the run", "cancel")]


def _counted(runs: list[Run]) -> list[Any]:
    """Add the figures of each run's parts, in one query for the whole page."""
    sums = {name: Sum(f"parts__{name}") for name in ("rounds", *COUNTS)}
    on_page = Run.objects.filter(pk__in=[run.pk for run in runs]).select_related("casino")
    return list(on_page.annotate(tables=Count("parts"), **sums).order_by("-pk"))


def _percent(progress: dict[str, int | None]) -> int:
    expected, read = progress["expected"] or 0, progress["read"] or 0
    return min(100, read * 100 // expected) if expected else 0


def _key(text: str | None) -> int | None:
    """Read a key from an address; None if it cannot be read."""
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < len(str(2**63)) else None
