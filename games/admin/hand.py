"""A round entered by hand, while a terminal is down: times, dice and one line a bet."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from games.admin.forms import MomentField
from games.admin.gated import StepForm
from games.models import Table
from games.moments import as_text

WORDS_OF_A_BET = (3, 4)


class HandForm(StepForm):
    started_at = MomentField(past=True, label="Place your bets at", help_text="As 21:07, or with the day and seconds.")
    closed_at = MomentField(past=True, required=False, label="No more bets at")
    settled_at = MomentField(past=True, required=False, label="Settled at")
    dice = forms.CharField(
        required=False, max_length=10, widget=UnfoldAdminTextInputWidget(attrs={"placeholder": "1 3 6"}),
        help_text="Empty where there was no result.",
    )  # fmt: skip
    void = forms.CharField(
        required=False, max_length=60, label="Void by rule", widget=UnfoldAdminTextInputWidget(),
        help_text='A number of the rulebook, such as 5.5.1, or "ruling"; empty where the round stands.',
    )  # fmt: skip
    dealer = forms.CharField(
        required=False, max_length=200, widget=UnfoldAdminTextInputWidget(), label="Dealer's number"
    )
    supervisor = forms.CharField(
        required=False, max_length=200, widget=UnfoldAdminTextInputWidget(), label="Supervisor's number"
    )
    bets = forms.CharField(
        required=False, widget=UnfoldAdminTextareaWidget(attrs={"rows": 8, "spellcheck": "false"}),
        help_text="A line a bet: player, box, stake and net, as in: seat-3 small 100.00 100.00. The net may be left "
        "out where the round is void.",
    )  # fmt: skip
    field_order = ["started_at", "closed_at", "settled_at", "dice", "void", "dealer", "supervisor", "bets", "reason"]

    def clean_dice(self) -> list[int] | None:
        text = self.cleaned_data["dice"].replace(",", " ").split()
        if not all(one.isascii() and one.isdecimal() for one in text):
            raise ValidationError("Write the three faces, as in: 1 3 6.")
        return [int(one) for one in text] or None

    def clean_bets(self) -> list[dict[str, str]]:
        found = []
        for number, line in enumerate(filter(None, map(str.strip, self.cleaned_data["bets"].splitlines())), 1):
            words = line.split()
            if len(words) not in WORDS_OF_A_BET:
                raise ValidationError(f"Line {number}: write player, box, stake and net, as in: seat-3 small 100 100.")
            found.append(dict(zip(("player", "box", "stake", "net"), words, strict=False)))
        return found


def hand_document(table: Table, values: dict[str, Any]) -> dict[str, Any]:
    """The round as a table system would have sent it; named by its table and its first moment."""

    def event(kind: str, at: Any, **more: Any) -> dict[str, Any]:
        return {"kind": kind, "at": as_text(at, table.casino), **more}

    started, closed, settled = values["started_at"], values["closed_at"], values["settled_at"]
    last = settled or closed or started
    events = [event("place-bets", started)]
    if closed:
        events.append(event("no-more-bets", closed))
    if values["dice"]:
        events.append(event("result", last, dice=values["dice"]))
    if values["void"]:
        events.append(event("void", last, rule=values["void"]))
    elif settled:
        events.append(event("settled", settled))
    document = {"ref": f"{table.code}-{as_text(started, table.casino)}", "events": events, "bets": values["bets"]}
    people = {name: values[name] for name in ("dealer", "supervisor") if values[name]}
    return document | people
