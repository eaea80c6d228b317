"""A settlement amended by a ruling or by discretion: a round's bets as recorded, and as the rules have them."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from unfold.widgets import UnfoldAdminTextInputWidget

from audits.incidents.admin import fields
from audits.models import Consequence, Discretion, Incident, Ruling
from audits.rulings.admin.order_offers import impartial_first
from audits.rulings.admin.orders import (
    OrderForm,
    back_to,
    consequence_address,
    dice_field,
    faces,
    incident_rounds,
    order_message,
    rulings_holding,
)
from audits.rulings.corrections.standing_nets import StandingNets, standing_nets_of
from audits.rulings.services.corrective_actions import Basis, round_settle
from audits.rulings.services.discretions import discretion_settle
from games.access.gate import authorize
from games.engine.box_numbers import code_of
from games.engine.money import MoneyError, parse_net
from games.models import Round
from games.pages.gated import actor_of, add_errors
from games.pages.paging import key_of

#: Bets with a field each; those of one player are found by his reference.
MOST_SHOWN = 400


class NetField(forms.CharField):
    """What a player gains, with a minus where he loses; empty is left to the rules."""

    def __init__(self, label: str) -> None:
        attrs = {"inputmode": "text", "autocomplete": "off", "aria-label": label, "placeholder": "by the rules"}
        super().__init__(required=False, max_length=20, widget=UnfoldAdminTextInputWidget(attrs))

    def clean(self, value: Any) -> int | None:
        text = super().clean(value)
        try:
            return parse_net(text.replace("−", "-").replace(",", "")) if text else None
        except MoneyError as error:
            raise ValidationError(f"{error}.") from None


class SettleForm(OrderForm):
    dice = dice_field(help_text="Empty: those of the round. All bets without a net are settled by them.")
    basis_name = "ruling"
    hint = "An empty field is settled by the rules, with the dice on the right where they are given."

    def __init__(self, *args: Any, books: StandingNets, player: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.books = books
        self.fields[self.basis_name] = fields.choice_field("By", self.choices(), initial=str(self.asked_ruling))
        one = books.round
        places = [place for place, name in enumerate(one.players) if not player or name == player]
        self.places = places[:MOST_SHOWN]
        self.is_cut = len(places) > MOST_SHOWN
        for place in self.places:
            self.fields[f"net_{place}"] = NetField(f"{one.players[place]} on {code_of(one.boxes[place])}")

    def choices(self) -> list[tuple[str, str]]:
        return [(str(one.pk), f"{one}: {one.decision:.80}") for one in rulings_holding(self.thing)]

    @property
    def by(self) -> forms.BoundField:
        return self[self.basis_name]

    def clean_dice(self) -> list[int]:
        return faces(self.cleaned_data["dice"])

    def rows(self) -> list[dict[str, Any]]:
        """The bets shown, each with its field."""
        one, now = self.books.round, self.books.nets
        expected = [net for net, _ in self.books.recorded().expected()]
        return [
            {
                "number": place + 1, "player": one.players[place], "box": code_of(one.boxes[place]),
                "stake": one.stakes[place], "recorded": one.nets[place], "now": now[place],
                "expected": expected[place] if expected else None, "field": self[f"net_{place}"],
            }
            for place in self.places
        ]  # fmt: skip

    def nets(self) -> dict[int, int]:
        decided = {place: self.cleaned_data[f"net_{place}"] for place in self.places}
        return {place: net for place, net in decided.items() if net is not None}

    def basis(self) -> Basis:
        return Basis(self.thing, Ruling.objects.get(pk=key_of(self.cleaned_data[self.basis_name])))

    def settle(self) -> Consequence:
        values = self.cleaned_data
        return round_settle(
            actor=self.actor, basis=values["basis"], round=self.books.round, reason=values["reason"],
            dice=values["dice"] or None, nets=self.nets(),
        )  # fmt: skip


class DiscretionSettleForm(SettleForm):
    """Only the bets with a net are decided; a record that names a bet settles that one."""

    basis_name = "discretion"
    hint = "A bet that was paid so already gets the net that it has. The rules decide every empty field."

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["dice"]

    def choices(self) -> list[tuple[str, str]]:
        return [(str(one.pk), f"{one.rule}, {one}: {one.decision:.80}") for one in decided_on(self.thing)]

    def basis(self) -> Basis:
        key = key_of(self.cleaned_data[self.basis_name])
        return Basis(self.thing, discretion=self.thing.discretions.get(pk=key))

    def settle(self) -> Consequence:
        values = self.cleaned_data
        return discretion_settle(
            actor=self.actor, discretion=values["basis"].discretion, round=self.books.round, nets=self.nets(),
            reason=values["reason"],
        )  # fmt: skip


def decided_on(incident: Incident) -> list[Discretion]:
    """What was decided by discretion on an incident, the latest first."""
    return list(incident.discretions.select_related("round__table__casino").order_by("-pk"))


def discretion_settle_page(site: Any, request: HttpRequest, incident: Incident) -> HttpResponse:
    """Bets settled by discretion: the rounds that the records name, and those of the file."""
    actor = actor_of(request)
    authorize(actor, "consequence.order", incident)
    made = decided_on(incident)
    rounds = {one.pk: one for one in [*(one.round for one in made if one.round), *incident_rounds(actor, incident)]}
    wanted = "record what was decided first" if not made else "" if rounds else "name the round on the file first"
    if wanted:
        messages.error(request, f"A settlement by discretion takes a record and a round; {wanted}.")
        return redirect(back_to(incident, 0))
    return bets_page(
        site,
        request,
        incident,
        DiscretionSettleForm,
        rounds=impartial_first(actor, rounds.values()),
        title="Settle by discretion",
    )


def settle_page(site: Any, request: HttpRequest, incident: Incident) -> HttpResponse:
    """One round of the file at a time; whose bets are shown can be narrowed."""
    actor = actor_of(request)
    authorize(actor, "consequence.order", incident)
    rounds = impartial_first(actor, incident_rounds(actor, incident))
    if not rulings_holding(incident) or not rounds:
        wanted = "name the round on the file first" if rulings_holding(incident) else "have the incident ruled on first"
        messages.error(request, f"An amended settlement takes a ruling and a round; {wanted}.")
        return redirect(back_to(incident, key_of(request.GET.get("ruling"))))
    return bets_page(site, request, incident, SettleForm, rounds=rounds, title="Amend the settlement")


def bets_page(
    site: Any, request: HttpRequest, incident: Incident, form_class: type[SettleForm], *, rounds: list[Round],
    title: str,
) -> HttpResponse:  # fmt: skip
    """The bets of one round, each with a field for its net."""
    actor = actor_of(request)
    asked, player = key_of(request.GET.get("ruling")), request.GET.get("player", "").strip()[:200]
    back = back_to(incident, asked)
    (books,) = standing_nets_of([_chosen(rounds, request)])
    kind = type(form_class.__name__, (form_class,), {"actor": actor, "asked_ruling": asked})
    form = kind(request.POST if request.method == "POST" else None, thing=incident, books=books, player=player)
    if (order := _settled(form)) is not None:
        messages.success(request, order_message(order))
        return redirect(consequence_address(order))
    context = {
        **site.each_context(request), "title": f"{title}: {incident}", "button": title, "form": form, "back": back,
        "books": books, "rounds": rounds, "player": player, "asked_ruling": asked, "most_shown": MOST_SHOWN,
        "dice": _dice(books), "is_corrected": books.last is not None,
    }  # fmt: skip
    return TemplateResponse(request, "rulings/settle.html", context)


def _chosen(rounds: list[Round], request: HttpRequest) -> Round:
    key = key_of(request.GET.get("round"))
    return next((round_ for round_ in rounds if round_.pk == key), rounds[0])


def _dice(books: StandingNets) -> list[int]:
    throw = books.recorded().assessment.throw
    return list(throw.faces) if throw else []


def _settled(form: Any) -> Consequence | None:
    if not form.is_bound or not form.is_valid():
        return None
    try:
        made: Consequence = form.settle()
    except ValidationError as error:
        add_errors(form, error)
        return None
    return made
