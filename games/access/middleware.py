"""What every request passes on its way in: the casino's clock, and the door it came through."""

from collections.abc import Callable
from typing import Any
from zoneinfo import ZoneInfo

import structlog
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import Resolver404, resolve
from django.utils import timezone

from games.access.gate import Denied, deny, entry_point
from games.models import Staff, Terminal

GetResponse = Callable[[HttpRequest], HttpResponse]

#: Where somebody goes who has to choose a password of his own first.
PASSWORD_ROUTES = {"admin:password_change", "admin:password_change_done", "admin:logout", "admin:jsi18n"}


class CasinoTimeMiddleware:
    """Pages show the time of the person's casino; people of no single casino see UTC."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        casino = request.user.casino if isinstance(request.user, Staff) else None
        with timezone.override(ZoneInfo(casino.timezone) if casino else None):
            return self.get_response(request)


class DoorMiddleware:
    """Names the door for the gate, and puts refusals on record that did not come from the gate itself."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        len(request.GET)  # too many parameters are refused here, before a page of ours is made of them
        token = entry_point.set(f"{request.method} {request.path}")
        try:
            if getattr(request.user, "must_change_password", False) and not _is_open_before(_route(request)):
                return redirect("admin:password_change")
            return self.get_response(request)
        finally:
            entry_point.reset(token)

    def process_exception(self, request: HttpRequest, exception: Exception) -> None:
        if isinstance(exception, PermissionDenied) and not isinstance(exception, Denied):
            deny(request.user, "page.open", request.path)


def log_no_person(request: HttpRequest, **kwargs: Any) -> None:
    """`user_id` in the log is a person's: a terminal stands there by its name, not by a number that looks alike."""
    if isinstance(getattr(request, "user", None), Terminal):  # the REST framework puts it there
        structlog.contextvars.bind_contextvars(user_id=None)


def _is_open_before(route: str) -> bool:
    """Before a password of one's own is chosen. Calls of the API are no pages: they refuse themselves (GatedView)."""
    return route in PASSWORD_ROUTES or (route.startswith("api:") and route != "api:docs")


def _route(request: HttpRequest) -> str:
    try:
        return resolve(request.path_info).view_name
    except Resolver404:
        return ""
