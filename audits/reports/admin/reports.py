"""Pages of reports: list, form with preview, one report, certification, comparison."""

import datetime as dt
import uuid
from http import HTTPStatus
from itertools import islice
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.safestring import mark_safe
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget

from audits.exports.charts import chart_svg
from audits.models import CERTIFIED_FORMATS, ReportFormat, ReportRun
from audits.reconciliation.admin.runs import CancelRunForm
from audits.reports.admin.rows import PREVIEW_ROWS, TableShown, comparison_of, kept_table, table_of
from audits.reports.cover import chart_from, parameters_of, period_text
from audits.reports.file_response import report_response
from audits.reports.reach import CERTIFY, EXPORT, VIEW, kinds_read, report_authorize, reports_seen
from audits.reports.registry import REPORTS
from audits.reports.report_kind import ReportKind, ReportRequest, Shelf
from audits.reports.services.certificates import STATEMENT_LENGTH, report_certify, report_recheck
from audits.reports.services.production import pending_places
from audits.reports.services.reports import own_casino, report_again, report_ask, report_cancel, verify_request
from audits.reports.services.snapshots import snapshot
from audits.tasks import take_report
from games.access.gate import authorize, can, deny, within_reach
from games.floor.moments import gaming_day
from games.models import Casino, Staff, Table
from games.pages.fields import day_field
from games.pages.gated import ActionForm, Button, GatedAdmin, actor_of, add_errors, require_safe, take_step

ROWS = 25
STATEMENT = (
    "I have examined this report. To the best of my knowledge its figures are complete and correct as of the time "
    "stated in it."
)


class ReportForm(forms.Form):
    """Choose a report, its period, one table or all, and a format."""

    kind = forms.ChoiceField(label="Report", widget=UnfoldAdminSelectWidget())
    first = day_field("From", help_text="The first gaming day.")
    last = day_field("To", help_text="The last gaming day (included).")
    casino = forms.ModelChoiceField(
        Casino.objects.none(), required=False, widget=UnfoldAdminSelectWidget(), empty_label="All casinos"
    )
    table = forms.ModelChoiceField(
        Table.objects.none(), required=False, widget=UnfoldAdminSelectWidget(), empty_label="All tables"
    )
    format = forms.ChoiceField(choices=ReportFormat.choices, widget=UnfoldAdminSelectWidget())

    def __init__(self, *args: Any, actor: Staff, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(report.kind, report.title) for report in kinds_read(actor, EXPORT)]
        self.fields["kind"].choices = choices  # type: ignore[attr-defined]
        tables = within_reach(actor, EXPORT, Table.objects.select_related("casino"))
        self.fields["table"].queryset = tables  # type: ignore[attr-defined]
        if actor.casino_id is None:
            self.fields["casino"].queryset = Casino.objects.all()  # type: ignore[attr-defined]
        else:
            del self.fields["casino"]

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if {"kind", "first", "last", "format"} <= values.keys():
            try:
                verify_request(values["kind"], values["format"], values["first"], values["last"])
            except ValidationError as error:
                raise ValidationError({"last": error.messages}) from None
        return values


class CertifyForm(CancelRunForm):
    """Enter the statement that is certified."""

    statement = forms.CharField(
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 4}), max_length=STATEMENT_LENGTH, initial=STATEMENT,
        help_text="The certified file shows it above your name and post. It cannot be changed afterwards.",
    )  # fmt: skip


