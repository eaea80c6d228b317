"""Append to the ledger: what is recorded gets its leaf in the same transaction.

The canonical bytes of a record begin with their format, so that a later format can be used beside this one.
A leaf's hash is SHA-256 over the previous hash and these bytes; the first leaf follows 32 zero bytes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import msgspec
from django.db import connection, transaction
from django.utils import timezone

from games.models import Casino, LedgerChain, Table

FORMAT = 1
BEGINNING = bytes(32)
COLUMNS = "chain_id, position, kind, subject, content, previous, hash, at"


@dataclass(frozen=True)
class LedgerEntry:
    """A record to be added to the ledger: its kind, its id, and the content to be proved, in a fixed order."""

    kind: str
    subject: int
    values: Sequence[Any]

    def content(self) -> bytes:
        return msgspec.json.encode((FORMAT, self.kind, self.subject, *self.values))


def table_chain(table_id: int) -> str:
    return f"table:{table_id}"


def ledger_append(place: Table | Casino, *entries: LedgerEntry) -> None:
    """Append to the chain of a table, or of a casino for records that belong to no table."""
    chain_append(table_chain(place.pk) if isinstance(place, Table) else f"casino:{place.pk}", entries)


@transaction.atomic
def chain_append(name: str, entries: Iterable[LedgerEntry]) -> None:
    """Append entries to a chain. The lock admits one writer at a time, until its transaction ends."""
    waiting = list(entries)
    chain = _locked(name)
    position, head = chain.length, bytes(chain.head)
    now = timezone.now().isoformat()
    with connection.cursor() as cursor:
        with cursor.copy(f"COPY games_ledgerleaf ({COLUMNS}) FROM STDIN") as copy:
            for entry in waiting:
                content, previous = entry.content(), head
                position, head = position + 1, sha256(previous + content).digest()
                hexed = (f"\\x{part.hex()}" for part in (content, previous, head))
                copy.write_row((chain.pk, position, entry.kind, entry.subject, *hexed, now))
        cursor.execute("UPDATE games_ledgerchain SET length = %s, head = %s WHERE id = %s", [position, head, chain.pk])


def _locked(name: str) -> LedgerChain:
    LedgerChain.objects.bulk_create([LedgerChain(name=name, head=BEGINNING)], ignore_conflicts=True)
    return LedgerChain.objects.select_for_update().get(name=name)
