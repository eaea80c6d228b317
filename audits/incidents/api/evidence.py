"""Evidence: added as a file or a camera reference, listed, and downloaded with an entry in its chain of custody."""

from typing import Any

from django.http import FileResponse, Http404
from rest_framework import status
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import MultiPartParser
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from audits.api import operations
from audits.api.lookup import entry_of, evidence_of, incident_of
from audits.incidents import search
from audits.incidents.evidence.response import evidence_response
from audits.incidents.parser import read_camera, read_file_form
from audits.incidents.serializers import evidence_document
from audits.incidents.services.evidence import camera_add, evidence_add
from audits.models import Evidence, Incident, LogEntry
from games.access.gate import authorize
from games.access.services.access_records import confidential_read
from games.api.json_parser import StrictJSONParser
from games.api.query_parameters import PAGES, allowed
from games.api.views import GatedView, Pages
from games.engine.errors import InputError
from games.models import Staff

FORM = "multipart/form-data"
MISSING = "file: is missing; send one file under this name, in a body with its length."


class EvidencePages(Pages):
    ordering = "pk"


class EvidenceView(GatedView):
    """Evidence of an incident or a log entry."""

    parser_classes = [StrictJSONParser, MultiPartParser]

    def listed(self, request: Request, about: Incident | LogEntry) -> Response:
        authorize(self.actor, "evidence.view")
        known = search.evidence_of(self.actor, about).select_related("casino", "incident", "entry")
        pages = EvidencePages()
        page = pages.paginate_queryset(known, request, view=self) or []
        confidential_read(self.actor, page)
        return pages.get_paginated_response([evidence_document(self.actor, evidence) for evidence in page])

    def added(self, request: Request, about: Incident | LogEntry) -> Response:
        authorize(self.actor, "evidence.add", about)
        is_form = (request.content_type or "").partition(";")[0].strip().lower() == FORM
        evidence = file_added(self.actor, about, request) if is_form else camera_added(self.actor, about, request)
        return Response(evidence_document(self.actor, evidence), status=status.HTTP_201_CREATED)


class IncidentEvidence(EvidenceView):
    @operations.incident_evidence_list
    def get(self, request: Request, number: str) -> Response:
        allowed(request, "casino", *PAGES)
        return self.listed(request, incident_of(self.actor, number, request))

    @operations.incident_evidence_add
    def post(self, request: Request, number: str) -> Response:
        allowed(request, "casino")
        return self.added(request, incident_of(self.actor, number, request))


class LogEntryEvidence(EvidenceView):
    @operations.entry_evidence_list
    def get(self, request: Request, key: int) -> Response:
        entry = entry_of(self.actor, key)
        allowed(request, *PAGES)
        return self.listed(request, entry)

    @operations.entry_evidence_add
    def post(self, request: Request, key: int) -> Response:
        entry = entry_of(self.actor, key)
        allowed(request)
        return self.added(request, entry)


def file_added(actor: Staff, about: Incident | LogEntry, request: Request) -> Evidence:
    """Add one file with its description; refuse a form with anything else."""
    form = form_of(request)
    files = [file for name, found in request.FILES.lists() for file in found if name == "file"]
    if unknown := sorted(name for name in request.FILES if name != "file"):
        raise InputError(*(f"{name[:60]}: is not a known file; send one under the name file." for name in unknown))
    if len(files) != 1:
        raise InputError(MISSING if not files else "file: is given twice; send one file at a time.")
    values = read_file_form(actor, form)
    return evidence_add(actor=actor, about=about, name=files[0].name or "", content=files[0], **values)


def form_of(request: Request) -> dict[str, Any]:
    """Return the form fields other than the file."""
    if doubled := [name for name, values in request.POST.lists() if len(values) > 1]:
        raise InputError(*(f"{name[:60]}: is given twice; keep one of them." for name in doubled))
    return dict(request.POST.items())


def camera_added(actor: Staff, about: Incident | LogEntry, request: Request) -> Evidence:
    return camera_add(actor=actor, about=about, **read_camera(actor, request.data))


class EvidenceDetail(GatedView):
    @operations.evidence_read
    def get(self, request: Request, key: int) -> Response:
        evidence = evidence_of(self.actor, key)
        allowed(request)
        confidential_read(self.actor, [evidence])
        return Response(evidence_document(self.actor, evidence))


class AnyType(BaseContentNegotiation):
    """Answer with the file as it is, whatever `Accept` says; a refusal is JSON."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        return None

    def select_renderer(self, request: Request, renderers: Any, format_suffix: Any = None) -> Any:
        return JSONRenderer(), JSONRenderer.media_type


class EvidenceContent(GatedView):
    content_negotiation_class = AnyType

    @operations.evidence_content
    def get(self, request: Request, key: int) -> FileResponse:
        evidence = evidence_of(self.actor, key)
        allowed(request)
        if not evidence.is_file:
            raise Http404(f"Evidence {key} has no file; its record names the camera and where the recording is kept.")
        return evidence_response(actor=self.actor, evidence=evidence)
