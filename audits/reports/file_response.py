"""Answer a request with a report's file, as a download that browsers do not display."""

from django.http import FileResponse

from audits.exports.writers import CONTENT_TYPES
from audits.incidents.evidence.response import HEADERS
from audits.models import ReportRun
from audits.reports.services.reports import file_name, report_file
from games.models import Staff


def report_response(*, actor: Staff, run: ReportRun, certified: bool = False) -> FileResponse:
    """Return the file of a report as a stream, after the export is on record."""
    path = report_file(actor=actor, run=run, certified=certified)
    return FileResponse(
        path.open("rb"), as_attachment=True, filename=file_name(run, certified=certified),
        content_type=CONTENT_TYPES[run.format], headers=HEADERS,
    )  # fmt: skip
