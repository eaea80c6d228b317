"""Middleware of every request: limits on its body, how often a person may ask, and what may be cached."""

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
#: Methods of pages. API calls declare their own.
PAGE_METHODS = ("GET", "HEAD", "POST")
PROBES: dict[str, GetResponse] = {"/healthz": health.alive, "/readyz": health.ready}


#: Methods that any page or call has. TRACE would send cookies back to the caller.
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
PLAIN_HTTP = "Calls are answered over HTTPS only. What you sent was not encrypted: replace the key or session in it."


class RequestLineMiddleware:
    """Refuse unused methods and calls over plain HTTP; keep answers out of other sites' pages.

    A browser is redirected to HTTPS. A program is not: its key would travel unencrypted, and no one would notice.
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
    """Keep API answers and pages of logged-in people out of the caches of browsers and proxies."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        is_private = is_call(request) or settings.SESSION_COOKIE_NAME in (*request.COOKIES, *response.cookies)
        if is_private and "no-store" not in response.headers.get("Cache-Control", ""):
            response.headers["Cache-Control"] = "private, no-store"
        return response


class ProbeMiddleware:
    """Answer the probes before a session is loaded: they need no database, whatever cookie is sent."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        probe = PROBES.get(request.path_info)
        return probe(request) if probe else self.get_response(request)


class MethodMiddleware:
    """Refuse methods that no page has, before a session is loaded: Django's admin would take DELETE for GET."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.method in PAGE_METHODS or is_call(request):
            return self.get_response(request)
        answer = plain_page(405, "Not possible", "Pages accept GET and POST only.")
        answer.headers["Allow"] = ", ".join(PAGE_METHODS)
        return answer


class BodyMiddleware:
    """Refuse large bodies except on upload routes, and files except from logged-in people.

    This is done here because the check of a form's token already reads the form.
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
    """Limit searches, exports and runs per person to more than a person needs and less than a script uses."""

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
