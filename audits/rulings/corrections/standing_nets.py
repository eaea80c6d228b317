"""The present nets of a round: as recorded, plus what each correction has added to the net of each bet."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from audits.models import Correction
from audits.reconciliation.explain import recorded_round
from audits.reconciliation.later_decisions import LaterDecisions, decision_of
from audits.reconciliation.terms import terms_of_day
from games.engine.play.findings import RecordedRound
from games.engine.play.irregularities import SETTLED
from games.models import Round


@dataclass(frozen=True)
class StandingNets:
    """A round as it is now, with all its corrections."""

    round: Round
    last: Correction | None = None
    was_corrected_to_settled: bool = False  # by any correction so far
    by_rule: Correction | None = None  # the last correction decided by a rule itself

    @property
    def nets(self) -> list[int]:
        return list(self.last.nets if self.last else self.round.nets)

    @property
    def status(self) -> str:
        """Return the present status; a correction of the result alone leaves it unchanged."""
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
    def is_returned(self) -> bool:
        """Return whether it is void and every stake was returned. A round that a rule voids may have been paid."""
        return self.is_void and not any(self.nets)

    @property
    def has_paid(self) -> bool:
        """Return whether money was paid, also in a round that a rule voids."""
        return self.is_settled or any(self.nets)

    @property
    def was_settled(self) -> bool:
        """Return whether it was settled at any time, also if it was voided since."""
        is_recorded = self.round.status == Round.Status.SETTLED
        return (
            is_recorded or self.was_corrected_to_settled or any(event["kind"] == SETTLED for event in self.round.events)
        )

    @property
    def ordinal(self) -> int:
        """Return the ordinal of the next correction."""
        return (self.last.ordinal if self.last else 0) + 1

    def recorded(self) -> RecordedRound:
        """Return the round for the engine, with the terms that apply to it."""
        applied = terms_of_day(self.round.table).at(self.round.assignment_id, self.round.started_at)
        return recorded_round(self.round, applied, LaterDecisions(correction=self.last, by_rule=self.by_rule))


def standing_nets_of(rounds: Iterable[Round]) -> list[StandingNets]:
    """Return the present nets of each round, from all its corrections."""
    listed = list(rounds)
    made: dict[int, list[Correction]] = defaultdict(list)
    corrections = Correction.objects.filter(round__in=listed).order_by("ordinal")
    for correction in corrections.select_related("consequence__ruling").defer("consequence__ruling__search"):
        made[correction.round_id].append(correction)
    return [_standing_nets(round_, made[round_.pk]) for round_ in listed]


def _standing_nets(round_: Round, made: list[Correction]) -> StandingNets:
    by_rule = [correction for correction in made if not decision_of(correction)]
    return StandingNets(
        round_, made[-1] if made else None, any(correction.is_settled for correction in made),
        by_rule[-1] if by_rule else None,
    )  # fmt: skip


def deltas(before: Sequence[int], after: Sequence[int]) -> list[int]:
    """Return the difference of each bet's net."""
    return [new - old for old, new in zip(before, after, strict=True)]
