"""Checking a round on the quick way: a sound one comes out ready; at the least doubt it is left to be read slowly."""

import datetime as dt
from itertools import compress
from typing import Any

import msgspec
from msgspec import UNSET

from games.engine.box_numbers import NUMBERS
from games.engine.dice import COUNT
from games.engine.money import MoneyError, parse_net, parse_positive_money
from games.engine.play.irregularities import NO_MORE_BETS, PLACE_BETS, RESULT, RESULT_AMENDED, SETTLED, VOID
from games.engine.rules.citation import bare_number
from games.engine.rules.rulebook import Rulebook
from games.engine.settlement import RULING
from games.floor.moments import FIRST
from games.rounds.prepared import (
    EVENT_FIELDS,
    MOST_BETS,
    ONCE,
    ReadyRound,
    dice_of,
    fingerprint,
    is_withdrawn,
    known_text,
    microseconds,
    pattern_of,
    status_of,
)
from games.rounds.terms import TermsCache
from games.rounds.wire_format import BetShape, EventShape, RoundShape

CACHED = 100_000
#: What an event comes after.
AFTER = {RESULT: NO_MORE_BETS, RESULT_AMENDED: RESULT}
DETAILS = ("tumbles", "activated", "dice", "known_dice", "rule", "by")
NO_DETAILS = (UNSET,) * len(DETAILS)


class DoubtError(Exception):
    """Something is not as it should be; what, is for the slow way to say."""


def ensure(condition: bool) -> None:
    if not condition:
        raise DoubtError


def ready(shape: RoundShape, books: TermsCache, *, latest: dt.datetime) -> ReadyRound | None:
    """`latest` is the last moment that a round may bear: what lies further in the future is a clock that is wrong."""
    try:
        return _ready(shape, books, latest)
    except (DoubtError, KeyError, MoneyError):
        return None


def _ready(shape: RoundShape, books: TermsCache, latest: dt.datetime) -> ReadyRound:
    dealer, supervisor = _given(shape.dealer), _given(shape.supervisor)
    ensure(all(map(str.isprintable, (shape.source, shape.ref, shape.table, dealer or "", supervisor or ""))))
    table = books.table(shape.table)
    events = sorted(shape.events, key=lambda event: event.at)
    started_at = next((event.at for event in events if event.kind == PLACE_BETS), None)
    if table is None or started_at is None:
        raise DoubtError
    ensure(events[0].at >= FIRST and events[-1].at <= latest)
    applied = table.pins_at(started_at)
    if applied is None:
        raise DoubtError
    told = _events(events, applied.book)
    events_text = msgspec.json.encode(told)
    status = status_of(applied.book.id, tuple(map(pattern_of, told)))
    closed_at = next((event.at for event in events if event.kind == NO_MORE_BETS), None)
    bets = Bets(shape.bets, applied.boxes, closed_at, latest)
    ensure(status != "settled" or bets.nets_are_there())
    return ReadyRound(
        shape.source, shape.ref, table, applied, dealer, supervisor, started_at, closed_at,
        _ended_at(events, started_at), status,
        dice_of(told), events_text, bets.players, bets.boxes, bets.stakes, bets.nets, bets.given, bets.placed,
        bets.late, bets.refused, bets.house, bets.call, bets.withdrawn_at, bets.withdrawn,
        fingerprint((shape.source, shape.ref, shape.table, dealer, supervisor), events_text, bets.canonical()),
    )  # fmt: skip


def _given(value: Any) -> Any:
    return None if value is UNSET else value


# --- Events ---


def _ended_at(events: list[EventShape], started_at: dt.datetime) -> dt.datetime:
    """When the round was over: settled, else called off, else its last event. What is put right later is not play."""
    ends = {event.kind: event.at for event in events if event.kind in (SETTLED, VOID)}
    return max(ends.get(SETTLED) or ends.get(VOID) or events[-1].at, started_at)


def _events(events: list[EventShape], book: Rulebook) -> list[dict[str, Any]]:
    """In order of time, in one way of writing."""
    told: list[dict[str, Any]] = []
    seen: set[str] = set()
    for event in events:
        kind = event.kind
        if (kind in seen and kind in ONCE) or (kind in AFTER and AFTER[kind] not in seen):
            raise DoubtError
        seen.add(kind)
        told.append(_event(event, book))
    return told


def _event(event: EventShape, book: Rulebook) -> dict[str, Any]:
    fields = EVENT_FIELDS[event.kind]
    one: dict[str, Any] = {"kind": event.kind, "at": event.at.astimezone(dt.UTC)}
    details = (event.tumbles, event.activated, event.dice, event.known_dice, event.rule, event.by)
    if details == NO_DETAILS:
        ensure(not any(fields.values()))
        return one
    for name, value in zip(DETAILS, details, strict=True):
        if value is UNSET or value is None:
            ensure(not fields.get(name))
        else:
            ensure(name in fields)
            one[name] = value
    if "activated" in one and not one["activated"]:
        ensure(one["tumbles"] == 0)
        del one["activated"]  # false is the same as nothing
    if "dice" in one:
        ensure(len(one["dice"]) == COUNT)
    if "known_dice" in one:
        one["known_dice"] = known_text(one["known_dice"])
        ensure(one["known_dice"] is not None)
    if "rule" in one:
        one["rule"] = rule_of(one["rule"], book)
        ensure(one["rule"] is not None)
    ensure(one.get("by", "").isprintable())
    return one


