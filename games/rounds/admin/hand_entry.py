"""A round entered by hand, while a terminal is down: times, dice, further events and one line a bet."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget, UnfoldBooleanWidget

from games.engine.play.irregularities import RESULT, RESULT_AMENDED, TUMBLER
from games.engine.play.order_of_play import NEW, can_step
from games.floor.admin.forms import MomentField
from games.floor.moments import as_text
from games.models import Table
from games.pages.gated import ActionForm
from games.rounds.admin.hand_lines import read_bets, read_events
from games.rounds.fields import MOST_TUMBLES
from games.rounds.terms import terms_at

#: A place as the parser of rounds names it.
PLACE = re.compile(r"\b(events|bets)\[(\d+)\]")


def _lines(rows: int, help_text: str, label: str) -> forms.CharField:
    widget = UnfoldAdminTextareaWidget(attrs={"rows": rows, "spellcheck": "false"})
    return forms.CharField(required=False, widget=widget, help_text=help_text, label=label, strip=False)


class HandForm(ActionForm):
    started_at = MomentField(past=True, label="Place your bets at", help_text="As 21:07, or with the day and seconds.")
    closed_at = MomentField(past=True, required=False, label="No more bets at")
    tumbler_at = MomentField(past=True, required=False, label="Tumbler at")
    tumbles = forms.IntegerField(
        required=False, min_value=0, max_value=MOST_TUMBLES, help_text="How often the tumbler turned; 0 if it did not.",
        widget=UnfoldAdminTextInputWidget(attrs={"inputmode": "numeric"}),
    )  # fmt: skip
    activated = forms.BooleanField(
        required=False, widget=UnfoldBooleanWidget(), label="It was activated, but did not tumble (jammed)"
    )
    dice = forms.CharField(
        required=False, max_length=10, widget=UnfoldAdminTextInputWidget(attrs={"placeholder": "1 3 6"}),
        help_text="Leave empty if there was no result.",
    )  # fmt: skip
    result_at = MomentField(
        past=True, required=False, label="Result at",
        help_text="Needed where the round was interrupted, amended or voided: the order decides. Else it may be left "
        "empty, and is taken to be the time of the settlement.",
    )  # fmt: skip
    settled_at = MomentField(
        past=True, required=False, label="Settled at", help_text="Leave empty if the round was not settled."
    )
    void = forms.CharField(
        required=False, max_length=60, label="Void by rule", widget=UnfoldAdminTextInputWidget(),
        help_text='A number of the rulebook, such as 5.5.1, or "ruling". Leave empty if the round was not voided.',
    )  # fmt: skip
    void_at = MomentField(
        past=True, required=False, label="Voided at",
        help_text="Needed where the round had a result, a settlement or further events: the order decides.",
    )  # fmt: skip
    void_by = forms.CharField(
        required=False, max_length=200, widget=UnfoldAdminTextInputWidget(), label="Voided by (staff number)"
    )
    dealer = forms.CharField(
        required=False, max_length=200, widget=UnfoldAdminTextInputWidget(), label="Dealer's number"
    )
    supervisor = forms.CharField(
        required=False, max_length=200, widget=UnfoldAdminTextInputWidget(), label="Supervisor's number"
    )
    events = _lines(
        4,
        "A line an event: time, kind and what belongs to it, as in: 21:07:40 interruption 2 ? ?; 21:07:45 "
        "dice-exposed; 21:07:46 die-not-flat; 21:07:50 result-amended 1 3 5 by S11; 21:09 void ruling by SM1.",
        "Further events",
    )
    bets = _lines(
        8,
        "A line a bet: player, box, stake and net, as in: seat-3 small 100.00 100.00. The net may be left out if the "
        "round is void or the bet does not count. After it, if it applies: refused; house (placed by the house); call "
        "(on the player's oral call); at 21:07:10 (placed); withdrawn 21:07:20.",
        "Bets",
    )
    field_order = [
        "started_at", "closed_at", "tumbler_at", "tumbles", "activated", "dice", "result_at", "settled_at", "void",
        "void_at", "void_by", "events", "dealer", "supervisor", "bets", "reason",
    ]  # fmt: skip

    def clean_dice(self) -> list[int] | None:
        text = self.cleaned_data["dice"].replace(",", " ").split()
        if not all(one.isascii() and one.isdecimal() for one in text):
            raise ValidationError("Write the three faces, as in: 1 3 6.")
        return [int(one) for one in text] or None

    def clean_events(self) -> list[tuple[int, dict[str, Any]]]:
        started_at = self.cleaned_data.get("started_at")
        return read_events(self.cleaned_data["events"], started_at, self.thing.casino) if started_at else []

    def clean_bets(self) -> list[tuple[int, dict[str, Any]]]:
        started_at = self.cleaned_data.get("started_at")
        return read_bets(self.cleaned_data["bets"], started_at, self.thing.casino) if started_at else []

    def clean(self) -> dict[str, Any]:
        said = super().clean() or self.cleaned_data
        has_time, has_count = said.get("tumbler_at") is not None, said.get("tumbles") is not None
        if has_time and not has_count and "tumbles" not in self.errors:
            self.add_error("tumbles", "Write how often the tumbler turned, or leave its time empty.")
        if has_count and not has_time and "tumbler_at" not in self.errors:
            self.add_error("tumbler_at", "Write when the tumbler ran, or leave the tumbles empty.")
        if said.get("activated") and said.get("tumbles") != 0:
            self.add_error("activated", "This is for a tumbler with 0 tumbles; leave it empty, or write 0 tumbles.")
        self._clean_order(said)
        return said

    def _clean_order(self, said: dict[str, Any]) -> None:
        """Ask for the times that decide what a result, a settlement and a void mean for each other."""
        void, further = said.get("void"), said.get("events") or []
        for name in ("void_at", "void_by"):
            if said.get(name) and not void:
                self.add_error(name, "Write the rule by which the round was voided, or leave this empty.")
        if said.get("result_at") and not said.get("dice") and "dice" not in self.errors:
            self.add_error("result_at", "Write the dice, or leave the time of the result empty.")
        is_special = void or any(event["kind"] != RESULT for _, event in further)
        if said.get("dice") and is_special and not said.get("result_at") and "result_at" not in self.errors:
            self.add_error("result_at", "Write when the result was in: what else happened came before or after it.")
        has_more = said.get("dice") or said.get("settled_at") or further
        if void and has_more and not said.get("void_at") and "void_at" not in self.errors:
            self.add_error("void_at", "Write when the round was voided: what else happened came before or after it.")
        if void and said.get("void_at") and said["void_at"] == said.get("settled_at"):
            self.add_error("void_at", "The round was settled at the same time. Write the seconds, as in: 21:08:20.")


class HandRound:
    """The round as a table system would have sent it; named by its table and its first moment."""

    def __init__(self, table: Table, values: dict[str, Any]) -> None:
        self.table, self.values = table, values
        placed = self._events()
        self.places = {"events": [place for place, _ in placed], "bets": [f"Bets, line {n}" for n, _ in values["bets"]]}
        ref = f"{table.code}-{as_text(values['started_at'], table.casino)}"
        people = {name: values[name] for name in ("dealer", "supervisor") if values[name]}
        bets = [bet for _, bet in values["bets"]]
        self.document = {"ref": ref, "events": [event for _, event in placed], "bets": bets} | people

    def _events(self) -> list[tuple[str, dict[str, Any]]]:
        """Every event with the place of the form that it comes from."""
        values, terms = self.values, terms_at(self.table, self.values["started_at"])
        started, closed, settled = values["started_at"], values["closed_at"], values["settled_at"]
        last = settled or closed or started
        events = [("Place your bets", self._event("place-bets", started))]
        if closed:
            events.append(("No more bets", self._event("no-more-bets", closed)))
        if values["tumbler_at"]:
            activated = {"activated": True} if values["activated"] else {}
            tumbler = self._event(TUMBLER, values["tumbler_at"], tumbles=values["tumbles"], **activated)
            is_first = terms.assignment is not None and can_step(terms.book, NEW, TUMBLER)
            events.insert(0 if is_first else len(events), ("Tumbler", tumbler))  # in the same minute, in order of play
        further = [(f"Further events, line {number}", event) for number, event in values["events"]]
        events += [one for one in further if one[1]["kind"] != RESULT_AMENDED]
        if values["dice"]:
            events.append(("Dice", self._event(RESULT, values["result_at"] or last, dice=values["dice"])))
        events += [one for one in further if one[1]["kind"] == RESULT_AMENDED]
        if values["void"]:
            by = {"by": values["void_by"]} if values["void_by"] else {}
            events.append(("Void", self._event("void", values["void_at"] or last, rule=values["void"], **by)))
        if settled:
            events.append(("Settled", self._event("settled", settled)))
        return events

    def _event(self, kind: str, at: Any, **more: Any) -> dict[str, Any]:
        return {"kind": kind, "at": as_text(at, self.table.casino), **more}

    def told(self, faults: tuple[str, ...]) -> list[str]:
        """The faults of the round by the places of the form: a line or a field instead of events[3]."""
        return [PLACE.sub(self._place, fault) for fault in faults]

    def _place(self, found: re.Match[str]) -> str:
        """The place in the form; what only looks like a place, as a part of a name, stays as it is."""
        places, index = self.places[found[1]], int(found[2])
        return places[index] if index < len(places) else found[0]
