"""Read the query of a call. An unknown or malformed parameter is reported, never ignored."""

import datetime as dt
import re
from collections.abc import Iterable

from rest_framework.request import Request

from games.engine.errors import InputError
from games.floor.moments import MomentError, parse_moment

PAGES = ("cursor", "page_size")


def allowed(request: Request, *names: str) -> None:
    if unknown := sorted(request.query_params.keys() - set(names)):
        known = f"the parameters are {', '.join(names)}" if names else "there are none here"
        raise InputError(*(f"{name[:60]}: is not a known parameter; {known}." for name in unknown))
    if doubled := [name for name, values in request.query_params.lists() if len(values) > 1]:
        raise InputError(*(f"{name}: is given twice; keep one of them." for name in doubled))


def text(request: Request, name: str) -> str | None:
    value = request.query_params.get(name)
    if value is not None and "\x00" in value:
        raise InputError(f"{name}: is not a plain text; check it.")
    return value


def choice(request: Request, name: str, choices: Iterable[str]) -> str | None:
    value = request.query_params.get(name)
    if value is not None and value not in choices:
        raise InputError(f"{name}: {value!r:.60} is not a {name}; choose one of {', '.join(choices)}.")
    return value


def number(request: Request, name: str, largest: int) -> int | None:
    value = request.query_params.get(name)
    if value is None:
        return None
    if not re.fullmatch("[0-9]{1,9}", value) or not 1 <= int(value) <= largest:
        raise InputError(f"{name}: {value!r:.60} is not a number from 1 to {largest}; write one.")
    return int(value)


def moment(request: Request, name: str) -> dt.datetime | None:
    value = request.query_params.get(name)
    if value is None:
        return None
    try:
        return parse_moment(value.replace(" ", "+"))  # an unescaped + of the offset arrives as a space
    except MomentError as error:
        raise InputError(f"{name}: {error}.") from None
