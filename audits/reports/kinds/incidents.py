"""The report of incidents: times, situation, advice, decision and outcome."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import Prefetch, QuerySet

from audits.exports.document import Column, Row
from audits.incidents.labels import ACTIONS, AUTHORITIES, situation_label
from audits.models import (
    Consequence,
    ConsequenceDecision,
    Incident,
    IncidentNote,
    IncidentPerson,
    IncidentRound,
    IncidentStep,
    Ruling,
)
from audits.reports.columns import CASINO, CONFIDENTIAL, PIT, list_column, moment_column, person_column, text_column
from audits.reports.kinds.findings import RULES, TABLE
from audits.reports.kinds.placed_report import CHUNK, PlacedReport, code_of
from audits.reports.report_kind import Shelf
from games.models import Round

#: How many rounds a cell names. It counts the others.
ROUNDS_NAMED = 20
WAITING = "Waiting for a second person"


class Incidents(PlacedReport):
    """Incidents reported in the period, by the time of the report. Their numbers have no gaps."""

    kind, title, things = "incidents", "Incidents", "incidents"
    shelf = Shelf.REGULATOR
    about = (
        "For the regulator, compliance and pit managers: every incident reported in the period, with its times, the "
        "situation, the advice given and the outcome."
    )
    needs = ("incident.view", "ruling.view", "consequence.view")
    rules = ("RWS 3.8, 5.1 to 5.14", "Division 9: 4.3 to 4.9, 7.1 to 7.5")
    can_be_confidential = True
    columns = (
        Column("number", "Number", width=15),
        CASINO,
        PIT,
        TABLE,
        moment_column("reported_at", "Reported at"),
        person_column("reported_by", "Reported by"),
        moment_column("occurred_from", "Occurred from"),
        moment_column("occurred_to", "Occurred to"),
        text_column("situation", "Situation", 26),
        text_column("account", "Account", 40),
        text_column("advice", "Advice", 22),
        text_column("decides", "Who decides", 22),
        RULES,
        list_column("rounds", "Rounds", 24),
        list_column("people", "People", 30),
        list_column("rulings", "Rulings", 15),
        text_column("decision", "Decision", 36),
        list_column("actions", "Corrective actions", 30),
        Column("state", "Status", width=16),
        moment_column("state_since", "Status since"),
        person_column("state_by", "Status set by"),
        text_column("outcome", "Outcome", 36),
        text_column("notes", "Notes", 40),
        CONFIDENTIAL,
    )

    def nil(self) -> str:
        return "No incidents were reported in the period."

    def incidents(self) -> QuerySet[Incident]:
        """Return the incidents in the report's order, with everything that their rows show."""
        reported = self.in_period(self.placed(Incident.objects.all()), "reported_at")
        capacity = self.request.capacity
        rounds = IncidentRound.objects.filter(round__in=Round.objects.filter(capacity.within(Round)).order_by())
        rulings = Ruling.objects.filter(capacity.within(Ruling)).defer("search")
        notes = IncidentNote.objects.filter(capacity.within(IncidentNote)).defer("search")
        return (
            reported.select_related("casino", "pit", "table").defer("search").prefetch_related(
                Prefetch("steps", IncidentStep.objects.order_by("at", "pk")),
                Prefetch("people", IncidentPerson.objects.select_related("staff", "confirmation").order_by("pk")),
                Prefetch("rounds", rounds.select_related("round").only("incident_id", "round__ref")
                         .order_by("round__started_at", "round__ref")),
                Prefetch("rulings", rulings.order_by("made_at", "pk")),
                Prefetch("consequences", Consequence.objects.select_related("decision").order_by("at", "pk")),
                Prefetch("notes", notes.order_by("at", "pk")),
            )
            .order_by("reported_at", "number", "casino__code")
        )  # fmt: skip

    def rows(self) -> Iterator[Row]:
        return map(_row, self.incidents().iterator(CHUNK))


def _row(incident: Incident) -> Row:
    rulings, notes, steps = (list(getattr(incident, name).all()) for name in ("rulings", "notes", "steps"))
    last = steps[-1] if steps else None
    advice: dict[str, Any] = incident.advice or {}
    action, authority = advice.get("action", ""), advice.get("authority", "")
    return (
        incident.number, incident.casino.code, code_of(incident.pit), code_of(incident.table), incident.reported_at,
        incident.who, incident.occurred_from, incident.occurred_to, _situation(incident), incident.account,
        ACTIONS.get(action, action) or advice.get("explain"), AUTHORITIES.get(authority, authority) or None,
        advice.get("rules", []), _refs([round_.round.ref for round_ in incident.rounds.all()]),
        [_person(person) for person in incident.people.all()], [ruling.number for ruling in rulings],
        rulings[-1].decision if rulings else None, [_action(order) for order in incident.consequences.all()],
        incident.get_state_display(), incident.state_since, last.who if last else None, last.reason if last else None,
        "\n".join(map(_note, notes)) or None, any(note.is_confidential for note in notes),
    )  # fmt: skip


def _situation(incident: Incident) -> str:
    """Name the situation with the facts for the advice: `The game was interrupted (known dice 2,?,?)`."""
    facts = "; ".join(f"{name.replace('_', ' ')} {value}" for name, value in incident.facts.items())
    return f"{situation_label(incident.situation)} ({facts})" if facts else situation_label(incident.situation)


def _refs(refs: Sequence[str]) -> list[str]:
    more = len(refs) - ROUNDS_NAMED
    return [*refs[:ROUNDS_NAMED], f"and {more:,} more"] if more > 0 else list(refs)


def _person(incident_person: IncidentPerson) -> str:
    named = f"{incident_person.get_part_display()} {incident_person.staff or incident_person.reference}"
    return f"{named} (named, not confirmed)" if incident_person.is_party and not incident_person.is_confirmed else named


def _action(order: Consequence) -> str:
    if order.is_waiting:
        return f"{order}: {WAITING.lower()}"
    return f"{order}: {ConsequenceDecision.Outcome(order.decision.outcome).label.lower()}"


def _note(note: IncidentNote) -> str:
    mark = "Confidential: " if note.is_confidential else ""
    return f"{mark}{note.text} ({note.who})"
