"""What is ordered on an incident file: rounds voided, results amended, a table suspended; a page with one form each."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone

from audits.incidents.admin import fields
from audits.incidents.admin.advice import affected_now
from audits.incidents.admin.form import listed
from audits.incidents.admin.steps import ActorForm
from audits.incidents.labels import rule_words
from audits.incidents.selectors import rounds_called
from audits.models import Consequence, Incident, Ruling
from audits.rulings.admin.order_offers import (
    amendable,
    file_rounds,
    may_amend,
    may_settle,
    may_settle_by_discretion,
    may_suspend,
    may_void,
    may_void_affected,
    voidable,
)
from audits.rulings.corrections.damage import Narrowing, radius_for
from audits.rulings.presenters import ruling_address
from audits.rulings.services.corrective_actions import (
    Basis,
    affected_void,
    result_amend,
    rounds_void,
    table_suspend_for,
)
from games.access.gate import can
from games.engine.rules.citation import cite
from games.engine.rules.loader import rulebook, rulebooks
from games.floor.admin.forms import MomentField
from games.models import LiveRound, Round, Staff
from games.pages.gated import Button, actor_of, take_step
from games.pages.paging import key_of
from games.pages.steps import PageStep

BY_RULING = "ruling-"


def rulings_holding(incident: Incident) -> list[Ruling]:
    """The rulings on a file from which something can follow, the latest first."""
    return list(incident.rulings.filter(is_withdrawal=False, replaced_by=None).defer("search").order_by("-pk"))


def incident_rounds(actor: Staff, incident: Incident) -> list[Round]:
    """The rounds of a file within the actor's sight, in order of time."""
    return list(file_rounds(actor, incident).select_related("table__casino").order_by("started_at", "pk"))


class OrderForm(ActorForm):
    """An order rests on an incident and, where it is asked from its page, on a ruling."""

    asked_ruling: int = 0  # set by the page

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        return values if self.errors else values | {"basis": self.basis()}

    def basis(self) -> Basis:
        found = next((one for one in rulings_holding(self.thing) if one.pk == self.asked_ruling), None)
        return Basis(self.thing, found)


def faces(text: str) -> list[int]:
    """Dice as people write them: 1,3,6 or 1 3 6 or 136. Whether these are dice the service says."""
    if not re.fullmatch(r"[0-9\s,;]*", text):
        raise ValidationError("Three faces from 1 to 6, such as 1, 3, 6.")
    return [int(face) for face in re.findall(r"[0-9]", text)]


def dice_field(**more: Any) -> forms.CharField:
    return fields.text_field("Dice", most=20, placeholder="1, 3, 6", autocomplete="off", **more)


# --- Void ---------------------------------------------------------------------------------------------


class ByForm(OrderForm):
    """By a rule that says so, or by a ruling."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        held = rulings_holding(self.thing) if can(self.actor, "consequence.order", self.thing) else []
        rulings = [(f"{BY_RULING}{one.pk}", f"{one}: {one.decision:.80}") for one in held]
        rules = [(number, f"{number}: {rule_words(citation)}") for number, citation in self.voidings()]
        self.fields["rule"] = fields.choice_field("By", [("", "Choose"), *rulings, *rules])
        self.fields["rule"].initial = self._first([key for key, _ in rulings], [key for key, _ in rules])
        self.fields[
            "reason"
        ].help_text = "Why; it stands in the record. Of a settled round a second person executes it."

    def voidings(self) -> list[tuple[str, str]]:
        if self.thing.rulebook not in rulebooks():
            return []
        book = rulebook(self.thing.rulebook)
        return [(number, cite(book.id, number)) for number in book.voidings]

    def _first(self, rulings: list[str], rules: list[str]) -> str:
        """The ruling that it was asked from, what the advice cites, or nothing."""
        if (asked := f"{BY_RULING}{self.asked_ruling}") in rulings:
            return asked
        advised = [one.partition("#")[2] for one in (self.thing.advice or {}).get("rules", ())]
        return next((number for number in advised if number in rules), rulings[0] if rulings else "")

    def basis(self) -> Basis:
        chosen: str = self.cleaned_data["rule"]
        if not chosen.startswith(BY_RULING):
            return Basis(self.thing, rule=chosen)
        return Basis(self.thing, Ruling.objects.get(pk=key_of(chosen.removeprefix(BY_RULING))))


class VoidRoundsForm(ByForm):
    rounds = fields.text_field("Rounds", required=True, most=5000, rows=2, help_text="By reference; apart by commas.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.known = incident_rounds(self.actor, self.thing)
        self.fields["rounds"].initial = ", ".join(one.ref for one in voidable(self.actor, self.known))
        self.order_fields(["rounds", "rule", "reason"])

    def clean_rounds(self) -> list[Round]:
        refs = dict.fromkeys(listed(self.cleaned_data["rounds"]))
        return [one for ref in refs for one in self._called(ref)]

    def _called(self, ref: str) -> list[Round]:
        """Those of the file first; any other one has to be the only one that is called so."""
        if own := [one for one in self.known if one.ref == ref]:
            return own
        found = list(rounds_called(self.actor, ref).filter(table__casino=self.thing.casino_id)[:2])
        if not found:
            raise ValidationError(f"{ref}: no such round is within your sight.")
        if len(found) > 1:
            raise ValidationError(f"{ref}: more than one round is called so; add the right one to the file first.")
        return found


def void(actor: Staff, incident: Incident, values: dict[str, Any]) -> Consequence:
    return rounds_void(actor=actor, basis=values["basis"], rounds=values["rounds"], reason=values["reason"])


class AffectedForm(ByForm):
    """All affected rounds, or those in a part of the time, with a reason of its own."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        reach = radius_for(self.thing)  # without one there is nothing to order, and the reason is shown
        first, last = (f"{timezone.localtime(moment):%Y-%m-%d %H:%M:%S}" for moment in (reach.starts_at, reach.ends_at))
        self.fields["from"] = MomentField(
            label="From", past=True, required=False, help_text=f"Defaults to {first}, when the radius begins."
        )
        self.fields["to"] = MomentField(
            label="To", past=True, required=False, help_text=f"Defaults to {last}, when the radius ends."
        )
        self.fields["narrowing"] = fields.text_field(
            "Why only a part", most=20_000, rows=2,
            help_text="Required where a shorter time is chosen; it stays on record with the order.",
        )  # fmt: skip
        self.order_fields(["rule", "from", "to", "narrowing", "reason"])


