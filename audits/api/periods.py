"""Gaming days in the query of a call: `day`, or `from` and `to`, both included."""

import datetime as dt

from rest_framework.request import Request

from audits.incidents.parser import day_of
from audits.incidents.search import SearchPeriod
from games.api.query_parameters import text
from games.engine.errors import InputError

PERIOD = ("day", "from", "to")


def period(request: Request) -> SearchPeriod:
    """Read the period of a call."""
    day, first, last = (_day(request, name) for name in PERIOD)
    if day is not None and (first or last):
        raise InputError("day: cannot be combined with from or to; give a day or a period.")
    if first and last and last < first:
        raise InputError(f"to: {last} is before {first}; give the first day as from and the last as to.")
    return SearchPeriod(day or first, day or last)


def _day(request: Request, name: str) -> dt.date | None:
    value = text(request, name)
    try:
        return None if value is None else day_of(value)
    except ValueError:
        raise InputError(f"{name}: {value!r:.60} is not a day; write it as 2026-11-15.") from None
