"""Limits: proposals with what they change, decisions on them, and the register of what was in force."""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from unfold.decorators import display
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from games.access.gate import authorize, can
from games.engine.signs.changes import NAMES
from games.floor.services.readiness import incomplete_text
from games.limits.services.drafts import LimitDraft, drafts_now, drafts_then, needs_notice
from games.limits.services.proposals import (
    limits_approve,
    limits_reject,
    limits_withdraw,
    notice_of,
    overtaken_texts,
    superseded_with,
)
from games.limits.signs.changed import CHANGED_BY, changed_text
from games.limits.signs.names import amount_text, change_text, key_name
from games.models import LimitDecision, LimitProposal, LimitSet, Staff, Table
from games.pages.gated import ActionForm, Button, GatedAdmin, actor_of, require_safe, take_step
from games.rounds.terms import terms_at

STATE_COLOURS = {
    "pending": "warning", "approved": "success", "rejected": "danger", "withdrawn": None, "superseded": None,
}  # fmt: skip
DECISIONS: dict[str, tuple[str, str, Any]] = {
    "approve": ("Approve", "check_circle", limits_approve),
    "reject": ("Reject", "cancel", limits_reject),
    "withdraw": ("Withdraw", "undo", limits_withdraw),
}


@dataclass(frozen=True)
class ProposalLine:
    """One figure of a sign that changes, for people."""

    name: str
    figure: str
    old: str
    new: str
    is_stricter: bool
    is_removal: bool


@dataclass(frozen=True)
class Difference:
    """What changes at tables whose signs change alike."""

    tables: list[str]
    lines: list[ProposalLine]


@dataclass(frozen=True)
class Effect:
    """What a proposal does: against the signs in force, while it is pending; later, against those it replaced."""

    differences: list[Difference]
    overtaken: list[str]
    replaced_later: list[LimitDraft]
    removals: list[tuple[str, str]]  # what is ticked, and its text
    incomplete: list[str] = field(default_factory=list)  # signs of tables that are not closed (RWS 3.3)
    superseded: list[tuple[LimitProposal, list[str]]] = field(default_factory=list)  # with the limits that both change


def effect_of(proposal: LimitProposal) -> Effect:
    """Work out what approving a proposal would do now, or what it did."""
    if LimitDecision.objects.filter(proposal=proposal).exists():
        return Effect(differences(drafts_then(proposal)), [], [], [])
    tables = list(proposal.tables.select_related("casino"))
    drafts = drafts_now(proposal, tables, now=timezone.now())
    return Effect(
        differences(drafts),
        overtaken_texts(proposal, drafts),
        [draft for draft in drafts if draft.next_sign],
        [
            (f"{draft.table.code} {change.name}", f"{draft.table}: {change_text(change)}")
            for draft in drafts
            for change in draft.removals
        ],
        [text for draft in drafts if (text := _incomplete(draft))],
        superseded_with(proposal, drafts),
    )


def _incomplete(draft: LimitDraft) -> str:
    assignment = terms_at(draft.table, draft.moment).assignment
    return incomplete_text(draft.table, assignment, draft.new) if assignment else ""


def differences(drafts: Iterable[LimitDraft]) -> list[Difference]:
    """Old and new, figure by figure; tables where the same changes stand together."""
    found: dict[tuple[ProposalLine, ...], list[str]] = {}
    for draft in drafts:
        lines = tuple(
            ProposalLine(
                key_name(change.key),
                NAMES[change.figure],
                amount_text(change.old),
                amount_text(change.new),
                change.is_stricter,
                change.is_removal,
            )
            for change in draft.changes
        )
        found.setdefault(lines, []).append(draft.table.code)
    return [Difference(tables, list(lines)) for lines, tables in found.items()]


class ApproveForm(ActionForm):
    """Why; and a tick for each limit that is removed."""

    field_order = ["remove", "reason"]

    def __init__(self, *args: Any, thing: LimitProposal, **kwargs: Any) -> None:
        super().__init__(*args, thing=thing, **kwargs)
        removed = effect_of(thing).removals if thing.state == "pending" else []
        self.to_tick = len(removed)
        if removed:
            self.fields["remove"] = forms.MultipleChoiceField(
                label="Limits that are removed: tick each of them", choices=removed, required=False,
                widget=UnfoldAdminCheckboxSelectMultipleWidget(attrs={"class": "ts-removal-tick"}),
            )  # fmt: skip
            self.order_fields(self.field_order)

    def clean_remove(self) -> dict[str, list[str]]:
        ticked = self.cleaned_data["remove"]
        if len(ticked) < self.to_tick:
            raise ValidationError("Tick every limit that is removed; reject the proposal if one is to stay.")
        found: dict[str, list[str]] = {}
        for one in ticked:
            code, _, name = one.partition(" ")
            found.setdefault(code, []).append(name)
        return found


def notice_until(proposal: LimitProposal, tables: list[Table]) -> dt.datetime | None:
    """The earliest moment of a proposal that needs notice, were it approved now."""
    now = timezone.now()
    is_past = proposal.starts_at is not None and proposal.starts_at <= now
    if proposal.state != "pending" or is_past or not needs_notice(drafts_now(proposal, tables, now=now)):
        return None
    return now + notice_of(proposal.pit)


