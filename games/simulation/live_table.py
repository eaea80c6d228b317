"""Tables that are played live: players place bets, dice are thrown and bets are paid, call by call."""

import datetime as dt
from collections.abc import Iterator
from itertools import count
from random import Random
from typing import Any

from games.engine.money import format_money, parse_positive_money
from games.floor.moments import zone_of
from games.simulation.crowd import Crowd
from games.simulation.faults import payments
from games.simulation.play import draft_of, pay
from games.simulation.played_floor import PlayedTable
from games.simulation.playing_terminal import Caller
from games.simulation.round_draft import RoundDraft
from games.simulation.schedule import SPREAD, USUAL

BETWEEN = 4  # seconds from one round to the next
SLIPS = 0.03  # share of the rounds with a wrong payment
Timed = tuple[float, dict[str, Any]]


class LiveTable:
    """One table and its terminal. `speed` is how many times faster than life it plays."""

    def __init__(self, table: PlayedTable, caller: Caller, *, seed: int, speed: float = 1.0) -> None:
        self.table, self.caller, self.speed = table, caller, speed
        self.random = Random(f"{seed}/{table.code}/live")  # noqa: S311  it guards nothing
        self.crowd = Crowd(table, self.random)
        self.steps = self.rounds = 0

    def play(self, until: dt.datetime) -> None:
        """Play round after round; first finish what an earlier run has left open."""
        self.finish_open()
        while dt.datetime.now(dt.UTC) < until and not self.caller.stopped.is_set():
            self.play_round()
            self._wait(BETWEEN)

    def play_round(self) -> None:
        now = dt.datetime.now(dt.UTC)
        draft = draft_of(self.crowd, self.random, now, USUAL + self.random.randint(-SPREAD, SPREAD), self._hour(now))
        if self.random.random() < SLIPS:
            self.random.choice(list(payments.slips()))(draft, self.random)
        pay(draft)
        people = {"dealer": draft.dealer, "supervisor": draft.supervisor}
        ref = f"{self.table.code}-{now:%Y%m%d-%H%M%S-%f}"
        opened = self.caller.post("live-rounds/", {"source": "live", "ref": ref, "table": self.table.code, **people})
        self._send(opened["id"], self._timed(draft))

    def finish_open(self) -> None:
        """Finish a round that was in play when the terminal stopped."""
        for round_ in self.caller.get(f"live-rounds/?state=in-play&table={self.table.code}")["results"]:
            answer = self.caller.get(f"live-rounds/{round_['id']}/")
            self._send(round_["id"], self._ending(answer), first=answer["steps"])

    # --- Steps ---

    def _send(self, key: int, steps: Iterator[Timed], first: int = 0) -> None:
        numbers, second = count(first + 1), 0.0
        for at, step in steps:
            self._wait(at - second)
            second = at
            self.caller.post(f"live-rounds/{key}/steps/", {"call": f"s-{next(numbers)}", **step})
            self.steps += 1
        self.rounds += 1

    def _timed(self, draft: RoundDraft) -> Iterator[Timed]:
        """Yield the steps of a sound round, each with its second."""
        when = draft.moments
        events = sorted((event.second, index) for index, event in enumerate(draft.events))
        steps: list[Timed] = [(second, self._event(draft, index)) for second, index in events]
        for bet in draft.bets:
            second = self.random.uniform(when.placed + 0.1, when.closed - 0.1)
            placed = {"kind": "bet", "player": bet.player, "box": bet.box, "stake": format_money(bet.stake)}
            steps.append((second, placed))
        return iter(sorted(steps, key=lambda step: step[0]))

    def _event(self, draft: RoundDraft, index: int) -> dict[str, Any]:
        event = draft.events[index]
        if event.kind != "settled":
            return {"kind": event.kind, **event.details}
        nets = [{"player": bet.player, "box": bet.box, "net": format_money(bet.net or 0)} for bet in draft.bets]
        return {"kind": "settled", "nets": nets}

    def _ending(self, answer: dict[str, Any]) -> Iterator[Timed]:
        """Yield the steps still missing, given what the API says of the round."""
        state = answer["state"]
        if state == "new" and self.table.tumbles_first:
            yield 0, {"kind": "tumbler", "tumbles": self.table.book.valid_tumbles}
        if state in ("new", "spun"):
            yield 1, {"kind": "place-bets"}
        if state in ("new", "spun") or "no-more-bets" in answer["next"]:
            yield 2, {"kind": "no-more-bets"}
        first, second, third = dice = answer["dice"] or [self.random.randint(1, 6) for _ in range(3)]
        if answer["dice"] is None:
            if not self.table.tumbles_first and "tumbled" not in state:
                yield 3, {"kind": "tumbler", "tumbles": self.table.book.valid_tumbles}
            yield 6, {"kind": "result", "dice": dice}
        odds = self.table.odds((first, second, third))
        nets = [
            {"player": bet["player"], "box": bet["box"],
             "net": format_money(parse_positive_money(bet["stake"]) * odds.get(bet["box"], -1))}
            for bet in answer["bets"]
        ]  # fmt: skip
        yield 15, {"kind": "settled", "nets": nets}

    # --- Time ---

    def _wait(self, seconds: float) -> None:
        self.caller.stopped.wait(max(seconds, 0) / self.speed)

    def _hour(self, moment: dt.datetime) -> int:
        """Return the hour, from the start of the gaming day."""
        casino = self.table.casino
        return (moment.astimezone(zone_of(casino)).hour - casino.gaming_day_starts.hour) % 24
