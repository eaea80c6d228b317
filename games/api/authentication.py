"""Authenticate calls: a person by the session of the site, or a terminal by its key."""

import copy

import structlog
from django.http import QueryDict
from rest_framework.authentication import BaseAuthentication, SessionAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, Throttled
from rest_framework.request import Request

from games.models import Terminal
from games.terminals.services import TooManyCallsError, call_count, terminal_of

SCHEME = "bearer"


class PersonAuthentication(SessionAuthentication):
    """Authenticate people by the session of the site; calls without one get 401."""

    def enforce_csrf(self, request: Request) -> None:
        """Read the token from the header only: reading the form would read an upload before the gate is asked."""
        bare = copy.copy(request._request)
        bare.POST = QueryDict()
        super().enforce_csrf(bare)  # type: ignore[arg-type]

    def authenticate_header(self, request: Request) -> str:
        return "Session"


class TerminalAuthentication(BaseAuthentication):
    """Authenticate `Authorization: Bearer KEY`. A call with a key acts as that terminal, even with a session."""

    def authenticate(self, request: Request) -> tuple[Terminal, None] | None:
        scheme, *rest = _sent(request)
        if scheme.lower() != SCHEME:
            return None
        terminal = terminal_of(rest[0]) if len(rest) == 1 else None
        if terminal is None:
            raise AuthenticationFailed("This key is unknown or revoked; ask for a new one.")
        structlog.contextvars.bind_contextvars(terminal=terminal.name)
        try:
            call_count(terminal)
        except TooManyCallsError as error:
            raise Throttled(wait=error.wait, detail=str(error)) from None
        return terminal, None

    def authenticate_header(self, request: Request) -> str:
        """Return the challenge of a 401. A call without a key is treated as a person's."""
        return "Bearer" if _sent(request)[0].lower() == SCHEME else "Session"


def _sent(request: Request) -> list[str]:
    return get_authorization_header(request).decode("latin-1").split() or [""]
