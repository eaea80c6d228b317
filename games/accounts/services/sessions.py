"""Sessions of people: begun by a login, ended by logging out, by time, by their owner or by an administrator."""

import datetime as dt
from contextvars import ContextVar
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from games.access.gate import authorize
from games.access.roles import access_policy
from games.accounts.clients import client_of
from games.floor.models.casino import OFFICE_IDLE_MINUTES
from games.history.audited_save import verify_reason
from games.models import FailedLogin, LoginSession, Staff

LOGIN_KEY, CONFIRMED_KEY = "login", "confirmed_at"
#: The attribute of a request after a login: whose browser this is from now on.
KNOWN_DEVICE = "known_device_for"
NO_KEY = UUID(int=0)
ABSOLUTE = dt.timedelta(hours=12)
#: Time for the second factor after the password.
HALF_WAY = dt.timedelta(minutes=10)
#: A session is marked as used this often at most; it ends that much earlier at most.
SEEN_EVERY = dt.timedelta(seconds=30)
FRESH = dt.timedelta(minutes=5)
PLACES_NAMED = 3

End = LoginSession.End
ENDINGS = {
    End.IDLE: "Your session ended because it was not used for {idle} minutes. Log in again.",
    End.ABSOLUTE: "Your session reached its longest time. Log in again.",
}
ENDED_ELSEWHERE = "Your session was ended. Log in again."

#: The session of the request at hand.
current: ContextVar[LoginSession | None] = ContextVar("current", default=None)


# --- Beginning -------------------------------------------------------------------------------------


def session_begin(sender: object, request: HttpRequest, user: Staff, **kwargs: Any) -> None:
    """Put a new session on record (receiver of `user_logged_in`). The second factor may still be asked for."""
    # Here, because second factors end sessions: games.accounts.services.second_factors imports this module.
    from games.accounts.services.second_factors import is_factor_asked

    now = timezone.now()
    client = client_of(request)
    login = LoginSession.objects.create(
        staff=user, address=client.address, browser=client.browser, started_at=now, seen_at=now
    )
    request.session[LOGIN_KEY] = str(login.pk)
    if not is_factor_asked(user, login):
        session_pass(request, login)


def session_pass(request: HttpRequest, login: LoginSession) -> None:
    """Complete a login: all factors are passed."""
    previous = LoginSession.objects.filter(staff=login.staff_id, passed_at__isnull=False).exclude(pk=login.pk).first()
    now = timezone.now()
    if login.passed_at is None:
        LoginSession.objects.filter(pk=login.pk).update(passed_at=now, seen_at=now)
        login.passed_at = now
    _note_confirmed(request)
    setattr(request, KNOWN_DEVICE, login.staff)  # the middleware sets the cookie
    warning = failures_since(login.staff, previous.passed_at if previous else None)
    if warning and hasattr(request, "_messages"):
        messages.warning(request, warning)


def failures_since(staff: Staff, since: dt.datetime | None) -> str:
    """Say how many attempts failed since the last login, and from where; nothing where none did."""
    failures = FailedLogin.objects.filter(staff=staff)
    if since is not None:
        failures = failures.filter(at__gt=since)
    count = failures.count()
    if not count:
        return ""
    latest = failures.order_by("-at", "-id")[0]
    places = list(dict.fromkeys(failures.values_list("address", flat=True)[:1000]))
    named = ", ".join(address or "an unknown address" for address in places[:PLACES_NAMED])
    more = f" and {len(places) - PLACES_NAMED} other addresses" if len(places) > PLACES_NAMED else ""
    at = timezone.localtime(latest.at)
    return (
        f"{count} failed login{'' if count == 1 else 's'} to your account since your last login, the latest at "
        f"{at:%H:%M on %d %b %Y}, from {named}{more}. If that was not you, tell compliance."
    )


# --- While it lasts --------------------------------------------------------------------------------


