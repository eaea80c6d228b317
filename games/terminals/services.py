"""Terminals: create keys, bind them to tables, revoke them, and count calls."""

import datetime as dt
import hashlib
import re
import secrets
from collections.abc import Collection

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.utils import timezone

from games.access.gate import Actor, authorize
from games.history.audited_save import record_change, record_save
from games.models import Casino, Table, Terminal, TerminalUse

PREFIX = "tsk_"  # makes a leaked key recognisable as one
KEY_BYTES = 32
KEY = re.compile(PREFIX + r"[A-Za-z0-9_-]{43}", re.ASCII)
HINT_LENGTH = len(PREFIX) + 6
MINUTE = dt.timedelta(minutes=1)

# SQL by hand: the ORM does not return what an upsert has counted.
COUNT_CALL = """
INSERT INTO games_terminaluse AS used (terminal_id, minute, count) VALUES (%s, %s, 1)
ON CONFLICT (terminal_id, minute) DO UPDATE SET count = used.count + 1
RETURNING count
"""


class TooManyCallsError(Exception):
    """The terminal called too often in this minute; `wait` is the time to wait in seconds."""

    def __init__(self, wait: int) -> None:
        super().__init__(f"More than {settings.TERMINAL_CALLS_A_MINUTE} calls in this minute.")
        self.wait = wait


# --- Keys ------------------------------------------------------------------------------------------


@transaction.atomic
def terminal_create(
    *, actor: Actor, name: str, tables: Collection[Table], reason: str, source: str = ""
) -> tuple[Terminal, str]:
    """Create a terminal of the tables' casino and return it with its key, which is not stored."""
    authorize(actor, "terminal.add")
    casino = verify_one_casino(tables)
    authorize(actor, "terminal.add", Terminal(casino=casino, name=name))
    Casino.objects.select_for_update(no_key=True).get(pk=casino.pk)  # one at a time, so that each name is used once
    key = PREFIX + secrets.token_urlsafe(KEY_BYTES)
    terminal = Terminal(
        casino=casino, name=name, source=source, table_codes=codes(tables), key_hash=hash_of(key),
        key_hint=key[:HINT_LENGTH],
    )  # fmt: skip
    record_save(terminal, actor=actor, reason=reason)
    terminal.tables.set(tables, through_defaults={"casino": casino})
    return terminal, key


@transaction.atomic
def terminal_bind(*, actor: Actor, terminal: Terminal, tables: Collection[Table], reason: str) -> bool:
    """Bind the terminal to these tables in place of the old ones. The key stays valid."""
    current = Terminal.objects.select_for_update().get(pk=terminal.pk)
    authorize(actor, "terminal.change", current)
    if not current.is_active:
        raise ValidationError(f"{current} is revoked; create a new key instead.")
    if verify_one_casino(tables) != current.casino:
        raise ValidationError({"tables": f"{current} belongs to {current.casino}; choose tables of this casino."})
    changed = record_change(current, {"table_codes": codes(tables)}, actor=actor, reason=reason)
    if changed:
        current.tables.set(tables, through_defaults={"casino": current.casino})
    return changed


@transaction.atomic
def terminal_revoke(*, actor: Actor, terminal: Terminal, reason: str) -> bool:
    """Revoke a key from now on. A second call changes nothing."""
    current = Terminal.objects.select_for_update().get(pk=terminal.pk)
    authorize(actor, "terminal.revoke", current)
    return current.is_active and record_change(current, {"revoked_at": timezone.now()}, actor=actor, reason=reason)


def verify_one_casino(tables: Collection[Table]) -> Casino:
    casinos = {table.casino for table in tables}
    if not casinos:
        raise ValidationError({"tables": "Choose at least one table."})
    if len(casinos) > 1:
        raise ValidationError({"tables": "Choose tables of one casino; each casino has its own terminals."})
    return casinos.pop()


def codes(tables: Collection[Table]) -> str:
    return ", ".join(sorted({table.code for table in tables}))


def hash_of(key: str) -> str:
    """Hash a key with plain SHA-256: it is 256 random bits, too many to guess from a list."""
    return hashlib.sha256(key.encode()).hexdigest()


# --- Calls -----------------------------------------------------------------------------------------


def terminal_of(key: str) -> Terminal | None:
    """Return the terminal of a valid key. The search is by hash, so its duration reveals nothing."""
    if not KEY.fullmatch(key):
        return None
    return Terminal.objects.select_related("casino").filter(key_hash=hash_of(key), revoked_at=None).first()


def call_count(terminal: Terminal) -> None:
    """Count a call in one statement, so that simultaneous calls all count. The first of a minute tidies up."""
    now = timezone.now()
    minute = now.replace(second=0, microsecond=0)
    with connection.cursor() as cursor:
        cursor.execute(COUNT_CALL, [terminal.pk, minute])
        (count,) = cursor.fetchone()
    if count == 1:
        TerminalUse.objects.filter(terminal=terminal, minute__lt=minute).delete()
        Terminal.objects.filter(pk=terminal.pk).update(last_used_at=now)  # no person's change, so no history
    if count > settings.TERMINAL_CALLS_A_MINUTE:
        raise TooManyCallsError(wait=max(1, 60 - now.second))
