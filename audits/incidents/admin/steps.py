"""What is done on an incident file: taken from state to state, mended, added to."""

import datetime as dt
from collections.abc import Callable
from typing import Any

from django.core.exceptions import ValidationError
from django.utils import timezone

from audits.incidents.admin import fields
from audits.incidents.admin.form import FACTS, SituationForm, fact_fields, listed, situation_choice
from audits.incidents.selectors import rounds_called
from audits.incidents.services.disputes import dispute_raise
from audits.incidents.services.incidents import (
    can_change,
    incident_change,
    incident_note,
    incident_people_add,
    incident_relate,
    incident_rounds_add,
    incident_step,
    party_confirm,
    verify_not_closed,
)
from audits.incidents.states import find_transition, transitions_from
from audits.models import Incident, IncidentPerson, IncidentState
from audits.rulings.conflict_of_interest import group_rulers_of, rulers_of, who_decides
from audits.rulings.services.rulings import ruling_consent, verify_unruled
from games.access.gate import visible
from games.access.roles import may_be_confidential
from games.floor.admin.forms import MomentField
from games.models import Staff
from games.pages.gated import ActionForm
from games.pages.steps import PageStep
from games.rounds.terms import terms_at


class ActorForm(ActionForm):
    """A step whose form depends on who is at the keyboard."""

    actor: Staff  # set by the page (incident.IncidentAdmin)
    asks_why = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.asks_why:
            del self.fields["reason"]


class NoteForm(ActorForm):
    text = fields.text_field("Note", required=True, most=20_000, rows=5)
    asks_why = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if may_be_confidential("incidentnote", self.actor.department):
            self.fields["is_confidential"] = fields.confidential_field()


class PeopleForm(ActorForm):
    part = fields.choice_field("Part", IncidentPerson.Part.choices)
    references = fields.text_field(
        "Who", required=True, most=2000, help_text="Staff numbers, or patrons by reference; apart by commas."
    )
    asks_why = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        verify_not_closed(self.thing)


class ConfirmPartyForm(ActorForm):
    """A named dealer or supervisor whom nobody has confirmed yet."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        verify_not_closed(self.thing)
        self.known = {str(one.pk): one for one in unconfirmed(self.thing)}
        if not self.known:
            raise ValidationError("No dealer or supervisor of the staff on record is named and not confirmed.")
        named = [(key, f"{one.get_part_display()} {one.staff}, named by {one.who}") for key, one in self.known.items()]
        self.fields["person"] = fields.choice_field("Who", named)
        self.order_fields(["person", "reason"])

    def clean_person(self) -> IncidentPerson:
        return self.known[self.cleaned_data["person"]]


def unconfirmed(incident: Incident) -> list[IncidentPerson]:
    """The named dealers and supervisors of the staff on record who are not confirmed."""
    named = incident.people.filter(part__in=IncidentPerson.PARTIES, staff__isnull=False, confirmation=None)
    return list(named.select_related("staff", "incident"))


class ConsentForm(ActorForm):
    """A casino manager of no single casino, where nobody of the casino can rule."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        verify_unruled(self.thing)
        if rulers_of(self.thing):
            raise ValidationError(f"{', '.join(map(str, rulers_of(self.thing)))} can rule; no consent is needed.")
        self.known = {str(group_ruler.pk): group_ruler for group_ruler in group_rulers_of(self.thing)}
        if not self.known:
            raise ValidationError(who_decides(self.thing))
        self.fields["ruler"] = fields.choice_field("Ruling by", [(key, str(one)) for key, one in self.known.items()])
        self.order_fields(["ruler", "reason"])

    def clean_ruler(self) -> Staff:
        return self.known[self.cleaned_data["ruler"]]


class RoundForm(ActorForm):
    rounds = fields.text_field("Rounds", required=True, most=2000, help_text="By reference; apart by commas.")
    asks_why = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        verify_not_closed(self.thing)

    def clean_rounds(self) -> list[Any]:
        found = []
        for ref in listed(self.cleaned_data["rounds"]):
            rounds = list(rounds_called(self.actor, ref).filter(table__casino=self.thing.casino_id))
            if not rounds:
                raise ValidationError(f"{ref}: no such round is within your sight.")
            found += rounds
        return found


