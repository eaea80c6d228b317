"""The lines below a sign: its start, its rulebook and its print. The same on the page and on paper."""

import datetime as dt

from games.floor.moments import zone_of
from games.labels.rules import BETWEEN, layout_label, rulebook_label, rulebook_title, rules_label
from games.limits.signs.sign import Sign
from games.models import SignPrint


def from_text(sign: Sign) -> str:
    return _moment(sign, sign.starts_at)


def rulebook_text(sign: Sign) -> str:
    return f"{rulebook_title(sign.book.id)}{BETWEEN}{layout_label(sign.layout.code)}"


def rules_text(sign: Sign) -> str:
    """Name the rules on the sign, without the rulebook named beside them: `Rule 3.3`."""
    return rules_label(sign.rules).removeprefix(f"{rulebook_label(sign.book.id)}{BETWEEN}")


def printed_text(sign: Sign, printed: SignPrint) -> str:
    return f"Printed {_moment(sign, printed.at)} by {printed.who}"


def _moment(sign: Sign, moment: dt.datetime) -> str:
    local = moment.astimezone(zone_of(sign.table.casino))
    return f"{local.day} {local:%B %Y, %H:%M} ({local:%Z})" if local.tzname() else f"{local:%Y-%m-%d %H:%M}"
