"""What is checked of everything that people write down: when they say it was."""

import datetime as dt

from django.core.exceptions import ValidationError
from django.utils import timezone

from games.floor.moments import MomentError, parse_moment

#: How far ahead of ours the clock of a recorder may be.
CLOCKS_DIFFER = dt.timedelta(minutes=5)


def verify_past(name: str, moment: dt.datetime) -> None:
    """A moment with its offset, in a year that makes sense, and not still to come."""
    try:
        parse_moment(moment)
    except MomentError as error:
        raise ValidationError({name: f"{error}."}) from None
    if moment > timezone.now() + CLOCKS_DIFFER:
        raise ValidationError({name: "This moment is still to come; say when it was."})
