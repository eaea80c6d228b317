"""What every request passes at the door: bounds of its body, how often a person may ask, and what may be kept of it."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.urls import Resolver404, resolve

from games.api.problems import is_call
from games.models import Staff
from taisai_backoffice import health, throttle
from taisai_backoffice.bodies import LARGEST_BODY, UPLOAD_ROUTES
from taisai_backoffice.refusals import TOO_LARGE, refusal

GetResponse = Callable[[HttpRequest], HttpResponse]
PROBES: dict[str, GetResponse] = {"/healthz": health.alive, "/readyz": health.ready}


class NoStoreMiddleware:
    """Nothing of an API answer, nor of what a person with a session sees, is kept by a browser or a proxy."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        is_private = is_call(request) or settings.SESSION_COOKIE_NAME in (*request.COOKIES, *response.cookies)
        if is_private and "no-store" not in response.headers.get("Cache-Control", ""):
            response.headers["Cache-Control"] = "private, no-store"
        return response


class ProbeMiddleware:
    """The probes are answered before a session is looked for: they need no database, whatever cookie comes along."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        probe = PROBES.get(request.path_info)
        return probe(request) if probe else self.get_response(request)


class BodyMiddleware:
    """More than a call or form may send goes to an upload's route or nowhere; a file, only from whoever is logged in.

    The check of a form's token reads the form, before any page asks who sent it: therefore here.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if _length(request) > LARGEST_BODY:
            if route_of(request) not in UPLOAD_ROUTES:
                return refusal(request, 413, "Too large", TOO_LARGE)
            if not is_call(request) and not request.user.is_authenticated:
                return redirect_to_login(request.get_full_path(), "admin:login")
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if isinstance(exception, UnreadablePostError):
            return refusal(request, 408, "Not received", str(exception))
        return None


class PersonThrottleMiddleware:
    """People search, export and begin runs as often as a person can use, and not as often as a script would."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Any, *arguments: Any) -> HttpResponse | None:
        kind = throttle.kind_of(request)
        if kind is None or not isinstance(request.user, Staff):
            return None
        try:
            throttle.count(request.user, kind)
        except throttle.TooOftenError as error:
            return refusal(request, 429, "Too many requests", str(error), Retry_After=str(error.wait))
        return None


def _length(request: HttpRequest) -> int:
    text = request.META.get("CONTENT_LENGTH") or "0"
    return int(text) if text.isascii() and text.isdecimal() else 0


def route_of(request: HttpRequest) -> str:
    try:
        return resolve(request.path_info).view_name
    except Resolver404:
        return ""