def void_affected(actor: Staff, incident: Incident, values: dict[str, Any]) -> Consequence:
    narrowed = Narrowing(values["from"], values["to"], values["narrowing"])
    return affected_void(actor=actor, basis=values["basis"], reason=values["reason"], narrowed=narrowed)


# --- The result, and the table ------------------------------------------------------------------------


class AmendForm(OrderForm):
    """A round of the file, or the one in play at its table."""

    dice = dice_field(required=True, help_text="As they lay.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.known = amendable(self.actor, self.thing)
        if not self.known:
            raise ValidationError("No round of this file is unsettled, and none is in play: that takes a ruling.")
        named = [(key, f"{one}{', in play' if key.startswith('live') else ''}") for key, one in self.known.items()]
        self.fields["round"] = fields.choice_field("Round", named)
        self.order_fields(["round", "dice", "reason"])

    def clean_dice(self) -> list[int]:
        return faces(self.cleaned_data["dice"])

    def clean_round(self) -> Round | LiveRound:
        return self.known[self.cleaned_data["round"]]


def amend(actor: Staff, incident: Incident, values: dict[str, Any]) -> Consequence:
    chosen = values["round"]
    name = "live" if isinstance(chosen, LiveRound) else "round"
    return result_amend(
        actor=actor, basis=values["basis"], dice=values["dice"], reason=values["reason"], **{name: chosen}
    )  # fmt: skip


def suspend(actor: Staff, incident: Incident, values: dict[str, Any]) -> Consequence:
    return table_suspend_for(actor=actor, basis=values["basis"], reason=values["reason"])


# --- The pages ----------------------------------------------------------------------------------------


ORDERS = (
    PageStep("void", "Void rounds", "block", "consequence.void", VoidRoundsForm, void, may_void),
    PageStep(
        "void-affected", "Void all affected rounds", "layers_clear", "consequence.order", AffectedForm, void_affected,
        may_void_affected, above="rulings/affected_above.html",
    ),
    PageStep("amend", "Amend the result", "casino", "consequence.void", AmendForm, amend, may_amend),
    PageStep("suspend", "Suspend the table", "pause_circle", "table.suspend", OrderForm, suspend, may_suspend),
)  # fmt: skip


def order_page(site: Any, request: HttpRequest, incident: Incident, order: PageStep) -> HttpResponse:
    """What was ordered has a page of its own, to which it leads."""
    made: list[Consequence] = []
    asked = key_of(request.GET.get("ruling"))
    form = type(order.form.__name__, (order.form,), {"actor": actor_of(request), "asked_ruling": asked})

    def take(actor: Staff, incident: Incident, values: dict[str, Any]) -> str:
        made.append(order.take(actor, incident, values))
        return order_message(made[-1])

    figures = affected_now(incident) if order.above else {}
    answer = take_step(
        site, request, incident, action=order.action, title=order.title, form_class=form, take=take,
        back=back_to(incident, asked), above=order.above, context={"figures": figures},
    )  # fmt: skip
    return redirect(consequence_address(made[0])) if made else answer


def order_message(order: Consequence) -> str:
    return f"{order} waits for a second person." if order.is_waiting else f"{order} is executed."


def back_to(incident: Incident, ruling: int) -> str:
    """Where an order was asked from."""
    found = incident.rulings.filter(pk=ruling).first()
    return ruling_address(found) if found else reverse("admin:audits_incident_change", args=[incident.pk])


def consequence_address(order: Consequence, page: str = "change") -> str:
    return reverse(f"admin:audits_consequence_{page}", args=[order.pk])


def order_buttons(actor: Staff, incident: Incident, ruling: Ruling | None = None) -> list[Button]:
    """For whoever may; from a ruling only what can rest on it, while it holds."""
    rulings = rulings_holding(incident)
    if ruling is not None and (ruling not in rulings or not can(actor, "consequence.order", incident)):
        return []
    asked = f"?ruling={ruling.pk}" if ruling else ""

    def button(name: str, title: str, icon: str) -> Button:
        return Button(f"{reverse(f'admin:audits_incident_{name}', args=[incident.pk])}{asked}", title, icon)

    buttons = [button(one.name, one.title, one.icon) for one in ORDERS if one.makes_sense(actor, incident)]
    if rulings and may_settle(actor, incident):
        buttons.append(button("settle", "Amend the settlement", "price_change"))
    if ruling is None and may_settle_by_discretion(actor, incident):
        buttons.append(button("discretion-settle", "Settle by discretion", "how_to_reg"))
    return buttons
