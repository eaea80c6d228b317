"""Who is asking: a person with the session of the site, or a terminal with its key."""

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
    """People come with the session of the site; whoever comes without one is asked to log in (401)."""

    def enforce_csrf(self, request: Request) -> None:
        """Take the token from the header only: a look into the form would read an upload before the gate is asked."""
        bare = copy.copy(request._request)
        bare.POST = QueryDict()
        super().enforce_csrf(bare)  # type: ignore[arg-type]

    def authenticate_header(self, request: Request) -> str:
        return "Session"


class TerminalAuthentication(BaseAuthentication):
    """`Authorization: Bearer KEY`. Whoever sends a key is that terminal or nobody, whatever session he has besides."""

    def authenticate(self, request: Request) -> tuple[Terminal, None] | None:
        scheme, *rest = _sent(request)
        if scheme.lower() != SCHEME:
            return None
        terminal = terminal_of(rest[0]) if len(rest) == 1 else None
        if terminal is None:
            raise AuthenticationFailed("This key opens nothing: it is unknown or revoked; ask for a new one.")
        structlog.contextvars.bind_contextvars(terminal=terminal.name)
        try:
            call_count(terminal)
        except TooManyCallsError as error:
            raise Throttled(wait=error.wait, detail=str(error)) from None
        return terminal, None

    def authenticate_header(self, request: Request) -> str:
        """Asked for every 401, since keys are looked at first: whoever sent none is a person."""
        return "Bearer" if _sent(request)[0].lower() == SCHEME else "Session"


def _sent(request: Request) -> list[str]:
    return get_authorization_header(request).decode("latin-1").split() or [""]
