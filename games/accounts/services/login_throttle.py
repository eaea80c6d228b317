"""Decide how soon the next login attempt is checked, by browser, address and account.

django-axes locks an account, an address or both for a time, so an attacker can lock a colleague out. Here an attempt
takes lanes, each with a counter of its own in PostgreSQL, so that all web workers share them:

- from a browser that the account used before: the lane of that browser and account, and no other;\n- from an address
that the account used before: the lane of that account and address;\n- from anywhere else: that lane, the lane of the
address (many accounts from one place), and the lane of the account\n  (one account from many places).

So an attacker slows down only themselves and other new places, never the owner's own browser or place. An attempt
counts before it is checked and is given back if it was right, so that simultaneous attempts all count.
"""

import datetime as dt
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from django.db import connection, transaction
from django.utils import timezone

from games.accounts.clients import Client
from games.models import FailedLogin, LoginSession, LoginThrottle
from taisai_backoffice.web.addresses import network_of

FORGET = dt.timedelta(days=1)
#: How long an address counts as known for an account.
KNOWN = dt.timedelta(days=90)
TIDY_AT_ONCE = 100


@dataclass(frozen=True)
class Lane:
    """After `free` failures each attempt waits twice as long as the one before, up to `most` seconds."""

    free: int
    first: int
    most: int

    def wait(self, failures: int) -> dt.timedelta:
        over = failures - self.free
        return dt.timedelta(seconds=min(self.first * 2 ** min(over - 1, 20), self.most) if over > 0 else 0)


DEVICE = Lane(free=5, first=2, most=30)
PLACE = Lane(free=5, first=2, most=15 * 60)
ADDRESS = Lane(free=50, first=2, most=60)
ACCOUNT = Lane(free=20, first=2, most=30)
#: A code has only six digits, and a person who is asked for one already knew the password.
ACCOUNT_CODE = Lane(free=20, first=2, most=15 * 60)

# SQL by hand: the ORM has no DELETE with a limit that skips what others have locked.
TIDY = """
DELETE FROM games_loginthrottle WHERE key IN (
    SELECT key FROM games_loginthrottle WHERE last_at < %s LIMIT %s FOR UPDATE SKIP LOCKED)
"""


class ThrottledError(Exception):
    """Too many failed attempts: this one was not checked. `wait` is in seconds, `key` names the lane."""

    def __init__(self, wait: int, key: str) -> None:
        super().__init__(
            f"Too many failed attempts. This one was not checked. Try again in {in_words(wait)}, or log in with a "
            "browser that you used here before."
        )
        self.wait, self.key = wait, key


@dataclass(frozen=True)
class Attempt:
    """One attempt: the account as typed, the kind of secret, and the keys of its lanes."""

    number: str
    client: Client
    kind: str
    lanes: dict[str, Lane]


def attempt_of(number: str, client: Client, kind: str) -> Attempt:
    account, network = number.strip().upper(), network_of(client.address)
    lanes = dict(_lanes(account, network, client, kind))
    return Attempt(number, client, kind, lanes)


def _lanes(account: str, network: str, client: Client, kind: str) -> Iterator[tuple[str, Lane]]:
    if client.knows(account):
        yield _key("device", kind, account, client.device), DEVICE
        return
    yield _key("place", kind, account, network), PLACE
    if not _is_known_place(account, client.address):
        yield _key("address", network), ADDRESS
        yield _key("account", kind, account), ACCOUNT if kind == FailedLogin.Kind.PASSWORD else ACCOUNT_CODE


def _key(lane: str, *parts: str) -> str:
    """Return a key of fixed length that reveals neither the text typed nor an address."""
    return f"{lane}:{hashlib.sha256(chr(0).join(parts).encode('utf-8', 'surrogatepass')).hexdigest()}"


def _is_known_place(account: str, address: str | None) -> bool:
    if address is None or "\x00" in account:
        return False
    since = timezone.now() - KNOWN
    logins = LoginSession.objects.filter(staff__number__iexact=account, address=address, passed_at__gt=since)
    return logins.exists()


def verify_not_blocked(attempt: Attempt) -> None:
    """Refuse an attempt that comes too soon, before the work of checking it."""
    now = timezone.now()
    blocked = LoginThrottle.objects.filter(key__in=attempt.lanes, blocked_until__gt=now)
    if row := blocked.order_by("-blocked_until").first():
        raise ThrottledError(_seconds(row.blocked_until - now), row.key)


@transaction.atomic
def attempt_count(attempt: Attempt) -> None:
    """Count an attempt as failed in all its lanes before it is checked; refuse it if another one came first."""
    now = timezone.now()
    for row in _locked(attempt, now):
        if row.blocked_until > now:
            raise ThrottledError(_seconds(row.blocked_until - now), row.key)
        row.failures = (row.failures if now - row.last_at < FORGET else 0) + 1
        row.refused = 0
        row.blocked_until, row.last_at = now + attempt.lanes[row.key].wait(row.failures), now
        row.save()


@transaction.atomic
def attempt_give_back(attempt: Attempt) -> None:
    """Undo the count of an attempt that was right, and reset the owner's own lane."""
    now = timezone.now()
    for row in _locked(attempt, now):
        is_own = attempt.lanes[row.key] in (DEVICE, PLACE)
        row.failures = 0 if is_own else max(row.failures - 1, 0)
        row.blocked_until = now
        row.save()


def refusal_count(key: str) -> bool:
    """Count a refused attempt; return whether it is the first since the last checked one.

    Only that one is recorded, so that repeated attempts cannot fill the disk.
    """
    with connection.cursor() as cursor:
        # SQL by hand: the ORM does not return what an UPDATE has counted.
        cursor.execute("UPDATE games_loginthrottle SET refused = refused + 1 WHERE key = %s RETURNING refused", [key])
        counted = cursor.fetchone()
    return bool(counted == (1,))


def throttle_tidy() -> None:
    """Remove some counters without failures for a day. Each failure adds at most three."""
    with connection.cursor() as cursor:
        cursor.execute(TIDY, [timezone.now() - FORGET, TIDY_AT_ONCE])


def _locked(attempt: Attempt, now: dt.datetime) -> list[LoginThrottle]:
    """Lock the counters of an attempt, creating missing ones, always in the same order."""
    new = [LoginThrottle(key=key, blocked_until=now, last_at=now) for key in sorted(attempt.lanes)]
    LoginThrottle.objects.bulk_create(new, ignore_conflicts=True)
    return list(LoginThrottle.objects.select_for_update().filter(key__in=attempt.lanes).order_by("key"))


def _seconds(left: dt.timedelta) -> int:
    return max(1, -int(-left.total_seconds() // 1))


def in_words(seconds: int) -> str:
    if seconds < 60:  # noqa: PLR2004  a minute
        return f"{seconds} second{'' if seconds == 1 else 's'}"
    minutes = -(-seconds // 60)
    return f"{minutes} minute{'' if minutes == 1 else 's'}"
