"""Findings for tests: rounds that were settled wrongly, recorded and reconciled."""

from collections.abc import Sequence
from typing import Any

from audits.models import Finding
from audits.reconciliation.services.arrivals import arrivals_take
from games.models import Round, Table
from games.rounds.services.recording import round_record
from tests.conftest import OPERATOR, House
from tests.games.floor_setup import ready_table, sign
from tests.games.rounds.samples import bet, current, line

#: A winner of 100.00 on Small who was paid 300.00, by dice 1, 3, 6.
OVERPAID = bet("seat-3", "small", "100.00", net="300.00")
#: A loser of 2,500.00 who was paid as much: 5,000.00 at stake, which is grave and needs compliance.
GRAVE = bet("seat-7", "big", "2500.00", net="2500.00")


def played(
    house: House, bets: Sequence[dict[str, Any]] = (OVERPAID,), table: str = "TS-01", pit: str = "P1", ref: str = "R-1"
) -> list[Finding]:
    """The findings of one round, in their order."""
    if not Table.objects.filter(code=table).exists():
        ready_table(house, table, pit, layout="C", limits=sign())
    round_record(actor=OPERATOR, line=line(current(ref=ref, table=table, bets=list(bets))), channel="api")
    arrivals_take()
    return list(Finding.objects.filter(round=Round.objects.get(ref=ref)).order_by("ordinal"))
