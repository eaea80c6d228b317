"""Reading a round slowly: every fault with its place, for whoever has to put it right."""

import datetime as dt
from typing import Any

import msgspec

from games.engine.box_numbers import NUMBERS
from games.engine.errors import InputError
from games.engine.json_input import is_plain_text, parse_json
from games.engine.money import parse_net, parse_positive_money
from games.engine.play.irregularities import NO_MORE_BETS, PLACE_BETS, RESULT, RESULT_AMENDED
from games.engine.rules.loader import listed
from games.engine.rules.rulebook import Rulebook
from games.floor.moments import as_text, parse_moment
from games.rounds.fast_parser import ready, rule_of
from games.rounds.fields import FieldFaults
from games.rounds.prepared import EVENT_FIELDS, MOST_BETS, ONCE, ReadyRound, is_withdrawn, pattern_of, status_of
from games.rounds.terms import PinnedTerms, TermsCache
from games.rounds.wire_format import RoundShape

FIELDS = ("source", "ref", "table", "dealer", "supervisor", "events", "bets")
EVENT = ("kind", "at", "tumbles", "activated", "dice", "known_dice", "rule", "by")
BET = ("player", "box", "stake", "net", "at", "house_placed", "call", "refused", "withdrawn")
FLAGS = ("house_placed", "call", "refused")
TIMES = ("at", "withdrawn")


def read(line: bytes, books: TermsCache, *, latest: dt.datetime) -> ReadyRound:
    """The round, or all that is wrong with it."""
    return read_document(parse_json(line), books, latest=latest)


def read_document(document: object, books: TermsCache, *, latest: dt.datetime) -> ReadyRound:
    if not isinstance(document, dict):
        raise InputError("The round is not a JSON object; write it as {…}.")
    reader = DiagnosticReader(document, books, latest)
    reader.check()
    reader.faults.done()
    return reader.ready()


