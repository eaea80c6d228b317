"""Fresh confirmation: for some actions a person must have confirmed their identity in the last minutes.

The gate asks, in every service alike (games.access.gate.authorize); games/access/roles.toml lists the actions. Only
people on a page or with the API are asked, and only where REQUIRE_SECOND_FACTOR is on.
"""

from django.conf import settings
from django.http import HttpRequest

from games.access.roles import access_policy
from games.accounts.services.sessions import is_fresh

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


class FreshFactorNeededError(Exception):
    """The person may do this, but must confirm their identity first. Nothing was changed."""

    def __init__(self) -> None:
        super().__init__(
            "Confirm your identity first, with your password or a code, at /admin/confirm/; then repeat the call. "
            "A confirmation is valid for five minutes."
        )


def verify_fresh(request: HttpRequest, action: str) -> None:
    """Raise if an action needs a confirmation and the last one is too old."""
    asked = access_policy().fresh_reads if request.method in SAFE_METHODS else access_policy().fresh
    if action in asked and settings.REQUIRE_SECOND_FACTOR and not is_fresh(request):
        raise FreshFactorNeededError


def verify_confirmed(request: HttpRequest) -> None:
    """Raise if the last confirmation is too old, for changes of your own factors, which are no action of the gate."""
    if settings.REQUIRE_SECOND_FACTOR and not is_fresh(request):
        raise FreshFactorNeededError
