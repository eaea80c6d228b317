"""Which shift a moment belongs to."""

import datetime as dt

from audits.models import Shift
from games.models import Casino
from games.moments import zone_of

#: For a casino that has not set its own.
USUAL = (("Day", dt.time(6)), ("Swing", dt.time(14)), ("Night", dt.time(22)))


def shifts_of(casino: Casino) -> list[tuple[str, dt.time]]:
    """By the time at which they begin."""
    own = list(Shift.objects.filter(casino=casino).order_by("starts").values_list("name", "starts"))
    return own or list(USUAL)


def shift_at(casino: Casino, moment: dt.datetime) -> str:
    """The one that began last by the casino's clock; before the day's first one, the last of the day before."""
    clock = moment.astimezone(zone_of(casino)).time()
    shifts = shifts_of(casino)
    begun = [name for name, starts in shifts if starts <= clock]
    return begun[-1] if begun else shifts[-1][0]
