"""A round that is ready to be recorded: parsed values, what it is pinned to, and its fingerprint."""

import datetime as dt
from functools import lru_cache
from hashlib import sha256
from typing import Any

import msgspec

from games.engine.dice import COUNT, UNKNOWN, Throw, parse_known_dice
from games.engine.errors import InputError
from games.engine.play.irregularities import (
    DICE_EXPOSED,
    DIE_NOT_FLAT,
    INTERRUPTION,
    NO_MORE_BETS,
    PLACE_BETS,
    RESULT,
    RESULT_AMENDED,
    SETTLED,
    TUMBLER,
    VOID,
    Event,
    assess,
)
from games.engine.rules.loader import rulebook
from games.rounds.terms import PinnedTerms, TermsHistory

#: The fields that a kind of event has beside its time, and whether it needs them.
EVENT_FIELDS: dict[str, dict[str, bool]] = {
    PLACE_BETS: {},
    NO_MORE_BETS: {},
    TUMBLER: {"tumbles": True, "activated": False},
    DICE_EXPOSED: {},
    DIE_NOT_FLAT: {},
    RESULT: {"dice": True},
    RESULT_AMENDED: {"dice": True, "by": False},
    INTERRUPTION: {"known_dice": True},
    SETTLED: {},
    VOID: {"rule": True, "by": False},
}
ONCE = (PLACE_BETS, NO_MORE_BETS, RESULT, SETTLED, VOID)
FINGERPRINT_FORMAT = 1
MOST_BETS = 10_000
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
MICROSECOND = dt.timedelta(microseconds=1)


class ReadyRound(msgspec.Struct, frozen=True, gc=False):
    """Bets are parallel lists: the n-th of each is the n-th bet. Rare facts are None where no bet has them."""

    source: str
    ref: str
    table: TermsHistory
    applied: PinnedTerms
    dealer: str | None
    supervisor: str | None
    started_at: dt.datetime
    closed_at: dt.datetime | None
    ended_at: dt.datetime
    status: str
    dice: list[int] | None
    events: bytes  # JSON, in order of time
    players: list[str]
    boxes: list[int]
    stakes: list[int]
    nets: list[int]
    nets_given: list[bool] | None
    placed_at: list[dt.datetime | None] | None
    late: list[bool] | None
    refused: list[bool] | None
    house_placed: list[bool] | None
    call: list[bool] | None
    withdrawn_at: list[dt.datetime | None] | None
    withdrawn: list[bool] | None  # in time: such a bet counts for nothing
    fingerprint: bytes


@lru_cache(maxsize=4096)
def status_of(book_id: str, pattern: tuple[tuple[Any, ...], ...]) -> str:
    """Void, settled or unfinished: by the kinds of events and their order, whatever their times."""
    events = [
        Event(kind, EPOCH, tumbles, Throw((1, 1, 1)) if has_dice else None, known, rule, activated)
        for kind, tumbles, has_dice, known, rule, activated in pattern
    ]
    found = assess(rulebook(book_id), events)
    return "void" if found.is_void else "settled" if found.is_finished else "unfinished"


def pattern_of(event: dict[str, Any]) -> tuple[Any, ...]:
    """What of an event decides about the round's status."""
    known = parse_known_dice(event["known_dice"]) if "known_dice" in event else None
    activated = event.get("activated", False)
    return event["kind"], event.get("tumbles"), "dice" in event, known, event.get("rule"), activated


def dice_of(events: list[dict[str, Any]]) -> list[int] | None:
    """Find the dice that count: the last result, else three dice that were known when play was interrupted."""
    found = next((event["dice"] for event in reversed(events) if "dice" in event), None)
    known = (parse_known_dice(event["known_dice"]) for event in reversed(events) if "known_dice" in event)
    return found or next((list(faces) for faces in known if len(faces) == COUNT), None)


def known_text(text: str) -> str | None:
    """The dice known in an interruption, written one way; None where it is not readable."""
    try:
        parse_known_dice(text)
    except InputError:
        return None
    return ",".join(part.strip() or UNKNOWN for part in text.split(","))


def is_withdrawn(moment: dt.datetime, closed_at: dt.datetime | None) -> bool:
    """Tell whether a bet was taken back in time: at or before no-more-bets, or in a round without one."""
    return closed_at is None or moment <= closed_at


def microseconds(moment: dt.datetime) -> int:
    return (moment - EPOCH) // MICROSECOND


def fingerprint(header: tuple[Any, ...], events: bytes, bets: list[tuple[Any, ...]]) -> bytes:
    """Of the parsed values: the same round in other words, its bets in another order, has the same one."""
    return sha256(msgspec.json.encode((FINGERPRINT_FORMAT, header, msgspec.Raw(events), sorted(bets)))).digest()
