"""Times and gaming days: reading times, and the gaming day that a moment belongs to.

A moment is a time with its offset. On a page the offset may be left out, which means the casino's clock; a time that
this clock shows twice, or never, is refused with the choices.
"""

import datetime as dt
import re
from zoneinfo import ZoneInfo

from games.models import Casino

EXAMPLE = "2026-11-15T21:07:00+08:00"
PATTERN = re.compile(
    r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.(?P<fraction>\d+))?)?(Z|[+-]\d{2}:?\d{2})?", re.ASCII | re.IGNORECASE
)
MICROSECOND, DIGITS = dt.timedelta(microseconds=1), 6
FIRST, LAST = dt.datetime(1970, 1, 2, tzinfo=dt.UTC), dt.datetime(3000, 1, 1, tzinfo=dt.UTC)


class MomentError(ValueError):
    """The text is not a time; the message says why and what to do."""


def parse_moment(value: object) -> dt.datetime:
    """Read a time with its offset, from a text or from a value that a file reader parsed."""
    moment = value if isinstance(value, dt.datetime) else _parsed(value)
    if moment is None:
        raise MomentError(f"{_shown(value)} is not a time; write it as {EXAMPLE}")
    if moment.tzinfo is None:
        raise MomentError(f"{_shown(value)} has no offset; write it as {EXAMPLE}")
    return bounded(moment)


def parse_local(text: str, zone: ZoneInfo) -> dt.datetime:
    """Read a time with an offset, or without one as this zone's clock shows it."""
    moment = _parsed(text.strip())
    if moment is None:
        raise MomentError(f"{_shown(text)} is not a time; write it as 2026-11-15 21:07, or with an offset as {EXAMPLE}")
    return bounded(moment if moment.tzinfo else on_clock(moment, zone))


def on_clock(naive: dt.datetime, zone: ZoneInfo) -> dt.datetime:
    """Return the one moment at which a clock shows a time; refuse a time shown never or twice."""
    first, second = (naive.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    if first.utcoffset() == second.utcoffset():
        return first
    if first.astimezone(dt.UTC).astimezone(zone).replace(tzinfo=None) != naive:
        raise MomentError(
            f"{naive:%Y-%m-%d %H:%M} does not occur in {zone.key}: the clocks go forward; choose a time before or after"
        )
    spellings = " or ".join(moment.isoformat(sep=" ", timespec="minutes") for moment in (first, second))
    raise MomentError(
        f"{naive:%Y-%m-%d %H:%M} occurs twice in {zone.key}: the clocks go back; write which one, as {spellings}"
    )


def bounded(moment: dt.datetime) -> dt.datetime:
    """Refuse times so far away that they must be typing errors."""
    try:
        sound = FIRST <= moment < LAST
    except OverflowError:
        sound = False
    if not sound:
        raise MomentError(f"{moment.isoformat():.60} lies out of all bounds; check the year")
    return moment


def _parsed(value: object) -> dt.datetime | None:
    """Parse a text with msgspec; anything finer than a microsecond is rounded."""
    found = PATTERN.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None
    try:
        moment = dt.datetime.fromisoformat(found[0].upper())
        finer = (found["fraction"] or "")[DIGITS:]
        return moment + MICROSECOND if finer >= "5" else moment
    except (ValueError, OverflowError):
        return None


def _shown(value: object) -> str:
    """Write a value on one line, with line breaks escaped."""
    text = str(value)[:60]
    return text if text.strip() and text.isprintable() else repr(text)


def zone_of(casino: Casino) -> ZoneInfo:
    return ZoneInfo(casino.timezone)


def as_text(moment: dt.datetime, casino: Casino) -> str:
    """Write a moment in the casino's time with its offset, as files, commands and the API do."""
    return moment.astimezone(zone_of(casino)).isoformat()


def gaming_day(casino: Casino, moment: dt.datetime) -> dt.date:
    """Return the gaming day of a moment: it starts at the casino's hour, on the casino's clock."""
    day = moment.astimezone(zone_of(casino)).date() + dt.timedelta(days=1)  # clocks may go back over midnight
    while moment < day_starts(casino, day):
        day -= dt.timedelta(days=1)
    return day


def day_starts(casino: Casino, day: dt.date) -> dt.datetime:
    """Return the first moment of a gaming day.

    An hour that occurs twice counts the first time. One that never occurs is as long after midnight as if the clocks
    had not changed.
    """
    local = dt.datetime.combine(day, casino.gaming_day_starts, tzinfo=zone_of(casino))
    return local.astimezone(dt.UTC)


def day_bounds(casino: Casino, day: dt.date) -> tuple[dt.datetime, dt.datetime]:
    """Return a gaming day's first moment and the next day's, which is excluded."""
    return day_starts(casino, day), day_starts(casino, day + dt.timedelta(days=1))
