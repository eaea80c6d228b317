"""Figures of rounds that the scalar engine settles one by one: corrected rounds and a few others."""

from audits.reconciliation.totals import Sums
from games.engine.exposure import exposure
from games.engine.kernel.kernel import THROWS
from games.engine.play.findings import RecordedRound
from games.engine.signs.limits import Bet


def sums_of_round(recorded_round: RecordedRound) -> Sums:
    """Return the figures of one round."""
    assessment, expected = recorded_round.assessment, [net for net, _ in recorded_round.expected()]
    is_settled = assessment.is_finished and not assessment.is_void
    sums = Sums(
        rounds=1, bets=len(recorded_round.bets), settled=int(is_settled), voids=int(assessment.is_void),
        unfinished=int(not assessment.is_finished), house_expected=-sum(expected),
        house_recorded=-sum(bet.net or 0 for bet in recorded_round.bets) if assessment.is_finished else 0,
        by_ruling_amount=sum(abs(beyond.decided - beyond.by_rules) for beyond in recorded_round.beyond_rules()),
    )  # fmt: skip
    if is_settled:
        sums.turnover = sum(bet.stake for bet in recorded_round.counting)
        bets = [Bet(bet.player, bet.box, bet.stake) for bet in recorded_round.counting]
        outlook = exposure(
            recorded_round.book, recorded_round.layout, bets, recorded_round.limits, recorded_round.excess
        )
        sums.mean_216 = int(outlook.mean * THROWS)
        sums.variance_scaled = round(outlook.variance * THROWS**3)
    return sums