def session_live(request: HttpRequest, staff: Staff, *, is_poll: bool) -> LoginSession | str:
    """Return the session of a request and mark it as used; or, where it is over, the reason in words.

    A page that reloads itself does not count as use.
    """
    login = LoginSession.objects.filter(pk=_key(request), staff=staff).first()
    if login is None or login.ended_at is not None:
        return ENDED_ELSEWHERE
    now = timezone.now()
    idle = idle_time(staff)
    if over := _over(login, idle, now):
        login_end(login, over)
        return ENDINGS[over].format(idle=int(idle.total_seconds() // 60))
    if not is_poll and now - login.seen_at >= SEEN_EVERY:
        LoginSession.objects.filter(pk=login.pk, ended_at=None).update(seen_at=now)
    login.staff = staff
    return login


def idle_time(staff: Staff) -> dt.timedelta:
    """How long a session may go unused: the casino says it for the pit and for everybody else."""
    if staff.casino is None:
        return dt.timedelta(minutes=OFFICE_IDLE_MINUTES)
    is_short = staff.department in access_policy().short_idle
    return dt.timedelta(minutes=staff.casino.idle_minutes if is_short else staff.casino.office_idle_minutes)


def _over(login: LoginSession, idle: dt.timedelta, now: dt.datetime) -> LoginSession.End | None:
    if now - login.seen_at >= idle:
        return End.IDLE
    longest = ABSOLUTE if login.passed_at else HALF_WAY
    return End.ABSOLUTE if now - login.started_at >= longest else None


def _key(request: HttpRequest) -> UUID:
    try:
        return UUID(request.session.get(LOGIN_KEY, ""))
    except ValueError:
        return NO_KEY


def session_confirm(request: HttpRequest) -> None:
    """Remember that the person proved to be themselves just now, under a new key of the session."""
    request.session.cycle_key()
    _note_confirmed(request)


def _note_confirmed(request: HttpRequest) -> None:
    request.session[CONFIRMED_KEY] = timezone.now().timestamp()


def is_fresh(request: HttpRequest) -> bool:
    confirmed = request.session.get(CONFIRMED_KEY, 0)
    return bool(0 <= timezone.now().timestamp() - confirmed < FRESH.total_seconds())


# --- Ending ----------------------------------------------------------------------------------------


def login_end(
    login: LoginSession, end: LoginSession.End, *, by: Staff | None = None, reason: str = ""
) -> bool:  # fmt: skip
    """Put the end of a session on record, once; from this moment it opens nothing."""
    ended = LoginSession.objects.filter(pk=login.pk, ended_at=None)
    return bool(ended.update(ended_at=timezone.now(), end=end, ended_by=by, reason=reason))


def session_left(sender: object, request: HttpRequest, user: Staff | None, **kwargs: Any) -> None:
    """Note that somebody logged out (receiver of `user_logged_out`)."""
    LoginSession.objects.filter(pk=_key(request), ended_at=None).update(ended_at=timezone.now(), end=End.LOGOUT)


def sessions_end_all(*, staff: Staff, end: LoginSession.End, by: Staff | None = None, reason: str = "") -> int:
    """End every session of a person but the one of this request, where it is theirs: after a change of password,
    a reset, or when they leave."""
    mine = current.get()
    others = LoginSession.objects.filter(staff=staff, ended_at=None).exclude(pk=mine.pk if mine else NO_KEY)
    return others.update(ended_at=timezone.now(), end=end, ended_by=by, reason=reason[:500])


def own_session_end(*, staff: Staff, login: LoginSession) -> bool:
    """End one of one's own sessions: open to everybody who is logged in."""
    if login.staff_id != staff.pk:
        raise ValidationError("This is not a session of yours.")
    return login_end(login, End.ENDED, by=staff)


@transaction.atomic
def session_end(*, actor: Staff, login: LoginSession, reason: str) -> bool:
    """End another person's session."""
    authorize(actor, "loginsession.end", login)
    verify_reason(reason)
    return login_end(login, End.ENDED, by=actor, reason=reason.strip())
