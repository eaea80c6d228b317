"""The form of a new incident, where it is filled in from, and the advice beside it while it is filled in."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils import timezone
from unfold.widgets import UnfoldAdminRadioSelectWidget

from audits.incidents.admin import fields
from audits.incidents.advice import AdviceQuestion, advice_on
from audits.incidents.labels import SITUATIONS, facts_asked
from audits.incidents.selectors import rounds_called
from audits.incidents.services.incidents import IncidentReport
from audits.models import Category, Finding, IncidentPerson, LogEntry
from games.access.gate import authorize, can, visible
from games.engine.dice import COUNT, UNKNOWN, parse_known_dice
from games.engine.errors import InputError
from games.engine.rules.loader import rulebook
from games.floor.admin.forms import MomentField
from games.models import RecordingConflict, Round, Staff
from games.pages.paging import key_of

Part = IncidentPerson.Part
#: From where a file is opened: the name in the address, what it is, and what lets somebody look at it.
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
        help_text="Of an interruption: the faces, with ? for a die that could not be read.",
    )  # fmt: skip


def settled() -> forms.ChoiceField:
    return forms.ChoiceField(
        label="Were the bets settled already?", required=False, choices=[("no", "Not yet"), ("yes", "Settled")],
        widget=UnfoldAdminRadioSelectWidget(), help_text="Of a wrong result.",
    )  # fmt: skip


def yes_or_no(label: str, help_text: str) -> forms.ChoiceField:
    return forms.ChoiceField(
        label=label, required=False, choices=[("yes", "Yes"), ("no", "No")], widget=UnfoldAdminRadioSelectWidget(),
        help_text=help_text,
    )  # fmt: skip


def fact_fields() -> dict[str, forms.Field]:
    """A field for each fact that a situation may ask for."""
    return {
        "known_dice": known_dice(),
        "settled": settled(),
        "with_chips": yes_or_no("Did chips come with it?", "Of a bet that was called out."),
        "in_time": yes_or_no("Was there time to place it?", "Before betting was closed; of a bet that was called out."),
    }


class SituationForm(forms.Form):
    """The situation with the facts that it asks for; shared by a new file and by the mending of one."""

    def clean_known_dice(self) -> str:
        """As people write it: "2", "2 ?" and "2,?,?" are the same."""
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
        """Those that the situation asks for, of what was said."""
        values = self.cleaned_data
        asked = facts_asked().get(values.get("situation", ""), ())
        return {name: values[name] for name in asked if values.get(name)}

    def verify_facts(self) -> None:
        missing = dict.fromkeys(FACTS, "Say yes or no.") | {
            "known_dice": "Say which dice could be read; ? ? ? for none."
        }
        for name in facts_asked().get(self.cleaned_data.get("situation", ""), ()):
            if not self.cleaned_data.get(name) and name not in self.errors:
                self.add_error(name, missing[name])


class IncidentForm(SituationForm):
    occurred_from = MomentField(label="From", past=True)
    occurred_to = MomentField(label="To", past=True, required=False, help_text="Empty: one moment.")
    rounds = fields.text_field("Rounds", most=2000, help_text="By reference; more than one apart by commas.")
    dealer = fields.text_field("Dealer", help_text="Staff number; empty: as on the round.")
    supervisor = fields.text_field("Supervisor", help_text="Staff number; empty: as on the round.")
    witnesses = fields.text_field("Witnesses", most=2000, help_text="Staff numbers, apart by commas.")
    patrons = fields.text_field("Patrons", most=2000, help_text="By reference, never by name; apart by commas.")
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
        """Of those within sight; at the table, or in the casino, that was chosen."""
        rounds = rounds_called(self.actor, ref)
        if table := self.cleaned_data.get("table"):
            rounds = rounds.filter(table=table)
        elif casino := self.cleaned_data.get("casino"):
            rounds = rounds.filter(casino=casino)
        found = list(rounds[:2])
        if not found:
            raise ValidationError(f"{ref}: no such round{f' of {table}' if table else ''} is within your sight.")
        if len(found) > 1:
            raise ValidationError(f"{ref}: more than one round is called so; choose the table.")
        return found[0]

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        self.verify_facts()
        values["origins"] = origins_of(self.actor, values)
        casino = fields.casino_of(self.actor, values)
        if "table" not in self.errors and not values.get("table") and not can(self.actor, "incident.open", casino):
            self.add_error("table", "Say at which table.")
        values["casino"] = casino
        return values

    def people(self) -> list[tuple[str, str]]:
        values = self.cleaned_data
        rounds: list[Round] = values.get("rounds") or []
        first = rounds[0] if rounds else None
        people = [
            (Part.DEALER, values.get("dealer") or (first.dealer if first else "") or ""),
            (Part.SUPERVISOR, values.get("supervisor") or (first.supervisor if first else "") or ""),
            *((Part.WITNESS, one) for one in listed(values.get("witnesses", ""))),
            *((Part.PATRON, one) for one in listed(values.get("patrons", ""))),
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
        """What can be said of a form that is not finished: `advice`, or `wanted`, what is needed to say more."""
        self.full_clean()
        values = self.cleaned_data
        table, situation = values.get("table"), values.get("situation")
        if table is None or not situation:
            return {"wanted": "Choose table and situation; the advice comes at once."}
        patrons = [reference for part, reference in self.people() if part == Part.PATRON]
        at = values.get("occurred_from") or timezone.now()
        try:
            asked = AdviceQuestion(
                table, at, situation, self.facts(), values.get("rounds") or (), patrons, values.get("occurred_to")
            )
            return {"advice": advice_on(asked), "wanted": self._wanted(situation)}
        except InputError:
            return {"wanted": " ".join(str(text) for name in FACTS for text in self.errors.get(name, ()))}

    def _wanted(self, situation: str) -> str:
        """Which of the fields would bring figures."""
        if "rounds" in self.errors:
            return " ".join(map(str, self.errors["rounds"]))
        has_rounds = bool(self.cleaned_data.get("rounds"))
        if "limit" in situation or "minimum" in situation:
            return "" if has_rounds else "Name the round: its figures are worked out here."
        if situation == "player-left" and not (has_rounds and self.cleaned_data.get("patrons")):
            return "Name round and patron: the winnings to be kept are worked out here."
        return ""


def listed(text: str) -> list[str]:
    return [one.strip() for one in re.split(r"[,\n]", text or "") if one.strip()]


# --- From where it is opened -----------------------------------------------------------------------


def origins_of(actor: Staff, values: Any) -> dict[str, Any]:
    """What a file is opened from, for somebody who may see it; a key that leads nowhere is left out."""
    found = {}
    for name, (model, action) in ORIGINS.items():
        if thing := model.objects.filter(pk=key_of(values.get(name))).first():
            authorize(actor, action, thing)
            found[name] = thing
    return found


def initial_from(actor: Staff, asked: QueryDict) -> dict[str, Any]:
    """The fields as far as they are known from a log entry, a finding, a recording conflict, a round or a table."""
    initial: dict[str, Any] = {"occurred_from": fields.now_shown(), "settled": "no"}
    origins = origins_of(actor, asked)
    initial |= {name: str(thing.pk) for name, thing in origins.items()}
    if key := key_of(asked.get("table")):
        initial["table"] = key
    if entry := origins.get("entry"):
        initial |= _from_entry(entry)
    if finding := origins.get("finding"):
        initial |= (_from_round(finding.round) if finding.round else _from_live(finding)) | _from_finding(finding)
    if conflict := origins.get("conflict"):
        initial |= _from_round(conflict.recorded) | {
            "occurred_from": _shown(conflict.at), "situation": "other",
            "account": f"{conflict} was sent again with another content by {conflict.who}.",
        }  # fmt: skip
    if one := visible(actor, Round.objects.filter(pk=key_of(asked.get("round")))).first():
        initial |= _from_round(one)
    return initial


def _from_entry(entry: LogEntry) -> dict[str, Any]:
    """What is confidential is not copied: the pit reads the account of a file."""
    account = "" if entry.is_confidential else entry.summary
    return {"table": entry.table_id, "occurred_from": _shown(entry.at), "account": account}


def _from_round(round_: Round) -> dict[str, Any]:
    return {
        "table": round_.table_id, "rounds": round_.ref, "occurred_from": _shown(round_.started_at),
        "dealer": round_.dealer or "", "supervisor": round_.supervisor or "",
    }  # fmt: skip


def _from_live(finding: Finding) -> dict[str, Any]:
    """A round that is not on record is not among the rounds of a file; its people are known."""
    live = finding.live_round
    return {
        "table": finding.table_id, "occurred_from": _shown(finding.round_started_at),
        "dealer": (live.dealer if live else None) or "", "supervisor": (live.supervisor if live else None) or "",
    }  # fmt: skip


def _from_finding(finding: Finding) -> dict[str, Any]:
    patrons = {"patrons": finding.player} if finding.player else {}
    return {"situation": situation_of(finding), "account": finding.detail, **patrons}


def situation_of(finding: Finding) -> str:
    """By the rule that was found broken; empty where that does not tell."""
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
