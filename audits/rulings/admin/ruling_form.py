"""The form of a ruling, and the precedents that stand beside it while it is filled in."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from unfold.widgets import UnfoldAdminRadioSelectWidget

from audits.incidents.admin import fields
from audits.incidents.admin.form import listed
from audits.models import Incident, Ruling, RulingKind, Scope
from audits.rulings.conflict_of_interest import has_consent, is_disqualified, is_reporter, needs_consent
from audits.rulings.precedents import PrecedentQuery, binding, precedents
from audits.rulings.presenters import EXCESS, ruling_address, state_of
from audits.rulings.remit import book_of, decided, not_covered_fault, readings_shown
from audits.rulings.services.rulings import RulingDraft, verify_may_rule
from games.access.gate import can, visible
from games.engine.rules.citation import SEPARATOR, cite
from games.floor.admin.forms import MomentField
from games.models import SettlementPolicy, Staff
from games.pages.fields import MoneyField
from games.pages.gated import actor_of, add_errors
from games.pages.paging import key_of
from games.settlement_policies.services import Setting

FOLLOW, DEPART = "follow", "depart"
#: Who reported the file is asked by the form why he rules himself; the service then has his own words.
ASKED_BY_THE_FORM = "to be said on this page"


def scope_choice() -> forms.ChoiceField:
    return forms.ChoiceField(
        label="Scope", choices=Scope.choices, widget=UnfoldAdminRadioSelectWidget(), initial=Scope.ROUND
    )


def override_field() -> forms.CharField:
    return fields.text_field(
        "Why you rule yourself", required=True, most=2000,
        help_text="You reported this file. Compliance is told, with these words.",
    )  # fmt: skip


class RulingForm(forms.Form):
    kind = fields.choice_field("Kind", RulingKind.choices)
    question = fields.text_field("Question", required=True, most=20_000, rows=2)
    facts = fields.text_field("Facts", most=20_000, rows=4, help_text="Empty: the account of the file.")
    rules = fields.text_field(
        "Rules considered", most=2000, autocomplete="off", help_text="Apart by commas; 5.1.2 is of the file's rulebook."
    )
    decision = fields.text_field("Decision", required=True, most=20_000, rows=3)
    reasoning = fields.text_field("Reasoning", required=True, most=20_000, rows=4)
    effective_from = MomentField(
        label="In force from", required=False, help_text="Empty: from now on. What was played before is not touched."
    )
    rounding = MoneyField(
        label="Round a cut stake down to", required=False, help_text="Empty: stays as it is, to the table's chip unit."
    )
    precedent = forms.ChoiceField(
        label="What stands already", required=False, widget=UnfoldAdminRadioSelectWidget(),
        choices=[(FOLLOW, "This follows it"), (DEPART, "This departs from it")],
    )  # fmt: skip
    departure = fields.text_field("Why it departs", most=20_000, rows=2)
    standing = forms.CharField(required=False, widget=forms.HiddenInput())

    def __init__(
        self, *args: Any, actor: Staff, incident: Incident, replaces: Ruling | None = None, **kwargs: Any
    ) -> None:  # fmt: skip
        super().__init__(*args, **kwargs)
        self.actor, self.incident = actor, incident
        self.fields["scope"] = scope_choice()
        self.fields["excess"] = fields.choice_field("In an over-full box give way", self._excess(), required=False)
        self.readings = readings_shown(incident)
        self.fields["reading"] = fields.choice_field("Interpretation of", self._readings(), required=False)
        self._offer_kinds()
        if replaces is not None:  # taking its place is departure enough
            for name in ("precedent", "departure", "standing"):
                del self.fields[name]
        if is_reporter(actor, incident) or needs_consent(actor):
            self.fields["override"] = override_field()

    def _excess(self) -> list[tuple[str, str]]:
        """Only what the rulebook leaves open."""
        book = book_of(self.incident)
        return [("", "stays as it is"), *((one, EXCESS[one]) for one in (book.open_policies() if book else ()))]

    def _readings(self) -> list[tuple[str, str]]:
        return [
            ("", "None of these"),
            *((reading.name, f"{reading.name}: {reading.text}") for reading in self.readings),
        ]

    def _offer_kinds(self) -> None:
        """Do not offer "not covered" where the rulebook decides the incident; sent all the same, it says why."""
        if fault := not_covered_fault(self.incident):
            offered = [choice for choice in RulingKind.choices if choice[0] != RulingKind.NOT_COVERED]
            self.fields["kind"] = fields.choice_field("Kind", offered)
            self.fields["kind"].error_messages["invalid_choice"] = fault

    def clean_rules(self) -> list[str]:
        return [self._cited(one) for one in listed(self.cleaned_data["rules"])]

    def _cited(self, text: str) -> str:
        book = self.incident.rulebook
        return text if SEPARATOR in text or not book else cite(book, text)

    def clean_standing(self) -> Ruling | None:
        """The one that was shown: where another stands meanwhile, the service asks again."""
        key = key_of(self.cleaned_data["standing"])
        return visible(self.actor, Ruling.objects.filter(pk=key, casino=self.incident.casino_id)).first()

    def draft(self) -> RulingDraft:
        values = self.cleaned_data
        shown, choice = values.get("standing"), values.get("precedent")
        return RulingDraft(
            kind=values["kind"], question=values["question"], facts=values["facts"], rules=values["rules"],
            decision=values["decision"], reasoning=values["reasoning"], scope=values["scope"],
            effective_from=values["effective_from"], setting=Setting(values["excess"], values["rounding"]),
            readings=[values["reading"]] if values["reading"] else [],
            follows=shown if choice == FOLLOW else None, departs_from=shown if choice == DEPART else None,
            departure=values.get("departure", "") if choice == DEPART else "", override=values.get("override", ""),
        )  # fmt: skip

    def precedents(self) -> dict[str, Any]:
        """What can be found for a form that is not finished, and what stands on it."""
        self.full_clean()
        values, incident = self.cleaned_data, self.incident
        rules = values.get("rules") or []
        asked = PrecedentQuery(incident.rulebook, incident.situation, rules, values.get("question") or incident.account)
        is_bound = "standing" in self.fields and values.get("kind") != RulingKind.CONFIRMATION
        found = precedents(self.actor, incident, asked)
        return {
            "precedents": [(one, *state_of(one.ruling)) for one in found if one.ruling.incident_id != incident.pk],
            "binding": binding(incident, rules) if is_bound else None,
        }


def initial_of(incident: Incident) -> dict[str, Any]:
    """What the file says already."""
    advice = incident.advice or {}
    kind = RulingKind.CONFIRMATION if not_covered_fault(incident) else RulingKind.NOT_COVERED
    return {
        "kind": kind, "facts": incident.account, "rules": ", ".join(advice.get("rules", ())),
        "scope": Scope.ROUND,
    }  # fmt: skip


def initial_instead_of(ruling: Ruling) -> dict[str, Any]:
    names = ("kind", "question", "facts", "decision", "reasoning", "scope")
    reading = {"reading": ruling.readings[0]} if ruling.kind == RulingKind.INTERPRETATION and ruling.readings else {}
    policy = SettlementPolicy.objects.filter(casino=ruling.casino, ruling=ruling.number).first()
    set_ = {"excess": policy.excess, "rounding": policy.rounding} if policy else {}
    return {name: getattr(ruling, name) for name in names} | {"rules": ", ".join(ruling.rules)} | set_ | reading


def may_rule(actor: Staff, incident: Incident) -> bool:
    """Whether to show the way: in the post, and no party. The service asks again."""
    if not can(actor, "ruling.make", incident):
        return False
    if is_disqualified(actor, incident):
        return False
    return not needs_consent(actor) or has_consent(actor, incident)


def draft_page(
    site: Any, request: HttpRequest, incident: Incident, *, title: str, initial: dict[str, Any], back: str,
    make: Callable[[Staff, RulingDraft], Ruling], replaces: Ruling | None = None,
) -> HttpResponse:  # fmt: skip
    """The form with its precedents; what the service refuses stands at its fields, with all that was written."""
    actor = actor_of(request)
    verify_may_rule(actor, incident, ASKED_BY_THE_FORM)
    known: dict[str, Any] = {"actor": actor, "incident": incident, "replaces": replaces}
    if request.method == "POST" and "ask" not in request.POST:
        form = RulingForm(request.POST, **known)
        if (ruling := _made(form, actor, make)) is not None:
            messages.success(request, f"{ruling} is on record.")
            return redirect(ruling_address(ruling))
        initial = request.POST.dict()
    else:  # asked for precedents without a script, the form comes back as it is
        initial = request.POST.dict() if request.method == "POST" else initial
        form = RulingForm(initial=initial, **known)
    context = {
        **site.each_context(request), "title": title, "form": form, "incident": incident, "back": back,
        "replaces": replaces, "decided": decided(incident), "readings": form.readings,
        "fragment": reverse("admin:audits_incident_precedents", args=[incident.pk]),
        **RulingForm(initial, **known).precedents(),
    }  # fmt: skip
    return TemplateResponse(request, "rulings/ruling_add.html", context)


def _made(form: RulingForm, actor: Staff, make: Callable[[Staff, RulingDraft], Ruling]) -> Ruling | None:
    if not form.is_valid():
        return None
    try:
        return make(actor, form.draft())
    except ValidationError as error:
        add_errors(form, error)
        return None


def precedents_piece(request: HttpRequest, incident: Incident) -> HttpResponse:
    """The piece of the page that the script keeps up while the form is filled in."""
    actor = actor_of(request)
    verify_may_rule(actor, incident, ASKED_BY_THE_FORM)
    replaces = visible(actor, incident.rulings.filter(pk=key_of(request.GET.get("replaces")))).first()
    found = RulingForm(request.GET, actor=actor, incident=incident, replaces=replaces).precedents()
    return TemplateResponse(request, "rulings/ruling_precedents.html", found)
