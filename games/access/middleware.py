"""Middleware of every request: the casino's clock, and where the request entered."""

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

#: Where a person is sent who first has to choose their own password.
PASSWORD_ROUTES = {"admin:password_change", "admin:password_change_done", "admin:logout", "admin:jsi18n"}


class CasinoTimeMiddleware:
    """Show times on the clock of the person's casino, in UTC for people of no single casino."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        casino = request.user.casino if isinstance(request.user, Staff) else None
        with timezone.override(ZoneInfo(casino.timezone) if casino else None):
            return self.get_response(request)


class EntryPointMiddleware:
    """Give the gate the name of the request, and record denials that do not come from the gate."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        len(request.GET)  # raises here if there are too many parameters
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
    """Drop `user_id` from the log for terminals: its number would look like a person's."""
    if isinstance(getattr(request, "user", None), Terminal):  # set by the REST framework
        structlog.contextvars.bind_contextvars(user_id=None)


def _is_open_before(route: str) -> bool:
    """Return whether a route is open before the person chose a password. API calls refuse by themselves."""
    return route in PASSWORD_ROUTES or (route.startswith("api:") and route != "api:docs")


def _route(request: HttpRequest) -> str:
    try:
        return resolve(request.path_info).view_name
    except Resolver404:
        return ""
