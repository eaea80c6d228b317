"""What all API calls share: who may call, and how lists are paged."""

from typing import Any

from django.db import DataError
from rest_framework import exceptions
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.views import APIView

from games.access.gate import deny
from games.api.query_parameters import number
from games.models import Staff, Terminal


class Pages(CursorPagination):
    """Divide lists into pages, the newest first unless a list says otherwise."""

    page_size = 100
    max_page_size = 500
    page_size_query_param = "page_size"
    ordering: str | tuple[str, ...] = "-pk"

    def get_page_size(self, request: Request) -> int:
        return number(request, "page_size", self.max_page_size) or self.page_size

    def paginate_queryset(self, queryset: Any, request: Request, view: APIView | None = None) -> Any:
        try:
            return super().paginate_queryset(queryset, request, view)
        except (ValueError, DataError):  # an invented cursor: not a number, or with a NUL
            if self.cursor_query_param not in request.query_params:
                raise
            raise exceptions.NotFound(self.invalid_cursor_message) from None


class GatedView(APIView):
    """A call for people who may log in. The gate decides, in the service or in the view.

    Terminals are admitted only where a view says so; it then uses `caller` instead of `actor`.
    """

    request: Request
    terminals_may = False

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if not request.user.is_authenticated:
            raise exceptions.NotAuthenticated("Log in on the site first; the API takes its session.")
        if isinstance(self.caller, Terminal):
            if not self.terminals_may:
                raise deny(self.caller, "api.open", request.path)
            return
        if not self.actor.is_staff:
            raise deny(self.actor, "api.open", request.path)
        if self.actor.must_change_password:
            raise exceptions.PermissionDenied("Choose your own password on the site first.")

    @property
    def caller(self) -> Staff | Terminal:
        """Return the caller: a person or, if `terminals_may`, a terminal."""
        user: Any = self.request.user
        return user if isinstance(user, Terminal) else self.actor

    @property
    def actor(self) -> Staff:
        if not isinstance(self.request.user, Staff):
            raise exceptions.NotAuthenticated
        return self.request.user
