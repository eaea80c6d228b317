"""API views of reports: request, read, cancel, download."""

import uuid
from typing import Any

from django.http import FileResponse, Http404
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from audits.incidents.api.evidence import AnyType
from audits.incidents.parser import BodyReader
from audits.models import ReportFormat, ReportRun
from audits.reports.api import operations
from audits.reports.file_response import report_response
from audits.reports.reach import VIEW, report_authorize, reports_seen
from audits.reports.registry import REPORTS
from audits.reports.services.reports import report_ask, report_cancel
from audits.tasks import take_report
from games.access.gate import Actor, authorize, deny
from games.api.query_parameters import PAGES, allowed, choice
from games.api.views import GatedView, Pages
from games.floor.moments import as_text
from games.models import Casino, Table

FIELDS = ("kind", "from", "to", "table", "format", "casino")
RELATED = ("casino", "pit", "table__casino", "certificate")


class ReportPages(Pages):
    ordering = ("-asked_at", "-pk")


class ReportList(GatedView):
    @operations.report_list
    def get(self, request: Request) -> Response:
        authorize(self.actor, VIEW)
        allowed(request, "kind", *PAGES)
        kind = choice(request, "kind", sorted(REPORTS))
        runs = reports_seen(self.actor).select_related(*RELATED)
        pages = ReportPages()
        page = pages.paginate_queryset(runs.filter(kind=kind) if kind else runs, request, view=self) or []
        return pages.get_paginated_response([report_document(run) for run in page])

    @operations.report_add
    def post(self, request: Request) -> Response:
        authorize(self.actor, "report.export")
        allowed(request)
        run = report_ask(actor=self.actor, send=take_report.delay, **read_report_asked(self.actor, request.data))
        return Response(report_document(run), status=status.HTTP_202_ACCEPTED)


class ReportDetail(GatedView):
    @operations.report_read
    def get(self, request: Request, key: uuid.UUID) -> Response:
        run = report_of(self.actor, key)
        allowed(request)
        return Response(report_document(run))


class ReportCancel(GatedView):
    @operations.report_cancel
    def post(self, request: Request, key: uuid.UUID) -> Response:
        run = report_of(self.actor, key)
        report_authorize(self.actor, run.kind, casino=run.casino, table=run.table)
        allowed(request)
        return Response(report_document(report_cancel(actor=self.actor, run=run)))


class ReportFile(GatedView):
    content_negotiation_class = AnyType

    @operations.report_file
    def get(self, request: Request, key: uuid.UUID) -> FileResponse:
        run = report_of(self.actor, key)
        allowed(request, "certified")
        certified = choice(request, "certified", ["true", "false"]) == "true"
        if certified and not hasattr(run, "certificate"):
            raise Http404(f"Report {key} is not certified.")
        return report_response(actor=self.actor, run=run, certified=certified)


def report_of(actor: Actor, key: uuid.UUID) -> ReportRun:
    """Return the report; raise the same error if it does not exist and if the caller may not see it."""
    authorize(actor, VIEW)
    run = reports_seen(actor).select_related(*RELATED).filter(pk=key).first()
    if run is None:
        deny(actor, VIEW)
        raise Http404(f"There is no report {key}.")
    return run


def read_report_asked(actor: Actor, document: object) -> dict[str, Any]:
    """Return the arguments of `report_ask` from a request."""
    reader = BodyReader(actor, document, FIELDS, "kind", "from", "to", "format")
    values = {
        "kind": reader.choice("kind", sorted(REPORTS)), "format": reader.choice("format", ReportFormat.values),
        "first": reader.day("from"), "last": reader.day("to"),
    }  # fmt: skip
    table = reader.coded("table", Table)
    casino = reader.coded("casino", Casino) if "casino" in reader.data else None
    reader.done()
    return {**values, "table": table, "casino": casino}


def report_document(run: ReportRun) -> dict[str, Any]:
    """Return a report as JSON data."""

    def moment(value: Any) -> str | None:
        return None if value is None else as_text(value, run.casino) if run.casino else value.isoformat()

    certificate = getattr(run, "certificate", None)
    return {
        "id": str(run.pk), "kind": run.kind, "title": REPORTS[run.kind].title, "format": run.format,
        "from": run.first_day.isoformat(), "to": run.last_day.isoformat(), "shift": run.shift or None,
        "casino": run.casino.code if run.casino else None, "pit": run.pit.code if run.pit else None,
        "table": run.table.code if run.table else None, "confidential": run.is_confidential, "asked_by": run.who,
        "asked_at": moment(run.asked_at), "state": run.state, "rows_read": run.rows_read, "row_count": run.row_count,
        "sha256": run.sha256 or None, "size": run.size, "as_of": moment(run.as_of), "engine": run.engine or None,
        "rulebooks": run.rulebooks, "fault": run.fault or None, "expires_at": moment(run.expires_at),
        "figures_changed_at": moment(run.changed_at),
        "certificate": None if certificate is None else {
            "name": certificate.name, "post": certificate.post, "statement": certificate.statement,
            "at": moment(certificate.at), "sha256": certificate.sha256,
        },
    }  # fmt: skip