class DiagnosticReader:
    """One round on its way: faults are gathered, and what is sound is looked at further."""

    def __init__(self, document: dict[str, Any], books: TermsCache, latest: dt.datetime) -> None:
        self.document, self.books, self.latest = document, books, latest
        self.faults = FieldFaults(latest)
        self.applied: PinnedTerms | None = None
        self.closed_at: dt.datetime | None = None
        self.status: str | None = None

    def ready(self) -> ReadyRound:
        """By the quick way, once more: what has no fault is sound there too."""
        shape = msgspec.convert(_normal(self.document), RoundShape, strict=True)
        found = ready(shape, self.books, latest=self.latest)
        if found is None:
            raise AssertionError(f"No fault was found, and the round is not sound: {self.document!r:.2000}")
        return found

    def check(self) -> None:
        data = self.faults.table(self.document, "", FIELDS)
        self.faults.required(data, "", "source", "ref", "table", "events", "bets")
        for name in ("source", "ref", "table", "dealer", "supervisor"):
            if name in data:
                self.faults.text(data[name], name)
        self._events(data.get("events", []), data.get("table"))
        self._bets(data.get("bets", []))

    # --- Events ---

    def _events(self, value: object, code: object) -> None:
        if not isinstance(value, list):
            self.faults.add("events", "is not a list; write it as […].")
            return
        read = [self._event(one, f"events[{index}]") for index, one in enumerate(value)]
        sound = sorted((one for one in read if one is not None), key=lambda one: one["at"])
        if len(sound) == len(read):
            self._order(sound)
        started = next((one for one in sound if one["kind"] == PLACE_BETS), None)
        self.closed_at = next((one["at"] for one in sound if one["kind"] == NO_MORE_BETS), None)
        if started is None:
            return
        self._table(code, started["at"])
        if self.applied is not None:
            self._void_rules(sound, self.applied.book)
            if len(sound) == len(read):
                self.status = status_of(self.applied.book.id, tuple(map(pattern_of, sound)))

    def _event(self, value: object, where: str) -> dict[str, Any] | None:
        before = len(self.faults.found)
        entry = self.faults.table(value, where, EVENT)
        if isinstance(value, dict):
            self.faults.required(entry, where, "kind", "at")
        kind = entry.get("kind")
        fields = EVENT_FIELDS.get(kind) if isinstance(kind, str) else None
        if "kind" in entry and fields is None:
            self.faults.add(f"{where}.kind", f"{kind!r:.40} is not a kind of event; choose {listed(EVENT_FIELDS)}.")
        at = self.faults.moment(entry["at"], f"{where}.at") if "at" in entry else None
        for name in EVENT[2:]:
            if fields is not None and name in entry and name not in fields:
                self.faults.add(f"{where}.{name}", f"does not belong to {kind}; leave it out.")
            elif fields is not None and fields.get(name) and name not in entry:
                self.faults.add(f"{where}.{name}", f"is missing; {kind} needs it.")
            elif name in entry:
                self.faults.detail(name, entry[name], f"{where}.{name}")
        self.faults.activation(entry, f"{where}.activated")
        if len(self.faults.found) > before:
            return None
        return {**entry, "at": at, "where": where}

    def _order(self, events: list[dict[str, Any]]) -> None:
        seen: dict[str, str] = {}
        for event in events:
            kind, where = event["kind"], event["where"]
            if kind in ONCE and kind in seen:
                self.faults.add(where, f"{kind} stands at most once, and is {seen[kind]} already; keep one.")
            if kind == RESULT and NO_MORE_BETS not in seen:
                self.faults.add(where, "a result comes after no-more-bets; add it, or put the times right.")
            if kind == RESULT_AMENDED and RESULT not in seen:
                self.faults.add(where, "an amended result comes after a result; add it, or put the times right.")
            seen.setdefault(kind, where)
        if PLACE_BETS not in seen:
            self.faults.add("events", "place-bets is missing; every round begins with it.")

    def _table(self, code: object, started_at: dt.datetime) -> None:
        """Which rules the round was played by."""
        if not is_plain_text(code) or not str(code).isprintable():
            return
        table = self.books.table(str(code))
        if table is None:
            self.faults.add("table", f"there is no table {str(code)[:40]}; check the code, or load the floor first.")
            return
        self.applied = table.pins_at(started_at)
        if self.applied is None:
            moment = as_text(started_at, table.table.casino)
            self.faults.add("table", f"{table.code} had no rulebook and layout at {moment}; assign them first.")

    def _void_rules(self, events: list[dict[str, Any]], book: Rulebook) -> None:
        for event in events:
            if "rule" in event:
                rule = rule_of(event["rule"], book)
                if rule is None:
                    fault = f'{event["rule"]!r:.60} is not a rule of {book.id}; write one of its numbers, or "ruling".'
                    self.faults.add(f"{event['where']}.rule", fault)
                event["rule"] = rule

    # --- Bets ---

    def _bets(self, value: object) -> None:
        if not isinstance(value, list):
            self.faults.add("bets", "is not a list; write it as […].")
            return
        if len(value) > MOST_BETS:
            self.faults.add("bets", f"are more than {MOST_BETS}; no round has that many.")
            return
        first: dict[tuple[str, str], str] = {}
        for index, one in enumerate(value):
            where = f"bets[{index}]"
            bet = self._bet(one, where)
            if bet is None or self._is_out(bet):
                continue
            key = (bet["player"], bet["box"])
            if key in first:
                fault = f"{key[0]!r:.40} has a bet in {key[1]} already, {first[key]}; join them."
                self.faults.add(where, fault)
            first.setdefault(key, where)

    def _is_out(self, bet: dict[str, Any]) -> bool:
        """Refused, late, or withdrawn in time: it may stand beside another one."""
        late = self.closed_at is not None and bet.get("at") is not None and bet["at"] > self.closed_at
        return bet.get("refused") is True or late or self._is_withdrawn(bet.get("withdrawn"))

    def _is_withdrawn(self, moment: dt.datetime | None) -> bool:
        return moment is not None and is_withdrawn(moment, self.closed_at)

    def _bet(self, value: object, where: str) -> dict[str, Any] | None:
        before = len(self.faults.found)
        entry = self.faults.table(value, where, BET)
        if isinstance(value, dict):
            self.faults.required(entry, where, "player", "box", "stake")
        if "player" in entry:
            self.faults.text(entry["player"], f"{where}.player")
        if "box" in entry:
            self._box(entry["box"], f"{where}.box")
        if "stake" in entry:
            self.faults.money(parse_positive_money, entry["stake"], f"{where}.stake")
        if "net" in entry:
            self.faults.money(parse_net, entry["net"], f"{where}.net")
        for name in FLAGS:
            if name in entry and not isinstance(entry[name], bool):
                self.faults.add(f"{where}.{name}", "is neither true nor false; write one of them.")
        at, withdrawn = self._times(entry, where)
        if "net" not in entry and self._needs_net(entry, withdrawn) and isinstance(value, dict):
            fault = "is missing; a bet of a settled round has one, unless it was refused or withdrawn in time."
            self.faults.add(f"{where}.net", fault)
        if len(self.faults.found) > before:
            return None
        return {**entry, "at": at, "withdrawn": withdrawn}

    def _times(self, entry: dict[str, Any], where: str) -> tuple[dt.datetime | None, dt.datetime | None]:
        """Read when the bet was placed, and when it was taken back."""
        at, withdrawn = (
            self.faults.moment(entry[name], f"{where}.{name}") if name in entry else None
            for name in ("at", "withdrawn")
        )
        if at is not None and withdrawn is not None and withdrawn < at:
            self.faults.add(f"{where}.withdrawn", "lies before the bet was placed (at); put the times right.")
        return at, withdrawn

    def _needs_net(self, entry: dict[str, Any], withdrawn: dt.datetime | None) -> bool:
        return self.status == "settled" and entry.get("refused") is not True and not self._is_withdrawn(withdrawn)

    def _box(self, value: object, where: str) -> None:
        if not isinstance(value, str) or value not in NUMBERS:
            self.faults.add(where, f"{value!r:.40} is not a betting box; check its code.")
        elif self.applied is not None and NUMBERS[value] not in self.applied.boxes:
            layout = f"layout {self.applied.layout.code} of {self.applied.book.id}"
            self.faults.add(where, f"{value} is not a box of {layout}; check its code.")


def _normal(value: Any, name: str = "") -> Any:
    """Leave nulls out, and write times with their seconds, as the quick way wants them."""
    if isinstance(value, dict):
        return {key: _normal(one, key) for key, one in value.items() if one is not None}
    if isinstance(value, list):
        return [_normal(one) for one in value]
    return parse_moment(value).isoformat() if name in TIMES else value
