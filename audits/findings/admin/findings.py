"""Pages of findings: the list, one finding with its rules, and the steps that people take on it."""

import datetime as dt
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import admin, messages
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.http import url_has_allowed_host_and_scheme
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget, UnfoldBooleanWidget

from audits.findings.admin.readable_history import ReadableHistoryAdmin
from audits.findings.admin.steps import STEPS, buttons
from audits.findings.breach_bets import breach_bets
from audits.findings.labels import KINDS, PROCEDURES, finding_text, rules_cited, rulings_text
from audits.findings.selectors import STATES, FindingFilter, findings_list
from audits.findings.services.findings import finding_acknowledge
from audits.models import Category, Finding, Severity
from audits.rulings.presenters import readings_behind
from games.access.gate import authorize, can
from games.engine.rules.loader import rulebooks
from games.floor.approval import approval_notice
from games.history.audited_save import OvertakenError
from games.labels.rules import rulebook_title
from games.pages.fields import day_field
from games.pages.gated import actor_of, require_safe, take_step
from games.pages.steps import PageStep

ROWS = 50
LARGEST_KEY = 2**63 - 1


class FindingSearch(forms.Form):
    state = forms.ChoiceField(
        required=False, label="Status", choices=[(name, title) for name, (title, _) in STATES.items()],
        widget=UnfoldAdminSelectWidget(),
    )  # fmt: skip
    category = forms.ChoiceField(
        required=False, choices=[("", "Any"), *Category.choices], widget=UnfoldAdminSelectWidget()
    )
    kind = forms.ChoiceField(
        required=False, widget=UnfoldAdminSelectWidget(),
        choices=[("", "Any"), *((Category(name).label, list(kinds.items())) for name, kinds in KINDS.items())],
    )  # fmt: skip
    severity = forms.TypedChoiceField(
        required=False, choices=[("", "Any"), *reversed(Severity.choices)], coerce=int, empty_value=None,
        widget=UnfoldAdminSelectWidget(),
    )  # fmt: skip
    table = forms.CharField(required=False, max_length=20, widget=UnfoldAdminTextInputWidget())
    first = day_field("Gaming day from", required=False)
    last = day_field("Gaming day to", required=False)
    ref = forms.CharField(required=False, max_length=200, label="Round", widget=UnfoldAdminTextInputWidget())
    mine = forms.BooleanField(required=False, label="Assigned to me", widget=UnfoldBooleanWidget())
    round = forms.IntegerField(required=False, max_value=LARGEST_KEY, widget=forms.HiddenInput())

    def finding_filter(self) -> FindingFilter:
        """Return the filter that the form describes."""
        return FindingFilter(**{name: value or None for name, value in self.cleaned_data.items()})


