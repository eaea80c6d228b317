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
    for event in shape.events:
        count += 8
        for key, is_text in (
            (event.tumbles, False), (event.dice, False), (event.known_dice, True), (event.rule, True), (event.by, True),
        ):  # fmt: skip
            if key is not UNSET:
                count += 4 if is_text and key is not None else 2
    for bet in shape.bets:
        count += 12
        if bet.net is not UNSET:
            count += 4 if bet.net is not None else 2
        if bet.at is not UNSET:
            count += 4 if bet.at is not None else 2
        if bet.house_placed is not UNSET:
            count += 2
        if bet.refused is not UNSET:
            count += 2
    return count
