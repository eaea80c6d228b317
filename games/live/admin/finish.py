"""Finish a round in play by hand: enter the missing steps, then the payments; or void it by a rule."""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils import timezone
from unfold.widgets import (
    UnfoldAdminRadioSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanWidget,
)

from games.engine.dice import UNKNOWN, parse_dice
from games.engine.errors import InputError
from games.engine.play.irregularities import (
    NO_MORE_BETS,
    PLACE_BETS,
    RESULT,
    RESULT_AMENDED,
    SETTLED,
    TUMBLER,
    VOID,
    Irregularity,
)
from games.engine.play.live_play import as_event, assessed, following
from games.engine.play.procedure import procedural_faults
from games.engine.rules.loader import rulebook
from games.engine.rules.rulebook import Rulebook
from games.labels.events import event_label
from games.labels.rounds import action_label, detail_label
from games.labels.rules import rules_label
from games.live.expected_nets import expected_nets
from games.live.finishing import after, missing, missing_steps
from games.live.services import LiveConflictError, live_finish, voidings_of
from games.live.session_state import SessionState, session_state_of
from games.models import LiveRound, Staff
from games.pages.gated import ActionForm, actor_of, add_errors
from games.rounds.fields import MOST_TUMBLES
from games.rounds.prepared import known_text
from games.rounds.services.recording import RoundConflictError

PARTS_OF_NET = 3
#: Fields for what was observed at the table.
OBSERVED = ("tumbles", "activated", "known_dice", "dice", "amended")
CALLS = (PLACE_BETS, NO_MORE_BETS)


def verify_in_play(live: LiveRound) -> None:
    if live.ended_at:
        raise ValidationError(f"{live} is already over ({live.state}). Nothing was changed.")


def tumbles_field() -> forms.IntegerField:
    return forms.IntegerField(
        min_value=0, max_value=MOST_TUMBLES, widget=UnfoldAdminTextInputWidget(attrs={"inputmode": "numeric"}),
        help_text="Number of tumbles; 0 if it did not tumble.",
    )  # fmt: skip


def activated_field() -> forms.BooleanField:
    return forms.BooleanField(
        required=False, widget=UnfoldBooleanWidget(), label="It was activated, but did not tumble (jammed)"
    )


def faces_field(label: str, help_text: str) -> forms.CharField:
    return forms.CharField(
        required=False, max_length=20, label=label, help_text=help_text,
        widget=UnfoldAdminTextInputWidget(attrs={"placeholder": "1 3 6"}),
    )  # fmt: skip


def clean_faces(text: str) -> list[int]:
    """Read three faces. Return an empty list if the field is empty."""
    faces = text.replace(",", " ").split()
    if not all(face.isascii() and face.isdecimal() for face in faces):
        raise ValidationError("Enter the three faces, for example 1 3 6.")
    if not faces:
        return []
    try:
        return list(parse_dice([int(face) for face in faces]).faces)
    except InputError as error:
        raise ValidationError(list(error.faults)) from None


