"""How the file of a report leaves the site: as a file to keep, never as something that a browser shows."""

from django.http import FileResponse

from audits.exports.writers import CONTENT_TYPES
from audits.incidents.evidence.response import HEADERS
from audits.models import ReportRun
from audits.reports.services.reports import file_name, report_file
from games.models import Staff


def report_response(*, actor: Staff, run: ReportRun, certified: bool = False) -> FileResponse:
    """Return the file, block by block. That the person had it is on record first."""
    path = report_file(actor=actor, run=run, certified=certified)
    return FileResponse(
        path.open("rb"), as_attachment=True, filename=file_name(run, certified=certified),
        content_type=CONTENT_TYPES[run.format], headers=HEADERS,
    )  # fmt: skip
