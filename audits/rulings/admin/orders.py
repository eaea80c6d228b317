"""The pages that order corrective actions on an incident: void rounds, amend results, suspend the table."""

import re
from collections.abc import Callable
from dataclasses import dataclass
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
from audits.incidents.selectors import rounds_called
from audits.models import Consequence, Incident, Ruling
from audits.pages.listing import key_of
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
from games.labels.rules import rule_about
from games.models import LiveRound, Round, Staff
from games.pages.gated import Button, actor_of, take_step

BY_RULING = "ruling-"


def rulings_holding(incident: Incident) -> list[Ruling]:
    """Return the rulings of an incident on which an order can rest, the latest first."""
    return list(incident.rulings.filter(is_withdrawal=False, replaced_by=None).defer("search").order_by("-pk"))


def incident_rounds(actor: Staff, incident: Incident) -> list[Round]:
    """Return the rounds of an incident that the actor may see, in order of time."""
    return list(file_rounds(actor, incident).select_related("table__casino").order_by("started_at", "pk"))


class OrderForm(ActorForm):
    """The form of an order: it rests on an incident and, if opened from a ruling's page, on that ruling."""

    asked_ruling: int = 0  # set by the page

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        return values if self.errors else values | {"basis": self.basis()}

    def basis(self) -> Basis:
        found = next((ruling for ruling in rulings_holding(self.thing) if ruling.pk == self.asked_ruling), None)
        return Basis(self.thing, found)


def faces(text: str) -> list[int]:
    """Read dice as people write them: 1,3,6 or 1 3 6 or 136. The service checks the faces."""
    if not re.fullmatch(r"[0-9\s,;]*", text):
        raise ValidationError("Enter three faces from 1 to 6, such as 1, 3, 6.")
    return [int(face) for face in re.findall(r"[0-9]", text)]


def dice_field(**more: Any) -> forms.CharField:
    return fields.text_field("Dice", most=20, placeholder="1, 3, 6", autocomplete="off", **more)


# --- Void ---------------------------------------------------------------------------------------------


class ByForm(OrderForm):
    """The form of a void, by a voiding rule or by a ruling."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        held = rulings_holding(self.thing) if can(self.actor, "consequence.order", self.thing) else []
        rulings = [(f"{BY_RULING}{ruling.pk}", f"{ruling}: {ruling.decision:.80}") for ruling in held]
        rules = [(number, f"Rule {number}: {rule_about(citation)}") for number, citation in self.voidings()]
        self.fields["rule"] = fields.choice_field("By", [("", "Choose"), *rulings, *rules])
        self.fields["rule"].initial = self._first([key for key, _ in rulings], [key for key, _ in rules])
        self.fields[
            "reason"
        ].help_text = "Kept on record. A void of a settled round must be executed by a second person."

    def voidings(self) -> list[tuple[str, str]]:
        if self.thing.rulebook not in rulebooks():
            return []
        book = rulebook(self.thing.rulebook)
        return [(number, cite(book.id, number)) for number in book.voidings]

    def _first(self, rulings: list[str], rules: list[str]) -> str:
        """Return the initial basis: the ruling it was opened from, the rule that the advice cites, or none."""
        if (asked := f"{BY_RULING}{self.asked_ruling}") in rulings:
            return asked
        advised = [citation.partition("#")[2] for citation in (self.thing.advice or {}).get("rules", ())]
        return next((number for number in advised if number in rules), rulings[0] if rulings else "")

    def basis(self) -> Basis:
        chosen: str = self.cleaned_data["rule"]
        if not chosen.startswith(BY_RULING):
            return Basis(self.thing, rule=chosen)
        return Basis(self.thing, Ruling.objects.get(pk=key_of(chosen.removeprefix(BY_RULING))))


class VoidRoundsForm(ByForm):
    rounds = fields.text_field("Rounds", required=True, most=5000, rows=2, help_text="References, separated by commas.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.known = incident_rounds(self.actor, self.thing)
        self.fields["rounds"].initial = ", ".join(round_.ref for round_ in voidable(self.actor, self.known))
        self.order_fields(["rounds", "rule", "reason"])

    def clean_rounds(self) -> list[Round]:
        refs = dict.fromkeys(listed(self.cleaned_data["rounds"]))
        return [round_ for ref in refs for round_ in self._called(ref)]

    def _called(self, ref: str) -> list[Round]:
        """Find the rounds with this reference: those of the incident first, else the only one that has it."""
        if own := [round_ for round_ in self.known if round_.ref == ref]:
            return own
        found = list(rounds_called(self.actor, ref).filter(table__casino=self.thing.casino_id)[:2])
        if not found:
            raise ValidationError(f"{ref}: there is no such round that you can see.")
        if len(found) > 1:
            raise ValidationError(
                f"{ref}: several rounds have this reference; add the right one to the incident first."
            )
        return found


def void(actor: Staff, values: dict[str, Any]) -> Consequence:
    return rounds_void(actor=actor, basis=values["basis"], rounds=values["rounds"], reason=values["reason"])


class AffectedForm(ByForm):
    """The form that voids all affected rounds, or those in a part of the period with a separate reason."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        reach = radius_for(self.thing)  # without one there is nothing to order, and the page shows the reason
        first, last = (f"{timezone.localtime(moment):%Y-%m-%d %H:%M:%S}" for moment in (reach.starts_at, reach.ends_at))
        self.fields["from"] = MomentField(
            label="From", past=True, required=False, help_text=f"Defaults to {first}, when the affected period begins."
        )
        self.fields["to"] = MomentField(
            label="To", past=True, required=False, help_text=f"Defaults to {last}, when the affected period ends."
        )
        self.fields["narrowing"] = fields.text_field(
            "Reason for a shorter period", most=20_000, rows=2,
            help_text="Required if a shorter period is chosen; kept on record with the order.",
        )  # fmt: skip
        self.order_fields(["rule", "from", "to", "narrowing", "reason"])


