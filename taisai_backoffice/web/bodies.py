"""Limits on the size of a request's body and on how slowly it may arrive.

Every call and form may send 1 MB. A larger body is an upload: it has a route of its own (UPLOAD_ROUTES) and is read
only after login and permission. Anywhere else it is refused before a byte is read.
"""

import time

MEGABYTE = 1024 * 1024
#: The largest body of a call or a form.
LARGEST_BODY = MEGABYTE
#: How long such a body may take to arrive.
BODY_SECONDS = 10
#: An upload may pause this many seconds, and must keep this average of bytes per second.
SILENT_SECONDS = 10
SLOWEST_UPLOAD = 64 * 1024
#: The routes that accept files. They check login and permission before they read one.
UPLOAD_ROUTES = {
    "api:round_import",
    "api:incident_evidence",
    "api:log_entry_evidence",
    "admin:games_importjob_add",
    "admin:audits_incident_evidence",
    "admin:audits_logentry_evidence",
}


class BodyError(OSError):
    """The body did not arrive; Django makes an UnreadablePostError of it."""


class SlowBodyError(BodyError):
    def __init__(self) -> None:
        super().__init__("The upload was too slow, and nothing of it was kept; send it again over a faster connection.")


class IncompleteBodyError(BodyError):
    def __init__(self) -> None:
        super().__init__("The connection ended before the whole body arrived; nothing of it was kept.")


class UploadPace:
    """How long the next block of an upload may take: a pause is allowed, a trickle is not."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._bytes = 0

    def received(self, count: int) -> None:
        self._bytes += count

    def seconds_left(self) -> float:
        due = self._began + SILENT_SECONDS + self._bytes / SLOWEST_UPLOAD
        return max(0.0, min(SILENT_SECONDS, due - time.monotonic()))
