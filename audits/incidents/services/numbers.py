"""Gapless numbers of a series, for each casino and year."""

import datetime as dt

from audits.models import NumberCounter
from games.floor.moments import zone_of
from games.models import Casino


def next_number(series: str, casino: Casino, now: dt.datetime) -> tuple[int, int]:
    """Take the next number of the casino's year; a rolled back transaction returns its number, so there are no gaps."""
    year = now.astimezone(zone_of(casino)).year
    counter = NumberCounter(casino=casino, series=series, year=year)
    NumberCounter.objects.bulk_create([counter], ignore_conflicts=True)
    counter = NumberCounter.objects.select_for_update().get(casino=casino, series=series, year=year)
    counter.last += 1
    counter.save(update_fields=["last"])
    return year, counter.last


def number_text(series: str, year: int, serial: int) -> str:
    """Write a number: `IN-2026-000123`."""
    return f"{series}-{year}-{serial:06d}"
