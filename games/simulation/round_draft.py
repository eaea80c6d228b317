"""A round being made: its events and bets, what each bet is due, and what is known to be wrong with it."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

from games.engine.rules.rulebook import Situation
from games.simulation import known_findings as sentences
from games.simulation.payout import Dice
from games.simulation.played_floor import PlayedSign, PlayedTable
from games.simulation.schedule import RoundMoments

RULING, AFFECTED = "ruling", "void-affected"
in_time = attrgetter("second")
#: The order of irregularities: events, voids, late bets, late withdrawals, limits, unfinished.
BY_EVENT, CALLED_OFF, LATE, TAKEN_BACK, BY_LIMITS, OPEN_END = range(6)


@dataclass(slots=True)
class Wager:
    """A bet with its effective stake, what is due to its player and what was recorded."""

    player: str
    box: str
    stake: int
    counts_for: int
    limit_rules: tuple[str, ...] = ()
    at: int | None = None  # in seconds from the beginning of the round
    house_placed: bool = False
    call: bool = False  # by the house, on a player's oral call
    refused: bool = False
    late: bool = False
    withdrawn: int | None = None  # when the player withdrew it
    taken_back: bool = False  # in time
    due: int | None = None
    net: int | None = None

    @property
    def is_out(self) -> bool:
        """Say whether a bet counts for nothing: refused, late, or withdrawn in time."""
        return self.refused or self.late or self.taken_back


@dataclass(frozen=True, slots=True)
class DraftEvent:
    second: int
    kind: str
    details: dict[str, object]


def shows_dice(event: DraftEvent) -> bool:
    """Say whether the outcome is known from this event on."""
    return event.kind == "result" or (event.kind == "interruption" and "?" not in str(event.details["known_dice"]))


@dataclass(frozen=True, slots=True)
class PlantedIrregularity:
    stage: int
    second: int
    rule: str | None
    action: str
    detail: str


@dataclass(frozen=True, slots=True)
class PlantedProcedural:
    """A fault in the procedure, besides what the documents themselves call irregular."""

    kind: str
    detail: str
    is_ruled: bool = True  # the rule that the rulebook has for this kind applies


class Earlier(NamedTuple):
    """The previous round of the table."""

    ref: str
    source: str
    started_at: dt.datetime  # its place-bets
    ended_at: dt.datetime
    is_overlapping: bool


@dataclass(frozen=True, slots=True)
class PlantedBreach:
    kind: str
    boxes: tuple[str, ...]
    player: str | None
    placed: int
    permitted: int


@dataclass(slots=True)
class RoundDraft:
    """A round to which planters add faults before the bets are paid; `slips` change the records afterwards."""

    table: PlayedTable
    sign: PlayedSign
    ref: str
    starts_at: dt.datetime
    moments: RoundMoments
    dice: Dice  # those that count
    bets: list[Wager]
    dealer: str | None = None
    supervisor: str | None = None
    events: list[DraftEvent] = field(default_factory=list)
    slips: "list[Callable[[RoundDraft], None]]" = field(default_factory=list)
    is_void: bool = False
    void_rules: list[str] = field(default_factory=list)
    needs_ruling: bool = False
    irregular: list[PlantedIrregularity] = field(default_factory=list)
    breaches: list[PlantedBreach] = field(default_factory=list)
    procedural: list[PlantedProcedural] = field(default_factory=list)
    misplaced: list[str] = field(default_factory=list)  # when the tumbler ran out of turn
    visitors: int = 0
    earlier: Earlier | None = None

    # --- Events ---

    def play(self, tumbles: int) -> None:
        """Add the events of an ordinary round."""
        when = self.moments
        spin = DraftEvent(0 if self.table.tumbles_first else when.tumbled, "tumbler", {"tumbles": tumbles})
        self.events = [
            DraftEvent(when.placed, "place-bets", {}),
            DraftEvent(when.closed, "no-more-bets", {}),
            spin,
            DraftEvent(when.result, "result", {"dice": list(self.dice)}),
            DraftEvent(when.settled, "settled", {}),
        ]

    def add(self, second: int, kind: str, **details: object) -> None:
        self.events.append(DraftEvent(second, kind, details))

    def drop(self, *kinds: str) -> None:
        self.events = [event for event in self.events if event.kind not in kinds]

    def spin(self, second: int, tumbles: int) -> None:
        """Run the tumbler at another moment, or another number of times."""
        self.drop("tumbler")
        self.add(second, "tumbler", tumbles=tumbles)

    @property
    def spun_at(self) -> int:
        return next(event.second for event in self.events if event.kind == "tumbler")

    def has(self, kind: str) -> bool:
        return any(event.kind == kind for event in self.events)

    @property
    def in_order(self) -> list[DraftEvent]:
        return sorted(self.events, key=in_time)

    @property
    def started_at(self) -> dt.datetime:
        return self.starts_at + dt.timedelta(seconds=self.moments.placed)

    @property
    def ended_at(self) -> dt.datetime:
        """Return the end: settled, else void, else the last event. An amendment after that is not play."""
        ends = {event.kind: event.second for event in self.events if event.kind in ("settled", "void")}
        last = max(event.second for event in self.events)
        return self.starts_at + dt.timedelta(
            seconds=max(ends.get("settled", ends.get("void", last)), self.moments.placed)
        )

    @property
    def is_overlapping(self) -> bool:
        return self.earlier is not None and self.started_at < self.earlier.ended_at

    @property
    def is_finished(self) -> bool:
        return self.is_void or (self.has("settled") and any(map(shows_dice, self.events)))

    # --- What is known of it ---

    def situation(self, code: str, **facts: str) -> Situation:
        """Return the rulebook's entry for a situation."""
        return next(
            situation
            for situation in self.table.book.situations
            if situation.code == code and all(facts.get(name, value) == value for name, value in situation.when.items())
        )

    def show(self, second: int, code: str, detail: str, **facts: str) -> Situation:
        """Record that an event shows a situation; where the rulebook lets the round stand, nothing is wrong."""
        situation = self.situation(code, **facts)
        if situation.action != "stand":
            self._irregular(BY_EVENT, second, next(iter(situation.rules), None), situation.action, detail)
        if situation.action == "void":
            self.is_void = True
            self.void_rules += [rule for rule in situation.rules if rule not in self.void_rules]
        return situation

    def call_off(self, rule: str, by: str | None) -> None:
        """Void the round. This is the last event, so what its events show is known by now."""
        second = max(event.second for event in self.events)
        is_settled = self.has("settled")
        self.add(max(second, self.moments.after), "void", rule=rule, **({"by": by} if by else {}))
        voiding = self.table.book.voidings.get(rule)
        reaches_back = rule == RULING or (voiding is not None and voiding.action == AFFECTED)
        if is_settled and not reaches_back:
            self._ruling(CALLED_OFF, sentences.VOIDED_TOO_LATE.format(rule))
            self.wrong("void-after-settlement", sentences.VOIDED_AFTERWARDS.format(rule))
            return
        self.is_void = True
        if rule == RULING:
            is_entitled = by is None or by in self.table.managers
            reasons = [sentences.NO_RULING, *([] if is_entitled else [sentences.NO_MANAGER.format(by)])]
            self.wrong("void-without-authority", sentences.NO_AUTHORITY.format(" and ".join(reasons)))
        if voiding is None:
            detail = sentences.VOIDED_BY_RULING if rule == RULING else sentences.VOIDED_UNDER.format(rule)
            self._ruling(CALLED_OFF, detail)
            added = list(self.table.book.ruling_rules)
        elif any(covered in self.void_rules for covered in voiding.covers):
            added = []
        else:
            self._irregular(CALLED_OFF, second, rule, voiding.action, sentences.VOIDED)
            added = [rule]
        self.void_rules += [rule for rule in added if rule not in self.void_rules]

    def breach(self, kind: str, *boxes: str, placed: int, permitted: int, player: str | None = None) -> None:
        self.breaches.append(PlantedBreach(kind, boxes, player, placed, permitted))

    def is_late(self, bet: Wager) -> None:
        bet.late = True
        late = self.situation("late-bet")
        self._irregular(LATE, 0, late.rules[0], late.action, f"{bet.player} {bet.box}")

    def withdraw(self, bet: Wager, second: int) -> None:
        """Withdraw a bet; after the call it stays on the felt and is settled."""
        bet.withdrawn = second
        bet.taken_back = second <= self.moments.closed
        if not bet.taken_back:
            late = self.situation("late-withdrawal")
            self._irregular(
                TAKEN_BACK, 0, late.rules[0], late.action, sentences.WITHDRAWN_LATE.format(bet.player, bet.box)
            )

    def wrong(self, kind: str, detail: str, *, is_ruled: bool = True) -> None:
        """Record a fault in the procedure, if the rulebook has that check."""
        if kind in self.table.book.procedural:
            self.procedural.append(PlantedProcedural(kind, detail, is_ruled))

    def wind_up(self) -> None:
        """Record what only the whole round shows."""
        if self.has("settled") and not self._has_tumbled():
            self.wrong("no-valid-tumble", sentences.NO_TUMBLE.format(self.table.book.valid_tumbles))
        if self.misplaced:
            self.wrong("tumbler-out-of-order", sentences.MISPLACED.format(" and ".join(self.misplaced)))
        for bet in self.bets:
            if bet.at is not None and bet.at < self.moments.placed:
                self.wrong("early-bet", sentences.EARLY_BET.format(bet.player, bet.box))
        if not self.is_finished:
            self._irregular(OPEN_END, 0, None, "unfinished", sentences.UNFINISHED)
        elif self.needs_ruling and not self.is_void:
            self._ruling(BY_LIMITS, sentences.MINIMUMS)

    def _has_tumbled(self) -> bool:
        """Say whether there was a valid tumble before the outcome was known."""
        for event in self.in_order:
            if shows_dice(event):
                return False
            if event.kind == "tumbler" and int(str(event.details["tumbles"])) >= self.table.book.valid_tumbles:
                return True
        return False

    def _ruling(self, stage: int, detail: str) -> None:
        self._irregular(stage, 0, next(iter(self.table.book.ruling_rules), None), RULING, detail)

    def _irregular(self, stage: int, second: int, rule: str | None, action: str, detail: str) -> None:
        self.irregular.append(PlantedIrregularity(stage, second, rule, action, detail))

    # --- Bets ---

    def clear(self, *boxes: str) -> None:
        self.bets = [bet for bet in self.bets if bet.box not in boxes]

    def put(self, box: str, stake: int, player: str | None = None, **more: int | bool) -> Wager:
        """Add a bet by a player who has none in this box."""
        bet = Wager(player or self._somebody(box), box, stake, stake)
        for name, value in more.items():
            setattr(bet, name, value)
        self.bets.append(bet)
        return bet

    def _somebody(self, box: str) -> str:
        """Return a player who has no bet there, or one standing behind the seats."""
        there = {bet.player for bet in self.bets if bet.box == box}
        free = [name for name in dict.fromkeys(bet.player for bet in self.bets) if name not in there]
        if free:
            return free[len(self.bets) % len(free)]
        self.visitors += 1
        return f"standing-{self.visitors}"

    def total(self, box: str) -> int:
        return sum(bet.stake for bet in self.bets if bet.box == box and not bet.is_out)

    def partner(self, box: str) -> tuple[str, int] | None:
        """Return the other box of a pair and their differential, if the sign has one."""
        type_ = self.table.layout.boxes[box].type
        allowed = self.sign.differential.get(type_)
        if allowed is None:
            return None
        first, second = self.table.pairs[type_]
        return (second if box == first else first), allowed

    def ordinary_stake(self, box: str) -> int:
        """Return the least that a player would bet there; 0 if the box, or its differential, has no room."""
        limits = self.sign.of(box)
        unit = self.table.chip_unit
        stake = -(-max(limits.minimum or 0, self.table.usual_chip) // unit) * unit
        total = self.total(box) + stake
        if limits.maximum is not None and total > limits.maximum:
            return 0
        pair = self.partner(box)
        return 0 if pair is not None and total - self.total(pair[0]) > pair[1] else stake
