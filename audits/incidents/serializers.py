"""Log entries, incidents and evidence as JSON, for API and commands.

Each document shows what its reader may see: confidential records are left out entirely, with their numbers.
"""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from audits.incidents.affected_rounds import affected_of
from audits.incidents.checklist import ChecklistStep, checklist_of
from audits.incidents.search import Hit, notes_of, related_seen, rounds_of
from audits.incidents.states import transitions_from
from audits.models import (
    Dispute,
    Evidence,
    Incident,
    IncidentNote,
    IncidentPerson,
    IncidentRound,
    IncidentState,
    IncidentStep,
    LogEntry,
)
from audits.rulings.conflict_of_interest import who_decides
from audits.rulings.serializers import decided_of
from games.access.gate import can, visible
from games.access.services.access_records import confidential_read
from games.floor.moments import as_text
from games.models import Casino

LONGEST_EXCERPT = 500


def moment_or_none(moment: dt.datetime | None, casino: Casino) -> str | None:
    """Write a moment by the casino's clock, or None."""
    return None if moment is None else as_text(moment, casino)


# --- The daily log ---------------------------------------------------------------------------------


def entry_document(actor: Any, entry: LogEntry) -> dict[str, Any]:
    """Return an entry with its addenda and the incidents opened from it."""
    addenda = list(visible(actor, entry.addenda.select_related("casino", "author")).order_by("pk"))
    confidential_read(actor, [entry, *addenda])
    incidents = visible(actor, entry.incidents.all()).order_by("pk")
    return entry_line(actor, entry) | {
        "addenda": [
            {
                "id": addendum.pk, "summary": addendum.summary, "author": addendum.author.number,
                "written_by": addendum.who,
                "recorded_at": as_text(addendum.recorded_at, addendum.casino),
            }
            for addendum in addenda
        ],
        "incidents": [incident.number for incident in incidents],
    }  # fmt: skip


def entry_line(actor: Any, entry: LogEntry) -> dict[str, Any]:
    """Return an entry as in lists."""
    casino = entry.casino
    return {
        "id": entry.pk,
        "casino": casino.code,
        "pit": entry.pit.code if entry.pit else None,
        "table": entry.table.code if entry.table else None,
        "at": as_text(entry.at, casino),
        "gaming_day": entry.gaming_day.isoformat(),
        "shift": entry.shift,
        "location": entry.location or None,
        "camera": entry.camera or None,
        "time_code": entry.time_code or None,
        "recording": entry.recording or None,
        "keep_until": entry.keep_until.isoformat() if entry.keep_until else None,
        "monitored": entry.was_monitored,
        "summary": entry.summary,
        "confidential": entry.is_confidential,
        "addendum_to": seen_key(actor, entry.addendum_to),
        "author": entry.author.number,
        "department": entry.department,
        "written_by": entry.who,
        "recorded_at": as_text(entry.recorded_at, casino),
    }


def seen_key(actor: Any, entry: LogEntry | None) -> int | None:
    """Return the number of an entry if the actor may see it."""
    return entry.pk if entry is not None and can(actor, "logentry.view", entry) else None


# --- Incident files --------------------------------------------------------------------------------


def incident_line(incident: Incident) -> dict[str, Any]:
    """Return an incident as in lists."""
    casino = incident.casino
    return {
        "number": incident.number,
        "casino": casino.code,
        "pit": incident.pit.code if incident.pit else None,
        "table": incident.table.code if incident.table else None,
        "occurred_from": as_text(incident.occurred_from, casino),
        "occurred_to": moment_or_none(incident.occurred_to, casino),
        "reported_at": as_text(incident.reported_at, casino),
        "reported_by": incident.who,
        "situation": incident.situation,
        "facts": incident.facts,
        "account": incident.account,
        "rulebook": incident.rulebook or None,
        "state": incident.state,
        "state_since": as_text(incident.state_since, casino),
    }


def incident_document(actor: Any, incident: Incident) -> dict[str, Any]:
    """Return the whole incident, as far as the actor may see it."""
    casino = incident.casino
    finding = incident.finding
    notes = list(notes_of(actor, incident))
    confidential_read(actor, notes)
    return incident_line(incident) | {
        "advice": incident.advice,
        "affected": affected_of(incident),
        "checklist": [checklist_document(step, casino) for step in checklist_of(incident)],
        "next": [
            transition.after.value
            for transition in transitions_from(incident.state)
            if can(actor, transition.action, incident)
        ],
        "people": [person_document(person) for person in incident.people.select_related("confirmation")],
        "ruling_needs": who_decides(incident) or None if is_undecided(incident) else None,
        "rounds": [round_line(round_) for round_ in rounds_of(actor, incident).select_related("round__table")],
        "steps": [step_document(step, casino) for step in incident.steps.all()],
        "notes": [note_document(note, casino) for note in notes],
        "related": [
            {"number": other.number, "reason": link.reason, "who": link.who, "at": as_text(link.at, casino)}
            for other, link in related_seen(actor, incident)
        ],
        "entry": seen_key(actor, incident.entry),
        "finding": finding.pk if finding is not None and can(actor, "finding.view", finding) else None,
        "conflict": incident.conflict_id,
        "dispute": dispute_of(actor, incident),
        **decided_of(actor, incident),
    }