class FinishForm(ActionForm):
    """First step: what is missing before the settlement, by the order of play. Second step: what was paid, and why."""

    def __init__(self, *args: Any, thing: LiveRound, with_nets: bool, **kwargs: Any) -> None:
        super().__init__(*args, thing=thing, **kwargs)
        self.session: SessionState = session_state_of(thing)
        self.kinds = missing(self.session.book, thing.state, SETTLED)
        self.asks = [kind for kind in self.kinds if kind in (TUMBLER, RESULT)]
        play = self.session.play()
        self.is_established = play.is_established
        if TUMBLER in self.asks:
            self.fields["tumbles"] = tumbles_field()
            self.fields["activated"] = activated_field()
        if RESULT in self.asks:
            self.fields["known_dice"] = faces_field(
                "Known at an interruption",
                "Only if play was interrupted (power failure): the dice known then, for example 2 ? ?. If none: ? ? ?.",
            )
            self.fields["dice"] = faces_field(
                "Dice", "The three faces, for example 1 3 6. Leave empty if all three were known at an interruption."
            )
        if RESULT_AMENDED in following(self.session.book, play):
            rule = next(step.rule for step in self.session.book.play if step.kind == RESULT_AMENDED)
            self.fields["amended"] = faces_field(
                "Amended result", f"Only if the result was entered wrongly: the faces the dice show (rule {rule})."
            )
        if with_nets:
            self.fields["nets"] = forms.CharField(
                required=False, widget=UnfoldAdminTextareaWidget(attrs={"rows": 8, "spellcheck": "false"}),
                label="What was paid or taken",
                help_text="One bet a line: player, box and net, for example seat-3 small 100.00; a minus for what was "
                "collected. Filled in by the rules: confirm it, or enter what was actually paid.",
            )  # fmt: skip
            self.fields["basis"] = forms.CharField(required=False, widget=forms.HiddenInput(), max_length=200)
        else:
            del self.fields["reason"]
        self.order_fields([*OBSERVED, "nets", "reason"])

    def clean_dice(self) -> list[int]:
        return clean_faces(self.cleaned_data["dice"])

    def clean_amended(self) -> list[int]:
        return clean_faces(self.cleaned_data["amended"])

    def clean_known_dice(self) -> str:
        text = ",".join(self.cleaned_data["known_dice"].replace(",", " ").split())
        if text and known_text(text) is None:
            raise ValidationError("Enter the three dice, each as 1 to 6 or ?, for example 2 ? ?.")
        return text

    def clean(self) -> dict[str, Any]:
        """Require the dice, unless they are on record or all were known at an interruption."""
        values = super().clean() or self.cleaned_data
        known = values.get("known_dice", "")
        if "dice" in values and not values["dice"] and not self.is_established and (not known or UNKNOWN in known):
            self.add_error("dice", "Enter the three faces, for example 1 3 6. Without them, void the round.")
        if values.get("tumbles") and values.get("activated"):
            self.add_error("activated", "The tumbler turned. Leave this empty, or enter 0 tumbles.")
        return values

    def clean_nets(self) -> list[dict[str, str]]:
        nets = []
        for number, line in enumerate(filter(None, map(str.strip, self.cleaned_data["nets"].splitlines())), 1):
            words = line.rsplit(maxsplit=PARTS_OF_NET - 1)  # a player's name may have spaces
            if len(words) != PARTS_OF_NET:
                raise ValidationError(f"Line {number}: enter player, box and net, for example seat-3 small 100.")
            nets.append(dict(zip(("player", "box", "net"), words, strict=True)))
        return nets

    def with_expected_nets(self) -> "FinishForm":
        """Return the form of the second step, with the nets expected for what was entered in the first."""
        values = self.cleaned_data if self.is_bound else {}
        before = self.documents()[:-1]
        play = after(self.session, before, timezone.now())
        assessment = assessed(self.session.book, play)
        nets = "\n".join(
            f"{expected_net['player']} {expected_net['box']} {expected_net['net']}"
            for expected_net in expected_nets(self.session, play)
        )
        initial = {name: _as_text(values.get(name)) for name in OBSERVED} | {
            "nets": nets, "basis": self.basis(), "reason": values.get("reason", ""),
        }  # fmt: skip
        form = FinishForm(thing=self.thing, with_nets=True, initial=initial)
        form.notes = [
            self.note_of(irregularity)
            for irregularity in assessment.irregularities
            if irregularity.action != "unfinished"
        ]
        form.notes += [
            f"Check the dice. {fault.detail} The round would be recorded with this contradiction."
            for fault in procedural_faults(self.session.book, [as_event(*event) for event in play.events])
            if fault.kind == "dice-contradicted"
        ]
        return form

    def note_of(self, irregularity: Irregularity) -> str:
        rules = rules_label(self.session.book.cite(irregularity.rule)) if irregularity.rule else "no rule"
        return f"{detail_label(irregularity.detail)} ({rules}: {action_label(irregularity.action)})"

    def basis(self) -> str:
        values = self.cleaned_data if self.is_bound else {}
        texts = {name: str(values.get(name)) for name in OBSERVED}
        return "; ".join(f"{name} {text}" for name, text in texts.items() if text not in ("None", "False", "[]", ""))

    def documents(self, by: str = "") -> list[dict[str, Any]]:
        """Return the missing steps; `by` is the staff number of the person who amends a result."""
        values = self.cleaned_data if self.is_bound else {}
        details = {name: values.get(name) for name in OBSERVED}
        return missing_steps(self.session, SETTLED, timezone.now(), nets=values.get("nets", []), by=by, **details)

    @property
    def calls(self) -> list[str]:
        return calls_among(self.kinds)

    notes: list[str] = []


