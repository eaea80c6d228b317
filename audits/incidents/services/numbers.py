"""The next number of a series: gapless in a casino's year."""

import datetime as dt

from audits.models import NumberCounter
from games.floor.moments import zone_of
from games.models import Casino


def next_number(series: str, casino: Casino, now: dt.datetime) -> tuple[int, int]:
    """Of the casino's year, without a gap: what is not recorded after all gives its number back."""
    year = now.astimezone(zone_of(casino)).year
    counter = NumberCounter(casino=casino, series=series, year=year)
    NumberCounter.objects.bulk_create([counter], ignore_conflicts=True)
    counter = NumberCounter.objects.select_for_update().get(casino=casino, series=series, year=year)
    counter.last += 1
    counter.save(update_fields=["last"])
    return year, counter.last


def number_text(series: str, year: int, serial: int) -> str:
    return f"{series}-{year}-{serial:06d}"