class LimitStateFilter(admin.SimpleListFilter):
    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("pending", "Pending"), *LimitDecision.Outcome.choices]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "pending":
            return queryset.filter(decision=None)
        return queryset.filter(decision__outcome=self.value()) if self.value() else queryset


@admin.register(LimitProposal)
class LimitProposalAdmin(GatedAdmin):
    list_display = ["number", "state_now", "which", "from_when", "reason", "who", "proposed_at"]
    list_filter = [LimitStateFilter, "pit", "is_correction"]
    list_select_related = ["pit__casino", "decision"]
    search_fields = ["reason", "who", "tables__code"]
    date_hierarchy = "proposed_at"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).prefetch_related("tables")

    @display(description="No.", ordering="pk")
    def number(self, proposal: LimitProposal) -> str:
        return str(proposal.pk)

    @display(description="State", label=STATE_COLOURS)
    def state_now(self, proposal: LimitProposal) -> str:
        return proposal.state

    @display(description="Tables")
    def which(self, proposal: LimitProposal) -> str:
        return ", ".join(table.code for table in proposal.tables.all())

    @display(description="From", ordering="starts_at")
    def from_when(self, proposal: LimitProposal) -> Any:
        return proposal.starts_at or "once approved"

    def get_urls(self) -> list[URLPattern]:
        own = [
            path(
                f"<path:object_id>/{name}/",
                self.admin_site.admin_view(partial(self.decide_view, decision=name)),
                name=f"games_limitproposal_{name}",
            )
            for name in DECISIONS
        ]
        return [*own, *super().get_urls()]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require_safe(request)
        proposal: LimitProposal = self.get_or_deny(request, object_id)
        tables = list(proposal.tables.select_related("casino"))
        context = {
            **self.admin_site.each_context(request),
            "title": f"Proposal {proposal}",
            "original": proposal,
            "proposal": proposal,
            "decision": getattr(proposal, "decision", None),
            "in_force": LimitSet.objects.filter(decision__proposal=proposal).select_related("table"),
            "tables": tables,
            "effect": effect_of(proposal),
            "notice_until": notice_until(proposal, tables),
            "buttons": self.buttons_for(request, proposal),
            "own": proposal.proposed_by == request.user,
            "opts": self.opts,
        }
        return TemplateResponse(request, "limits/proposal.html", context)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """A proposal is written once: its page is its history, with what it changed and who decided."""
        return self.change_view(request, object_id)

    def buttons_for(self, request: HttpRequest, proposal: LimitProposal) -> list[Button]:
        """Somebody else decides; who proposed it may take it back."""
        own = proposal.proposed_by == request.user
        return [
            Button(reverse(f"admin:games_limitproposal_{name}", args=[proposal.pk]), title, icon, name == "approve")
            for name, (title, icon, _) in DECISIONS.items()
            if (name == "withdraw") == own
            and proposal.state == "pending"
            and can(request.user, f"limits.{name}", proposal)
        ]

    def decide_view(self, request: HttpRequest, object_id: str, decision: str) -> HttpResponse:
        """What would change stands above the question why."""
        proposal: LimitProposal = self.get_or_404(request, object_id)
        title, _, service = DECISIONS[decision]

        def take(actor: Staff, thing: LimitProposal, values: dict[str, Any]) -> str:
            service(actor=actor, proposal=thing, **values)
            return f"Proposal {thing} is {LimitDecision.objects.get(proposal=thing).outcome}."

        back = reverse("admin:games_limitproposal_change", args=[proposal.pk])
        return take_step(
            self.admin_site, request, proposal, action=f"limits.{decision}", title=title,
            form_class=ApproveForm if decision == "approve" else ActionForm,
            take=take, back=back, above="limits/differences.html", context={"effect": effect_of(proposal)},
        )  # fmt: skip

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False  # from a table's or a pit's page

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(LimitSet)
class LimitSetAdmin(GatedAdmin):
    """The register of signs: what was in force from when, and where it came from."""

    list_display = ["table", "starts_at", "what_changed", "correction", "origin", "source", "who", "recorded_at"]
    list_filter = ["origin", "table"]
    list_select_related = ["table", "decision__proposal", "sheet"]
    search_fields = ["table__code", "source", "who"]
    date_hierarchy = "starts_at"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).prefetch_related(*CHANGED_BY)

    @display(description="Changed")
    def what_changed(self, limit_set: LimitSet) -> str:
        """Old and new of each figure, for signs that were proposed; a file replaces the sign whole."""
        return changed_text(limit_set) or "–"

    @display(description="Correction", boolean=True)
    def correction(self, limit_set: LimitSet) -> bool:
        return limit_set.is_correction

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """A limit set is looked at as the sign it made, as it was known when it was recorded."""
        require_safe(request)
        limit_set: LimitSet | None = self.get_object(request, object_id)
        if limit_set is None:
            raise Http404(f"There are no limits {object_id}.")
        authorize(actor_of(request), "limitset.view", limit_set)
        query = {"at": limit_set.starts_at.isoformat(), "known_at": limit_set.recorded_at.isoformat()}
        return redirect(f"{reverse('admin:games_table_sign', args=[limit_set.table_id])}?{urlencode(query)}")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
