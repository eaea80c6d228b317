"""Answer errors as problem+json (RFC 9457), with field paths."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig, ValidationError
from django.http import Http404, HttpRequest, JsonResponse, UnreadablePostError
from rest_framework import exceptions, status
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response

from games.access.gate import Denied
from games.accounts.services.fresh_factor import FreshFactorNeededError
from games.api.openapi import PROBLEM
from games.engine.errors import InputError
from games.engine.play.live_play import OrderError
from games.history.audited_save import OvertakenError
from games.live.services import LiveConflictError
from games.rounds.services.recording import RoundConflictError
from games.rounds.services.uploads import UploadRefusedError

#: How many faults of a document an answer lists: with more than these, the sending program is at fault.
MOST_FAULTS = 100
#: Fields of our records that have another name in calls.
FIELD_NAMES = {
    "__all__": "",
    "starts_at": "from",
    "is_correction": "correction",
    "is_confidential": "confidential",
    "was_monitored": "monitored",
}


def problem(exception: Exception, context: Any) -> Response | None:
    """Answer every refusal in one format (RFC 9457): what, where, and what to do."""
    request = context["request"]  # a refusal is always JSON, even if the answer would have been YAML
    request.accepted_renderer, request.accepted_media_type = JSONRenderer(), JSONRenderer.media_type
    for kind, answer in ANSWERS:
        if isinstance(exception, kind):
            answered: Response = answer(exception)
            return answered
    return None


def is_call(request: HttpRequest) -> bool:
    """Return whether a request is an API call, even at an unknown address."""
    return request.path.startswith("/api/")


def problem_outside(code: int, title: str, detail: str) -> JsonResponse:
    """Answer a call that was refused before it reached a view."""
    return JsonResponse(_body(code, title, detail), status=code, content_type=PROBLEM)


def _body(code: int, title: str, detail: str) -> dict[str, Any]:
    return {"type": "about:blank", "title": title, "status": code, "detail": detail}


def _answer(code: int, title: str, detail: str, errors: list[dict[str, str]] | None = None, **headers: str) -> Response:
    body = _body(code, title, detail)
    if errors:
        body["errors"] = errors[:MOST_FAULTS]
    return Response(body, status=code, content_type=PROBLEM, headers=headers)


def _invalid(error: Any) -> Response:
    code = status.HTTP_409_CONFLICT if isinstance(error, OvertakenError) else status.HTTP_400_BAD_REQUEST
    title = "Overtaken" if isinstance(error, OvertakenError) else "Refused"
    if hasattr(error, "error_dict"):
        faults = [
            {"field": FIELD_NAMES.get(name, name), "message": message}
            for name, messages in error.message_dict.items()
            for message in messages
        ]
    else:
        faults = [{"field": "", "message": message} for message in error.messages]
    return _answer(code, title, _joined([fault["message"] for fault in faults]), faults)


def _wrong_input(error: Any) -> Response:
    faults = [
        dict(zip(("field", "message"), fault.split(": ", 1), strict=False))
        if ": " in fault
        else {"field": "", "message": fault}
        for fault in error.faults
    ]
    return _answer(status.HTTP_400_BAD_REQUEST, "Wrong input", _joined(error.faults), faults)


def _joined(faults: Sequence[str]) -> str:
    more = len(faults) - MOST_FAULTS
    return " ".join(faults[:MOST_FAULTS]) + (f" And {more} more." if more > 0 else "")


def _denied(error: Any) -> Response:
    return _answer(status.HTTP_403_FORBIDDEN, "Not open to you", str(error) or "Your post does not open this.")


def _not_fresh(error: Any) -> Response:
    return _answer(status.HTTP_403_FORBIDDEN, "Confirmation needed", str(error))


def _conflict(error: Any) -> Response:
    return _answer(status.HTTP_409_CONFLICT, "Conflict", str(error))


def _out_of_order(error: Any) -> Response:
    answer = _answer(status.HTTP_409_CONFLICT, "Out of order", str(error))
    answer.data["rules"] = list(error.rules)
    return answer


def _too_large(error: Any) -> Response:
    detail = "The body is larger than 1 MB, the most for a call; send rounds as a file to rounds/import/."
    if isinstance(error, UploadRefusedError):
        detail = str(error)
    return _answer(status.HTTP_413_REQUEST_ENTITY_TOO_LARGE, "Too large", detail)


def _not_received(error: Any) -> Response:
    return _answer(status.HTTP_408_REQUEST_TIMEOUT, "Not received", str(error))


def _missing(error: Any) -> Response:
    return _answer(status.HTTP_404_NOT_FOUND, "Not there", str(error) or "There is nothing at this address.")


def _api(error: Any) -> Response:
    headers = {}
    if getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = error.auth_header
    if getattr(error, "wait", None):
        headers["Retry-After"] = str(int(error.wait))
    return _answer(error.status_code, HTTPStatus(error.status_code).phrase, str(error.detail), **headers)


ANSWERS: list[tuple[Any, Any]] = [
    (ValidationError, _invalid),
    (OrderError, _out_of_order),
    (InputError, _wrong_input),
    (RoundConflictError, _conflict),
    (LiveConflictError, _conflict),
    (RequestDataTooBig, _too_large),
    (FreshFactorNeededError, _not_fresh),
    (UnreadablePostError, _not_received),
    (Denied, _denied),
    (PermissionDenied, _denied),
    (Http404, _missing),
    (exceptions.APIException, _api),
]
