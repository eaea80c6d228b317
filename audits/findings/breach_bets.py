"""The bets behind a breach: player, stake, time, and the settled part where the rules cut stakes."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace

from audits.models import Category, Finding
from audits.reconciliation.explain import recorded_round
from audits.reconciliation.terms import terms_of_day
from games.engine.play.findings import RecordedRound
from games.engine.settlement import limit_rules
from games.engine.signs.limits import effective_stakes
from games.models import Round


@dataclass(frozen=True)
class BreachBet:
    player: str
    box: str
    stake: int
    at: dt.datetime | None
    effective: int  # the part of the stake that is settled
    rules: tuple[str, ...]  # numbers without the rulebook: why the stake was cut, or was not

    @property
    def returned(self) -> int:
        return self.stake - self.effective


@dataclass(frozen=True)
class BreachBets:
    bets: Sequence[BreachBet]
    policy: str  # proportional, filled, in-full
    is_void: bool  # every stake is returned, and none is cut
    is_pro_rated: bool

    @property
    def total(self) -> int:
        return sum(bet.stake for bet in self.bets)

    @property
    def settled(self) -> int:
        return sum(bet.effective for bet in self.bets)

    @property
    def by_box(self) -> list["BreachBets"]:
        """Split the bets by box: the two boxes of a differential have separate totals."""
        boxes = dict.fromkeys(bet.box for bet in self.bets)
        return [replace(self, bets=[bet for bet in self.bets if bet.box == box]) for box in boxes]

    @property
    def cutting(self) -> str:
        """Say how the bets were cut."""
        if self.policy == "proportional":
            return "Every bet above the minimum is cut in proportion, but not below the minimum"
        return "Every bet above the minimum is reduced in proportion until the box is at its maximum"


def breach_bets(finding: Finding) -> BreachBets | None:
    """Return the bets in the boxes of a breach, or only its player's; None if the finding is not a breach."""
    played = finding.round
    if finding.category != Category.BREACH or played is None:
        return None
    recorded = _recorded(finding, played)
    stakes = dict(zip(_counting(recorded), _effective(recorded), strict=True))
    bets = [
        _bet(played, recorded, position, effective)
        for position, effective in stakes.items()
        if recorded.bets[position].box in finding.boxes
        and finding.player in (None, recorded.bets[position].player)
    ]  # fmt: skip
    is_cut = any(bet.returned for bet in bets)
    return BreachBets(bets, recorded.policy, recorded.assessment.is_void, is_cut)


def _recorded(finding: Finding, played: Round) -> RecordedRound:
    """Return the round with the limits of the finding, which may have been superseded since."""
    recorded = recorded_round(played, terms_of_day(finding.table).at(played.assignment_id, played.started_at))
    if finding.limit_set is None:
        return recorded
    limits = replace(finding.limit_set.sheet.limits(), chip_unit=recorded.limits.chip_unit)
    return replace(recorded, limits=limits)


def _counting(recorded: RecordedRound) -> list[int]:
    return [position for position, bet in enumerate(recorded.bets) if bet.counts]


def _effective(recorded: RecordedRound) -> list[int]:
    if recorded.assessment.is_void:
        return [bet.stake for bet in recorded.counting]
    return effective_stakes(recorded.policy, recorded.boxes, recorded.counting, recorded.limits.chip_unit)


def _bet(played: Round, recorded: RecordedRound, position: int, effective: int) -> BreachBet:
    bet = recorded.bets[position]
    at = played.placed_at[position] if played.placed_at else None
    rules: tuple[str, ...] = ()
    if not recorded.assessment.is_void:
        holding = recorded.boxes[bet.box]
        rules = limit_rules(recorded.book, recorded.policy, holding, bet.stake, effective)
    return BreachBet(bet.player, bet.box, bet.stake, at, effective, rules)
