"""Counting the findings of simulated rounds anew, with the engine: the simulation itself never asks it.

What the engine does not see in a single round (who was who, which rounds overlap, what the sign lacked) is counted here
by hand, from the floor file.
"""

import dataclasses
import datetime as dt
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from games.engine.dice import Throw, parse_known_dice
from games.engine.money import format_money, parse_money, parse_net
from games.engine.play.irregularities import Assessment, Event, Irregularity, assess, is_late
from games.engine.play.procedure import procedural_faults
from games.engine.rules.loader import rulebook
from games.engine.rules.rulebook import Layout, Rulebook
from games.engine.settlement import SettledBet, settle
from games.engine.signs.completeness import missing_on_sign
from games.engine.signs.limits import Bet, Limits, breaches
from games.floor.floor_file import Floor, read_floor

Row = dict[str, Any]
LATE = {"division-9-2008": ("4.7",)}  # the others: 5.7
WITHDRAWN = {"division-9-2008": "4.7(b)"}  # the others: 5.7
IN_TIME = {"division-9-2008": ()}  # the others: 5.1


def rounds_in(path: Path) -> Iterator[dict[str, Any]]:
    content = path.read_bytes()
    text = gzip.decompress(content) if path.suffix == ".gz" else content
    yield from map(json.loads, text.decode().splitlines())


def recount(path: Path) -> dict[str, list[Row]]:
    floor = read_floor(path.with_name(path.name + ".floor.toml").read_bytes())
    found: dict[str, list[Row]] = {"discrepancies": [], "breaches": [], "irregularities": [], "procedural": []}
    counted = sorted((Counted(round_, floor) for round_ in rounds_in(path)), key=lambda one: (one.started_at, one.ref))
    beside = Beside(floor)
    for one in counted:
        found["discrepancies"] += map(one.row, one.discrepancies())
        found["breaches"] += map(one.row, one.breaches())
        found["irregularities"] += map(one.row, one.irregularities())
        found["procedural"] += map(one.row, beside.procedural(one))
    return found


