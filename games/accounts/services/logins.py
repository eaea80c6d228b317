"""Check passwords, codes and passkeys: throttled, bounded, and every failure recorded."""

from collections.abc import Callable
from contextlib import nullcontext

from django.contrib.auth import authenticate

from games.accounts.clients import BROWSER_LENGTH, Client
from games.accounts.services.login_throttle import (
    Attempt,
    ThrottledError,
    attempt_count,
    attempt_give_back,
    attempt_of,
    refusal_count,
    throttle_tidy,
    verify_not_blocked,
)
from games.models import Casino, FailedLogin, Staff
from taisai_backoffice.web.hashing import slot

NUMBER_LENGTH = 64


def password_login(*, client: Client, number: str, password: str) -> Staff | None:
    """Return the person with this staff number and password who may log in; None if there is none.

    Raise ThrottledError if the attempt comes too soon, TooManyHashesError if other passwords are being checked.
    """
    refused_as = FailedLogin.Kind.PASSWORD
    found: Staff | None = None

    def check() -> bool:
        nonlocal found, refused_as
        user = authenticate(None, username=number, password=password)
        found = user if isinstance(user, Staff) else None
        if found is not None and not found.is_staff:
            refused_as = FailedLogin.Kind.ACCESS
        return found is not None and found.is_staff

    attempt = attempt_of(number, client, FailedLogin.Kind.PASSWORD)
    is_right = attempt_check(attempt, check, kind=lambda: refused_as)
    return found if is_right else None


def password_confirm(*, client: Client, staff: Staff, password: str) -> bool:
    """Check the password of a logged-in person."""
    attempt = attempt_of(staff.number, client, FailedLogin.Kind.PASSWORD)
    return attempt_check(
        attempt, lambda: staff.check_password(password), kind=lambda: FailedLogin.Kind.CONFIRM, staff=staff
    )


def code_check(
    *, client: Client, staff: Staff, check: Callable[[], bool], kind: Callable[[], FailedLogin.Kind] | None = None
) -> bool:
    """Check a code or passkey after a right password. `kind` names the failure; by default, a wrong code."""
    attempt = attempt_of(staff.number, client, FailedLogin.Kind.CODE)
    return attempt_check(attempt, check, kind=kind or (lambda: FailedLogin.Kind.CODE), staff=staff)


def verify_code_allowed(*, client: Client, staff: Staff) -> None:
    """Refuse to begin a check whose answer would come too soon. Nothing is counted."""
    verify_not_blocked(attempt_of(staff.number, client, FailedLogin.Kind.CODE))


def attempt_check(
    attempt: Attempt, check: Callable[[], bool], *, kind: Callable[[], FailedLogin.Kind], staff: Staff | None = None
) -> bool:
    """Check an attempt in its lanes, and record it if it fails."""
    is_password = attempt.kind == FailedLogin.Kind.PASSWORD
    try:
        verify_not_blocked(attempt)
        with slot() if is_password else nullcontext():
            attempt_count(attempt)
            is_right = check()
    except ThrottledError as error:
        if refusal_count(error.key):
            failed_login_record(attempt, FailedLogin.Kind.THROTTLED, staff)
        raise
    if is_right:
        attempt_give_back(attempt)
    else:
        failed_login_record(attempt, kind(), staff)
        throttle_tidy()
    return is_right


def failed_login_record(attempt: Attempt, kind: FailedLogin.Kind, staff: Staff | None = None) -> None:
    number = _kept(attempt.number, NUMBER_LENGTH)
    person = staff or Staff.objects.filter(number__iexact=number).first()
    FailedLogin.objects.create(
        number=number, staff=person, casino=person.casino if person else _only_casino(), kind=kind,
        address=attempt.client.address, browser=_kept(attempt.client.browser, BROWSER_LENGTH),
    )  # fmt: skip


def _kept(text: str, length: int) -> str:
    """Return what PostgreSQL can store of a text that anyone may send."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode()[:length]


def _only_casino() -> Casino | None:
    """Return the casino that an unknown number must belong to: the only one, if there is only one."""
    casinos = Casino.objects.all()[:2]
    return casinos[0] if len(casinos) == 1 else None