@admin.register(ReportRun)
class ReportRunAdmin(GatedAdmin):
    def has_module_permission(self, request: HttpRequest) -> bool:
        return can(request.user, VIEW)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return can(request.user, VIEW)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return can(request.user, EXPORT)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_urls(self) -> list[URLPattern]:
        steps = {
            "cancel": self.cancel_view, "again": self.again_view, "certify": self.certify_view,
            "compare": self.compare_view, "file": self.file_view, "certified": self.certified_view,
        }  # fmt: skip
        ours = [
            path(f"<uuid:key>/{name}/", self.admin_site.admin_view(view), name=f"audits_reportrun_{name}")
            for name, view in steps.items()
        ]
        return [*ours, *super().get_urls()]

    def get_report(self, request: HttpRequest, key: Any) -> ReportRun:
        """Return the report; raise the same error if it does not exist and if the user may not see it."""
        actor = actor_of(request)
        authorize(actor, VIEW)
        try:
            report_id = uuid.UUID(str(key))
        except ValueError:
            report_id = uuid.UUID(int=0)
        runs = reports_seen(actor).select_related(
            "casino", "pit", "table__casino", "asked_by", "again_of", "schedule", "certificate"
        )
        run = runs.filter(pk=report_id).first()
        if run is None:
            deny(actor, VIEW)
            raise Http404(f"There is no report {key!s:.60}.")
        return run

    # --- The list and the form ---

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """List the reports that can be made, by purpose, and the reports made, the newest first."""
        require_safe(request)
        actor = actor_of(request)
        authorize(actor, VIEW)
        read = kinds_read(actor)
        kind = request.GET.get("kind", "")
        runs = reports_seen(actor).select_related("casino", "pit", "table", "certificate").order_by("-asked_at", "-pk")
        runs = runs.filter(kind=kind) if kind in REPORTS else runs
        before = _moment(request.GET.get("before", ""))
        page = list((runs.filter(asked_at__lt=before) if before else runs)[: ROWS + 1])
        context = {
            **self.admin_site.each_context(request),
            "title": "Reports", "opts": self.opts, "kind": kind if kind in REPORTS else "", "before": before,
            "shelves": [(shelf.value, [report for report in read if report.shelf is shelf]) for shelf in Shelf],
            "runs": [RunShown(run) for run in page[:ROWS]],
            "older": page[ROWS - 1].asked_at.isoformat() if len(page) > ROWS else None,
            "can_make": can(actor, EXPORT), "kinds": [(report.kind, report.title) for report in read],
            "buttons": [Button(reverse("admin:audits_reportschedule_changelist"), "Schedules", "schedule")]
            if can(actor, "reportschedule.view") else [],
        }  # fmt: skip
        return TemplateResponse(request, "reports/reports.html", context)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the form, preview the first rows, and make the report. The period defaults to yesterday."""
        actor = actor_of(request)
        authorize(actor, EXPORT)
        is_preview = "preview" in request.GET and request.method == "GET"
        sent = request.POST if request.method == "POST" else request.GET if is_preview else None
        form = ReportForm(sent, actor=actor, initial=self._initial(request, actor))
        preview = None
        if form.is_bound and form.is_valid():
            try:
                if not is_preview:
                    run = report_ask(actor=actor, send=take_report.delay, **form.cleaned_data)
                    messages.success(request, "The report is being made.")
                    return redirect("admin:audits_reportrun_change", run.pk)
                preview = preview_of(actor, **form.cleaned_data)
            except ValidationError as error:
                add_errors(form, error)
        context = {
            **self.admin_site.each_context(request), "title": "Make a report", "form": form, "opts": self.opts,
            "preview": preview, "back": reverse("admin:audits_reportrun_changelist"), "rows": PREVIEW_ROWS,
            "periods": periods_of(actor), "about": REPORTS.get(str(form["kind"].value())),
        }  # fmt: skip
        return TemplateResponse(request, "reports/report_form.html", context)

    def _initial(self, request: HttpRequest, actor: Staff) -> dict[str, Any]:
        yesterday = today_of(actor) - dt.timedelta(days=1)
        asked = {
            name: request.GET[name] for name in ("kind", "first", "last", "table", "format") if name in request.GET
        }
        return {"first": yesterday, "last": yesterday, "casino": actor.casino_id, "format": "pdf", **asked}

    # --- One report ---

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require_safe(request)
        run = self.get_report(request, object_id)
        report_recheck(run)
        charts = [
            mark_safe(chart_svg(chart_from(kept)))  # noqa: S308  drawn by us, with its texts escaped
            for kept in run.content.get("charts", ())
        ]
        others = reports_seen(request.user).filter(
            kind=run.kind, casino=run.casino, pit=run.pit, table=run.table, first_day=run.first_day,
            last_day=run.last_day, shift=run.shift,
        )  # fmt: skip
        context = {
            **self.admin_site.each_context(request),
            "title": f"{REPORTS[run.kind].title}, {period_text(run)}", "original": run, "run": RunShown(run),
            "opts": self.opts, "parameters": parameters_of(run), "about": REPORTS[run.kind],
            "table": kept_table(run) if run.has_file else None, "rows": PREVIEW_ROWS, "charts": charts,
            "buttons": self.buttons(request, run),
            "others": [RunShown(other) for other in others.exclude(pk=run.pk)[:10]],
            "can_certify": _can_certify(request, run),
        }  # fmt: skip
        return TemplateResponse(request, "reports/report.html", context)

    def buttons(self, request: HttpRequest, run: ReportRun) -> list[Button]:
        def to(name: str) -> str:
            return reverse(f"admin:audits_reportrun_{name}", args=[run.pk])

        if not can(request.user, EXPORT):
            return []
        if not run.is_over:
            return [Button(to("cancel"), "Cancel", "cancel")]
        buttons = [Button(to("again"), "Run again", "refresh")]
        if run.has_file:
            buttons.insert(0, Button(to("file"), f"Download {run.format.upper()}", "download", True))
        if hasattr(run, "certificate") and run.has_file:
            buttons.insert(1, Button(to("certified"), "Download certified copy", "workspace_premium", True))
        elif _can_certify(request, run):
            buttons.append(Button(to("certify"), "Certify", "workspace_premium"))
        if run.again_of_id and run.state == ReportRun.State.DONE:
            buttons.append(Button(to("compare"), "Compare with the earlier report", "compare"))
        return buttons

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Redirect to the report's page, which says who requested it, when, and its status."""
        require_safe(request)
        return redirect("admin:audits_reportrun_change", self.get_report(request, object_id).pk)

    # --- Steps ---

    def cancel_view(self, request: HttpRequest, key: uuid.UUID) -> HttpResponse:
        def take(actor: Staff, run: ReportRun, values: dict[str, Any]) -> str:
            report_cancel(actor=actor, run=run)
            return "The report is cancelled."

        return self._step(request, key, EXPORT, "Cancel the report", CancelRunForm, take)

    def again_view(self, request: HttpRequest, key: uuid.UUID) -> HttpResponse:
        def take(actor: Staff, run: ReportRun, values: dict[str, Any]) -> str:
            again = report_again(actor=actor, run=run, send=take_report.delay)
            run.pk = again.pk  # the next page is that of the new report
            return "The report is being made again. The earlier report is kept."

        return self._step(request, key, EXPORT, "Run again", CancelRunForm, take)

    def certify_view(self, request: HttpRequest, key: uuid.UUID) -> HttpResponse:
        def take(actor: Staff, run: ReportRun, values: dict[str, Any]) -> str:
            report_certify(actor=actor, run=run, statement=values["statement"])
            return "The report is certified."

        return self._step(request, key, CERTIFY, "Certify", CertifyForm, take)

    def _step(  # noqa: PLR0917  all parts of one step
        self, request: HttpRequest, key: Any, action: str, title: str, form: type[ActionForm], take: Any
    ) -> HttpResponse:
        run = self.get_report(request, key)
        back = reverse("admin:audits_reportrun_change", args=[run.pk])
        answer = take_step(
            self.admin_site, request, run, action=action, title=title, form_class=form, take=take, back=back,
            context={"title": f"{title}: {REPORTS[run.kind].title}, {period_text(run)}", "opts": self.opts},
        )  # fmt: skip
        is_done = answer.status_code == HTTPStatus.FOUND
        return redirect("admin:audits_reportrun_change", run.pk) if is_done else answer

    def compare_view(self, request: HttpRequest, key: uuid.UUID) -> HttpResponse:
        """Show the rows that only the earlier report or only this one has."""
        require_safe(request)
        run = self.get_report(request, key)
        if run.again_of is None:
            raise Http404("This report was not run again.")
        earlier = self.get_report(request, run.again_of_id)
        context = {
            **self.admin_site.each_context(request), "title": f"{REPORTS[run.kind].title}: changes",
            "opts": self.opts, "original": run, "earlier": RunShown(earlier), "later": RunShown(run),
            "comparison": comparison_of(earlier, run) if earlier.has_file and run.has_file else None,
        }  # fmt: skip
        return TemplateResponse(request, "reports/report_compare.html", context)

    def file_view(self, request: HttpRequest, key: uuid.UUID) -> HttpResponseBase:
        return self._file(request, key, certified=False)

    def certified_view(self, request: HttpRequest, key: uuid.UUID) -> HttpResponseBase:
        return self._file(request, key, certified=True)

    def _file(self, request: HttpRequest, key: uuid.UUID, *, certified: bool) -> FileResponse | HttpResponse:
        require_safe(request)
        run = self.get_report(request, key)
        if certified and not hasattr(run, "certificate"):
            raise Http404("This report is not certified.")
        try:
            return report_response(actor=actor_of(request), run=run, certified=certified)
        except ValidationError as error:
            messages.error(request, " ".join(error.messages))
            return redirect("admin:audits_reportrun_change", run.pk)