class RelateForm(ActorForm):
    other = fields.text_field("The other file", required=True, most=20, placeholder="IN-2026-000123")
    field_order = ["other", "reason"]

    def clean_other(self) -> Incident:
        """Of the same casino, and within sight."""
        number = self.cleaned_data["other"].strip().upper()
        files = visible(self.actor, Incident.objects.filter(casino=self.thing.casino_id, number=number))
        if (found := files.first()) is None:
            raise ValidationError(f"{number}: no such file is within your sight.")
        return found


class DisputeForm(ActorForm):
    patron = fields.text_field("Patron", required=True, help_text="By reference, never by name.")
    raised_at = MomentField(label="Raised at", past=True, required=False, help_text="Empty: now.")
    field_order = ["patron", "raised_at", "reason"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if hasattr(self.thing, "dispute"):
            raise ValidationError(f"{self.thing} has a dispute on record already.")
        patron = self.thing.people.filter(part=IncidentPerson.Part.PATRON).first()
        self.fields["patron"].initial = patron.reference if patron else ""


class MendForm(ActorForm, SituationForm):
    """The file as it stands, to be put right; what stood there before stays in the history."""

    occurred_from = MomentField(label="From", past=True)
    occurred_to = MomentField(label="To", past=True, required=False)
    account = fields.text_field("What happened", required=True, most=20_000, rows=8)

    def __init__(self, *args: Any, thing: Incident, **kwargs: Any) -> None:
        super().__init__(*args, thing=thing, **kwargs)
        verify_not_closed(thing)
        self.fields["table"] = fields.table_choice(self.actor, "incident.change", initial=thing.table_id)
        self.fields["situation"] = situation_choice()
        self.fields |= fact_fields()
        self.order_fields(["table", "occurred_from", "occurred_to", "situation", *FACTS, "account", "reason"])
        self.initial = thing.facts | {"situation": thing.situation, "account": thing.account} | self.initial
        for name in ("occurred_from", "occurred_to"):
            if moment := getattr(thing, name):
                self.initial[name] = f"{timezone.localtime(moment):%Y-%m-%d %H:%M:%S}"

    def clean_occurred_from(self) -> dt.datetime | None:
        return self._kept("occurred_from")

    def clean_occurred_to(self) -> dt.datetime | None:
        return self._kept("occurred_to")

    def _kept(self, name: str) -> dt.datetime | None:
        """The form shows seconds: a moment that was left as it is shown stays exactly what it was."""
        known: dt.datetime | None = getattr(self.thing, name)
        said: dt.datetime | None = self.cleaned_data[name]
        return known if known and said == known.replace(microsecond=0) else said

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        self.verify_facts()
        if self.thing.table_id and not values.get("table") and "table" not in self.errors:
            self.add_error("table", "Say at which table.")
        values["facts"] = self.facts()
        return values


def mend(actor: Staff, incident: Incident, values: dict[str, Any]) -> str:
    names = ("table", "occurred_from", "occurred_to", "situation", "facts", "account")
    changes = {name: values[name] for name in names}
    if (table := values["table"]) != incident.table:
        game = terms_at(table, values["occurred_from"]).assignment if table else None
        changes |= {"pit": table.pit if table else None, "rulebook": game.rulebook if game else ""}
    incident_change(actor=actor, incident=incident, changes=changes, reason=values["reason"])
    return f"{incident} is mended; what stood there before is in its history."


def note(actor: Staff, incident: Incident, values: dict[str, Any]) -> str:
    is_confidential = values.get("is_confidential", False)
    incident_note(actor=actor, incident=incident, text=values["text"], is_confidential=is_confidential)
    return "The note is in the file."


def add_people(actor: Staff, incident: Incident, values: dict[str, Any]) -> str:
    people = [(values["part"], reference) for reference in listed(values["references"])]
    incident_people_add(actor=actor, incident=incident, people=people)
    return f"Added: {values['part']} {', '.join(reference for _, reference in people)}."


def confirm(actor: Staff, incident: Incident, values: dict[str, Any]) -> str:
    party_confirm(actor=actor, person=values["person"], reason=values["reason"])
    return f"{values['person']} is confirmed, and does not rule on {incident}."


def consent(actor: Staff, incident: Incident, values: dict[str, Any]) -> str:
    ruling_consent(actor=actor, incident=incident, ruler=values["ruler"], reason=values["reason"])
    return f"Your consent to a ruling by {values['ruler']} is on record."


def add_rounds(actor: Staff, incident: Incident, values: dict[str, Any]) -> str:
    incident_rounds_add(actor=actor, incident=incident, rounds=values["rounds"])
    return f"Added: {', '.join(map(str, values['rounds']))}."


def relate(actor: Staff, incident: Incident, values: dict[str, Any]) -> str:
    incident_relate(actor=actor, incident=incident, other=values["other"], reason=values["reason"])
    return f"{incident} and {values['other']} show on each other's page."


def raise_dispute(actor: Staff, incident: Incident, values: dict[str, Any]) -> str:
    raised_at = values["raised_at"] or timezone.now()
    dispute = dispute_raise(
        actor=actor, incident=incident, patron=values["patron"], raised_at=raised_at, reason=values["reason"]
    )
    return f"The dispute is on record; its time ends on {timezone.localtime(dispute.due_at):%d %B %Y, %H:%M}."


def is_unclosed(actor: Any, incident: Incident) -> bool:
    return incident.state != IncidentState.CLOSED


def has_unconfirmed(actor: Any, incident: Incident) -> bool:
    return is_unclosed(actor, incident) and bool(unconfirmed(incident))


def needs_consent_now(actor: Any, incident: Incident) -> bool:
    return incident.state not in (IncidentState.CLOSED, IncidentState.RULED) and not rulers_of(incident)


def has_no_dispute(actor: Any, incident: Incident) -> bool:
    return not hasattr(incident, "dispute")


def may_be_changed(actor: Any, incident: Incident) -> bool:
    """Of what was reported, which is not everybody's to change."""
    return is_unclosed(actor, incident) and can_change(actor, incident)


STEPS = (
    PageStep("note", "Add note", "add_comment", "incident.change", NoteForm, note),
    PageStep("people", "Add people", "person_add", "incident.change", PeopleForm, add_people, is_unclosed),
    PageStep(
        "confirm", "Confirm a party", "how_to_reg", "incident.confirm", ConfirmPartyForm, confirm, has_unconfirmed
    ),
    PageStep(
        "consent", "Consent to a ruling", "approval_delegation", "ruling.consent", ConsentForm, consent,
        needs_consent_now,
    ),
    PageStep("rounds", "Add rounds", "receipt_long", "incident.change", RoundForm, add_rounds, is_unclosed),
    PageStep("relate", "Relate", "link", "incident.change", RelateForm, relate),
    PageStep("dispute", "Raise dispute", "feedback", "dispute.change", DisputeForm, raise_dispute, has_no_dispute),
    PageStep("mend", "Mend", "edit", "incident.change", MendForm, mend, may_be_changed),
)  # fmt: skip

#: The states that a file is taken to, with an icon for each.
STATES = {
    IncidentState.INVESTIGATION: "manage_search",
    IncidentState.AWAITING: "front_hand",
    IncidentState.RULED: "gavel",
    IncidentState.CLOSED: "task_alt",
    IncidentState.REOPENED: "lock_open",
}


def verify_leads_to(incident: Incident, to: str) -> None:
    if find_transition(incident.state, to) is None:
        following = ", ".join(one.after.label.lower() for one in transitions_from(incident.state))
        raise ValidationError(f"{incident} is {incident.get_state_display().lower()}; what may follow is {following}.")


def taken_to(to: str) -> Callable[[Staff, Any, dict[str, Any]], str]:
    def take(actor: Staff, incident: Incident, values: dict[str, Any]) -> str:
        now = incident_step(actor=actor, incident=incident, to=to, reason=values["reason"])
        return f"{now} is {now.get_state_display().lower()}."

    return take
