"""Incident files: to read, to open, to take from state to state, to add notes to."""

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from audits.api import operations
from audits.api.finding import incident_of
from audits.api.periods import PERIOD, period
from audits.documents import incident_document, incident_line, note_document
from audits.incidents.searching import IncidentFilter, incidents_found
from audits.incidents.situations import situations
from audits.models import IncidentState
from audits.reading import read_note, read_report, read_step
from audits.services.incidents import incident_note, incident_open, incident_step
from games.api.query import PAGES, allowed, choice, text
from games.api.views import GatedView, Pages
from games.services.gate import authorize


class IncidentPages(Pages):
    ordering = ("-occurred_from", "-pk")


class IncidentList(GatedView):
    @operations.incident_list
    def get(self, request: Request) -> Response:
        authorize(self.actor, "incident.view")
        allowed(request, "table", "state", "situation", *PERIOD, *PAGES)
        pages = IncidentPages()
        page = pages.paginate_queryset(incidents_found(self.actor, wanted(request)), request, view=self) or []
        return pages.get_paginated_response([incident_line(one) for one in page])

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
        """Answers the file as it is now; 409 where the step does not follow from its state."""
        allowed(request, "casino")
        incident = incident_of(self.actor, number, request)
        to, reason = read_step(self.actor, request.data)
        incident = incident_step(actor=self.actor, incident=incident, to=to, reason=reason)
        return Response(incident_document(self.actor, incident))


class IncidentNotes(GatedView):
    @operations.incident_note
    def post(self, request: Request, number: str) -> Response:
        allowed(request, "casino")
        incident = incident_of(self.actor, number, request)
        authorize(self.actor, "incident.change", incident)
        text, is_confidential = read_note(self.actor, request.data)
        note = incident_note(actor=self.actor, incident=incident, text=text, is_confidential=is_confidential)
        return Response(note_document(note, incident.casino), status=status.HTTP_201_CREATED)


def wanted(request: Request) -> IncidentFilter:
    return IncidentFilter(
        text(request, "table"), choice(request, "state", IncidentState.values),
        choice(request, "situation", situations()), period(request),
    )  # fmt: skip
