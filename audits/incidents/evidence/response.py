"""The download of evidence: a file to save, never content that a browser shows or runs."""

from django.http import FileResponse

from audits.incidents.services.evidence import evidence_open
from audits.models import CustodyStep, Evidence
from games.models import Staff

#: A browser must not guess the type, run anything in the file, or cache it.
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cache-Control": "no-store",
}
CONTENT_TYPE = "application/octet-stream"  # the evidence record holds the real type


def evidence_response(*, actor: Staff, evidence: Evidence, what: str = CustodyStep.What.COPIED) -> FileResponse:
    """Stream the file, after recording the access: `copied` for a download, `opened` for a view."""
    path = evidence_open(actor=actor, evidence=evidence, what=what)
    return FileResponse(
        path.open("rb"), as_attachment=True, filename=evidence.name, content_type=CONTENT_TYPE, headers=HEADERS
    )
