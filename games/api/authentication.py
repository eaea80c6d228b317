"""Who is asking."""

from rest_framework.authentication import SessionAuthentication
from rest_framework.request import Request


class PersonAuthentication(SessionAuthentication):
    """People come with the session of the site; whoever comes without one is asked to log in (401)."""

    def authenticate_header(self, request: Request) -> str:
        return "Session"
