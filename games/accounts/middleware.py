"""What the session of a person has to pass: it is still alive, its second factor, a fresh confirmation."""

from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import Resolver404, resolve, reverse

from games.access.gate import freshness
from games.accounts.admin.confirmation import CONFIRM_FIELD, PASSKEY_FIELD, ask_again, confirm_by
from games.accounts.clients import remember_device
from games.accounts.services.fresh_factor import SAFE_METHODS, FreshFactorNeededError, verify_fresh
from games.accounts.services.second_factors import has_factor, is_factor_asked
from games.accounts.services.sessions import KNOWN_DEVICE, current, session_live
from games.api.authentication import SCHEME
from games.api.problems import is_call, problem_outside
from games.models import Staff
from taisai_backoffice.web.hashing import TooManyHashesError, is_full
from taisai_backoffice.web.refusals import busy

GetResponse = Callable[[HttpRequest], HttpResponse]

LOGIN_PATH = "/admin/login/"
#: A page that reloads itself adds this to its address: that is no use of the session.
POLL = "poll"
FORM = "application/x-www-form-urlencoded"
#: Open before the second factor was passed: to type it, or to leave.
ALWAYS_OPEN = {"healthz", "readyz", "admin:logout", "admin:jsi18n"}
#: Under the address of the API, but a page: it takes the session, whatever key comes with it.
PAGE_OF_CALLS = "api:docs"
CHECK_ROUTE, ENROL_ROUTE = "admin:second_factor_check", "admin:second_factor_enrol"
#: What belongs to these two pages: with a factor, a passkey is used; without any, a passkey may be the first.
BESIDE = {
    CHECK_ROUTE: {"admin:passkey_login_options"},
    ENROL_ROUTE: {"admin:passkey_add", "admin:passkey_enrol_options"},
}


class LoginFloodMiddleware:
    """Refuse a login at the very door while no password can be hashed: whoever floods it costs next to nothing."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.method == "POST" and request.path_info == LOGIN_PATH and is_full():
            busy = TooManyHashesError()
            headers = {"Retry-After": str(busy.wait), "Cache-Control": "no-store"}
            return HttpResponse(str(busy), status=503, content_type="text/plain; charset=utf-8", headers=headers)
        return self.get_response(request)


class BusyMiddleware:
    """Answer 503 at once where too many passwords are being hashed already, whatever the page."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, TooManyHashesError):
            return None
        return busy(request, str(exception), exception.wait)


class LoginMiddleware:
    """Log out whose session is over; know the session of the request; set the cookie of a known browser."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        login = None
        if isinstance(request.user, Staff):
            found = session_live(request, request.user, is_poll=POLL in request.META.get("QUERY_STRING", "").split("&"))
            if isinstance(found, str):
                logout(request)
                if not is_call(request):
                    messages.info(request, found)
            else:
                login = found
        token = current.set(login)
        try:
            response = self.get_response(request)
        finally:
            current.reset(token)
        if staff := getattr(request, KNOWN_DEVICE, None):
            remember_device(request, response, staff.number)
        return response


class SecondFactorMiddleware:
    """Before its second factor a session opens nothing but the page that asks for it; the API answers 403."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        user = request.user
        if not isinstance(user, Staff) or not user.is_staff or not is_factor_asked(user, current.get()):
            return self.get_response(request)
        is_enrolled = has_factor(user)
        route, asks = _route(request), CHECK_ROUTE if is_enrolled else ENROL_ROUTE
        if route in ALWAYS_OPEN | {asks} | BESIDE[asks] or (route != PAGE_OF_CALLS and _has_key(request)):
            return self.get_response(request)
        if is_call(request):
            return problem_outside(403, "Second factor needed", "Pass your second factor on the site first.")
        page = reverse(asks)
        wanted = request.get_full_path() if request.method == "GET" and route else ""
        return redirect(f"{page}?{urlencode({'next': wanted})}" if wanted else page)


class FreshFactorMiddleware:
    """Ask for a fresh confirmation where the gate says so, and send the form again that was interrupted by it."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        asks = settings.REQUIRE_SECOND_FACTOR and isinstance(request.user, Staff)
        token = freshness.set(partial(verify_fresh, request) if asks else None)
        try:
            return self.get_response(request)
        finally:
            freshness.reset(token)

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        """Check the secret that came with an interrupted form (after the CSRF token), then let the form go on."""
        user = request.user
        if request.method != "POST" or request.content_type != FORM or not isinstance(user, Staff):
            return None
        if is_call(request) or not freshness.get() or not {CONFIRM_FIELD, PASSKEY_FIELD} & request.POST.keys():
            return None
        sent = request.POST.copy()
        passkeys, secrets = sent.pop(PASSKEY_FIELD, []), sent.pop(CONFIRM_FIELD, [])
        request.POST = sent  # type: ignore[assignment]
        given = str((passkeys or secrets)[-1])
        fault = confirm_by(request, user, given, is_passkey=bool(passkeys))
        return ask_again(request, fault) if fault else None

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, FreshFactorNeededError):
            return None
        if request.method in SAFE_METHODS:
            return redirect(f"{reverse('admin:confirm')}?{urlencode({'next': request.get_full_path()})}")
        return ask_again(request)


def _has_key(request: HttpRequest) -> bool:
    """A call with a terminal's key is that terminal's, whatever session comes with it."""
    return is_call(request) and request.META.get("HTTP_AUTHORIZATION", "").lower().startswith(f"{SCHEME} ")


def _route(request: HttpRequest) -> str:
    try:
        return resolve(request.path_info).view_name
    except Resolver404:
        return ""