class RunShown:
    """A report with its labels for pages."""

    def __init__(self, run: ReportRun) -> None:
        self.run = run
        self.title = REPORTS[run.kind].title if run.kind in REPORTS else run.kind
        self.period = period_text(run)
        self.place = run.table.code if run.table else f"Pit {run.pit.code}" if run.pit else "All tables"
        self.certificate = getattr(run, "certificate", None)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.run, name)


def _can_certify(request: HttpRequest, run: ReportRun) -> bool:
    fits = run.has_file and run.format in CERTIFIED_FORMATS and run.changed_at is None
    return fits and can(request.user, CERTIFY) and not hasattr(run, "certificate")


def preview_of(
    actor: Staff, *, kind: str, first: dt.date, last: dt.date, table: Table | None = None, casino: Casino | None = None,
    format: str = "",
) -> TableShown:  # fmt: skip
    """Return the first rows of a report that is not made yet."""
    casino = table.casino if table else casino or actor.casino
    capacity = report_authorize(actor, kind, casino=casino, table=table, action=VIEW)
    casino = casino or own_casino(capacity)
    with snapshot():
        report: ReportKind = REPORTS[kind](ReportRequest(actor, capacity, first, last, casino, table))
        rows = list(islice(report.rows(), PREVIEW_ROWS + 1))
        is_pending = report.reconciles and bool(pending_places(report.request))
        nil = "" if rows else report.nil()
        return table_of(report.columns, rows, str(report.request.timezone), nil=nil, is_pending=is_pending)


def today_of(actor: Staff) -> dt.date:
    """Return the current gaming day of a person's casino."""
    return gaming_day(actor.casino, timezone.now()) if actor.casino else timezone.now().date()


def periods_of(actor: Staff) -> list[tuple[str, dt.date, dt.date]]:
    """List the most common periods, by the casino's gaming day."""
    today = today_of(actor)
    yesterday = today - dt.timedelta(days=1)
    monday = today - dt.timedelta(days=today.weekday())
    first = today.replace(day=1)
    before = (first - dt.timedelta(days=1)).replace(day=1)
    return [
        ("Yesterday", yesterday, yesterday), ("Today so far", today, today),
        ("Last week", monday - dt.timedelta(days=7), monday - dt.timedelta(days=1)),
        ("This month", first, today), ("Last month", before, first - dt.timedelta(days=1)),
    ]  # fmt: skip


def _moment(text: str) -> dt.datetime | None:
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else None
