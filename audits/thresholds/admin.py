"""Pages of thresholds: what is in force, what is proposed, and the decisions by a second person."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldBooleanSwitchWidget

from audits.findings.admin.procedural_field import ProceduralField
from audits.thresholds.presenters import change_lines, kind_shown
from games.access.gate import authorize, can, visible, within_reach
from games.models import Casino, Staff, ThresholdChange
from games.pages.fields import MoneyField
from games.pages.gated import ActionForm, Button, actor_of, add_errors, require_safe
from games.pages.paging import keyset_page
from games.pages.written_once import WrittenOnceAdmin
from games.thresholds.selectors import KINDS, thresholds_planned
from games.thresholds.services import (
    threshold_approve,
    threshold_propose,
    threshold_reject,
    threshold_withdraw,
    who_decides,
)

PROPOSE = "thresholdchange.propose"


class ThresholdProposalForm(forms.Form):
    """A form with the planned values of one kind of thresholds. The service checks the new values."""

    reason = ActionForm.base_fields["reason"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.order_fields([name for name in self.fields if name != "reason"])


def whole_number_field(label: str, help_text: str = "") -> forms.IntegerField:
    """Return a form field for a whole number of at least 1."""
    return forms.IntegerField(label=label, min_value=1, help_text=help_text, widget=UnfoldAdminIntegerFieldWidget())


def switch_field(label: str, help_text: str = "") -> forms.BooleanField:
    """Return a form field for yes or no."""
    return forms.BooleanField(label=label, required=False, help_text=help_text, widget=UnfoldBooleanSwitchWidget())


class FindingsForm(ThresholdProposalForm):
    medium_from = MoneyField(label="Medium from", help_text="Findings of this amount or more have medium severity.")
    high_from = MoneyField(label="High from", help_text="Findings of this amount or more have high severity.")
    confirm_from = MoneyField(
        label="Confirmed by compliance from", help_text="Compliance must confirm resolutions of this amount or more."
    )
    escalate_low_after = whole_number_field("Low severity is escalated after", "Minutes.")
    escalate_medium_after = whole_number_field("Medium severity is escalated after", "Minutes.")
    escalate_high_after = whole_number_field("High severity is escalated after", "Minutes.")
    procedural = ProceduralField(
        label="Severity of procedural findings",
        help_text="The stricter one applies: the policy when a finding was found, or the policy in force now.",
    )


class RulingsForm(ThresholdProposalForm):
    is_reporter_party = switch_field(
        "The reporter may not rule", "An override needs a reason, and compliance is notified of it."
    )
    second_person_from = MoneyField(
        label="Second person from",
        help_text="A change to a settled round that moves this amount or more needs two people. 0.00: always.",
    )
    notify_from = MoneyField(
        label="Compliance notified from",
        help_text="Compliance is notified of each change that moves this amount or more. 0.00: of every change.",
    )


class ActingForm(ThresholdProposalForm):
    acting_days = whole_number_field(
        "Longest acting appointment", "In days, from the start to the end of one appointment."
    )
    acting_other_departments = switch_field(
        "Other departments may act",
        "People from surveillance, compliance, audit and IT may act in a post of the pit. "
        "During that time they do not have the rights of their own department.",
    )


FORMS: dict[str, type[ThresholdProposalForm]] = {"findings": FindingsForm, "rulings": RulingsForm, "acting": ActingForm}


@dataclass(frozen=True)
class Decision:
    """A page with one form that decides a proposal."""

    name: str
    title: str
    icon: str
    take: Callable[..., Any]
    done: str
    is_own: bool  # offered to the proposer only; the others to everyone but the proposer

    def is_offered(self, actor: Staff, change: ThresholdChange) -> bool:
        """Say whether this person may take this decision now."""
        is_theirs = (actor.pk == change.proposed_by_id) == self.is_own
        return is_theirs and change.state == "pending" and can(actor, f"thresholdchange.{self.name}", change)


DECISIONS = (
    Decision("approve", "Approve", "task_alt", threshold_approve, "approved", is_own=False),
    Decision("reject", "Reject", "block", threshold_reject, "rejected", is_own=False),
    Decision("withdraw", "Withdraw", "undo", threshold_withdraw, "withdrawn", is_own=True),
)


@admin.register(ThresholdChange)
class ThresholdChangeAdmin(WrittenOnceAdmin):
    def has_add_permission(self, request: HttpRequest) -> bool:
        return can(request.user, PROPOSE)

    def get_urls(self) -> list[URLPattern]:
        own = [
            path(f"<path:object_id>/{decision.name}/",
                 self.admin_site.admin_view(partial(self.decide_view, decision=decision)),
                 name=f"games_thresholdchange_{decision.name}")
            for decision in DECISIONS
        ]  # fmt: skip
        return [*own, *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show every kind of thresholds of every visible casino, and all proposals."""
        require_safe(request)
        actor = actor_of(request)
        authorize(actor, "thresholdchange.view")
        casinos = within_reach(actor, "thresholdchange.view", Casino.objects.all())
        shown = [(kind_shown(casino, kind), self.proposing(actor, casino, kind.code))
                 for casino in casinos for kind in KINDS.values()]  # fmt: skip
        changes = visible(actor, ThresholdChange.objects.select_related("casino", "decision"))
        part = keyset_page(request, changes, "at")
        rows = [(change, KINDS[change.kind].title, change_lines(change)) for change in part.rows]
        context = self.page_context(request, "Thresholds", shown=shown, part=part, changes=rows)
        return TemplateResponse(request, "thresholds/thresholds.html", context)

    def proposing(self, actor: Staff, casino: Casino, kind: str) -> str:
        """Return the address of the proposal form; empty for people who may not propose."""
        if not can(actor, PROPOSE, ThresholdChange(casino=casino)):
            return ""
        return f"{reverse('admin:games_thresholdchange_add')}?casino={casino.pk}&kind={kind}"

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show and take the proposal form of one kind for one casino."""
        actor = actor_of(request)
        authorize(actor, PROPOSE)
        casino, kind = self.asked(request)
        planned = thresholds_planned(casino, kind)
        form = FORMS[kind](request.POST if request.method == "POST" else None, initial=KINDS[kind].values(planned))
        if form.is_bound and form.is_valid():
            values = dict(form.cleaned_data)
            reason = values.pop("reason")
            try:
                change = threshold_propose(actor=actor, casino=casino, kind=kind, values=values, reason=reason)
            except ValidationError as error:
                add_errors(form, error)
            else:
                messages.success(request, f"Proposal {change} waits for a second person. {who_decides(change)}")
                return redirect(self.address(change))
        back = reverse("admin:games_thresholdchange_changelist")
        title = f"Propose thresholds: {KINDS[kind].title.lower()}, {casino.code}"
        context = self.page_context(request, title, form=form, back=back, button="Propose")
        return TemplateResponse(request, "pages/step.html", context)

    def asked(self, request: HttpRequest) -> tuple[Casino, str]:
        """Return the requested casino and kind. Defaults to the first casino within reach, and findings."""
        casinos = within_reach(request.user, PROPOSE, Casino.objects.all())
        key = request.GET.get("casino", "")
        wanted = casinos.filter(pk=key) if key.isascii() and key.isdecimal() and len(key) < 19 else casinos  # noqa: PLR2004
        casino = wanted.first()
        if casino is None:
            raise PermissionDenied("There is no such casino within your reach.")
        kind = request.GET.get("kind", "")
        return casino, kind if kind in FORMS else next(iter(FORMS))

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require_safe(request)
        actor = actor_of(request)
        change: ThresholdChange = self.get_or_deny(request, object_id)
        buttons = [
            Button(
                self.address(change, decision.name), decision.title, decision.icon, is_main=decision.name == "approve"
            )
            for decision in DECISIONS
            if decision.is_offered(actor, change)
        ]
        context = self.page_context(
            request, f"Thresholds, proposal {change}", original=change, change=change, kind=KINDS[change.kind],
            lines=change_lines(change), decision=getattr(change, "decision", None), buttons=buttons,
            deciding=who_decides(change) if change.state == "pending" else "",
        )  # fmt: skip
        return TemplateResponse(request, "thresholds/threshold_change.html", context)

    def decide_view(self, request: HttpRequest, object_id: str, decision: Decision) -> HttpResponse:
        change: ThresholdChange = self.get_or_deny(request, object_id)
        actor = actor_of(request)
        authorize(actor, f"thresholdchange.{decision.name}", change)
        form = ActionForm(request.POST if request.method == "POST" else None, thing=change)
        if form.is_bound and form.is_valid():
            try:
                decision.take(actor=actor, change=change, reason=form.cleaned_data["reason"])
            except ValidationError as error:
                add_errors(form, error)
            else:
                messages.success(request, f"Proposal {change} is {decision.done}.")
                return redirect(self.address(change))
        context = self.page_context(
            request, f"{decision.title}: thresholds, proposal {change}", form=form, back=self.address(change),
            button=decision.title, above="thresholds/threshold_lines.html", lines=change_lines(change),
        )  # fmt: skip
        return TemplateResponse(request, "pages/step.html", context)
