"""Moments as PostgreSQL counts them: microseconds since the year 2000."""

import datetime as dt

EPOCH = dt.datetime(2000, 1, 1, tzinfo=dt.UTC)  # PostgreSQL's
MICROSECOND = dt.timedelta(microseconds=1)


def microseconds(moment: dt.datetime) -> int:
    """Return a moment as PostgreSQL counts it."""
    return (moment - EPOCH) // MICROSECOND


def moment_of(microseconds: int) -> dt.datetime:
    """Return the moment that PostgreSQL counts so."""
    return EPOCH + int(microseconds) * MICROSECOND
