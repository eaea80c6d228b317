"""Limits: proposals with what they change, decisions on them, and the register of what was in force."""

import datetime as dt
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from unfold.decorators import display

from games.admin.forms import LimitsForm
from games.admin.gated import Button, GatedAdmin, StepForm, actor_of, only_to_look, take_step, tell
from games.engine.loader import rulebook
from games.engine.sign_changes import NAMES, changes
from games.models import LimitDecision, LimitProposal, LimitSet, Staff, Table
from games.services.gate import authorize, can
from games.services.limits import (
    limits_approve,
    limits_before,
    limits_propose,
    limits_reject,
    limits_withdraw,
    notice_ends,
)
from games.services.tables import in_force
from games.signs import TYPE_NAMES, shown

STATE_COLOURS = {
    "pending": "warning", "approved": "success", "rejected": "danger", "withdrawn": None, "superseded": None,
}  # fmt: skip
DECISIONS: dict[str, tuple[str, str, Any]] = {
    "approve": ("Approve", "check_circle", limits_approve),
    "reject": ("Reject", "cancel", limits_reject),
    "withdraw": ("Take back", "undo", limits_withdraw),
}


@dataclass(frozen=True)
class Line:
    """One figure of a sign that changes, for people."""

    name: str
    figure: str
    old: str
    new: str
    is_stricter: bool


@dataclass(frozen=True)
class Difference:
    """What changes at tables whose signs say the same today."""

    tables: list[str]
    lines: list[Line]


def differences(proposal: LimitProposal) -> list[Difference]:
    """Pending: against the sign at its moment as known now. Decided: against what was known before the decision."""
    moment, known_at = proposal.starts_at or timezone.now(), None
    if decision := LimitDecision.objects.filter(proposal=proposal).first():
        moment, known_at = proposal.starts_at or decision.at, decision.at - dt.timedelta(microseconds=1)
    limits = proposal.sheet.limits()
    found: dict[tuple[Line, ...], list[str]] = {}
    for table in proposal.tables.select_related("casino"):
        lines = tuple(
            Line(TYPE_NAMES.get(one.key, one.key), NAMES[one.figure], shown(one.old), shown(one.new), one.is_stricter)
            for one in changes(limits_before(table, moment, known_at), limits)
        )
        found.setdefault(lines, []).append(table.code)
    return [Difference(tables, list(lines)) for lines, tables in found.items()]


def propose(site: Any, request: HttpRequest, tables: list[Table], *, title: str, back: str) -> HttpResponse:
    """The form for new limits, filled with what the sign says now."""
    try:
        games = [in_force(table) for table in tables]
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
        return redirect(back)
    books = [rulebook(game.rulebook) for game in games]
    form = LimitsForm(
        request.POST or None,
        layouts=[book.layouts[game.layout] for book, game in zip(books, games, strict=True)],
        differentials=books[0].limits.differential,
        limits=limits_before(tables[0], timezone.now()),
    )
    if request.method == "POST" and form.is_valid():
        values = form.cleaned_data
        try:
            proposal = limits_propose(
                actor=actor_of(request), tables=tables, limits=values["limits"], starts_at=values["starts_at"],
                is_correction=values["is_correction"], reason=values["reason"],
            )  # fmt: skip
        except ValidationError as error:
            tell(form, error)
        else:
            messages.success(request, f"Proposal {proposal} waits for somebody else's approval.")
            return redirect("admin:games_limitproposal_change", proposal.pk)
    context = {**site.each_context(request), "title": title, "form": form, "back": back, "tables": tables}
    return TemplateResponse(request, "admin/limits_form.html", context)


class StateFilter(admin.SimpleListFilter):
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
    list_filter = [StateFilter, "pit", "is_correction"]
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
        only_to_look(request)
        proposal = self.found(request, object_id)
        authorize(actor_of(request), "limitproposal.view", proposal)
        now = timezone.now()
        tables = list(proposal.tables.select_related("casino"))
        earliest = notice_ends(proposal, tables, now=now) if proposal.state == "pending" else now
        context = {
            **self.admin_site.each_context(request),
            "title": f"Proposal {proposal}",
            "original": proposal,
            "proposal": proposal,
            "decision": getattr(proposal, "decision", None),
            "in_force": LimitSet.objects.filter(decision__proposal=proposal).select_related("table"),
            "tables": tables,
            "differences": differences(proposal),
            "notice_until": earliest if earliest > now else None,
            "buttons": self.buttons_for(request, proposal),
            "own": proposal.proposed_by == request.user,
            "opts": self.opts,
        }
        return TemplateResponse(request, "admin/proposal.html", context)

    def found(self, request: HttpRequest, object_id: str) -> LimitProposal:
        proposal: LimitProposal | None = self.get_object(request, object_id)
        if proposal is None:
            raise Http404(f"There is no proposal {object_id}.")
        return proposal

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
        proposal = self.found(request, object_id)
        title, _, service = DECISIONS[decision]

        def take(actor: Staff, thing: LimitProposal, values: dict[str, Any]) -> str:
            service(actor=actor, proposal=thing, **values)
            return f"Proposal {thing} is {LimitDecision.objects.get(proposal=thing).outcome}."

        back = reverse("admin:games_limitproposal_change", args=[proposal.pk])
        return take_step(
            self.admin_site, request, proposal, action=f"limits.{decision}", title=title, form_class=StepForm,
            take=take, back=back, above="admin/differences.html", context={"differences": differences(proposal)},
        )  # fmt: skip

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False  # from a table's or a pit's page

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(LimitSet)
class LimitSetAdmin(GatedAdmin):
    """The register of signs: what was in force from when, and where it came from."""

    list_display = ["table", "starts_at", "correction", "origin", "source", "who", "recorded_at"]
    list_filter = ["origin", "table"]
    list_select_related = ["table", "decision__proposal"]
    search_fields = ["table__code", "source", "who"]
    date_hierarchy = "starts_at"

    @display(description="Correction", boolean=True)
    def correction(self, limit_set: LimitSet) -> bool:
        return limit_set.is_correction

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """A limit set is looked at as the sign it made, as it was known when it was recorded."""
        only_to_look(request)
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
