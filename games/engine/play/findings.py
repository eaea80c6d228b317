"""Find what is wrong with a recorded round: wrong payments, limits exceeded, irregularities; each with its rule."""

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

#: Increase when the same round would give other findings than before; findings name the version that made them.
VERSION = "3"


#: How the detail of a refused withdrawal ends.
LATE_WITHDRAWAL = "withdrawn after no-more-bets"


class RecordedBet(NamedTuple):
    player: str
    box: str
    stake: int
    net: int | None  # None: no net was recorded, so nothing is compared
    is_late: bool = False
    is_refused: bool = False
    is_withdrawn: bool = False  # in time
    is_timed: bool = False  # on record is when it was placed
    is_withdrawn_late: bool = False  # after no-more-bets: it stays on the felt
    is_at_the_call: bool = False  # placed or withdrawn at exactly no-more-bets

    @property
    def counts(self) -> bool:
        """Say whether the bet was on the felt when betting closed; if not, it counts for nothing and its net is 0."""
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
    """A bet that a ruling or a discretion settled differently from the rules."""

    position: int  # of the bet, from 0
    by_rules: int
    decided: int


@dataclass(frozen=True)
class Ruled:
    """What was decided about a round after it was recorded. It replaces what its events say."""

    rules: tuple[str, ...]  # bare numbers
    is_void: bool = False
    is_settled: bool = False
    throw: Throw | None = None
    nets: tuple[int | None, ...] | None = None  # decisions on single bets; None: the rules decide
    decision: str = ""  # the ruling or discretion behind it; empty if a rule itself decides

    def instead_of(self, assessment: Assessment) -> Assessment:
        if self.is_void:
            return replace(assessment, void_rules=self.rules, is_void=True, is_finished=True)
        if not self.is_settled:
            return replace(assessment, throw=self.throw or assessment.throw)
        return replace(assessment, void_rules=(), is_void=False, is_finished=True, throw=self.throw or assessment.throw)


