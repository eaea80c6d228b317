"""The check on moments that people enter: they must lie in the past."""

import datetime as dt

from django.core.exceptions import ValidationError
from django.utils import timezone

from games.floor.moments import MomentError, parse_moment

#: How far ahead of ours the clock of a recorder may be.
CLOCKS_DIFFER = dt.timedelta(minutes=5)


def verify_past(name: str, moment: dt.datetime) -> None:
    """Refuse a moment without offset, in an impossible year, or in the future."""
    try:
        parse_moment(moment)
    except MomentError as error:
        raise ValidationError({name: f"{error}."}) from None
    if moment > timezone.now() + CLOCKS_DIFFER:
        raise ValidationError({name: "This moment is in the future; enter a past one."})
