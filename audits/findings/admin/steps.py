"""What people do with a finding, a form each; every one is one call of a service."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django import forms
from django.urls import reverse
from unfold.widgets import UnfoldAdminRadioSelectWidget, UnfoldAdminSelectWidget

from audits.findings.services.findings import (
    finding_acknowledge,
    finding_assign,
    finding_confirm,
    finding_reopen,
    finding_resolve,
    finding_return,
    verify_awaits_confirmation,
    verify_open,
    verify_resolved,
    verify_unresolved,
)
from audits.findings.services.weighing import confirm_from
from audits.models import Finding
from audits.pages.fields import MoneyField
from games.access.gate import can
from games.access.selectors import staff_who_may
from games.models import Staff
from games.pages.gated import ActionForm, Button

Take = Callable[[Staff, Any, dict[str, Any]], str]


class FindingForm(ActionForm):
    """A step that somebody else took already is told at once, and not only when it is sent."""

    verify: Callable[[Finding], None]

    def __init__(self, *args: Any, thing: Finding, **kwargs: Any) -> None:
        super().__init__(*args, thing=thing, **kwargs)
        type(self).verify(thing)


class AcknowledgeForm(FindingForm):
    verify = staticmethod(verify_open)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reason"].initial = "Seen"


class AssignForm(FindingForm):
    verify = staticmethod(verify_unresolved)
    to = forms.ModelChoiceField(
        Staff.objects.none(), required=False, empty_label="Nobody", widget=UnfoldAdminSelectWidget(),
        help_text="Who may resolve it, at this moment.",
    )  # fmt: skip
    field_order = ["to", "reason"]

    def __init__(self, *args: Any, thing: Finding, **kwargs: Any) -> None:
        super().__init__(*args, thing=thing, **kwargs)
        field = self.fields["to"]
        if isinstance(field, forms.ModelChoiceField):
            field.queryset = Staff.objects.filter(pk__in=[resolver.pk for resolver in resolvers(thing)])
        field.initial = thing.assigned_to_id


class ResolveFindingForm(FindingForm):
    verify = staticmethod(verify_unresolved)
    outcome = forms.ChoiceField(
        choices=Finding.Outcome.choices, widget=UnfoldAdminRadioSelectWidget(), label="What came of it"
    )
    amount = MoneyField(required=False, help_text="What was recovered or paid; empty where nothing was.")
    field_order = ["outcome", "amount", "reason"]

    def __init__(self, *args: Any, thing: Finding, **kwargs: Any) -> None:
        super().__init__(*args, thing=thing, **kwargs)
        bound = confirm_from(thing)
        if thing.amount >= bound:
            self.fields["reason"].help_text += " Compliance then confirms it: the amount is large."


class ConfirmFindingForm(FindingForm):
    verify = staticmethod(verify_awaits_confirmation)


class ReopenForm(FindingForm):
    verify = staticmethod(verify_resolved)


def resolvers(finding: Finding) -> list[Staff]:
    """Who may resolve it now: by a permanent post, or acting in one."""
    people = staff_who_may("finding.resolve").filter(casino=finding.table.casino_id).select_related("pit")
    return [person for person in people if can(person, "finding.resolve", finding)]


# --- The steps -------------------------------------------------------------------------------------


def acknowledge(actor: Staff, finding: Finding, values: dict[str, Any]) -> str:
    finding_acknowledge(actor=actor, finding=finding, **values)
    return f"Acknowledged: {finding}."


def assign(actor: Staff, finding: Finding, values: dict[str, Any]) -> str:
    finding_assign(actor=actor, finding=finding, **values)
    return f"Assigned to {values['to'] or 'nobody'}: {finding}."


def resolve(actor: Staff, finding: Finding, values: dict[str, Any]) -> str:
    resolved = finding_resolve(actor=actor, finding=finding, **values)
    return f"Resolved: {finding}.{' Compliance has yet to confirm it.' if resolved.needs_confirmation else ''}"


def confirm(actor: Staff, finding: Finding, values: dict[str, Any]) -> str:
    finding_confirm(actor=actor, finding=finding, **values)
    return f"Confirmed: {finding}."


def send_back(actor: Staff, finding: Finding, values: dict[str, Any]) -> str:
    finding_return(actor=actor, finding=finding, **values)
    return f"Returned to those who resolve it: {finding}."


def reopen(actor: Staff, finding: Finding, values: dict[str, Any]) -> str:
    finding_reopen(actor=actor, finding=finding, **values)
    return f"Open again: {finding}."


@dataclass(frozen=True)
class FindingAction:
    title: str
    icon: str
    action: str
    form: type[FindingForm]
    take: Take
    is_main: bool = False

    def is_possible(self, finding: Finding) -> bool:
        """Where it stands."""
        try:
            self.form.verify(finding)
        except forms.ValidationError:
            return False
        return True


STEPS = {
    "acknowledge": FindingAction(
        "Acknowledge", "visibility", "finding.acknowledge", AcknowledgeForm, acknowledge, True
    ),
    "assign": FindingAction("Assign", "person_add", "finding.assign", AssignForm, assign),
    "resolve": FindingAction("Resolve", "task_alt", "finding.resolve", ResolveFindingForm, resolve),
    "confirm": FindingAction("Confirm", "verified", "finding.confirm", ConfirmFindingForm, confirm, True),
    "return": FindingAction("Return", "undo", "finding.confirm", ConfirmFindingForm, send_back),
    "reopen": FindingAction("Reopen", "lock_open", "finding.resolve", ReopenForm, reopen),
}


def buttons(actor: Any, finding: Finding) -> list[Button]:
    """By where it stands, and by what the person may do. Nobody confirms what he resolved himself."""
    own = finding.resolved_by_id is not None and finding.resolved_by_id == getattr(actor, "pk", None)
    return [
        Button(reverse(f"admin:audits_finding_{name}", args=[finding.pk]), step.title, step.icon, step.is_main)
        for name, step in STEPS.items()
        if step.is_possible(finding)
        and can(actor, step.action, finding)
        and not (own and step.action == "finding.confirm")
    ]