def _as_text(value: Any) -> Any:
    """Return a cleaned value as a form shows it again."""
    return " ".join(map(str, value)) if isinstance(value, list) else value


def calls_among(kinds: list[str]) -> list[str]:
    """Name the calls that are recorded in addition to what the form asks for."""
    return [event_label(kind) for kind in kinds if kind in CALLS]


def finish(site: Any, request: HttpRequest, live: LiveRound, back: str) -> HttpResponse:
    """Ask for the dice, then for the nets; then send all steps in one call of the service."""
    try:
        verify_in_play(live)
    except ValidationError as error:
        messages.info(request, " ".join(error.messages))
        return redirect(back)
    with_nets = "nets" in request.POST
    form = FinishForm(request.POST if request.method == "POST" else None, thing=live, with_nets=with_nets)
    if form.is_bound and form.is_valid():
        try:
            if with_nets and form.cleaned_data["basis"] == form.basis():
                messages.success(request, _finished(actor_of(request), live, form))
                return redirect(back)
            if with_nets:
                messages.warning(request, "The dice have changed: the nets were calculated again.")
            form = form.with_expected_nets()
        except ValidationError as error:
            add_errors(form, error)
        except InputError as error:
            add_errors(form, by_field(error))
    elif not form.is_bound and not form.asks:
        form = form.with_expected_nets()
    page = {"title": f"Finish: {live}", "form": form, "back": back, "live": live,
            "above": "live/live_finish_above.html",
            "button": "Finish" if "nets" in form.fields else "Next: what was paid"}  # fmt: skip
    return TemplateResponse(request, "pages/step.html", {**site.each_context(request), **page})


def _finished(actor: Staff, live: LiveRound, form: FinishForm) -> str:
    send(actor, live, form.documents(by=actor.number), form.cleaned_data["reason"])
    return f"{live} is settled and on record, finished by hand."


def send(actor: Staff, live: LiveRound, documents: list[dict[str, Any]], reason: str) -> None:
    try:
        live_finish(actor=actor, key=live.pk, documents=documents, reason=reason)
    except (LiveConflictError, RoundConflictError) as error:
        raise ValidationError(str(error)) from None
    except InputError as error:
        raise by_field(error) from None


def by_field(error: InputError) -> ValidationError:
    """Assign each fault to the field it names."""
    faults: dict[str, list[str]] = {}
    for fault in error.faults:
        faults.setdefault(fault.partition(":")[0].partition("[")[0], []).append(fault)
    return ValidationError(faults)


class VoidLiveForm(ActionForm):
    """Choose the rule that voids a round in play. Rulings and damaged dice are left out: they concern more rounds."""

    field_order = ["rule", "tumbles", "activated", "reason"]

    def __init__(self, *args: Any, thing: LiveRound, **kwargs: Any) -> None:
        super().__init__(*args, thing=thing, **kwargs)
        verify_in_play(thing)
        book = rulebook(thing.rulebook)
        self.fields["rule"] = forms.ChoiceField(
            choices=[(rule, f"{rule}: {book.rules[rule]}") for rule in voidings_of(book)],
            widget=UnfoldAdminRadioSelectWidget(), label="Void by rule",
            help_text=f"Of {book.title}, version {book.version}. {' '.join(elsewhere(book))}",
        )  # fmt: skip
        kinds = missing(book, thing.state, VOID)
        if TUMBLER in kinds:
            self.fields["tumbles"] = tumbles_field()
            self.fields["activated"] = activated_field()
        if calls := calls_among(kinds):
            self.fields["reason"].help_text += f" Also recorded now: {', '.join(calls)}."
        self.order_fields(self.field_order)


def elsewhere(book: Rulebook) -> Iterator[str]:
    """Explain where to void by a rule that affects more than the round in play."""
    for rule in book.voidings.keys() - voidings_of(book).keys():
        yield (
            f"Rule {rule} is ordered from an incident, for all affected rounds: finish this round, log an incident, "
            "and order the void there."
        )


def void(actor: Staff, live: LiveRound, values: dict[str, Any]) -> str:
    details = {name: value for name, value in values.items() if name != "reason"} | {"by": actor.number}
    send(actor, live, missing_steps(session_state_of(live), VOID, timezone.now(), **details), values["reason"])
    return f"{live} is void by {values['rule']} and on record, finished by hand."
