"""The steps that people take on a finding: a form and one service call each."""

from collections.abc import Callable
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
from games.access.gate import can
from games.access.selectors import staff_who_may
from games.models import Staff
from games.pages.fields import MoneyField
from games.pages.gated import ActionForm, Button
from games.pages.steps import PageStep

Take = Callable[[Staff, Any, dict[str, Any]], str]


class FindingForm(ActionForm):
    """Check when the form opens, not only when it is sent, that the step is still possible."""

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
        Staff.objects.none(), required=False, empty_label="Not assigned", widget=UnfoldAdminSelectWidget(),
        help_text="People who may resolve this finding now.",
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
    outcome = forms.ChoiceField(choices=Finding.Outcome.choices, widget=UnfoldAdminRadioSelectWidget(), label="Outcome")
    amount = MoneyField(required=False, help_text="The amount recovered or paid. Leave empty if no money moved.")
    field_order = ["outcome", "amount", "reason"]

    def __init__(self, *args: Any, thing: Finding, **kwargs: Any) -> None:
        super().__init__(*args, thing=thing, **kwargs)
        if thing.amount >= confirm_from(thing):
            self.fields["reason"].help_text += " Compliance must then confirm it, because of the amount."


class ConfirmFindingForm(FindingForm):
    verify = staticmethod(verify_awaits_confirmation)


class ReopenForm(FindingForm):
    verify = staticmethod(verify_resolved)


def resolvers(finding: Finding) -> list[Staff]:
    """List the people who may resolve a finding now, by a permanent post or an acting appointment."""
    people = staff_who_may("finding.resolve").filter(casino=finding.table.casino_id).select_related("pit")
    return [person for person in people if can(person, "finding.resolve", finding)]


# --- The steps -------------------------------------------------------------------------------------


def acknowledge(actor: Staff, finding: Finding, values: dict[str, Any]) -> str:
    finding_acknowledge(actor=actor, finding=finding, **values)
    return f"Acknowledged: {finding}."


def assign(actor: Staff, finding: Finding, values: dict[str, Any]) -> str:
    finding_assign(actor=actor, finding=finding, **values)
    return f"Assigned to {values['to']}: {finding}." if values["to"] else f"Assignment removed: {finding}."


def resolve(actor: Staff, finding: Finding, values: dict[str, Any]) -> str:
    resolved = finding_resolve(actor=actor, finding=finding, **values)
    return f"Resolved: {finding}.{' Compliance must confirm it.' if resolved.needs_confirmation else ''}"


def confirm(actor: Staff, finding: Finding, values: dict[str, Any]) -> str:
    finding_confirm(actor=actor, finding=finding, **values)
    return f"Confirmed: {finding}."


def send_back(actor: Staff, finding: Finding, values: dict[str, Any]) -> str:
    finding_return(actor=actor, finding=finding, **values)
    return f"Returned to be resolved again: {finding}."


def reopen(actor: Staff, finding: Finding, values: dict[str, Any]) -> str:
    finding_reopen(actor=actor, finding=finding, **values)
    return f"Reopened: {finding}."


def is_possible(form: type[FindingForm]) -> Callable[[Any, Finding], bool]:
    """Return the question whether a finding is in a state in which the service of a form takes it."""

    def makes_sense(actor: Any, finding: Finding) -> bool:
        try:
            form.verify(finding)
        except forms.ValidationError:
            return False
        return True

    return makes_sense


STEPS = (
    PageStep(
        "acknowledge", "Acknowledge", "visibility", "finding.acknowledge", AcknowledgeForm, acknowledge,
        is_possible(AcknowledgeForm), is_main=True,
    ),
    PageStep("assign", "Assign", "person_add", "finding.assign", AssignForm, assign, is_possible(AssignForm)),
    PageStep(
        "resolve", "Resolve", "task_alt", "finding.resolve", ResolveFindingForm, resolve,
        is_possible(ResolveFindingForm),
    ),
    PageStep(
        "confirm", "Confirm", "verified", "finding.confirm", ConfirmFindingForm, confirm,
        is_possible(ConfirmFindingForm), is_main=True,
    ),
    PageStep(
        "return", "Return", "undo", "finding.confirm", ConfirmFindingForm, send_back, is_possible(ConfirmFindingForm)
    ),
    PageStep("reopen", "Reopen", "lock_open", "finding.resolve", ReopenForm, reopen, is_possible(ReopenForm)),
)  # fmt: skip


def buttons(actor: Any, finding: Finding) -> list[Button]:
    """List the buttons for the steps that are possible now and that this person may take.

    People cannot confirm their own resolution.
    """
    own = finding.resolved_by_id is not None and finding.resolved_by_id == getattr(actor, "pk", None)
    return [
        Button(reverse(f"admin:audits_finding_{step.name}", args=[finding.pk]), step.title, step.icon, step.is_main)
        for step in STEPS
        if step.makes_sense(actor, finding)
        and can(actor, step.action, finding)
        and not (own and step.action == "finding.confirm")
    ]
