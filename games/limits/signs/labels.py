"""What a sign says in words, the same on the page and on paper."""

import datetime as dt

from games.floor.moments import zone_of
from games.limits.signs.sign import Sign
from games.models import SignPrint


def from_text(sign: Sign) -> str:
    return _moment(sign, sign.starts_at)


def rulebook_text(sign: Sign) -> str:
    return f"{sign.book.title}, version {sign.book.version}, layout {sign.layout.code}"


def printed_text(sign: Sign, printed: SignPrint) -> str:
    return f"Printed {_moment(sign, printed.at)} by {printed.who}"


def _moment(sign: Sign, moment: dt.datetime) -> str:
    local = moment.astimezone(zone_of(sign.table.casino))
    return f"{local.day} {local:%B %Y, %H:%M} ({local:%Z})" if local.tzname() else f"{local:%Y-%m-%d %H:%M}"
