"""Incident files: opened under a number without gaps, taken from state to state, added to. Nothing is taken away."""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Model, Q
from django.utils import timezone

from audits.incidents.advice import AdviceQuestion, advice_on
from audits.incidents.services.log import verify_place
from audits.incidents.services.numbers import next_number, number_text
from audits.incidents.services.past_moment import verify_past
from audits.incidents.situations import verify_situation
from audits.incidents.states import find_transition, transitions_from
from audits.models import (
    Finding,
    Incident,
    IncidentLink,
    IncidentNote,
    IncidentPerson,
    IncidentRound,
    IncidentState,
    IncidentStep,
    LogEntry,
    PartyConfirmation,
)
from games.access.gate import Actor, actor_name, authorize, can, deny, place_of, visible
from games.access.roles import may_be_confidential, may_change_report
from games.engine.errors import InputError
from games.history.audited_save import (
    OvertakenError,
    record_change,
    record_save,
    verify_reason,
    verify_text,
    verify_texts,
)
from games.ledger.services import LedgerEntry, ledger_append
from games.models import Casino, Pit, RecordingConflict, Round, Staff, Table
from games.rounds.terms import terms_at

SERIES = "IN"
#: What of a file is mended where it is wrong; everything else stays as it was reported, or has a service of its own.
CHANGEABLE = ("pit", "table", "occurred_from", "occurred_to", "situation", "facts", "account")


@dataclass(frozen=True)
class IncidentReport:
    """What somebody reports: the form of a new file."""

    casino: Casino
    occurred_from: dt.datetime
    situation: str
    account: str
    occurred_to: dt.datetime | None = None
    table: Table | None = None
    facts: dict[str, str] = field(default_factory=dict)
    rounds: Sequence[Round] = ()
    people: Sequence[tuple[str, str]] = ()  # part, reference
    entry: LogEntry | None = None
    finding: Finding | None = None
    conflict: RecordingConflict | None = None
    pit: Pit | None = None  # where no table is named

    @property
    def place(self) -> Table | Pit | Casino:
        """What the gate is asked about."""
        return self.table or self.pit or self.casino

    @property
    def patrons(self) -> list[str]:
        return [reference for part, reference in self.people if part == IncidentPerson.Part.PATRON]


@transaction.atomic
def incident_open(*, actor: Actor, report: IncidentReport) -> Incident:
    """A new file, with the advice as it is given at this moment."""
    authorize(actor, "incident.open", report.place)
    verify_sources(actor, report)
    verify_report(report)
    advice = advice_of(report)
    year, serial = next_number(SERIES, report.casino, timezone.now())
    incident = Incident(
        casino=report.casino, pit=report.table.pit if report.table else report.pit, table=report.table, year=year,
        serial=serial, number=number_text(SERIES, year, serial), occurred_from=report.occurred_from,
        occurred_to=report.occurred_to, reported_by=actor if isinstance(actor, Staff) else None, who=actor_name(actor),
        department=getattr(actor, "department", ""), situation=report.situation, facts=dict(report.facts),
        account=report.account.strip(), rulebook=(advice or {}).get("rulebook", ""), advice=advice,
        entry=report.entry, finding=report.finding, conflict=report.conflict,
    )  # fmt: skip
    verify_not_reported_yet(incident)
    record_save(incident, actor=actor, reason="Reported")
    _step(incident, "", IncidentState.OPEN, actor, "Reported", told=_told(incident, report))
    _add_people(incident, report.people, actor)
    _add_rounds(incident, report.rounds, actor)
    return incident


def _told(incident: Incident, report: IncidentReport) -> tuple[Any, ...]:
    """What was reported, and what was advised: all that the ledger holds with a file's first step."""
    return (
        incident.situation,
        incident.facts,
        incident.account,
        incident.advice,
        incident.occurred_from.astimezone(dt.UTC),
        incident.occurred_to.astimezone(dt.UTC) if incident.occurred_to else None,
        incident.table.code if incident.table else None,
        incident.rulebook,
        [list(person) for person in report.people],
        [[round_.source, round_.ref] for round_ in report.rounds],
        incident.entry_id,
        incident.finding_id,
        incident.conflict_id,
    )