def rule_of(text: str, book: Rulebook) -> str | None:
    """The rule of a void: "ruling", or a number that the rulebook has."""
    number = bare_number(text, book.id)
    return text if text == RULING else number if number in book.rules else None


# --- Bets ---


class Bets:
    """The bets of a round side by side. Most have no rare facts; then these are None."""

    def __init__(
        self, bets: list[BetShape], allowed: frozenset[int], closed_at: dt.datetime | None, latest: dt.datetime
    ) -> None:
        ensure(len(bets) <= MOST_BETS)
        self.players = [bet.player for bet in bets]
        self.boxes = [NUMBERS[bet.box] for bet in bets]
        ensure("".join(self.players).isprintable() and allowed.issuperset(self.boxes))
        self.stakes = [_stakes[bet.stake] for bet in bets]
        self.nets, self.given = _nets_of([bet.net for bet in bets])
        self.refused = _flags([bet.refused for bet in bets])
        self.house = _flags([bet.house_placed for bet in bets])
        self.call = _flags([bet.call for bet in bets])
        self.placed, self.late = _times_of([bet.at for bet in bets], closed_at, latest)
        self.withdrawn_at, self.withdrawn = self._withdrawals([bet.withdrawn for bet in bets], closed_at, latest)
        self._verify_one_a_box()

    def _withdrawals(
        self, values: list[Any], closed_at: dt.datetime | None, latest: dt.datetime
    ) -> tuple[list[dt.datetime | None] | None, list[bool] | None]:
        """Read when bets were taken back, and which of them in time."""
        if values.count(UNSET) == len(values):
            return None, None
        moments = _moments_of(values, latest)
        placed = self.placed or [None] * len(moments)
        ensure(all(at <= moment for at, moment in zip(placed, moments, strict=True) if at and moment))
        withdrawn = [moment is not None and is_withdrawn(moment, closed_at) for moment in moments]
        return (moments if any(moments) else None), (withdrawn if any(withdrawn) else None)

    def _verify_one_a_box(self) -> None:
        """One bet a player a box among those that count; refused, late and withdrawn ones may stand beside it."""
        counting = list(zip(self.players, self.boxes, strict=True))
        if out := [flags for flags in (self.refused, self.late, self.withdrawn) if flags]:
            counting = list(compress(counting, (not any(flags) for flags in zip(*out, strict=True))))
        ensure(len(set(counting)) == len(counting))

    def nets_are_there(self) -> bool:
        """Of every bet that was on the felt."""
        if self.given is None:
            return True
        nothing = [False] * len(self.given)
        columns = (self.given, self.refused or nothing, self.withdrawn or nothing)
        return all(map(any, zip(*columns, strict=True)))

    def canonical(self) -> list[tuple[Any, ...]]:
        """What of a bet makes the fingerprint, in a form that can be put in order."""
        count = len(self.players)
        columns: list[Any] = [self.players, self.boxes, self.stakes, self.nets]
        if self.given or self.placed or self.refused or self.house:
            columns += [
                self.given or [True] * count,
                [-1 if at is None else microseconds(at) for at in self.placed or [None] * count],
                self.refused or [False] * count,
                self.house or [False] * count,
            ]
        if self.call or self.withdrawn_at:
            columns += [
                self.call or [False] * count,
                [-1 if at is None else microseconds(at) for at in self.withdrawn_at or [None] * count],
            ]
        return list(zip(*columns, strict=True))


def _nets_of(texts: list[Any]) -> tuple[list[int], list[bool] | None]:
    """The nets, 0 where none was given; and which were given, where not all were."""
    if UNSET not in texts and None not in texts:
        return [_nets[text] for text in texts], None
    given = [isinstance(text, str) for text in texts]
    return [_nets[text] if has else 0 for text, has in zip(texts, given, strict=True)], given


def _flags(values: list[Any]) -> list[bool] | None:
    return [value is True for value in values] if True in values else None


def _times_of(
    values: list[Any], closed_at: dt.datetime | None, latest: dt.datetime
) -> tuple[list[dt.datetime | None] | None, list[bool] | None]:
    """When bets were placed, and which of them were late."""
    if values.count(UNSET) == len(values):
        return None, None
    placed = _moments_of(values, latest)
    late = [at is not None and closed_at is not None and at > closed_at for at in placed]
    return (placed if any(placed) else None), (late if any(late) else None)


def _moments_of(values: list[Any], latest: dt.datetime) -> list[dt.datetime | None]:
    moments = [at if isinstance(at, dt.datetime) else None for at in values]
    ensure(all(FIRST <= at <= latest for at in moments if at is not None))
    return moments


class Amounts(dict[str, int]):
    """Amounts repeat: each text is parsed once, as long as there are not too many of them."""

    def __init__(self, parse: Any) -> None:
        super().__init__()
        self.parse = parse

    def __missing__(self, text: str) -> int:
        if len(self) >= CACHED:
            self.clear()
        amount: int = self.parse(text)
        self[text] = amount
        return amount


_stakes = Amounts(parse_positive_money)
_nets = Amounts(parse_net)
