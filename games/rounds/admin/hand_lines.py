"""Read the lines of the hand entry form: one event or bet each, with times by the casino's clock."""

import datetime as dt
import re
from collections.abc import Callable, Iterator
from typing import Any
from zoneinfo import ZoneInfo

from django.core.exceptions import ValidationError

from games.engine.play.irregularities import INTERRUPTION, RESULT, RESULT_AMENDED, TUMBLER, VOID
from games.floor.moments import MomentError, as_text, on_clock, parse_local
from games.models import Casino
from games.rounds.prepared import EVENT_FIELDS

TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?", re.ASCII)
HALF_A_DAY = dt.timedelta(hours=12)
A_DAY = dt.timedelta(days=1)
LEAST_OF_A_BET = 3
#: What may follow the net of a bet, and its field.
FLAGS = {"refused": "refused", "house": "house_placed", "call": "call"}
TIMES = ("at", "withdrawn")
A_BET = "write player, box, stake and net, as in: seat-3 small 100 100"
EXAMPLES = {
    TUMBLER: "21:07:33 tumbler 3, or: 21:07:33 tumbler 0 activated",
    RESULT: "21:07:41 result 1 3 6",
    RESULT_AMENDED: "21:07:50 result-amended 1 3 5 by S11",
    INTERRUPTION: "21:07:40 interruption 2 ? ?",
    VOID: "21:09 void 5.5.1 by S11",
}


class LineError(Exception):
    """The fault of a line."""


class Clock:
    """The times of one round: 21:07:33 is the moment nearest to its start."""

    def __init__(self, started_at: dt.datetime, casino: Casino) -> None:
        self.casino, self.zone = casino, ZoneInfo(casino.timezone)
        self.start = started_at.astimezone(self.zone).replace(tzinfo=None)

    def text(self, word: str) -> str:
        """Write a moment in the wire format."""
        try:
            return as_text(self._moment(word), self.casino)
        except MomentError as error:
            raise LineError(f"{error}") from None

    def _moment(self, word: str) -> dt.datetime:
        match = TIME.fullmatch(word)
        if match is None:
            return parse_local(word, self.zone)
        hour, minute, second = (int(part or 0) for part in match.groups())
        naive = self.start.replace(hour=hour, minute=minute, second=second, microsecond=0)
        if naive < self.start - HALF_A_DAY:
            naive += A_DAY
        elif naive > self.start + HALF_A_DAY:
            naive -= A_DAY
        return on_clock(naive, self.zone)


def read_events(text: str, started_at: dt.datetime, casino: Casino) -> list[tuple[int, dict[str, Any]]]:
    """Yield every event with the number of its line."""
    return _read(text, _event, Clock(started_at, casino))


def read_bets(text: str, started_at: dt.datetime, casino: Casino) -> list[tuple[int, dict[str, Any]]]:
    """Yield every bet with the number of its line."""
    return _read(text, _bet, Clock(started_at, casino))


def _read(
    text: str, read: Callable[[list[str], Clock], dict[str, Any]], clock: Clock
) -> list[tuple[int, dict[str, Any]]]:
    entries, faults = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if words := line.split():
            try:
                entries.append((number, read(words, clock)))
            except LineError as fault:
                faults.append(f"Line {number}: {fault}.")
    if faults:
        raise ValidationError(faults)
    return entries


# --- Events ---


def _event(words: list[str], clock: Clock) -> dict[str, Any]:
    if len(words) == 1 or words[1] not in EVENT_FIELDS:
        raise LineError(f"write the time and one of {', '.join(EVENT_FIELDS)}, as in: {EXAMPLES[INTERRUPTION]}")
    moment, kind, *rest = words
    by: dict[str, Any] = {}
    if "by" in rest and "by" in EVENT_FIELDS[kind]:
        place = rest.index("by")
        if len(rest) != place + 2:
            raise LineError(f"write one staff number after by, as in: {EXAMPLES[kind]}")
        by, rest = {"by": rest[-1]}, rest[:place]
    return {"kind": kind, "at": clock.text(moment), **_details(kind, " ".join(rest).replace(",", " ").split()), **by}


def _details(kind: str, words: list[str]) -> dict[str, Any]:
    """Read the details of an event; the parser of rounds checks their values."""
    match kind, words:
        case "tumbler", [count] if count.isascii() and count.isdecimal():
            return {"tumbles": int(count)}
        case "tumbler", [count, "activated"] if count.isascii() and count.isdecimal():
            return {"tumbles": int(count), "activated": True}
        case (("result" | "result-amended"), [_, _, _]) if all(word.isascii() and word.isdecimal() for word in words):
            return {"dice": [int(word) for word in words]}
        case "interruption", [_, _, _]:
            return {"known_dice": ",".join(words)}
        case "void", [rule]:
            return {"rule": rule}
        case _ if not words and kind not in EXAMPLES:
            return {}
    if kind in EXAMPLES:
        raise LineError(f"write it as in: {EXAMPLES[kind]}")
    raise LineError(f"{kind} has nothing after it; leave out {' '.join(words)[:40]!r}")


# --- Bets ---


def _bet(words: list[str], clock: Clock) -> dict[str, Any]:
    if len(words) < LEAST_OF_A_BET:
        raise LineError(A_BET)
    bet: dict[str, Any] = dict(zip(("player", "box", "stake"), words, strict=False))
    rest = iter(words[LEAST_OF_A_BET:])
    for position, word in enumerate(rest):
        if word in FLAGS:
            bet[FLAGS[word]] = True
        elif word in TIMES:
            bet[word] = clock.text(_following(word, rest))
        elif position == 0:
            bet["net"] = word
        else:
            raise LineError(
                f"{word[:40]!r} is not known; after the net write refused, house, call, at 21:07:10 or "
                "withdrawn 21:07:20"
            )
    return bet


def _following(word: str, rest: Iterator[str]) -> str:
    moment = next(rest, None)
    if moment is None:
        raise LineError(f"write the time after {word}, as in: {word} 21:07:20")
    return moment
