"""Long lists: the newest first, a page begins where the last one ended, and nothing is counted."""

import datetime as dt
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import Q, QuerySet
from django.http import HttpRequest

ROWS = 50


@dataclass(frozen=True)
class KeysetPage:
    """The rows of one page, and the address of the next."""

    rows: list[Any]
    older: str | None
    is_first: bool


def keyset_page(request: HttpRequest, found: QuerySet[Any], field: str) -> KeysetPage:
    """Return the page of a list that an address asks for, by a moment and, where it is the same, by key."""
    after = _cursor(request)
    if after is not None:
        found = found.filter(Q(**{f"{field}__lt": after[0]}) | Q(**{field: after[0]}, pk__lt=after[1]))
    rows = list(found.order_by(f"-{field}", "-pk")[: ROWS + 1])
    older = None
    if len(rows) > ROWS:
        rows = rows[:ROWS]
        asked = {name: value for name, value in request.GET.items() if name != "after" and value}
        older = urlencode(asked | {"after": f"{getattr(rows[-1], field).isoformat()},{rows[-1].pk}"})
    return KeysetPage(rows, older, after is None)


def _cursor(request: HttpRequest) -> tuple[dt.datetime, int] | None:
    """Return where the last page ended; None, and so the first page, for an address that was tampered with."""
    moment, _, key = request.GET.get("after", "").replace(" ", "+").partition(",")
    try:
        at = dt.datetime.fromisoformat(moment)
    except ValueError:
        return None
    return (at, int(key)) if at.tzinfo and is_key(key) else None


def is_key(text: str) -> bool:
    """Return whether a part of an address can be the key of a record."""
    return text.isascii() and text.isdecimal() and len(text) < len(str(2**63))


def key_of(text: str | None) -> int:
    """Return the key in an address; 0, which no record has, where it cannot be one."""
    return int(text) if text and is_key(text) else 0
