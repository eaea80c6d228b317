"""A fresh factor: for some actions a person confirms that it is them, within the last minutes.

The gate asks, in every service alike (games.access.gate.authorize); games/access/roles.toml says for which actions. It
asks only people at a page or with the API, and only where REQUIRE_SECOND_FACTOR is on.
"""

from django.conf import settings
from django.http import HttpRequest

from games.access.roles import access_policy
from games.accounts.services.sessions import is_fresh

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


class FreshFactorNeededError(Exception):
    """The person may do this, and has to confirm first that it is them. Nothing was changed."""

    def __init__(self) -> None:
        super().__init__(
            "Confirm that it is you first, with your password or a code, at /admin/confirm/; then repeat the call. "
            "A confirmation holds for five minutes."
        )


def verify_fresh(request: HttpRequest, action: str) -> None:
    """Raise where this action needs a confirmation and the last one is too old."""
    asked = access_policy().fresh_reads if request.method in SAFE_METHODS else access_policy().fresh
    if action in asked and settings.REQUIRE_SECOND_FACTOR and not is_fresh(request):
        raise FreshFactorNeededError


def verify_confirmed(request: HttpRequest) -> None:
    """The same for what concerns one's own factors, which no action of the gate names."""
    if settings.REQUIRE_SECOND_FACTOR and not is_fresh(request):
        raise FreshFactorNeededError