def advice_of(report: IncidentReport) -> dict[str, Any] | None:
    """None where no table is named: then no rulebook can be asked."""
    if report.table is None:
        return None
    asked = AdviceQuestion(
        report.table, report.occurred_from, report.situation, report.facts, report.rounds, report.patrons,
        report.occurred_to,
    )  # fmt: skip
    try:
        return advice_on(asked)
    except InputError as error:
        raise ValidationError({"situation": list(error.faults)}) from None


def verify_report(report: IncidentReport) -> None:
    if not report.account.strip():
        raise ValidationError({"account": "Say what happened."})
    verify_text("account", report.account)
    verify_past("occurred_from", report.occurred_from)
    if report.occurred_to is not None:
        verify_past("occurred_to", report.occurred_to)
        if report.occurred_to < report.occurred_from:
            raise ValidationError({"occurred_to": "It ended before it began; change one of the two."})
    verify_place(report.casino, report.pit, report.table)
    try:
        verify_situation(report.situation, report.facts)
    except InputError as error:
        raise ValidationError({"situation": list(error.faults)}) from None


def verify_sources(actor: Actor, report: IncidentReport) -> None:
    """What a file is raised from and is about lies in its casino, and within the reach of whoever reports it."""
    sources: tuple[tuple[str, Model | None], ...] = (
        ("logentry.view", report.entry),
        ("finding.view", report.finding),
        ("round.view", report.conflict),
    )
    for action, source in sources:
        if source is not None:
            authorize(actor, action, source)
            if place_of(source)[0] != report.casino.pk:
                raise ValidationError(f"The {source._meta.verbose_name} is of another casino; leave it out.")
    verify_rounds(actor, report.casino, report.rounds)


def verify_rounds(actor: Actor, casino: Casino, rounds: Sequence[Round]) -> None:
    """In one question, as they may be many."""
    asked = Round.objects.filter(pk__in=[round_.pk for round_ in rounds])
    here = set(asked.filter(table__casino=casino).values_list("pk", flat=True))
    seen = set(visible(actor, asked).values_list("pk", flat=True))
    for round_ in rounds:
        if round_.pk not in here:
            raise ValidationError({"rounds": f"{round_} was not played in this casino; leave it out."})
        if round_.pk not in seen:
            raise deny(actor, "round.view", round_)


def verify_not_reported_yet(incident: Incident) -> None:
    """A second click is not a second file. Asked while the casino's numbers are locked, so that two at once are one."""
    same = Incident.objects.filter(
        casino=incident.casino, occurred_from=incident.occurred_from, reported_by=incident.reported_by,
        table=incident.table, situation=incident.situation, account=incident.account,
    ).first()  # fmt: skip
    if same is not None:
        raise OvertakenError(f"You have reported this as {same}; nothing has changed.")


# --- From state to state ---------------------------------------------------------------------------


@transaction.atomic
def incident_step(*, actor: Actor, incident: Incident, to: str, reason: str) -> Incident:
    """As the one table of transitions allows, by whom the roles allow."""
    current = incident_locked(incident)
    authorize(actor, "incident.view", current)
    transition = find_transition(current.state, to)
    if transition is None:
        following = ", ".join(one.after.label.lower() for one in transitions_from(current.state))
        state = IncidentState(current.state).label.lower()
        raise OvertakenError(f"{current} is {state}; what may follow is {following}. Nothing has changed.")
    authorize(actor, transition.action, current)
    if to == IncidentState.CLOSED:
        verify_decided_by_others(actor, current)
    verify_reason(reason)
    record_change(current, {"state": to, "state_since": timezone.now()}, actor=actor, reason=reason)
    _step(current, transition.before, to, actor, reason)
    return current


def verify_decided_by_others(actor: Actor, incident: Incident) -> None:
    """Nobody closes a file in which they decided something themselves, such as while acting in a post of the pit."""
    if not isinstance(actor, Staff):
        return
    if incident.rulings.filter(by=actor).exists() or incident.consequences.filter(by=actor).exists():
        raise ValidationError(
            f"You ruled or ordered a corrective action in {incident} yourself; another person has to close it."
        )


def incident_locked(incident: Incident) -> Incident:
    """Until the transaction ends nobody else does anything to the file."""
    records = Incident.objects.select_for_update(of=("self",))
    return records.select_related("casino", "pit", "table").get(pk=incident.pk)


