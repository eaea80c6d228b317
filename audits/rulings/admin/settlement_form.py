"""The pages that amend a settlement by a ruling or by discretion: the bets as recorded and as settled by the rules."""

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
from audits.pages.listing import key_of
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
from games.labels.boxes import box_label
from games.labels.rules import rule_label
from games.models import Round
from games.pages.gated import actor_of, add_errors

#: Bets shown with a field; the page can be narrowed to one player.
MOST_SHOWN = 400


class NetField(forms.CharField):
    """The net of a bet, negative for a loss; an empty field leaves it to the rules."""

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
    dice = dice_field(help_text="Defaults to the dice of the round. They settle all bets without a net.")
    basis_name = "ruling"
    hint = "The rules settle every bet left empty, by the dice on the right if they are given."

    def __init__(self, *args: Any, standing_nets: StandingNets, player: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.standing_nets = standing_nets
        self.fields[self.basis_name] = fields.choice_field("By", self.choices(), initial=str(self.asked_ruling))
        round_ = standing_nets.round
        places = [place for place, name in enumerate(round_.players) if not player or name == player]
        self.places = places[:MOST_SHOWN]
        self.is_cut = len(places) > MOST_SHOWN
        for place in self.places:
            box = box_label(code_of(round_.boxes[place]))
            self.fields[f"net_{place}"] = NetField(f"{round_.players[place]} on {box}")

    def choices(self) -> list[tuple[str, str]]:
        return [(str(ruling.pk), f"{ruling}: {ruling.decision:.80}") for ruling in rulings_holding(self.thing)]

    @property
    def by(self) -> forms.BoundField:
        return self[self.basis_name]

    def clean_dice(self) -> list[int]:
        return faces(self.cleaned_data["dice"])

    def rows(self) -> list[dict[str, Any]]:
        """Return the bets shown, each with its field."""
        round_, now = self.standing_nets.round, self.standing_nets.nets
        expected = [net for net, _ in self.standing_nets.recorded().expected()]
        return [
            {
                "number": place + 1, "player": round_.players[place], "box": code_of(round_.boxes[place]),
                "stake": round_.stakes[place], "recorded": round_.nets[place], "now": now[place],
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
            actor=self.actor, basis=values["basis"], round=self.standing_nets.round, reason=values["reason"],
            dice=values["dice"] or None, nets=self.nets(),
        )  # fmt: skip


class DiscretionSettleForm(SettleForm):
    """The form that settles bets by discretion: only bets with a net are decided; the rules decide all others."""

    basis_name = "discretion"
    hint = "For a bet that was already paid as decided, enter its present net. The rules settle every bet left empty."

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["dice"]

    def choices(self) -> list[tuple[str, str]]:
        return [
            (str(discretion.pk), f"{rule_label(discretion.rule)}, {discretion}: {discretion.decision:.80}")
            for discretion in decided_on(self.thing)
        ]

    def basis(self) -> Basis:
        key = key_of(self.cleaned_data[self.basis_name])
        return Basis(self.thing, discretion=self.thing.discretions.get(pk=key))

    def settle(self) -> Consequence:
        values = self.cleaned_data
        return discretion_settle(
            actor=self.actor, discretion=values["basis"].discretion, round=self.standing_nets.round, nets=self.nets(),
            reason=values["reason"],
        )  # fmt: skip


def decided_on(incident: Incident) -> list[Discretion]:
    """Return the decisions by discretion on an incident, the latest first."""
    return list(incident.discretions.select_related("round__table__casino").order_by("-pk"))


def discretion_settle_page(site: Any, request: HttpRequest, incident: Incident) -> HttpResponse:
    """Settle bets by discretion, in the rounds that the decisions name and those of the incident."""
    actor = actor_of(request)
    authorize(actor, "consequence.order", incident)
    made = decided_on(incident)
    rounds = {
        round_.pk: round_
        for round_ in [*(round_.round for round_ in made if round_.round), *incident_rounds(actor, incident)]
    }
    missing = "record the decision first" if not made else "" if rounds else "add the round to the incident first"
    if missing:
        messages.error(request, f"A settlement by discretion requires a recorded decision and a round; {missing}.")
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
    """Amend the settlement of one round of the incident; the bets shown can be narrowed to one player."""
    actor = actor_of(request)
    authorize(actor, "consequence.order", incident)
    rounds = impartial_first(actor, incident_rounds(actor, incident))
    if not rulings_holding(incident) or not rounds:
        missing = "add the round to the incident first" if rulings_holding(incident) else "have it ruled on first"
        messages.error(request, f"An amended settlement requires a ruling and a round; {missing}.")
        return redirect(back_to(incident, key_of(request.GET.get("ruling"))))
    return bets_page(site, request, incident, SettleForm, rounds=rounds, title="Amend the settlement")


def bets_page(
    site: Any, request: HttpRequest, incident: Incident, form_class: type[SettleForm], *, rounds: list[Round],
    title: str,
) -> HttpResponse:  # fmt: skip
    """Show the bets of one round, each with a field for its net."""
    actor = actor_of(request)
    asked, player = key_of(request.GET.get("ruling")), request.GET.get("player", "").strip()[:200]
    back = back_to(incident, asked)
    (standing_nets,) = standing_nets_of([_chosen(rounds, request)])
    kind = type(form_class.__name__, (form_class,), {"actor": actor, "asked_ruling": asked})
    sent = request.POST if request.method == "POST" else None
    form = kind(sent, thing=incident, standing_nets=standing_nets, player=player)
    if (order := _settled(form)) is not None:
        messages.success(request, order_message(order))
        return redirect(consequence_address(order))
    context = {
        **site.each_context(request), "title": f"{title}: {incident}", "button": title, "form": form, "back": back,
        "standing_nets": standing_nets, "rounds": rounds, "player": player, "asked_ruling": asked,
        "most_shown": MOST_SHOWN, "dice": _dice(standing_nets), "is_corrected": standing_nets.last is not None,
    }  # fmt: skip
    return TemplateResponse(request, "rulings/settle.html", context)


def _chosen(rounds: list[Round], request: HttpRequest) -> Round:
    key = key_of(request.GET.get("round"))
    return next((round_ for round_ in rounds if round_.pk == key), rounds[0])


def _dice(standing_nets: StandingNets) -> list[int]:
    throw = standing_nets.recorded().assessment.throw
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
