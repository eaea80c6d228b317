"""What every call of the API has in common: who may come in, and how long lists are handed out."""

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
    """Lists come in pages, the newest first unless a list says otherwise."""

    page_size = 100
    max_page_size = 500
    page_size_query_param = "page_size"
    ordering: str | tuple[str, ...] = "-pk"

    def get_page_size(self, request: Request) -> int:
        return number(request, "page_size", self.max_page_size) or self.page_size

    def paginate_queryset(self, queryset: Any, request: Request, view: APIView | None = None) -> Any:
        try:
            return super().paginate_queryset(queryset, request, view)
        except (ValueError, DataError):  # a cursor that somebody made up: no number, or a NUL
            if self.cursor_query_param not in request.query_params:
                raise
            raise exceptions.NotFound(self.invalid_cursor_message) from None


class GatedView(APIView):
    """A call by somebody who may log in. What he may do is asked of the gate, in the service or right here.

    Terminals come in only where a view says so; it then works with `caller` in place of `actor`.
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
            raise exceptions.PermissionDenied("Choose a password of your own on the site first.")

    @property
    def caller(self) -> Staff | Terminal:
        """Whoever calls: a terminal, where `terminals_may`, or a person."""
        user: Any = self.request.user
        return user if isinstance(user, Terminal) else self.actor

    @property
    def actor(self) -> Staff:
        if not isinstance(self.request.user, Staff):
            raise exceptions.NotAuthenticated
        return self.request.user
