"""Sums of the figures of rounds."""

from dataclasses import dataclass, fields

import numpy as np

from audits.reconciliation.bulk_read import SETTLED, UNFINISHED, VOID, Bools, Ints, Rounds
from games.engine.kernel.kernel import THROWS, Verdict


@dataclass
class Sums:
    """Sums over rounds, with the names of `audits.models.Figures`."""

    rounds: int = 0
    settled: int = 0
    voids: int = 0
    unfinished: int = 0
    bets: int = 0
    turnover: int = 0
    house_recorded: int = 0
    house_expected: int = 0
    mean_216: int = 0
    variance_scaled: int = 0
    by_ruling_amount: int = 0

    def add(self, other: "Sums") -> None:
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))


def sums_of(rounds: Rounds, verdict: Verdict) -> Sums:
    """Return the figures of rounds that the kernel settled."""
    status = rounds.status
    return Sums(
        rounds=len(rounds.ids),
        settled=int((status == SETTLED).sum()),
        voids=int((status == VOID).sum()),
        unfinished=int((status == UNFINISHED).sum()),
        bets=len(rounds.stakes),
        turnover=_sum(rounds.stakes, rounds.sizes, status == SETTLED, rounds.counts),
        house_recorded=-_sum(rounds.nets, rounds.sizes, status != UNFINISHED, rounds.compared),
        house_expected=_exact(verdict.house),
        mean_216=_exact(verdict.mean_216),
        variance_scaled=sum(map(int, np.rint(verdict.variance * THROWS**3).tolist())),
    )


def _sum(amounts: Ints, sizes: Ints, rounds: Bools, bets: Bools | None) -> int:
    """Add up amounts over the bets of the chosen rounds, or only the chosen bets of these."""
    if not rounds.all():
        of_rounds = np.repeat(rounds, sizes)
        bets = of_rounds if bets is None else of_rounds & bets
    return _exact(amounts if bets is None else amounts[bets])


def _exact(amounts: Ints) -> int:
    """Add up in int64 if no overflow is possible, else with Python's integers."""
    most = max(abs(int(amounts.max(initial=0))), abs(int(amounts.min(initial=0))))
    return int(amounts.sum()) if most * max(len(amounts), 1) < 2**62 else sum(amounts.tolist())