def incident_ruled(*, actor: Staff, incident: Incident, ruling: str) -> None:
    """By a ruling, and by nothing else; a file that nobody had asked a ruling for yet takes that step first."""
    for to, reason in (
        (IncidentState.AWAITING, "A ruling was asked for"),
        (IncidentState.RULED, f"Ruled on: {ruling}"),
    ):
        if incident.state != to:
            before = incident.state
            changes = {"state": to, "state_since": timezone.now()}
            record_change(incident, changes, actor=actor, reason=reason)
            _step(incident, before, to, actor, reason)


def _step(
    incident: Incident, before: str, after: str, actor: Actor, reason: str, *, told: tuple[Any, ...] = ()
) -> None:
    step = IncidentStep.objects.create(
        incident=incident, before=before, after=after, by=actor if isinstance(actor, Staff) else None,
        who=actor_name(actor), reason=reason.strip(),
    )  # fmt: skip
    said = (incident.number, step.before, step.after, step.reason, step.who, step.at.astimezone(dt.UTC))
    ledger_append(incident.table or incident.casino, LedgerEntry("incident-step", step.pk, (*said, *told)))


# --- What is added ---------------------------------------------------------------------------------


@transaction.atomic
def incident_change(*, actor: Staff, incident: Incident, changes: dict[str, Any], reason: str) -> Incident:
    """A slip in the file is mended; what stood there before is in the history. The advice stays as it was given."""
    current = incident_locked(incident)
    verify_may_change(actor, current)
    verify_not_closed(current)
    if kept := sorted(changes.keys() - set(CHANGEABLE)):
        raise ValidationError(f"{', '.join(kept)}: this does not change; add a note.")
    report = _reported_now(current, changes)
    verify_report(report)
    if record_change(current, {**changes, **_following(actor, report, changes)}, actor=actor, reason=reason):
        said = {name: str(value) if isinstance(value, Model) else value for name, value in changes.items()}
        values = (current.number, said, reason.strip(), actor_name(actor), timezone.now().astimezone(dt.UTC))
        change = LedgerEntry("incident-change", current.history.latest().pk, values)
        ledger_append(current.table or current.casino, change)
    return current


def verify_may_change(actor: Staff, incident: Incident) -> None:
    """What surveillance has reported is not changed by the pit, which may add to it."""
    authorize(actor, "incident.change", incident)
    if not can_change(actor, incident):
        raise deny(actor, "incident.change", incident)


def can_change(actor: Staff, incident: Incident) -> bool:
    is_open = may_change_report(actor.department, reported_by=incident.department)
    return is_open and can(actor, "incident.change", incident)


def _reported_now(incident: Incident, changes: dict[str, Any]) -> IncidentReport:
    """The file as it is going to be. Its pit follows from the table; without one, it stays or is named."""
    values = {name: changes.get(name, getattr(incident, name)) for name in CHANGEABLE}
    if values["table"] is not None and "pit" not in changes:
        values["pit"] = None
    return IncidentReport(casino=incident.casino, **values)


def _following(actor: Staff, report: IncidentReport, changes: dict[str, Any]) -> dict[str, Any]:
    """What changes with the place and the moment: the pit, into which the actor has to reach, and the rulebook."""
    follows: dict[str, Any] = {}
    if changes.keys() & {"pit", "table"}:
        authorize(actor, "incident.change", report.place)
        follows["pit"] = report.table.pit if report.table else report.pit
    if changes.keys() & {"table", "occurred_from"}:
        assignment = terms_at(report.table, report.occurred_from).assignment if report.table else None
        follows["rulebook"] = assignment.rulebook if assignment else ""
    return follows


@transaction.atomic
def incident_note(*, actor: Staff, incident: Incident, text: str, is_confidential: bool = False) -> IncidentNote:
    note = IncidentNote(
        incident=incident, text=text.strip(), is_confidential=is_confidential, by=actor, who=actor_name(actor)
    )
    authorize(actor, "incident.change", note)
    if not note.text:
        raise ValidationError({"text": "Write something."})
    if is_confidential and not may_be_confidential("incidentnote", actor.department):
        raise ValidationError({"is_confidential": "Only surveillance and compliance write confidential notes."})
    verify_texts(note)
    note.save(force_insert=True)
    values = (incident.number, note.text, note.is_confidential, note.who, note.at.astimezone(dt.UTC))
    place = incident.casino if is_confidential else incident.table or incident.casino  # no gap in a table's chain
    ledger_append(place, LedgerEntry("incident-note", note.pk, values))
    return note


