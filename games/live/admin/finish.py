"""Finishing a round in play by hand: what is missing, then what was paid; or void, by a rule that says so."""

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
from games.engine.play.irregularities import RESULT, RESULT_AMENDED, SETTLED, TUMBLER, VOID, Irregularity
from games.engine.play.live_play import as_event, assessed, following
from games.engine.play.procedure import procedural_faults
from games.engine.rules.loader import rulebook
from games.engine.rules.rulebook import Rulebook
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

WORDS_OF_A_NET = 3
#: What was seen at the table.
SEEN = ("tumbles", "activated", "known_dice", "dice", "amended")
CALLS = {"place-bets": "place your bets", "no-more-bets": "no more bets"}


def verify_in_play(live: LiveRound) -> None:
    if live.ended_at:
        raise ValidationError(f"{live} is over already ({live.state}); nothing was changed.")


def tumbles_field() -> forms.IntegerField:
    return forms.IntegerField(
        min_value=0, max_value=MOST_TUMBLES, widget=UnfoldAdminTextInputWidget(attrs={"inputmode": "numeric"}),
        help_text="How often the tumbler turned; 0 if it did not.",
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
    """Read three faces; an empty list where nothing was written."""
    faces = text.replace(",", " ").split()
    if not all(face.isascii() and face.isdecimal() for face in faces):
        raise ValidationError("Write the three faces, as in: 1 3 6.")
    if not faces:
        return []
    try:
        return list(parse_dice([int(face) for face in faces]).faces)
    except InputError as error:
        raise ValidationError(list(error.faults)) from None


class FinishForm(ActionForm):
    """What is missing before the settlement, by the order of play; in the second step, what was paid, and why."""

    def __init__(self, *args: Any, thing: LiveRound, with_nets: bool, **kwargs: Any) -> None:
        super().__init__(*args, thing=thing, **kwargs)
        self.stand: SessionState = session_state_of(thing)
        self.kinds = missing(self.stand.book, thing.state, SETTLED)
        self.asks = [kind for kind in self.kinds if kind in (TUMBLER, RESULT)]
        play = self.stand.play()
        self.is_established = play.is_established
        if TUMBLER in self.asks:
            self.fields["tumbles"] = tumbles_field()
            self.fields["activated"] = activated_field()
        if RESULT in self.asks:
            self.fields["known_dice"] = faces_field(
                "Known at an interruption",
                "Only if play was interrupted (power failure): the dice that were known then, as 2 ? ?; none: ? ? ?.",
            )
            self.fields["dice"] = faces_field(
                "Dice", "The three faces, as in: 1 3 6. Leave empty if all three were known at an interruption."
            )
        if RESULT_AMENDED in following(self.stand.book, play):
            rule = next(step.rule for step in self.stand.book.play if step.kind == RESULT_AMENDED)
            self.fields["amended"] = faces_field(
                "Amended result", f"Only if the result was entered wrongly: the dice as they lie (rule {rule})."
            )
        if with_nets:
            self.fields["nets"] = forms.CharField(
                required=False, widget=UnfoldAdminTextareaWidget(attrs={"rows": 8, "spellcheck": "false"}),
                label="What was paid or taken",
                help_text="A line a bet: player, box and net, as in: seat-3 small 100.00; what was taken has a minus. "
                "Filled in with what the rules say: confirm it, or write what really was paid.",
            )  # fmt: skip
            self.fields["basis"] = forms.CharField(required=False, widget=forms.HiddenInput(), max_length=200)
        else:
            del self.fields["reason"]
        self.order_fields([*SEEN, "nets", "reason"])

    def clean_dice(self) -> list[int]:
        return clean_faces(self.cleaned_data["dice"])

    def clean_amended(self) -> list[int]:
        return clean_faces(self.cleaned_data["amended"])

    def clean_known_dice(self) -> str:
        text = ",".join(self.cleaned_data["known_dice"].replace(",", " ").split())
        if text and known_text(text) is None:
            raise ValidationError("Write the three dice, each as 1 to 6 or ?, as in: 2 ? ?.")
        return text

    def clean(self) -> dict[str, Any]:
        """The dice are needed, unless they are on record or all of them were known at an interruption."""
        said = super().clean() or self.cleaned_data
        known = said.get("known_dice", "")
        if "dice" in said and not said["dice"] and not self.is_established and (not known or UNKNOWN in known):
            self.add_error("dice", "Write the three faces, as in: 1 3 6; without them, void the round.")
        if said.get("tumbles") and said.get("activated"):
            self.add_error("activated", "The tumbler turned; leave this empty, or write 0 tumbles.")
        return said

    def clean_nets(self) -> list[dict[str, str]]:
        found = []
        for number, line in enumerate(filter(None, map(str.strip, self.cleaned_data["nets"].splitlines())), 1):
            words = line.rsplit(maxsplit=WORDS_OF_A_NET - 1)  # a player's name may have spaces
            if len(words) != WORDS_OF_A_NET:
                raise ValidationError(f"Line {number}: write player, box and net, as in: seat-3 small 100.")
            found.append(dict(zip(("player", "box", "net"), words, strict=True)))
        return found

    def worked_out(self) -> "FinishForm":
        """The second step, with the nets that the engine expects for what was said in the first."""
        said = self.cleaned_data if self.is_bound else {}
        before = self.documents()[:-1]
        play = after(self.stand, before, timezone.now())
        found = assessed(self.stand.book, play)
        nets = "\n".join(
            f"{expected_net['player']} {expected_net['box']} {expected_net['net']}"
            for expected_net in expected_nets(self.stand, play)
        )
        initial = {name: _as_text(said.get(name)) for name in SEEN} | {
            "nets": nets, "basis": self.said(), "reason": said.get("reason", ""),
        }  # fmt: skip
        form = FinishForm(thing=self.thing, with_nets=True, initial=initial)
        form.notes = [
            self.note_of(irregularity) for irregularity in found.irregularities if irregularity.action != "unfinished"
        ]
        form.notes += [
            f"Check the dice. {fault.detail} The round would be recorded with this contradiction."
            for fault in procedural_faults(self.stand.book, [as_event(*event) for event in play.events])
            if fault.kind == "dice-contradicted"
        ]
        return form

    def note_of(self, irregularity: Irregularity) -> str:
        rules = rules_label(self.stand.book.cite(irregularity.rule)) if irregularity.rule else "no rule"
        return f"{irregularity.detail} ({rules}: {irregularity.action})"

    def said(self) -> str:
        said = self.cleaned_data if self.is_bound else {}
        shown = {name: str(said.get(name)) for name in SEEN}
        return "; ".join(f"{name} {text}" for name, text in shown.items() if text not in ("None", "False", "[]", ""))

    def documents(self, by: str = "") -> list[dict[str, Any]]:
        """The missing steps; `by` is the staff number of the person who amends a result."""
        said = self.cleaned_data if self.is_bound else {}
        details = {name: said.get(name) for name in SEEN}
        return missing_steps(self.stand, SETTLED, timezone.now(), nets=said.get("nets", []), by=by, **details)

    @property
    def calls(self) -> list[str]:
        return calls_among(self.kinds)

    notes: list[str] = []


def _as_text(value: Any) -> Any:
    """What was said as a form shows it again."""
    return " ".join(map(str, value)) if isinstance(value, list) else value


def calls_among(kinds: list[str]) -> list[str]:
    """What goes on record beside what the form asks for."""
    return [CALLS[kind] for kind in kinds if kind in CALLS]


def finish(site: Any, request: HttpRequest, live: LiveRound, back: str) -> HttpResponse:
    """First the dice, then the nets; one call of the service with all steps."""
    try:
        verify_in_play(live)
    except ValidationError as error:
        messages.info(request, " ".join(error.messages))
        return redirect(back)
    with_nets = "nets" in request.POST
    form = FinishForm(request.POST if request.method == "POST" else None, thing=live, with_nets=with_nets)
    if form.is_bound and form.is_valid():
        try:
            if with_nets and form.cleaned_data["basis"] == form.said():
                messages.success(request, _finished(actor_of(request), live, form))
                return redirect(back)
            if with_nets:
                messages.warning(request, "The dice are others than before: the nets were worked out anew.")
            form = form.worked_out()
        except ValidationError as error:
            add_errors(form, error)
        except InputError as error:
            add_errors(form, by_field(error))
    elif not form.is_bound and not form.asks:
        form = form.worked_out()
    page = {"title": f"Finish: {live}", "form": form, "back": back, "live": live,
            "above": "live/live_finish_above.html",
            "button": "Finish" if "nets" in form.fields else "Next: what was paid"}  # fmt: skip
    return TemplateResponse(request, "pages/step.html", {**site.each_context(request), **page})


def _finished(actor: Staff, live: LiveRound, form: FinishForm) -> str:
    send(actor, live, form.documents(by=actor.number), form.cleaned_data["reason"])
    return f"{live} is settled and on record, as finished by hand."


def send(actor: Staff, live: LiveRound, documents: list[dict[str, Any]], reason: str) -> None:
    try:
        live_finish(actor=actor, key=live.pk, documents=documents, reason=reason)
    except (LiveConflictError, RoundConflictError) as error:
        raise ValidationError(str(error)) from None
    except InputError as error:
        raise by_field(error) from None


def by_field(error: InputError) -> ValidationError:
    """Each fault by the field that it names."""
    faults: dict[str, list[str]] = {}
    for fault in error.faults:
        faults.setdefault(fault.partition(":")[0].partition("[")[0], []).append(fault)
    return ValidationError(faults)


class VoidLiveForm(ActionForm):
    """A rule by which a round in play is void: neither a ruling nor damaged dice, which concern more rounds."""

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
            self.fields["reason"].help_text += f" With it goes on record, as of now: {', '.join(calls)}."
        self.order_fields(self.field_order)


def elsewhere(book: Rulebook) -> Iterator[str]:
    """Say where to void by a rule that reaches further than the round in play."""
    for rule in book.voidings.keys() - voidings_of(book).keys():
        yield (
            f"Rule {rule} is ordered from an incident, for all affected rounds: finish this round, log the incident, "
            "and order the void there."
        )


def void(actor: Staff, live: LiveRound, values: dict[str, Any]) -> str:
    details = {name: value for name, value in values.items() if name != "reason"} | {"by": actor.number}
    send(actor, live, missing_steps(session_state_of(live), VOID, timezone.now(), **details), values["reason"])
    return f"{live} is void by {values['rule']} and on record, as finished by hand."