@dataclass(frozen=True)
class RecordedRound:
    """A recorded round with what it is settled by. The bets of a corrected round have the corrected nets."""

    book: Rulebook
    layout: Layout
    limits: Limits
    events: Sequence[Event]
    bets: Sequence[RecordedBet]
    excess: str | None = None
    rulings: tuple[str, ...] = ()  # standing interpretations that set its excess and rounding
    answers: tuple[str, ...] = ()  # those about this very round
    ruled: Ruled | None = None
    ruled_by_rule: Ruled | None = None  # the last decision made by a rule: a ruling is compared with it

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
        """Calculate the sums by the rules; None if the round is void or unfinished."""
        by_events = self._by_events
        if by_events.is_void or not by_events.is_finished or by_events.throw is None:
            return None
        return reckon(self.layout, by_events.throw, self.counting, self.limits, self.policy, boxes=self.boxes)

    @cached_property
    def settlement(self) -> Settlement | None:
        """Settle the round with reasons. The reference of a bet is its position."""
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
        assessment = self._assess(limits_need_ruling=True)
        return self.ruled.instead_of(assessment) if self.ruled else assessment

    @cached_property
    def _by_events(self) -> Assessment:
        assessment = self._assess()
        return self.ruled.instead_of(assessment) if self.ruled else assessment

    def _assess(self, limits_need_ruling: bool = False) -> Assessment:
        return assess(self.book, self.events, bet_irregularities(self.book, self.bets), limits_need_ruling)

    def expected(self) -> list[tuple[int, tuple[str, ...]]]:
        """Return the expected net and rules of every bet; empty if the round is unfinished."""
        return [(net, self._rules(position)) for position, net in enumerate(self._nets())]

    def _nets(self) -> list[int]:
        """Return the expected nets; empty if the round is unfinished."""
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
        """Return the rules by which a bet of a finished round has its expected net."""
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
        """For each bet, count the counting bets before it."""
        return list(accumulate((bet.counts for bet in self.bets), initial=0))

    # --- What is wrong with it ---

    def discrepancies(self) -> Iterator[Discrepancy]:
        """Yield the discrepancies in the order of the bets. Reasons are calculated only if there is one."""
        nets = self._nets()
        pairs = enumerate(zip(self.bets, nets, strict=False))
        for position in [at for at, (bet, net) in pairs if bet.net is not None and bet.net != net]:
            net, recorded = nets[position], self.bets[position].net or 0
            yield Discrepancy(position, discrepancy_kind(net, recorded), net, recorded, self._rules(position))

    def beyond_rules(self) -> Iterator[Beyond]:
        """Yield the bets that the last ruling or discretion settled differently from the rules alone."""
        if self.ruled is None or not self.ruled.decision:
            return
        for position, (by_rules, decided) in enumerate(zip(self._by_rules_alone(), self._nets(), strict=False)):
            if by_rules != decided:
                yield Beyond(position, by_rules, decided)

    def _by_rules_alone(self) -> list[int]:
        """Return the nets without any ruling. Empty if the round was never settled by its dice and has none."""
        alone = replace(self, ruled=self.ruled_by_rule)
        assessment = alone.assessment
        if not assessment.is_finished and assessment.throw is not None:
            alone = replace(alone, ruled=Ruled((), is_settled=True, throw=assessment.throw))
        return alone._nets() or [0] * len(self.bets)

    def breaches(self) -> Sequence[Breach]:
        """Yield the breaches of every round, void and unfinished ones too."""
        return breaches(self.layout, self.limits, self.counting, self.boxes)

    def irregularities(self) -> Iterator[Irregularity]:
        for irregularity in self.assessment.irregularities:
            if irregularity.action == "unfinished" and self.assessment.is_finished:  # a ruling decided it since
                continue
            yield self._answered(irregularity)

    def _answered(self, irregularity: Irregularity) -> Irregularity:
        if irregularity.action != "ruling" or not self.answers:
            return irregularity
        return replace(irregularity, detail=f"{irregularity.detail} Ruled on: {', '.join(self.answers)}.")

    def policy_rulings(self, position: int) -> tuple[str, ...]:
        """List the standing rulings by which a bet was cut or not: those of its box, if it exceeds its maximum."""
        bet = self.bets[position]
        if self.reckoning is None or not bet.counts or not self.boxes[bet.box].is_over_full:
            return ()
        return self.rulings


def bet_irregularities(book: Rulebook, bets: Sequence[RecordedBet]) -> list[Irregularity]:
    """List bets placed or withdrawn after no-more-bets, one entry each. Only a bet on the felt is withdrawn late."""
    late, withdrawal = situation_of(book, "late-bet"), situation_of(book, "late-withdrawal")
    irregularities = [
        Irregularity(late.rules[0], late.action, f"{bet.player} {bet.box}", position)
        for position, bet in enumerate(bets) if bet.is_late
    ]  # fmt: skip
    return irregularities + [
        Irregularity(withdrawal.rules[0], withdrawal.action, f"{bet.player} {bet.box} {LATE_WITHDRAWAL}", position)
        for position, bet in enumerate(bets) if bet.counts and bet.is_withdrawn_late
    ]  # fmt: skip


def off_felt_rules(book: Rulebook, bet: RecordedBet) -> tuple[str, ...]:
    """Return the rules by which a late, refused or withdrawn bet has a net of 0."""
    if bet.is_refused and bet.is_timed and not bet.is_late:
        return situation_of(book, "over-limit-noticed").rules
    if bet.is_withdrawn and not bet.is_refused and not bet.is_late:
        return situation_of(book, "late-withdrawal").rules
    return situation_of(book, "late-bet").rules


def breach_rules(book: Rulebook, breach: Breach) -> tuple[str, ...]:
    return book.limits.below_minimum if breach.kind == "below-minimum" else book.limits.cut


def discrepancy_kind(expected: int, recorded: int) -> str:
    """Name the kind of a difference between the expected and the recorded net."""
    if expected == 0:
        return "void-not-returned"
    if expected > 0:
        return "overpaid" if recorded > expected else "underpaid" if recorded > 0 else "unpaid-winner"
    return "paid-loser" if recorded > 0 else "over-collected" if recorded < expected else "not-collected"
