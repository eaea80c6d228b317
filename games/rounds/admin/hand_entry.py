"""Enter a round by hand while a terminal is down: times, dice, further events and one line a bet."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget, UnfoldBooleanWidget

from games.engine.play.irregularities import RESULT, RESULT_AMENDED, TUMBLER
from games.engine.play.order_of_play import NEW, can_step
from games.engine.rules.loader import rulebook
from games.floor.admin.forms import MomentField
from games.floor.moments import as_text
from games.models import Table
from games.pages.gated import ActionForm
from games.rounds.admin.hand_lines import read_bets, read_events
from games.rounds.fields import MOST_TUMBLES

#: A place as the parser of rounds names it.
PLACE = re.compile(r"\b(events|bets)\[(\d+)\]")


def _lines(rows: int, help_text: str, label: str) -> forms.CharField:
    widget = UnfoldAdminTextareaWidget(attrs={"rows": rows, "spellcheck": "false"})
    return forms.CharField(required=False, widget=widget, help_text=help_text, label=label, strip=False)


class HandForm(ActionForm):
    started_at = MomentField(past=True, label="Place your bets at", help_text="For example 21:07, with day or seconds.")
    closed_at = MomentField(past=True, required=False, label="No more bets at")
    tumbler_at = MomentField(past=True, required=False, label="Tumbler at")
    tumbles = forms.IntegerField(
        required=False, min_value=0, max_value=MOST_TUMBLES, help_text="Number of tumbles; 0 if it did not tumble.",
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
        help_text="Required if the round was interrupted, amended or voided. Defaults to the time of the settlement.",
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
        help_text="Required if the round had a result, a settlement or further events.",
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
        "One event a line: time, kind and details, for example 21:07:40 interruption 2 ? ?; 21:07:45 "
        "dice-exposed; 21:07:46 die-not-flat; 21:07:50 result-amended 1 3 5 by S11; 21:09 void ruling by SM1.",
        "Further events",
    )
    bets = _lines(
        8,
        "One bet a line: player, box, stake and net, for example seat-3 small 100.00 100.00. Leave the net out if the "
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
        if not all(face.isascii() and face.isdecimal() for face in text):
            raise ValidationError("Enter the three faces, for example 1 3 6.")
        return [int(face) for face in text] or None

    def clean_events(self) -> list[tuple[int, dict[str, Any]]]:
        started_at = self.cleaned_data.get("started_at")
        return read_events(self.cleaned_data["events"], started_at, self.thing.casino) if started_at else []

    def clean_bets(self) -> list[tuple[int, dict[str, Any]]]:
        started_at = self.cleaned_data.get("started_at")
        return read_bets(self.cleaned_data["bets"], started_at, self.thing.casino) if started_at else []

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        has_time, has_count = values.get("tumbler_at") is not None, values.get("tumbles") is not None
        if has_time and not has_count and "tumbles" not in self.errors:
            self.add_error("tumbles", "Enter the number of tumbles, or leave its time empty.")
        if has_count and not has_time and "tumbler_at" not in self.errors:
            self.add_error("tumbler_at", "Enter when the tumbler ran, or leave the tumbles empty.")
        if values.get("activated") and values.get("tumbles") != 0:
            self.add_error("activated", "Only for a tumbler with 0 tumbles. Leave it empty, or enter 0 tumbles.")
        self._clean_order(values)
        return values

    def _clean_order(self, values: dict[str, Any]) -> None:
        """Require the times that decide the order of result, settlement and void."""
        void, further = values.get("void"), values.get("events") or []
        for name in ("void_at", "void_by"):
            if values.get(name) and not void:
                self.add_error(name, "Enter the rule by which the round was voided, or leave this empty.")
        if values.get("result_at") and not values.get("dice") and "dice" not in self.errors:
            self.add_error("result_at", "Enter the dice, or leave the time of the result empty.")
        is_special = void or any(event["kind"] != RESULT for _, event in further)
        if values.get("dice") and is_special and not values.get("result_at") and "result_at" not in self.errors:
            self.add_error("result_at", "Enter the time of the result: other events came before or after it.")
        has_more = values.get("dice") or values.get("settled_at") or further
        if void and has_more and not values.get("void_at") and "void_at" not in self.errors:
            self.add_error("void_at", "Enter the time of the void: other events came before or after it.")
        if void and values.get("void_at") and values["void_at"] == values.get("settled_at"):
            self.add_error("void_at", "The round was settled at the same time. Enter seconds, for example 21:08:20.")


class HandRound:
    """The round as a table system would have sent it, named by its table and its first moment."""

    def __init__(self, table: Table, values: dict[str, Any]) -> None:
        self.table, self.values = table, values
        placed = self._events()
        self.places = {"events": [place for place, _ in placed], "bets": [f"Bets, line {n}" for n, _ in values["bets"]]}
        ref = f"{table.code}-{as_text(values['started_at'], table.casino)}"
        people = {name: values[name] for name in ("dealer", "supervisor") if values[name]}
        bets = [bet for _, bet in values["bets"]]
        self.document = {"ref": ref, "events": [event for _, event in placed], "bets": bets} | people

    def _events(self) -> list[tuple[str, dict[str, Any]]]:
        """Return every event with the form field it comes from."""
        values, book = self.values, self.table.assignment_at(self.values["started_at"])
        started, closed, settled = values["started_at"], values["closed_at"], values["settled_at"]
        last = settled or closed or started
        events = [("Place your bets", self._event("place-bets", started))]
        if closed:
            events.append(("No more bets", self._event("no-more-bets", closed)))
        if values["tumbler_at"]:
            activated = {"activated": True} if values["activated"] else {}
            tumbler = self._event(TUMBLER, values["tumbler_at"], tumbles=values["tumbles"], **activated)
            is_first = book is not None and can_step(rulebook(book.rulebook), NEW, TUMBLER)
            events.insert(0 if is_first else len(events), ("Tumbler", tumbler))  # in the same minute, in order of play
        further = [(f"Further events, line {number}", event) for number, event in values["events"]]
        events += [event for event in further if event[1]["kind"] != RESULT_AMENDED]
        if values["dice"]:
            events.append(("Dice", self._event(RESULT, values["result_at"] or last, dice=values["dice"])))
        events += [event for event in further if event[1]["kind"] == RESULT_AMENDED]
        if values["void"]:
            by = {"by": values["void_by"]} if values["void_by"] else {}
            events.append(("Void", self._event("void", values["void_at"] or last, rule=values["void"], **by)))
        if settled:
            events.append(("Settled", self._event("settled", settled)))
        return events

    def _event(self, kind: str, at: Any, **more: Any) -> dict[str, Any]:
        return {"kind": kind, "at": as_text(at, self.table.casino), **more}

    def faults_by_field(self, faults: tuple[str, ...]) -> list[str]:
        """Name the faults by form field and line instead of events[3]."""
        return [PLACE.sub(self._place, fault) for fault in faults]

    def _place(self, match: re.Match[str]) -> str:
        """Translate the place at the start of a fault to the form; any other text is left as it is."""
        places, index = self.places[match[1]], int(match[2])
        return places[index] if index < len(places) else match[0]