class Counted:
    """One round, judged by the engine."""

    def __init__(self, document: dict[str, Any], floor: Floor) -> None:
        self.document, self.ref = document, document["ref"]
        self.events = [event_of(one) for one in document["events"]]
        self.started_at = next(event.at for event in self.events if event.kind == "place-bets")
        ends = {event.kind: event.at for event in self.events if event.kind in ("settled", "void")}
        last = max(event.at for event in self.events)
        self.ended_at = max(ends.get("settled", ends.get("void", last)), self.started_at)  # after that it is not play
        self.has_sign = any(
            document["table"] in limit.tables and limit.starts_at <= self.started_at for limit in floor.limits
        )
        self.book, self.layout, self.limits = applied(floor, document["table"], self.started_at)
        self.late = [is_late(self.events, _moment(bet.get("at"))) for bet in document["bets"]]
        self.bets = [
            Bet(one["player"], one["box"], parse_money(one["stake"]), str(place))
            for place, one in enumerate(document["bets"])
            if not self.is_out(place)
        ]
        self.assessed = self._assessed()

    def is_out(self, place: int) -> bool:
        bet = self.document["bets"][place]
        return self.late[place] or bet.get("refused", False) or self.is_withdrawn(place) is True

    def is_withdrawn(self, place: int) -> bool | None:
        """True in time, False too late, None not at all."""
        at = _moment(self.document["bets"][place].get("withdrawn"))
        return None if at is None else not is_late(self.events, at)

    def _assessed(self) -> Assessment:
        names = [
            f"{bet['player']} {bet['box']}" for bet, late in zip(self.document["bets"], self.late, strict=True) if late
        ]
        needs = settle(self.book, self.layout, Throw((1, 2, 3)), self.bets, limits=self.limits).needs_ruling
        late = [Irregularity(*LATE.get(self.book.id, ("5.7",)), "refuse", name) for name in names]
        late += [
            Irregularity(
                WITHDRAWN.get(self.book.id, "5.7"),
                "refuse",
                f"{bet['player']} {bet['box']} withdrawn after no-more-bets",
            )
            for place, bet in enumerate(self.document["bets"])
            if self.is_withdrawn(place) is False and not self.is_out(place)
        ]
        return assess(self.book, self.events, late, bool(needs))

    def row(self, row: Row) -> Row:
        return {"round_ref": self.ref, "table": self.document["table"], **row, "source": self.document["source"]}

    def irregularities(self) -> Iterator[Row]:
        for irregularity in self.assessed.irregularities:
            rule = f"{self.book.id}#{irregularity.rule}" if irregularity.rule else None
            yield {"rule": rule, "action": irregularity.action, "detail": irregularity.detail}

    def breaches(self) -> Iterator[Row]:
        rules = {"below-minimum": self.book.limits.below_minimum}
        for breach in breaches(self.layout, self.limits, self.bets):
            yield {
                "kind": breach.kind,
                "boxes": list(breach.boxes),
                "player": breach.player,
                "placed": format_money(breach.placed),
                "permitted": format_money(breach.permitted),
                "rules": self.book.cite(*rules.get(breach.kind, self.book.limits.cut)),
            }

    def discrepancies(self) -> Iterator[Row]:
        if not self.assessed.is_finished:
            return
        settled = self._settled()
        for place, bet in enumerate(self.document["bets"]):
            expected, rules = self._expected(place, settled)
            if "net" in bet and parse_net(bet["net"]) != expected:
                yield {
                    "kind": kind_of(expected, parse_net(bet["net"])), "player": bet["player"], "box": bet["box"],
                    "stake": format_money(parse_money(bet["stake"])), "expected_net": format_money(expected),
                    "recorded_net": format_money(parse_net(bet["net"])), "rules": self.book.cite(*rules),
                }  # fmt: skip

    def _settled(self) -> dict[str, SettledBet]:
        if self.assessed.is_void or self.assessed.throw is None:
            return {}
        found = settle(self.book, self.layout, self.assessed.throw, self.bets, limits=self.limits)
        return {str(bet.bet.ref): bet for bet in found.bets}

    def _expected(self, place: int, settled: dict[str, SettledBet]) -> tuple[int, tuple[str, ...]]:
        if self.is_out(place):
            return 0, self._rules_of_out(place)
        if self.assessed.is_void:
            return 0, (*self.assessed.void_rules, *self.book.void_rules)
        return settled[str(place)].net, settled[str(place)].rules

    def _rules_of_out(self, place: int) -> tuple[str, ...]:
        bet = self.document["bets"][place]
        if bet.get("refused") and "at" in bet and not self.late[place]:
            return IN_TIME.get(self.book.id, ("5.1",))
        if self.is_withdrawn(place) and not bet.get("refused") and not self.late[place]:
            return (WITHDRAWN.get(self.book.id, "5.7"),)
        return LATE.get(self.book.id, ("5.7",))

    def procedural(self, kind: str, detail: str, *, is_ruled: bool = True) -> Row:
        rules = self.book.procedural[kind] if is_ruled else ()
        return {"kind": kind, "rule": f"{self.book.id}#{rules[0]}" if rules else None, "detail": detail}


