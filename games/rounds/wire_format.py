"""The wire format of a round, which msgspec decodes in one pass.

The fast path accepts sound documents and explains nothing. A line that it does not accept is read again by
`games.rounds.diagnostic_parser`, which finds every fault.
"""

import datetime as dt
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

Moment = Annotated[dt.datetime, Meta(tz=True)]
Text = Annotated[str, Meta(min_length=1, max_length=200)]


class EventShape(Struct, forbid_unknown_fields=True, gc=False):
    kind: str
    at: Moment
    tumbles: Annotated[int, Meta(ge=0, le=1000)] | UnsetType | None = UNSET
    activated: bool | UnsetType | None = UNSET
    dice: list[Annotated[int, Meta(ge=1, le=6)]] | UnsetType | None = UNSET
    known_dice: str | UnsetType | None = UNSET
    rule: str | UnsetType | None = UNSET
    by: Text | UnsetType | None = UNSET


class BetShape(Struct, forbid_unknown_fields=True, gc=False):
    player: Text
    box: str
    stake: str
    net: str | UnsetType | None = UNSET
    at: Moment | UnsetType | None = UNSET
    house_placed: bool | UnsetType | None = UNSET
    call: bool | UnsetType | None = UNSET
    refused: bool | UnsetType | None = UNSET
    withdrawn: Moment | UnsetType | None = UNSET


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
    """Decode a round of sound format; None if the diagnostic parser has to read it.

    msgspec keeps the last of two equal keys: then the line has more quotation marks than the decoded round.
    """
    if b"\\" in line:
        return None
    try:
        shape = _decoder.decode(line)
    except (msgspec.DecodeError, msgspec.ValidationError, RecursionError, UnicodeDecodeError):
        return None
    return shape if line.count(b'"') == msgspec.json.encode(shape).count(b'"') else None
