"""Incidents: list, read, open, take to another state, add notes."""

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from audits.api import operations
from audits.api.lookup import incident_of
from audits.api.periods import PERIOD, period
from audits.incidents.checklist import checklist_of
from audits.incidents.parser import read_confirmation, read_consent, read_note, read_report, read_step, read_tick
from audits.incidents.search import IncidentFilter, incidents_found
from audits.incidents.serializers import checklist_document, incident_document, incident_line, note_document
from audits.incidents.services.checklist import step_tick
from audits.incidents.services.incidents import incident_note, incident_open, incident_step, party_confirm
from audits.incidents.situations import situations
from audits.models import IncidentState
from audits.rulings.conflict_of_interest import group_rulers_of
from audits.rulings.services.rulings import ruling_consent
from games.access.gate import authorize
from games.api.query_parameters import PAGES, allowed, choice, text
from games.api.views import GatedView, Pages
from games.engine.errors import InputError


class IncidentPages(Pages):
    ordering = ("-occurred_from", "-pk")


class IncidentList(GatedView):
    @operations.incident_list
    def get(self, request: Request) -> Response:
        authorize(self.actor, "incident.view")
        allowed(request, "table", "state", "situation", *PERIOD, *PAGES)
        pages = IncidentPages()
        page = pages.paginate_queryset(incidents_found(self.actor, filter_from(request)), request, view=self) or []
        return pages.get_paginated_response([incident_line(incident) for incident in page])

    @operations.incident_add
    def post(self, request: Request) -> Response:
        authorize(self.actor, "incident.open")
        allowed(request)
        incident = incident_open(actor=self.actor, report=read_report(self.actor, request.data))
        return Response(incident_document(self.actor, incident), status=status.HTTP_201_CREATED)


class IncidentDetail(GatedView):
    @operations.incident_read
    def get(self, request: Request, number: str) -> Response:
        allowed(request, "casino")
        return Response(incident_document(self.actor, incident_of(self.actor, number, request)))


class IncidentSteps(GatedView):
    @operations.incident_step
    def post(self, request: Request, number: str) -> Response:
        """Answer with the incident as it is now; 409 where its state does not allow the step."""
        allowed(request, "casino")
        incident = incident_of(self.actor, number, request)
        to, reason = read_step(self.actor, request.data)
        incident = incident_step(actor=self.actor, incident=incident, to=to, reason=reason)
        return Response(incident_document(self.actor, incident))


class IncidentChecklist(GatedView):
    @operations.incident_checklist
    def post(self, request: Request, number: str) -> Response:
        allowed(request, "casino")
        incident = incident_of(self.actor, number, request)
        authorize(self.actor, "incident.change", incident)
        step, is_done = read_tick(self.actor, request.data)
        step_tick(actor=self.actor, incident=incident, step=step, is_done=is_done)
        return Response(checklist_document(checklist_of(incident)[step - 1], incident.casino))


class IncidentConfirmations(GatedView):
    @operations.incident_confirm
    def post(self, request: Request, number: str) -> Response:
        allowed(request, "casino")
        incident = incident_of(self.actor, number, request)
        authorize(self.actor, "incident.confirm", incident)
        part, reference, reason = read_confirmation(self.actor, request.data)
        person = incident.people.filter(part=part, reference=reference.strip()).first()
        if person is None:
            raise InputError(f"reference: no {part} {reference!r:.60} is named on {incident}; add the person first.")
        party_confirm(actor=self.actor, person=person, reason=reason)
        return Response(incident_document(self.actor, incident), status=status.HTTP_201_CREATED)


class RulingConsents(GatedView):
    @operations.ruling_consent
    def post(self, request: Request, number: str) -> Response:
        allowed(request, "casino")
        incident = incident_of(self.actor, number, request)
        authorize(self.actor, "ruling.consent", incident)
        number_of, reason = read_consent(self.actor, request.data)
        ruler = next(
            (group_ruler for group_ruler in group_rulers_of(incident) if group_ruler.number == number_of.strip()), None
        )
        if ruler is None:
            raise InputError(f"ruler: {number_of!r:.60} is not a group casino manager who may rule; choose one.")
        ruling_consent(actor=self.actor, incident=incident, ruler=ruler, reason=reason)
        return Response(incident_document(self.actor, incident), status=status.HTTP_201_CREATED)


class IncidentNotes(GatedView):
    @operations.incident_note
    def post(self, request: Request, number: str) -> Response:
        allowed(request, "casino")
        incident = incident_of(self.actor, number, request)
        authorize(self.actor, "incident.change", incident)
        text, is_confidential = read_note(self.actor, request.data)
        note = incident_note(actor=self.actor, incident=incident, text=text, is_confidential=is_confidential)
        return Response(note_document(note, incident.casino), status=status.HTTP_201_CREATED)


def filter_from(request: Request) -> IncidentFilter:
    return IncidentFilter(
        text(request, "table"), choice(request, "state", IncidentState.values),
        choice(request, "situation", situations()), period(request),
    )  # fmt: skip
