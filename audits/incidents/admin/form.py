"""The form of a new incident: its fields, its initial values, and the advice shown while it is filled in."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils import timezone
from unfold.widgets import UnfoldAdminRadioSelectWidget

from audits.incidents.admin import fields
from audits.incidents.advice import AdviceQuestion, advice_on
from audits.incidents.labels import SITUATIONS
from audits.incidents.selectors import rounds_called
from audits.incidents.services.incidents import IncidentReport
from audits.incidents.situations import situations
from audits.models import Category, Finding, IncidentPerson, LogEntry
from audits.pages.listing import key_of
from games.access.gate import authorize, can, visible
from games.engine.dice import COUNT, UNKNOWN, parse_known_dice
from games.engine.errors import InputError
from games.engine.rules.loader import rulebook
from games.floor.admin.forms import MomentField
from games.models import RecordingConflict, Round, Staff

Part = IncidentPerson.Part
#: What an incident can be opened from: the name in the address, the model, and the action that allows viewing it.
ORIGINS: dict[str, tuple[Any, str]] = {
    "entry": (LogEntry, "logentry.view"),
    "finding": (Finding, "finding.view"),
    "conflict": (RecordingConflict, "round.view"),
}
FACTS = ("known_dice", "settled", "with_chips", "in_time")


def situation_groups() -> list[tuple[str, list[tuple[str, str]]]]:
    return [(name, list(situations.items())) for name, situations in SITUATIONS.items()]


def situation_choice() -> forms.ChoiceField:
    return fields.choice_field("Situation", [("", "Choose what happened"), *situation_groups()])


def known_dice() -> forms.CharField:
    return fields.text_field(
        "Dice that could be read", most=20, placeholder="2 ? ?", autocomplete="off",
        help_text="For an interruption: the faces, with ? for a die that could not be read.",
    )  # fmt: skip


def settled() -> forms.ChoiceField:
    return forms.ChoiceField(
        label="Were the bets already settled?", required=False, choices=[("no", "Not yet"), ("yes", "Settled")],
        widget=UnfoldAdminRadioSelectWidget(), help_text="For a wrong result.",
    )  # fmt: skip


def yes_or_no(label: str, help_text: str) -> forms.ChoiceField:
    return forms.ChoiceField(
        label=label, required=False, choices=[("yes", "Yes"), ("no", "No")], widget=UnfoldAdminRadioSelectWidget(),
        help_text=help_text,
    )  # fmt: skip


def fact_fields() -> dict[str, forms.Field]:
    """Make a field for each fact that a situation can require."""
    return {
        "known_dice": known_dice(),
        "settled": settled(),
        "with_chips": yes_or_no("Did chips come with it?", "For a bet called out."),
        "in_time": yes_or_no("Was there time to place it?", "Before betting was closed; for a bet called out."),
    }


class SituationForm(forms.Form):
    """The situation with the facts that it requires; shared by the forms that open and correct an incident."""

    def clean_known_dice(self) -> str:
        """Accept what people write: "2", "2 ?" and "2,?,?" mean the same."""
        parts = re.findall(r"[^\s,;]+", self.cleaned_data["known_dice"])
        if not parts:
            return ""
        text = ",".join([*parts, *[UNKNOWN] * (COUNT - len(parts))])
        try:
            parse_known_dice(text)
        except InputError:
            raise ValidationError("Write three faces, with ? for a die that could not be read, as in: 2 ? ?.") from None
        return text

    def facts(self) -> dict[str, str]:
        """Return the facts given that the situation requires."""
        values = self.cleaned_data
        required = situations().get(values.get("situation", ""), ())
        return {name: values[name] for name in required if values.get(name)}

    def verify_facts(self) -> None:
        missing = dict.fromkeys(FACTS, "Choose yes or no.") | {
            "known_dice": "Enter the dice that could be read; ? ? ? for none."
        }
        for name in situations().get(self.cleaned_data.get("situation", ""), ()):
            if not self.cleaned_data.get(name) and name not in self.errors:
                self.add_error(name, missing[name])


class IncidentForm(SituationForm):
    occurred_from = MomentField(label="From", past=True)
    occurred_to = MomentField(
        label="To", past=True, required=False, help_text="Leave empty for a single point in time."
    )
    rounds = fields.text_field("Rounds", most=2000, help_text="References, separated by commas.")
    dealer = fields.text_field("Dealer", help_text="Staff number. Defaults to the dealer of the round.")
    supervisor = fields.text_field("Supervisor", help_text="Staff number. Defaults to the supervisor of the round.")
    witnesses = fields.text_field("Witnesses", most=2000, help_text="Staff numbers, separated by commas.")
    patrons = fields.text_field("Patrons", most=2000, help_text="References, never names; separated by commas.")
    account = fields.text_field("What happened", required=True, most=20_000, rows=6)
    entry = forms.CharField(required=False, widget=forms.HiddenInput())
    finding = forms.CharField(required=False, widget=forms.HiddenInput())
    conflict = forms.CharField(required=False, widget=forms.HiddenInput())

    def __init__(self, *args: Any, actor: Staff, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.actor = actor
        self.fields["table"] = fields.table_choice(actor, "incident.open")
        self.fields["situation"] = situation_choice()
        self.fields |= fact_fields()
        fields.offer_casino(self, actor)
        self.order_fields(["casino", "table", "occurred_from", "occurred_to", "situation", *FACTS, "rounds"])

    def clean_rounds(self) -> list[Round]:
        return [self._round(ref) for ref in listed(self.cleaned_data["rounds"])]

    def _round(self, ref: str) -> Round:
        """Find a round by reference among those visible, at the chosen table or in the chosen casino."""
        rounds = rounds_called(self.actor, ref)
        if table := self.cleaned_data.get("table"):
            rounds = rounds.filter(table=table)
        elif casino := self.cleaned_data.get("casino"):
            rounds = rounds.filter(casino=casino)
        found = list(rounds[:2])
        if not found:
            raise ValidationError(f"{ref}: there is no such round{f' of {table}' if table else ''} that you can see.")
        if len(found) > 1:
            raise ValidationError(f"{ref}: more than one round has this reference; choose the table.")
        return found[0]

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        self.verify_facts()
        values["origins"] = origins_of(self.actor, values)
        casino = fields.casino_of(self.actor, values)
        if "table" not in self.errors and not values.get("table") and not can(self.actor, "incident.open", casino):
            self.add_error("table", "Choose a table.")
        values["casino"] = casino
        return values

    def people(self) -> list[tuple[str, str]]:
        values = self.cleaned_data
        rounds: list[Round] = values.get("rounds") or []
        first = rounds[0] if rounds else None
        people = [
            (Part.DEALER, values.get("dealer") or (first.dealer if first else "") or ""),
            (Part.SUPERVISOR, values.get("supervisor") or (first.supervisor if first else "") or ""),
            *((Part.WITNESS, number) for number in listed(values.get("witnesses", ""))),
            *((Part.PATRON, patron) for patron in listed(values.get("patrons", ""))),
        ]
        return [(part, reference) for part, reference in people if reference]

    def report(self) -> IncidentReport:
        values = self.cleaned_data
        return IncidentReport(
            casino=values["casino"], occurred_from=values["occurred_from"], occurred_to=values["occurred_to"],
            situation=values["situation"], account=values["account"], table=values["table"], facts=self.facts(),
            rounds=values["rounds"], people=self.people(), **values["origins"],
        )  # fmt: skip

    def advice(self) -> dict[str, Any]:
        """Return the advice on an unfinished form; `wanted` says what is missing for more."""
        self.full_clean()
        values = self.cleaned_data
        table, situation = values.get("table"), values.get("situation")
        if table is None or not situation:
            return {"wanted": "Choose a table and a situation to see the advice."}
        patrons = [reference for part, reference in self.people() if part == Part.PATRON]
        at = values.get("occurred_from") or timezone.now()
        try:
            question = AdviceQuestion(
                table, at, situation, self.facts(), values.get("rounds") or (), patrons, values.get("occurred_to")
            )
            return {"advice": advice_on(question), "wanted": self._wanted(situation)}
        except InputError:
            return {"wanted": " ".join(str(text) for name in FACTS for text in self.errors.get(name, ()))}

    def _wanted(self, situation: str) -> str:
        """Say which field is missing for the figures."""
        if "rounds" in self.errors:
            return " ".join(map(str, self.errors["rounds"]))
        has_rounds = bool(self.cleaned_data.get("rounds"))
        if "limit" in situation or "minimum" in situation:
            return "" if has_rounds else "Enter the round to see its figures."
        if situation == "player-left" and not (has_rounds and self.cleaned_data.get("patrons")):
            return "Enter round and patron to see the winnings to be kept."
        return ""


def listed(text: str) -> list[str]:
    """Split a text at commas and line ends."""
    return [part.strip() for part in re.split(r"[,\n]", text or "") if part.strip()]


# --- What it is opened from ------------------------------------------------------------------------


def origins_of(actor: Staff, values: Any) -> dict[str, Any]:
    """Return what an incident is opened from, if the actor may see it; an unknown key is ignored."""
    found = {}
    for name, (model, action) in ORIGINS.items():
        if thing := model.objects.filter(pk=key_of(values.get(name))).first():
            authorize(actor, action, thing)
            found[name] = thing
    return found


def initial_from(actor: Staff, query: QueryDict) -> dict[str, Any]:
    """Return the fields known from a log entry, a finding, a recording conflict, a round or a table."""
    initial: dict[str, Any] = {"occurred_from": fields.now_shown(), "settled": "no"}
    origins = origins_of(actor, query)
    initial |= {name: str(thing.pk) for name, thing in origins.items()}
    if key := key_of(query.get("table")):
        initial["table"] = key
    if entry := origins.get("entry"):
        initial |= _from_entry(entry)
    if finding := origins.get("finding"):
        initial |= (_from_round(finding.round) if finding.round else _from_live(finding)) | _from_finding(finding)
    if conflict := origins.get("conflict"):
        initial |= _from_round(conflict.recorded) | {
            "occurred_from": _shown(conflict.at), "situation": "other",
            "account": f"{conflict} was sent again with different content by {conflict.who}.",
        }  # fmt: skip
    if round_ := visible(actor, Round.objects.filter(pk=key_of(query.get("round")))).first():
        initial |= _from_round(round_)
    return initial


def _from_entry(entry: LogEntry) -> dict[str, Any]:
    """Take table, time and text of a log entry; never the text of a confidential one, as the pit reads incidents."""
    account = "" if entry.is_confidential else entry.summary
    return {"table": entry.table_id, "occurred_from": _shown(entry.at), "account": account}


def _from_round(round_: Round) -> dict[str, Any]:
    return {
        "table": round_.table_id, "rounds": round_.ref, "occurred_from": _shown(round_.started_at),
        "dealer": round_.dealer or "", "supervisor": round_.supervisor or "",
    }  # fmt: skip


def _from_live(finding: Finding) -> dict[str, Any]:
    """Take table, time and people of a round in play, which cannot be named as it is not on record yet."""
    live = finding.live_round
    return {
        "table": finding.table_id, "occurred_from": _shown(finding.round_started_at),
        "dealer": (live.dealer if live else None) or "", "supervisor": (live.supervisor if live else None) or "",
    }  # fmt: skip


def _from_finding(finding: Finding) -> dict[str, Any]:
    patrons = {"patrons": finding.player} if finding.player else {}
    return {"situation": situation_of(finding), "account": finding.detail, **patrons}


def situation_of(finding: Finding) -> str:
    """Return the situation of a finding by the rule that it cites; empty where that is not clear."""
    if finding.category == Category.BREACH:
        return "below-minimum-unnoticed" if finding.kind == "below-minimum" else "over-limit-unnoticed"
    book = rulebook(finding.rulebook)
    codes = dict.fromkeys(
        situation.code
        for situation in book.situations
        if finding.rule in book.cite(*situation.rules) and situation.action == finding.kind
    )
    return next(iter(codes)) if len(codes) == 1 else ""


def _shown(moment: Any) -> str:
    return f"{timezone.localtime(moment):%Y-%m-%d %H:%M:%S}"
