"""The shifts of a casino, and the shift of a moment."""

import datetime as dt

from django.core.exceptions import ValidationError

from audits.models import Shift
from games.floor.moments import zone_of
from games.models import Casino

#: For a casino that has not set its own.
USUAL = (("Day", dt.time(6)), ("Swing", dt.time(14)), ("Night", dt.time(22)))


def shifts_of(casino: Casino) -> list[tuple[str, dt.time]]:
    """Return the shifts of a casino in order of their starting times; the usual three where it has set none."""
    own = list(Shift.objects.filter(casino=casino).order_by("starts").values_list("name", "starts"))
    return own or list(USUAL)


def shift_at(casino: Casino, moment: dt.datetime) -> str:
    """Return the shift of a moment: the latest that has begun by the casino's clock; the last one before the first."""
    clock = moment.astimezone(zone_of(casino)).time()
    shifts = shifts_of(casino)
    begun = [name for name, starts in shifts if starts <= clock]
    return begun[-1] if begun else shifts[-1][0]


def shift_windows(casino: Casino, day: dt.date) -> list[tuple[str, dt.datetime, dt.datetime]]:
    """List the shifts that begin in a gaming day, each with its beginning and end."""
    shifts = shifts_of(casino)
    ordered = [shift for shift in shifts if shift[1] >= casino.gaming_day_starts]
    ordered += [shift for shift in shifts if shift[1] < casino.gaming_day_starts]
    begins = [_begins(casino, day, starts) for _, starts in ordered]
    ends = [*begins[1:], _begins(casino, day + dt.timedelta(days=1), ordered[0][1])]
    return [(name, begin, end) for (name, _), begin, end in zip(ordered, begins, ends, strict=True)]


def shift_bounds(casino: Casino, day: dt.date, name: str) -> tuple[dt.datetime, dt.datetime]:
    """Return when a shift of a gaming day begins and ends."""
    for shift, begins, ends in shift_windows(casino, day):
        if shift == name:
            return begins, ends
    known = ", ".join(shift for shift, _ in shifts_of(casino))
    raise ValidationError({"shift": f"{name!r:.40} is not a shift of {casino}; choose one of {known}."})


def _begins(casino: Casino, day: dt.date, starts: dt.time) -> dt.datetime:
    date = day if starts >= casino.gaming_day_starts else day + dt.timedelta(days=1)
    return dt.datetime.combine(date, starts, zone_of(casino)).astimezone(dt.UTC)
