"""Counting the findings of simulated rounds anew, with the engine: the simulation itself never asks it."""

import dataclasses
import datetime as dt
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from games.engine.dice import Throw, parse_known_dice
from games.engine.irregularities import Assessment, Event, assess, is_late
from games.engine.limits import Bet, Limits, breaches
from games.engine.loader import rulebook
from games.engine.money import format_money, parse_money, parse_net
from games.engine.rulebook import Layout, Rulebook
from games.engine.settlement import SettledBet, settle
from games.floor.reader import Floor, read_floor

Row = dict[str, Any]
LATE = {"division-9-2008": ("4.7",)}  # the others: 5.7


def rounds_in(path: Path) -> Iterator[dict[str, Any]]:
    content = path.read_bytes()
    text = gzip.decompress(content) if path.suffix == ".gz" else content
    yield from map(json.loads, text.decode().splitlines())


def recount(path: Path) -> dict[str, list[Row]]:
    floor = read_floor(path.with_name(path.name + ".floor.toml").read_bytes())
    found: dict[str, list[Row]] = {"discrepancies": [], "breaches": [], "irregularities": []}
    counted = sorted((Counted(one, floor) for one in rounds_in(path)), key=lambda one: (one.started_at, one.ref))
    for one in counted:
        found["discrepancies"] += map(one.row, one.discrepancies())
        found["breaches"] += map(one.row, one.breaches())
        found["irregularities"] += map(one.row, one.irregularities())
    return found


class Counted:
    """One round, judged by the engine."""

    def __init__(self, document: dict[str, Any], floor: Floor) -> None:
        self.document, self.ref = document, document["ref"]
        self.events = [event_of(one) for one in document["events"]]
        self.started_at = next(event.at for event in self.events if event.kind == "place-bets")
        self.book, self.layout, self.limits = applied(floor, document["table"], self.started_at)
        self.late = [is_late(self.events, _moment(bet.get("at"))) for bet in document["bets"]]
        self.bets = [
            Bet(one["player"], one["box"], parse_money(one["stake"]), str(place))
            for place, one in enumerate(document["bets"])
            if not self.is_out(place)
        ]
        self.assessed = self._assessed()

    def is_out(self, place: int) -> bool:
        return self.late[place] or self.document["bets"][place].get("refused", False)

    def _assessed(self) -> Assessment:
        names = [
            f"{bet['player']} {bet['box']}" for bet, late in zip(self.document["bets"], self.late, strict=True) if late
        ]
        needs = settle(self.book, self.layout, Throw((1, 2, 3)), self.bets, limits=self.limits).needs_ruling
        return assess(self.book, self.events, names, bool(needs))

    def row(self, row: Row) -> Row:
        return {"round_ref": self.ref, "table": self.document["table"], **row, "source": self.document["source"]}

    def irregularities(self) -> Iterator[Row]:
        for one in self.assessed.irregularities:
            rule = f"{self.book.id}#{one.rule}" if one.rule else None
            yield {"rule": rule, "action": one.action, "detail": one.detail}

    def breaches(self) -> Iterator[Row]:
        rules = {"below-minimum": self.book.limits.below_minimum}
        for one in breaches(self.layout, self.limits, self.bets):
            yield {
                "kind": one.kind, "boxes": list(one.boxes), "player": one.player, "placed": format_money(one.placed),
                "permitted": format_money(one.permitted),
                "rules": self.book.cite(*rules.get(one.kind, self.book.limits.cut)),
            }  # fmt: skip

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
        return {str(one.bet.ref): one for one in found.bets}

    def _expected(self, place: int, settled: dict[str, SettledBet]) -> tuple[int, tuple[str, ...]]:
        if self.is_out(place):
            return 0, LATE.get(self.book.id, ("5.7",))
        if self.assessed.is_void:
            return 0, (*self.assessed.void_rules, *self.book.void_rules)
        return settled[str(place)].net, settled[str(place)].rules


def applied(floor: Floor, table: str, at: dt.datetime) -> tuple[Rulebook, Layout, Limits]:
    """What stood on the floor file at that moment."""
    game = max(
        (one for one in floor.tables if one.code == table and one.starts_at <= at), key=lambda one: one.starts_at
    )
    signs = [one for one in floor.limits if table in one.tables and one.starts_at <= at]
    sign = max(signs, key=lambda one: one.starts_at).limits if signs else Limits()
    book = rulebook(game.rulebook)
    limits = dataclasses.replace(sign, chip_unit=parse_money(game.chip_unit))
    return book, book.layouts[game.layout], limits


def event_of(one: dict[str, Any]) -> Event:
    dice = Throw(tuple(one["dice"])) if "dice" in one else None
    known = parse_known_dice(one["known_dice"]) if "known_dice" in one else None
    return Event(one["kind"], dt.datetime.fromisoformat(one["at"]), one.get("tumbles"), dice, known, one.get("rule"))


def _moment(text: str | None) -> dt.datetime | None:
    return dt.datetime.fromisoformat(text) if text else None


def kind_of(expected: int, recorded: int) -> str:
    """As the contract's table has it."""
    if expected > 0:
        return "overpaid" if recorded > expected else "underpaid" if recorded > 0 else "unpaid-winner"
    if expected < 0:
        return "paid-loser" if recorded > 0 else "over-collected" if recorded < expected else "not-collected"
    return "void-not-returned"