class Beside:
    """Goes through the rounds in order of their start, with what is known of the house."""

    def __init__(self, floor: Floor) -> None:
        self.posts = {one.number: one.post for one in floor.staff}
        self.states = sorted(floor.states, key=lambda one: one.starts_at)
        self.on: dict[str, list[Counted]] = {}  # by table, those that began before
        self.told: set[tuple[str, dt.date]] = set()  # tables and days whose sign was found wanting

    def procedural(self, one: Counted) -> Iterator[Row]:
        """As the report lists them: by the events, by who decided, then what lies around the round."""
        found = [(fault.kind, fault.detail) for fault in procedural_faults(one.book, one.events)]
        found += [*self._decisions(one), *self._early(one), *self._overlap(one), *self._people(one)]
        yield from (one.procedural(*fault) for fault in found if fault[0] in one.book.procedural)
        yield from self._out_of_play(one)
        yield from (one.procedural(*fault) for fault in self._sign(one) if fault[0] in one.book.procedural)

    def _out_of_play(self, one: Counted) -> Iterator[Row]:
        """By the last state of the table that the floor file tells, and how it was last opened."""
        table = one.document["table"]
        before = [state for state in self.states if state.table == table and state.starts_at <= one.started_at]
        if not before:
            return
        last = before[-1]
        since = last.starts_at.astimezone(one.started_at.tzinfo).isoformat(sep=" ", timespec="minutes")
        if last.state == "suspended":
            is_ruled = last.cause != "other"
            yield one.procedural("table-suspended", f"The table was suspended from {since}.", is_ruled=is_ruled)
        elif last.state == "closed":
            yield one.procedural("table-closed", f"The table was closed from {since}.")
        elif one.book.opening_checks:
            was_closed = [at for at, state in enumerate(before) if state.state == "closed"]
            opening = before[was_closed[-1] + 1 if was_closed else 0]
            if not opening.opening_checks_by:
                since = opening.starts_at.astimezone(one.started_at.tzinfo).isoformat(sep=" ", timespec="minutes")
                detail = f"The table was opened at {since} without the signed opening checks of this rulebook."
                yield one.procedural("table-closed", detail)

    def _decisions(self, one: Counted) -> Iterator[tuple[str, str]]:
        for event in one.document["events"]:
            by = event.get("by")
            if event["kind"] == "void" and event["rule"] == "ruling":
                doubt = f" and {by} was not a shift manager or above at that moment"
                more = doubt if by and self.posts.get(by) != "shift-manager" else ""
                yield "void-without-authority", f"Voided by a ruling: no ruling on this round is on record{more}."
            if event["kind"] == "result-amended" and self.posts.get(by) not in ("pit-supervisor", "shift-manager"):
                name = by or "a person who is not named"
                yield "amendment-without-authority", f"Amended by {name}, not by a pit supervisor or above."

    def _early(self, one: Counted) -> Iterator[tuple[str, str]]:
        for bet in one.document["bets"]:
            if "at" in bet and dt.datetime.fromisoformat(bet["at"]) < one.started_at:
                yield "early-bet", f"{bet['player']} {bet['box']} was placed before betting began."

    def _overlap(self, one: Counted) -> Iterator[tuple[str, str]]:
        before = self.on.setdefault(one.document["table"], [])
        still_on = [other for other in before if other.ended_at > one.started_at]
        if still_on:
            last = max(still_on, key=lambda other: other.ended_at)
            yield "overlap", f"Began while {last.ref} ({last.document['source']}) was still on."
        self.on[one.document["table"]] = [*still_on, one]

    def _people(self, one: Counted) -> Iterator[tuple[str, str]]:
        for name, post, words in (
            ("dealer", "dealer", "a dealer"),
            ("supervisor", "pit-supervisor", "a pit supervisor"),
        ):
            number = one.document.get(name)
            if number is None or self.posts.get(number) == post:
                continue
            who = f"{name.capitalize()} {number}"
            if number not in self.posts:
                yield "unknown-staff", f"{who} is not on record."
            else:
                yield "wrong-post", f"{who} was not {words} here at that moment."

    def _sign(self, one: Counted) -> Iterator[tuple[str, str]]:
        lacks = missing_on_sign(one.book, one.layout, one.limits)
        lacking = {box for missing in lacks for box in missing.boxes}
        day = (one.document["table"], (one.started_at - dt.timedelta(hours=6)).date())  # in the casino's own time
        if day in self.told or not any(bet.box in lacking for bet in one.bets):
            return
        self.told.add(day)
        places = [(each.what, each.type if each.is_whole_type else ", ".join(each.boxes)) for each in lacks]
        if one.has_sign:
            yield "sign-incomplete", f"The sign lacked {'; '.join(f'a {what} for {where}' for what, where in places)}."
        else:
            yield "sign-incomplete", "No sign with limits was on record for this table."


def applied(floor: Floor, table: str, at: dt.datetime) -> tuple[Rulebook, Layout, Limits]:
    """What stood on the floor file at that moment."""
    game = max(
        (one for one in floor.tables if one.code == table and one.starts_at <= at), key=lambda one: one.starts_at
    )
    signs = [limit for limit in floor.limits if table in limit.tables and limit.starts_at <= at]
    sign = max(signs, key=lambda one: one.starts_at).limits if signs else Limits()
    book = rulebook(game.rulebook)
    limits = dataclasses.replace(sign, chip_unit=parse_money(game.chip_unit))
    return book, book.layouts[game.layout], limits


def event_of(one: dict[str, Any]) -> Event:
    dice = Throw(tuple(one["dice"])) if "dice" in one else None
    known = parse_known_dice(one["known_dice"]) if "known_dice" in one else None
    return Event(
        one["kind"], dt.datetime.fromisoformat(one["at"]), one.get("tumbles"), dice, known, one.get("rule"),
        one.get("activated", False), one.get("by"),
    )  # fmt: skip


def _moment(text: str | None) -> dt.datetime | None:
    return dt.datetime.fromisoformat(text) if text else None


def kind_of(expected: int, recorded: int) -> str:
    """As the contract's table has it."""
    if expected > 0:
        return "overpaid" if recorded > expected else "underpaid" if recorded > 0 else "unpaid-winner"
    if expected < 0:
        return "paid-loser" if recorded > 0 else "over-collected" if recorded < expected else "not-collected"
    return "void-not-returned"
