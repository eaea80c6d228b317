"""The books of a round: what was recorded, and what every correction since has added to the net of each bet."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from audits.models import Correction
from audits.reconciliation.applying import applying
from audits.reconciliation.explaining import recorded_round
from audits.reconciliation.since import Since
from games.engine.findings import RecordedRound
from games.models import Round


@dataclass(frozen=True)
class Books:
    """A round as it stands now."""

    round: Round
    last: Correction | None = None

    @property
    def nets(self) -> list[int]:
        return list(self.last.nets if self.last else self.round.nets)

    @property
    def status(self) -> str:
        """A correction of the result alone leaves the round as unfinished as it was."""
        if self.last is not None and self.last.is_void:
            return Round.Status.VOID
        if self.last is not None and self.last.is_settled:
            return Round.Status.SETTLED
        return self.round.status

    @property
    def is_void(self) -> bool:
        return self.status == Round.Status.VOID

    @property
    def is_settled(self) -> bool:
        return self.status == Round.Status.SETTLED

    @property
    def ordinal(self) -> int:
        """Of the next correction."""
        return (self.last.ordinal if self.last else 0) + 1

    def recorded(self) -> RecordedRound:
        """With what it is settled by, for the engine."""
        applied = applying(self.round.table).at(self.round.assignment_id, self.round.started_at)
        return recorded_round(self.round, applied, Since(correction=self.last))


def books_of(rounds: Iterable[Round]) -> list[Books]:
    listed = list(rounds)
    last = {one.round_id: one for one in Correction.objects.filter(round__in=listed).order_by("ordinal")}
    return [Books(one, last.get(one.pk)) for one in listed]


def deltas(before: Sequence[int], after: Sequence[int]) -> list[int]:
    return [new - old for old, new in zip(before, after, strict=True)]