def is_undecided(incident: Incident) -> bool:
    """Return whether an incident can still wait for a ruling."""
    return incident.state not in (IncidentState.RULED, IncidentState.CLOSED)


def checklist_document(step: ChecklistStep, casino: Casino) -> dict[str, Any]:
    return {
        "step": step.place, "text": step.text, "done": step.is_done,
        "ticks": [{"done": tick.is_done, "at": as_text(tick.at, casino), "who": tick.who} for tick in step.ticks],
    }  # fmt: skip


def person_document(person: IncidentPerson) -> dict[str, Any]:
    confirmed = person.confirmation.who if person.is_confirmed else None
    return {"part": person.part, "reference": person.reference, "confirmed_by": confirmed}


def round_line(incident_round: IncidentRound) -> dict[str, Any]:
    played = incident_round.round
    return {"id": played.pk, "source": played.source, "ref": played.ref, "table": played.table.code}


def step_document(step: IncidentStep, casino: Casino) -> dict[str, Any]:
    return {
        "before": step.before or None, "after": step.after, "at": as_text(step.at, casino), "who": step.who,
        "reason": step.reason,
    }  # fmt: skip


def note_document(note: IncidentNote, casino: Casino) -> dict[str, Any]:
    return {
        "id": note.pk, "text": note.text, "confidential": note.is_confidential, "at": as_text(note.at, casino),
        "who": note.who,
    }  # fmt: skip


def dispute_of(actor: Any, incident: Incident) -> dict[str, Any] | None:
    dispute: Dispute | None = getattr(incident, "dispute", None)
    if dispute is None or not can(actor, "dispute.view", dispute):
        return None
    casino = incident.casino
    return {
        "patron": dispute.patron,
        "law": dispute.law,
        "raised_at": as_text(dispute.raised_at, casino),
        "due_at": as_text(dispute.due_at, casino),
        "notified_at": moment_or_none(dispute.notified_at, casino),
        "patron_told_at": moment_or_none(dispute.patron_told_at, casino),
        "resolved_at": moment_or_none(dispute.resolved_at, casino),
        "resolution": dispute.resolution or None,
    }


# --- Evidence --------------------------------------------------------------------------------------


def evidence_document(actor: Any, evidence: Evidence) -> dict[str, Any]:
    """Return a piece of evidence with its chain of custody, without the place of its file on disk."""
    casino = evidence.casino
    return {
        "id": evidence.pk,
        "casino": casino.code,
        "incident": evidence.incident.number if evidence.incident else None,
        "entry": seen_key(actor, evidence.entry),
        "description": evidence.description,
        "confidential": evidence.is_confidential,
        "file": file_document(evidence) if evidence.is_file else None,
        "camera": evidence.camera or None,
        "time_code": evidence.time_code or None,
        "recording": evidence.recording or None,
        "keep_until": evidence.keep_until.isoformat() if evidence.keep_until else None,
        "added_by": evidence.who,
        "at": as_text(evidence.at, casino),
        "custody": [
            {"what": touch.what, "at": as_text(touch.at, casino), "who": touch.who, "door": touch.door}
            for touch in evidence.custody.all()
        ],
    }


def file_document(evidence: Evidence) -> dict[str, Any]:
    return {
        "name": evidence.name, "type": evidence.content_type, "size": evidence.size,
        "sha256": bytes(evidence.sha256 or b"").hex(),
    }  # fmt: skip


# --- What was found --------------------------------------------------------------------------------


def hit_document(hit: Hit) -> dict[str, Any]:
    """Return a match of the search with the number of its incident or log entry."""
    thing: Any = hit.thing
    incident = thing if isinstance(thing, Incident) else getattr(thing, "incident", None)
    at = thing.occurred_from if isinstance(thing, Incident) else thing.at
    place = thing if incident is None else incident
    return {
        "kind": KINDS[type(thing)],
        "id": thing.pk if isinstance(thing, LogEntry) else None,
        "incident": incident.number if incident else None,
        "casino": place.casino.code,
        "table": place.table.code if place.table else None,
        "at": as_text(at, place.casino),
        "confidential": getattr(thing, "is_confidential", False),
        "text": hit.words[:LONGEST_EXCERPT],
    }


KINDS: Mapping[type, str] = {LogEntry: "log-entry", Incident: "incident", IncidentNote: "note"}