@admin.register(Finding)
class FindingAdmin(ReadableHistoryAdmin):
    fields = ["state", "assigned_to", "outcome", "settled_amount", "resolution", "needs_confirmation", "lapsed_at"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False  # only reconciliation makes findings

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # only the steps below change a finding

    def get_urls(self) -> list[URLPattern]:
        def view(name: str, address: str, function: Any) -> Any:
            return path(address, self.admin_site.admin_view(function), name=f"audits_finding_{name}")

        own = [view(step.name, f"<path:object_id>/{step.name}/", partial(self.step_view, step=step)) for step in STEPS]
        many = view("acknowledge_many", "acknowledge/", self.acknowledge_view)
        return [many, *own, *super().get_urls()]

    # --- The list ---

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """List findings, the newest first.

        A page continues where the last one ended, and nothing is counted: quick on hundreds of thousands.
        """
        require_safe(request)
        actor = actor_of(request)
        authorize(actor, "finding.view")
        form = FindingSearch(request.GET or None)
        findings: list[Finding] = []
        older = None
        if not form.is_bound or form.is_valid():
            matching = findings_list(actor, form.finding_filter() if form.is_bound else FindingFilter())
            findings = list(_after(matching, request)[: ROWS + 1])
            if len(findings) > ROWS:
                findings = findings[:ROWS]
                asked = {name: value for name, value in request.GET.items() if name != "after" and value}
                last = findings[-1]
                older = urlencode(asked | {"after": f"{last.round_started_at.isoformat()},{last.pk}"})
        context = {
            **self.admin_site.each_context(request),
            "title": "Findings", "form": form, "findings": findings, "older": older, "opts": self.opts,
            "is_first": "after" not in request.GET, "is_asked": any(request.GET.values()),
            "may_acknowledge": can(actor, "finding.acknowledge") and any(_is_new(finding) for finding in findings),
        }  # fmt: skip
        return TemplateResponse(request, "findings/findings.html", context)

    def acknowledge_view(self, request: HttpRequest) -> HttpResponse:
        """Acknowledge several findings, with one service call for each. If one is out of reach, acknowledge none."""
        actor = actor_of(request)
        authorize(actor, "finding.acknowledge")
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        chosen = Finding.objects.filter(pk__in=_keys(request)).select_related("table")[:ROWS]
        for finding in chosen:
            authorize(actor, "finding.acknowledge", finding)
        done, overtaken = 0, []
        for finding in chosen:
            try:
                finding_acknowledge(actor=actor, finding=finding)
                done += 1
            except OvertakenError as error:
                overtaken.append(f"No. {finding.pk}: {' '.join(error.messages)}")
        _show_messages(request, done, overtaken)
        return redirect(_back(request))

    # --- One finding ---

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require_safe(request)
        finding: Finding = self.get_or_deny(request, object_id)
        book = rulebooks().get(finding.rulebook)
        context = {
            **self.admin_site.each_context(request),
            "title": f"Finding no. {finding.pk}", "original": finding, "finding": finding, "opts": self.opts,
            "what": finding_text(finding), "meaning": PROCEDURES.get(finding.kind), "rules": rules_cited(finding),
            "rulings": rulings_text(finding), "readings": readings_behind(finding),
            "buttons": buttons(request.user, finding),
            "breach": breach_bets(finding),
            "rulebook": rulebook_title(finding.rulebook),
            "approval": approval_notice(book, finding.table.casino) if book else "",
            "difference": None if finding.expected is None else (finding.recorded or 0) - finding.expected,
            "escalations": finding.escalations.select_related("notice").prefetch_related("notice__mails"),
            "sees": {
                name: can(request.user, f"{name}.view", thing) for name, thing in _linked(finding).items() if thing
            },
        }  # fmt: skip
        return TemplateResponse(request, "findings/finding.html", context)

    def step_view(self, request: HttpRequest, object_id: str, step: PageStep) -> HttpResponse:
        finding: Finding = self.get_or_deny(request, object_id)
        return take_step(
            self.admin_site, request, finding, action=step.action, title=step.title, form_class=step.form,
            take=step.take, back=reverse("admin:audits_finding_change", args=[finding.pk]),
            above="findings/finding_above.html", context={"finding": finding, "what": finding_text(finding)},
        )  # fmt: skip

    def set_history_delta_changes(self, request: HttpRequest, historical_records: Any, *args: Any) -> None:
        """Compare the first step that people took with the finding as it was found.

        Reconciliation writes a finding without a history record, so the version before the first one is made here.
        """
        records = list(historical_records)
        if records and records[-1].prev_record is None:
            records.append(_as_found(records[-1]))
        super().set_history_delta_changes(request, records, *args)


def _as_found(record: Any) -> Any:
    """Return the version before the first in the history."""
    initial = {
        concrete_field.attname: concrete_field.get_default()
        for concrete_field in Finding._meta.concrete_fields
        if concrete_field.name in FIELDS_OF_STEPS
    }
    values = {
        concrete_field.attname: getattr(record, concrete_field.attname)
        for concrete_field in type(record)._meta.concrete_fields
    }
    return type(record)(**{**values, **initial})


#: The fields that steps and later runs change; the others never change.
FIELDS_OF_STEPS = {
    "state", "assigned_to", "acknowledged_by", "acknowledged_at", "outcome", "settled_amount", "resolution",
    "resolved_by", "resolved_at", "needs_confirmation", "confirmed_by", "confirmed_at", "lapsed_by", "lapsed_at",
}  # fmt: skip


def _linked(finding: Finding) -> dict[str, Model | None]:
    """Return the objects to which a finding's page links."""
    return {
        "round": finding.round, "liveround": finding.live_round, "run": finding.found_by, "limitset": finding.limit_set,
        "table": finding.table,
    }  # fmt: skip


def _is_new(finding: Finding) -> bool:
    return finding.state == Finding.State.OPEN and not finding.is_lapsed


def _after(findings: QuerySet[Finding], request: HttpRequest) -> QuerySet[Finding]:
    """Continue after the last row of the previous page. An address that cannot be read starts at the newest."""
    moment, _, key = request.GET.get("after", "").replace(" ", "+").partition(",")
    try:
        at, last = dt.datetime.fromisoformat(moment), int(key)
    except ValueError:
        return findings
    if at.tzinfo is None or not 0 <= last <= LARGEST_KEY:
        return findings
    return findings.filter(Q(round_started_at__lt=at) | Q(round_started_at=at, pk__lt=last))


def _keys(request: HttpRequest) -> list[int]:
    sent = request.POST.getlist("finding")[:ROWS]
    return [int(key) for key in sent if key.isascii() and key.isdecimal() and len(key) < len(str(LARGEST_KEY))]


def _show_messages(request: HttpRequest, done: int, overtaken: list[str]) -> None:
    if done:
        messages.success(request, f"{done} findings acknowledged." if done > 1 else "Finding acknowledged.")
    for message in overtaken:
        messages.warning(request, message)
    if not done and not overtaken:
        messages.info(request, "No finding was selected. Nothing has changed.")


def _back(request: HttpRequest) -> str:
    """Return the page that the form was sent from, if it is a page of this site."""
    asked = request.POST.get("back", "")
    ours = url_has_allowed_host_and_scheme(asked, allowed_hosts=None) and asked.startswith("/admin/")
    return asked if ours else reverse("admin:audits_finding_changelist")
