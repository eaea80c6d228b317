"""Refusals that come from no view: missing, too large, too often, unavailable.

People get a page, programs a problem (RFC 9457). No refusal needs the database unless the person is known to be
logged in.
"""

import errno
import sys
from typing import cast

from csp.constants import UNSAFE_EVAL
from csp.decorators import csp_update
from django.contrib import admin
from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.defaults import bad_request

from games.api.problems import is_call, problem_outside
from games.rounds.services.uploads import UploadRefusedError
from taisai_backoffice.web.bodies import LARGEST_BODY, MEGABYTE

#: Seconds until the next attempt while the database or the disk is unavailable.
RETRY_SECONDS = 5
#: Errors of a home that cannot be written: full, over its quota, or mounted read-only.
DISK_FAULTS = {errno.ENOSPC, errno.EDQUOT, errno.EROFS}
TOO_LARGE = (
    f"The body is larger than {LARGEST_BODY // MEGABYTE} MB, the most that a form or call may send; nothing of it was "
    "read. Files of rounds go to rounds/import/, evidence to its incident or log entry."
)
OUTAGE = (
    "The site cannot reach its database or its disk at the moment; try again shortly. If you were saving something, "
    "check first whether it is there."
)
FAULT = (
    "Something went wrong on our side. Nothing was saved by this request; the log has the reason with its request id."
)


def unreadable(request: HttpRequest, exception: Exception) -> HttpResponse:
    if isinstance(exception, UploadRefusedError):
        return refusal(request, 413, "Too large", str(exception))
    if isinstance(exception, RequestDataTooBig):
        return refusal(request, 413, "Too large", TOO_LARGE)
    if is_call(request):
        return problem_outside(400, "Not readable", "The call is not readable, or has too many parameters; check it.")
    return bad_request(request, exception)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _page(
        request,
        403,
        "Not open to you",
        str(exception) or "Your post does not open this page. The attempt is on record.",
    )


def busy(request: HttpRequest, message: str, wait: int) -> HttpResponse:
    """Answer 503 at once, with the time after which to try again."""
    answer = problem_outside(503, "Busy", message) if is_call(request) else _page(request, 503, "Busy", message)
    answer["Retry-After"] = str(wait)
    return answer


def missing(request: HttpRequest, exception: Exception) -> HttpResponse:
    if is_call(request):
        return problem_outside(
            404, "Not there", "There is nothing at this address; /api/v1/schema/ names all there are."
        )
    return _page(
        request, 404, "No such page", "There is nothing at this address. It may be mistyped, or the link may be old."
    )


def failed(request: HttpRequest) -> HttpResponse:
    """Answer an error that no view handled: 503 with a time to retry while a server is away, else 500."""
    if is_outage(sys.exc_info()[1]):
        code, title, message = 503, "Not available", OUTAGE
    else:
        code, title, message = 500, "Something went wrong", FAULT
    if is_call(request):
        answer: HttpResponse = problem_outside(code, title, message)
    else:
        answer = plain_page(code, title, message)
    if code == 503:  # noqa: PLR2004
        answer.headers["Retry-After"] = str(RETRY_SECONDS)
    return answer


def is_outage(error: BaseException | None) -> bool:
    """Return whether an error comes from a database or disk that may be back shortly."""
    if isinstance(error, OSError):
        return error.errno in DISK_FAULTS
    return isinstance(error, OperationalError | InterfaceError)


def refusal(request: HttpRequest, code: int, title: str, message: str, **headers: str) -> HttpResponse:
    """Refuse a request before its view, with a page or a problem."""
    if is_call(request):
        answer: HttpResponse = problem_outside(code, title, message)
    else:
        answer = _page(request, code, title, message)
    for name, value in headers.items():
        answer.headers[name.replace("_", "-")] = value
    return answer


def plain_page(code: int, title: str, message: str) -> HttpResponse:
    """Make a page that needs neither the database nor static files."""
    return HttpResponse(render_to_string("plain.html", {"title": title, "message": message}), status=code)


def _page(request: HttpRequest, status: int, title: str, message: str) -> HttpResponse:
    """Answer with a normal page for a person with a session, or a problem if no page is accepted."""
    if not request.accepts("text/html"):
        return problem_outside(status, title, message)
    if admin.site.has_permission(request):
        return _page_inside(request, status, title, message)
    return plain_page(status, title, message)


def _page_inside(request: HttpRequest, status: int, title: str, message: str) -> HttpResponse:
    """Draw a page of Unfold's, whose Alpine evaluates its attributes."""
    context = {
        **admin.site.each_context(request),
        "title": title,
        "message": message,
        "inside": True,
        "layout": "admin/base_site.html",
    }

    @csp_update({"script-src": [UNSAFE_EVAL]})
    def page(request: HttpRequest) -> HttpResponseBase:
        return render(request, "refusal.html", context, status=status)

    return cast(HttpResponse, page(request))
