"""The shape of a round: what msgspec decodes in one pass. What it refuses, or may have let through, `slowly` reads.

The quick way knows a sound document when it sees one; it explains nothing. A line that it does not take is read again
by `games.rounds.slowly`, which finds every fault.
"""

import datetime as dt
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

Moment = Annotated[dt.datetime, Meta(tz=True)]
Text = Annotated[str, Meta(min_length=1, max_length=200)]


class EventShape(Struct, forbid_unknown_fields=True):
    kind: str
    at: Moment
    tumbles: Annotated[int, Meta(ge=0, le=1000)] | UnsetType | None = UNSET
    dice: list[Annotated[int, Meta(ge=1, le=6)]] | UnsetType | None = UNSET
    known_dice: str | UnsetType | None = UNSET
    rule: str | UnsetType | None = UNSET
    by: Text | UnsetType | None = UNSET


class BetShape(Struct, forbid_unknown_fields=True):
    player: Text
    box: str
    stake: str
    net: str | UnsetType | None = UNSET
    at: Moment | UnsetType | None = UNSET
    house_placed: bool | UnsetType | None = UNSET
    refused: bool | UnsetType | None = UNSET


class RoundShape(Struct, forbid_unknown_fields=True):
    source: Text
    ref: Text
    table: Text
    events: list[EventShape]
    bets: list[BetShape]
    dealer: Text | UnsetType | None = UNSET
    supervisor: Text | UnsetType | None = UNSET


_decoder = msgspec.json.Decoder(RoundShape)


def decode(line: bytes) -> RoundShape | None:
    """A round whose shape is beyond doubt; None where it has to be read slowly."""
    if b"\\" in line:
        return None
    try:
        shape = _decoder.decode(line)
    except (msgspec.DecodeError, msgspec.ValidationError, RecursionError, UnicodeDecodeError):
        return None
    return shape if line.count(b'"') == _quotes(shape) else None


def _quotes(shape: RoundShape) -> int:
    """How many quotation marks its text has, if no key stands twice: msgspec would take the last of two keys."""
    count = 16 + 2 * (shape.dealer is not UNSET) + 2 * (shape.supervisor is not UNSET)
    count += 2 * isinstance(shape.dealer, str) + 2 * isinstance(shape.supervisor, str)
    count += 8 * len(shape.events) + 12 * len(shape.bets)
    for event in shape.events:
        if event.tumbles is not UNSET:
            count += 2
        if event.dice is not UNSET:
            count += 2
        count += _of_key(event.known_dice) + _of_key(event.rule) + _of_key(event.by)
    nets, times = [bet.net for bet in shape.bets], [bet.at for bet in shape.bets]
    for values in (nets, times):
        count += 4 * len(values) - 4 * values.count(UNSET) - 2 * values.count(None)
    for flags in ([bet.house_placed for bet in shape.bets], [bet.refused for bet in shape.bets]):
        count += 2 * (len(flags) - flags.count(UNSET))
    return count


def _of_key(value: object) -> int:
    """The quotation marks of a key that may be left out, and of its text."""
    return 0 if value is UNSET else 2 if value is None else 4