@transaction.atomic
def incident_people_add(*, actor: Staff, incident: Incident, people: Sequence[tuple[str, str]]) -> None:
    current = incident_locked(incident)
    authorize(actor, "incident.change", current)
    verify_not_closed(current)
    _add_people(current, people, actor)


@transaction.atomic
def party_confirm(*, actor: Staff, person: IncidentPerson, reason: str) -> PartyConfirmation:
    """Confirm that a named dealer or supervisor was that: from then on they do not rule on the incident."""
    current = incident_locked(person.incident)
    authorize(actor, "incident.confirm", current)
    verify_not_closed(current)
    verify_reason(reason)
    if not person.is_party or person.staff is None:
        raise ValidationError(f"{person}: only a dealer or supervisor of the staff on record is confirmed.")
    if actor.pk in (person.by_id, current.reported_by_id):
        raise ValidationError("You reported the incident or named this person; another person has to confirm it.")
    known = PartyConfirmation.objects.filter(person=person).first()
    if known is not None:
        raise OvertakenError(f"{person} was confirmed by {known.who}; nothing has changed.")
    made = PartyConfirmation.objects.create(person=person, reason=reason.strip(), by=actor, who=actor_name(actor))
    held = (current.number, person.part, person.reference, made.reason, made.who, made.at.astimezone(dt.UTC))
    ledger_append(current.table or current.casino, LedgerEntry("party-confirmation", made.pk, held))
    return made


@transaction.atomic
def incident_rounds_add(*, actor: Staff, incident: Incident, rounds: Sequence[Round]) -> None:
    current = incident_locked(incident)
    authorize(actor, "incident.change", current)
    verify_not_closed(current)
    verify_rounds(actor, current.casino, rounds)
    _add_rounds(current, rounds, actor)


@transaction.atomic
def incident_relate(*, actor: Staff, incident: Incident, other: Incident, reason: str) -> IncidentLink:
    """Two files that belong together; it shows on both."""
    for one in (incident, other):
        authorize(actor, "incident.change", one)
    verify_reason(reason)
    if incident == other:
        raise ValidationError({"other": "A file is not related to itself; name another."})
    first, second = sorted((incident, other), key=lambda one: one.pk)
    link = IncidentLink(one=first, other=second, reason=reason.strip(), who=actor_name(actor))
    IncidentLink.objects.bulk_create([link], ignore_conflicts=True)
    return IncidentLink.objects.get(one=first, other=second)


def verify_not_closed(incident: Incident) -> None:
    if incident.state == IncidentState.CLOSED:
        raise ValidationError(f"{incident} is closed; reopen it first, or add a note.")


def _add_people(incident: Incident, people: Iterable[tuple[str, str]], actor: Actor) -> None:
    """Staff by their number, linked where known; patrons by reference, as they are."""
    rows, who, by = [], actor_name(actor), actor if isinstance(actor, Staff) else None
    here = Q(casino=incident.casino) | Q(casino=None)
    for part, reference in people:
        verify_text("people", reference)
        if part not in IncidentPerson.Part.values or not reference.strip():
            raise ValidationError({"people": f"{part!r:.20} {reference!r:.40}: say in which part, and whom."})
        staff = None
        if part != IncidentPerson.Part.PATRON:
            staff = Staff.objects.filter(here, number__iexact=reference.strip()).first()
        rows.append(
            IncidentPerson(incident=incident, part=part, staff=staff, reference=reference.strip(), by=by, who=who)
        )
        rows[-1].clean_fields(exclude=["incident"])
    IncidentPerson.objects.bulk_create(rows, ignore_conflicts=True)


def _add_rounds(incident: Incident, rounds: Iterable[Round], actor: Actor) -> None:
    who = actor_name(actor)
    rows = [IncidentRound(incident=incident, round=round_, who=who) for round_ in rounds]
    IncidentRound.objects.bulk_create(rows, ignore_conflicts=True)
