"""What every request passes at the door: bounds of its body, how often a person may ask, and what may be kept of it."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, UnreadablePostError
from django.urls import Resolver404, resolve

from games.api.problems import is_call, problem_outside
from games.models import Staff
from taisai_backoffice import health
from taisai_backoffice.web import throttle
from taisai_backoffice.web.bodies import LARGEST_BODY, UPLOAD_ROUTES
from taisai_backoffice.web.refusals import TOO_LARGE, plain_page, refusal

GetResponse = Callable[[HttpRequest], HttpResponse]
#: What a page is asked by. The calls of the API name their own.
PAGE_METHODS = ("GET", "HEAD", "POST")
PROBES: dict[str, GetResponse] = {"/healthz": health.alive, "/readyz": health.ready}


#: Methods that some page or call has. TRACE would send cookies back to whoever asks.
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
PLAIN_HTTP = "Calls are answered over HTTPS only. What you sent was not encrypted: replace the key or session in it."


class RequestLineMiddleware:
    """Refuse methods that nothing has, and calls over plain HTTP; keep answers out of other sites' pages.

    A browser is led to HTTPS. A program is not: its key would travel unencrypted, and the mistake would never show.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.method not in METHODS:
            response: HttpResponse = HttpResponseNotAllowed(sorted(METHODS))
        elif settings.SECURE_SSL_REDIRECT and is_call(request) and not request.is_secure():
            response = problem_outside(403, "HTTPS needed", PLAIN_HTTP)
        else:
            response = self.get_response(request)
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        return response


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


class MethodMiddleware:
    """Refuse what no page knows, before a session is looked for: Django's admin would take a DELETE for a GET."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.method in PAGE_METHODS or is_call(request):
            return self.get_response(request)
        answer = plain_page(405, "Not possible", "A page is opened or sent; it takes nothing else.")
        answer.headers["Allow"] = ", ".join(PAGE_METHODS)
        return answer


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