def void_affected(actor: Staff, values: dict[str, Any]) -> Consequence:
    narrowed = Narrowing(values["from"], values["to"], values["narrowing"])
    return affected_void(actor=actor, basis=values["basis"], reason=values["reason"], narrowed=narrowed)


# --- The result, and the table ------------------------------------------------------------------------


class AmendForm(OrderForm):
    """The form that amends the result of a round of the incident, or of the one in play at its table."""

    dice = dice_field(required=True, help_text="The actual result.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.known = amendable(self.actor, self.thing)
        if not self.known:
            raise ValidationError("This incident has no unsettled round and none in play: it requires a ruling.")
        named = [
            (key, f"{round_}{', in play' if key.startswith('live') else ''}") for key, round_ in self.known.items()
        ]
        self.fields["round"] = fields.choice_field("Round", named)
        self.order_fields(["round", "dice", "reason"])

    def clean_dice(self) -> list[int]:
        return faces(self.cleaned_data["dice"])

    def clean_round(self) -> Round | LiveRound:
        return self.known[self.cleaned_data["round"]]


def amend(actor: Staff, values: dict[str, Any]) -> Consequence:
    chosen = values["round"]
    name = "live" if isinstance(chosen, LiveRound) else "round"
    return result_amend(
        actor=actor, basis=values["basis"], dice=values["dice"], reason=values["reason"], **{name: chosen}
    )  # fmt: skip


def suspend(actor: Staff, values: dict[str, Any]) -> Consequence:
    return table_suspend_for(actor=actor, basis=values["basis"], reason=values["reason"])


# --- The pages ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OrderKind:
    """A page with one form: its name in the address, the action that allows it, and the function that orders."""

    name: str
    title: str
    icon: str
    action: str
    form: type[OrderForm]
    take: Callable[[Staff, dict[str, Any]], Consequence]
    is_offered: Callable[[Staff, Incident], bool]  # only to people who may give this order
    above: str | None = None  # a template shown above the form

    def shown(self, incident: Incident) -> dict[str, Any]:
        return affected_now(incident) if self.above else {}


ORDERS = (
    OrderKind("void", "Void rounds", "block", "consequence.void", VoidRoundsForm, void, may_void),
    OrderKind(
        "void-affected",
        "Void all affected rounds",
        "layers_clear",
        "consequence.order",
        AffectedForm,
        void_affected,
        may_void_affected,
        "rulings/affected_above.html",
    ),
    OrderKind("amend", "Amend the result", "casino", "consequence.void", AmendForm, amend, may_amend),
    OrderKind("suspend", "Suspend the table", "pause_circle", "table.suspend", OrderForm, suspend, may_suspend),
)


def order_page(site: Any, request: HttpRequest, incident: Incident, order: OrderKind) -> HttpResponse:
    """Show the form of an order; afterwards go to the page of the corrective action."""
    made: list[Consequence] = []
    asked = key_of(request.GET.get("ruling"))
    form = type(order.form.__name__, (order.form,), {"actor": actor_of(request), "asked_ruling": asked})

    def take(actor: Staff, incident: Incident, values: dict[str, Any]) -> str:
        made.append(order.take(actor, values))
        return order_message(made[-1])

    answer = take_step(
        site, request, incident, action=order.action, title=order.title, form_class=form, take=take,
        back=back_to(incident, asked), above=order.above, context={"figures": order.shown(incident)},
    )  # fmt: skip
    return redirect(consequence_address(made[0])) if made else answer


def order_message(order: Consequence) -> str:
    return f"{order} is waiting for a second person." if order.is_waiting else f"{order} was executed."


def back_to(incident: Incident, ruling: int) -> str:
    """Return the address of the page from which an order was opened: the ruling or the incident."""
    found = incident.rulings.filter(pk=ruling).first()
    return ruling_address(found) if found else reverse("admin:audits_incident_change", args=[incident.pk])


def consequence_address(order: Consequence, page: str = "change") -> str:
    return reverse(f"admin:audits_consequence_{page}", args=[order.pk])


def order_buttons(actor: Staff, incident: Incident, ruling: Ruling | None = None) -> list[Button]:
    """Return the orders open to this person; for a ruling only those that can rest on it, while it holds."""
    rulings = rulings_holding(incident)
    if ruling is not None and (ruling not in rulings or not can(actor, "consequence.order", incident)):
        return []
    asked = f"?ruling={ruling.pk}" if ruling else ""

    def button(name: str, title: str, icon: str) -> Button:
        return Button(f"{reverse(f'admin:audits_incident_{name}', args=[incident.pk])}{asked}", title, icon)

    buttons = [button(order.name, order.title, order.icon) for order in ORDERS if order.is_offered(actor, incident)]
    if rulings and may_settle(actor, incident):
        buttons.append(button("settle", "Amend the settlement", "price_change"))
    if ruling is None and may_settle_by_discretion(actor, incident):
        buttons.append(button("discretion-settle", "Settle by discretion", "how_to_reg"))
    return buttons
