"""How evidence leaves the house: as a file to keep, never as something that a browser shows or runs."""

from django.http import FileResponse

from audits.incidents.services.evidence import evidence_open
from audits.models import CustodyStep, Evidence
from games.models import Staff

#: Whatever the file is: a browser neither guesses its type, nor runs anything of it, nor keeps it.
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cache-Control": "no-store",
}
CONTENT_TYPE = "application/octet-stream"  # its own type stands in its record


def evidence_response(*, actor: Staff, evidence: Evidence, what: str = CustodyStep.What.COPIED) -> FileResponse:
    """The file, block by block. That he had it is on record first: `copied` for a download, `opened` for a look."""
    path = evidence_open(actor=actor, evidence=evidence, what=what)
    return FileResponse(
        path.open("rb"), as_attachment=True, filename=evidence.name, content_type=CONTENT_TYPE, headers=HEADERS
    )
