"""What is wrong with a round on record: paid wrongly, over or under a limit, irregular; each with its rule."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from games.engine.dice import Throw
from games.engine.play.irregularities import Assessment, Event, Irregularity, assess
from games.engine.rules.advice import situation_of
from games.engine.rules.rulebook import Layout, Rulebook
from games.engine.settlement import Reckoning, Settlement, bet_rules, reckon, settle
from games.engine.signs.limits import Bet, Breach, Holding, Limits, breaches, holdings

#: Goes up where the same round would be found otherwise than before; findings name the version that found them.
VERSION = "3"


#: How the detail of a refused withdrawal ends.
LATE_WITHDRAWAL = "withdrawn after no-more-bets"


class RecordedBet(NamedTuple):
    player: str
    box: str
    stake: int
    net: int | None  # None: none was given, and nothing is compared
    is_late: bool = False
    is_refused: bool = False
    is_withdrawn: bool = False  # in time
    is_timed: bool = False  # on record is when it was placed
    is_withdrawn_late: bool = False  # after no-more-bets: it stays on the felt
    is_at_the_call: bool = False  # placed or taken back at the very moment of no-more-bets

    @property
    def counts(self) -> bool:
        """On the felt when betting was closed; else it counts for nothing, and its net is 0."""
        return not (self.is_late or self.is_refused or self.is_withdrawn)


@dataclass(frozen=True)
class Discrepancy:
    position: int  # of the bet, from 0
    kind: str
    expected: int
    recorded: int
    rules: tuple[str, ...]  # bare numbers


@dataclass(frozen=True)
class Beyond:
    """A bet that a ruling, or discretion, settled otherwise than the rules would."""

    position: int  # of the bet, from 0
    by_rules: int
    decided: int


@dataclass(frozen=True)
class Ruled:
    """What was decided about a round after it was recorded: it stands in the place of what its events say."""

    rules: tuple[str, ...]  # bare numbers
    is_void: bool = False
    is_settled: bool = False
    throw: Throw | None = None
    nets: tuple[int | None, ...] | None = None  # where bets were decided one by one; None: the rules decide this one
    decision: str = ""  # the ruling or discretion that it rests on; empty where a rule itself says so

    def instead_of(self, found: Assessment) -> Assessment:
        if self.is_void:
            return replace(found, void_rules=self.rules, is_void=True, is_finished=True)
        if not self.is_settled:
            return replace(found, throw=self.throw or found.throw)
        return replace(found, void_rules=(), is_void=False, is_finished=True, throw=self.throw or found.throw)


@dataclass(frozen=True)
class RecordedRound:
    """A round as it was recorded, with what it is settled by. Where it was corrected, its bets have the nets since."""

    book: Rulebook
    layout: Layout
    limits: Limits
    events: Sequence[Event]
    bets: Sequence[RecordedBet]
    excess: str | None = None
    rulings: tuple[str, ...] = ()  # the standing ones that its excess and its rounding follow
    answers: tuple[str, ...] = ()  # the ones about this very round
    ruled: Ruled | None = None
    ruled_by_rule: Ruled | None = None  # the last that a rule itself decided: what a ruling is held against

    @cached_property
    def counting(self) -> list[RecordedBet]:
        return [bet for bet in self.bets if bet.counts]

    @property
    def policy(self) -> str:
        return self.excess or self.book.limits.excess

    @cached_property
    def boxes(self) -> dict[str, Holding]:
        return holdings(self.layout, self.limits, self.counting)

    @cached_property
    def reckoning(self) -> Reckoning | None:
        """As the rules have it; none where the round is void or unfinished."""
        by_events = self._by_events
        if by_events.is_void or not by_events.is_finished or by_events.throw is None:
            return None
        return reckon(self.layout, by_events.throw, self.counting, self.limits, self.policy, boxes=self.boxes)

    @cached_property
    def settlement(self) -> Settlement | None:
        """The same with its reasons; the reference of a bet is its position."""
        throw = self._by_events.throw
        if self.reckoning is None or throw is None:
            return None
        bets = [Bet(bet.player, bet.box, bet.stake, str(at)) for at, bet in enumerate(self.bets) if bet.counts]
        return settle(self.book, self.layout, throw, bets, limits=self.limits, excess=self.excess)

    @cached_property
    def assessment(self) -> Assessment:
        needs_ruling = bool(self.reckoning and self.reckoning.needs_ruling)
        if not needs_ruling:
            return self._by_events
        found = self._assess(limits_need_ruling=True)
        return self.ruled.instead_of(found) if self.ruled else found

    @cached_property
    def _by_events(self) -> Assessment:
        found = self._assess()
        return self.ruled.instead_of(found) if self.ruled else found

    def _assess(self, limits_need_ruling: bool = False) -> Assessment:
        return assess(self.book, self.events, bet_irregularities(self.book, self.bets), limits_need_ruling)

    def expected(self) -> list[tuple[int, tuple[str, ...]]]:
        """The net of every bet and its rules; nothing where the round is unfinished."""
        return [(net, self._rules(position)) for position, net in enumerate(self._nets())]

    def _nets(self) -> list[int]:
        """The expected ones; nothing where the round is unfinished."""
        if not self.assessment.is_finished:
            return []
        by_rules = [0] * len(self.bets)
        if self.reckoning is not None:
            nets = iter(self.reckoning.nets)
            by_rules = [next(nets) if bet.counts else 0 for bet in self.bets]
        if self.ruled is None or self.ruled.nets is None:
            return by_rules
        return [net if was is None else was for net, was in zip(by_rules, self.ruled.nets, strict=True)]

    def _rules(self, position: int) -> tuple[str, ...]:
        """By which rules a bet of a finished round has the net that is expected."""
        bet, throw = self.bets[position], self.assessment.throw
        if self.ruled and self.ruled.nets is not None and self.ruled.nets[position] is not None:
            return self.ruled.rules
        if not bet.counts:
            return off_felt_rules(self.book, bet)
        if self.reckoning is None or throw is None:
            return (*self.assessment.void_rules, *self.book.void_rules)
        return bet_rules(
            self.book, self.layout, throw, policy=self.policy, holding=self.boxes[bet.box], stake=bet.stake,
            effective=self.reckoning.stakes[self._places[position]],
        )  # fmt: skip

    @cached_property
    def _places(self) -> list[int]:
        """How many bets that count stand before each."""
        return list(accumulate((bet.counts for bet in self.bets), initial=0))

    # --- What is wrong with it ---

    def discrepancies(self) -> Iterator[Discrepancy]:
        """In the order of the bets. Reasons are looked for only where there is one."""
        nets = self._nets()
        pairs = enumerate(zip(self.bets, nets, strict=False))
        for position in [at for at, (bet, net) in pairs if bet.net is not None and bet.net != net]:
            net, recorded = nets[position], self.bets[position].net or 0
            yield Discrepancy(position, discrepancy_kind(net, recorded), net, recorded, self._rules(position))

    def beyond_rules(self) -> Iterator[Beyond]:
        """Yield the bets that the last ruling or discretion settled otherwise than the rules alone would."""
        if self.ruled is None or not self.ruled.decision:
            return
        for position, (by_rules, decided) in enumerate(zip(self._by_rules_alone(), self._nets(), strict=False)):
            if by_rules != decided:
                yield Beyond(position, by_rules, decided)

    def _by_rules_alone(self) -> list[int]:
        """The nets without any ruling: of a round that was never settled by its dice, and without dice nothing."""
        alone = replace(self, ruled=self.ruled_by_rule)
        found = alone.assessment
        if not found.is_finished and found.throw is not None:
            alone = replace(alone, ruled=Ruled((), is_settled=True, throw=found.throw))
        return alone._nets() or [0] * len(self.bets)

    def breaches(self) -> Sequence[Breach]:
        """In every round, void and unfinished ones too."""
        return breaches(self.layout, self.limits, self.counting, self.boxes)

    def irregularities(self) -> Iterator[Irregularity]:
        for irregularity in self.assessment.irregularities:
            if irregularity.action == "unfinished" and self.assessment.is_finished:  # it was, until it was ruled on
                continue
            yield self._answered(irregularity)

    def _answered(self, irregularity: Irregularity) -> Irregularity:
        if irregularity.action != "ruling" or not self.answers:
            return irregularity
        return replace(irregularity, detail=f"{irregularity.detail} Ruled on: {', '.join(self.answers)}.")

    def policy_rulings(self, position: int) -> tuple[str, ...]:
        """The standing rulings by which a bet gave way, or did not: those of its box, where that holds too much."""
        bet = self.bets[position]
        if self.reckoning is None or not bet.counts or not self.boxes[bet.box].is_over_full:
            return ()
        return self.rulings


def bet_irregularities(book: Rulebook, bets: Sequence[RecordedBet]) -> list[Irregularity]:
    """List bets placed or taken back after no-more-bets, each by itself. What is not on the felt is not taken back."""
    late, withdrawal = situation_of(book, "late-bet"), situation_of(book, "late-withdrawal")
    found = [
        Irregularity(late.rules[0], late.action, f"{bet.player} {bet.box}", position)
        for position, bet in enumerate(bets) if bet.is_late
    ]  # fmt: skip
    return found + [
        Irregularity(withdrawal.rules[0], withdrawal.action, f"{bet.player} {bet.box} {LATE_WITHDRAWAL}", position)
        for position, bet in enumerate(bets) if bet.counts and bet.is_withdrawn_late
    ]  # fmt: skip


def off_felt_rules(book: Rulebook, bet: RecordedBet) -> tuple[str, ...]:
    """Say by which rules a bet that was late, refused or taken back in time has a net of 0."""
    if bet.is_refused and bet.is_timed and not bet.is_late:
        return situation_of(book, "over-limit-noticed").rules
    if bet.is_withdrawn and not bet.is_refused and not bet.is_late:
        return situation_of(book, "late-withdrawal").rules
    return situation_of(book, "late-bet").rules


def breach_rules(book: Rulebook, breach: Breach) -> tuple[str, ...]:
    return book.limits.below_minimum if breach.kind == "below-minimum" else book.limits.cut


def discrepancy_kind(expected: int, recorded: int) -> str:
    """What to call it that a player got, or gave, another amount than was due."""
    if expected == 0:
        return "void-not-returned"
    if expected > 0:
        return "overpaid" if recorded > expected else "underpaid" if recorded > 0 else "unpaid-winner"
    return "paid-loser" if recorded > 0 else "over-collected" if recorded < expected else "not-collected"
