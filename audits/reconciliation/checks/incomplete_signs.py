"""Find bets on boxes for which the table sign lacked a limit (RWS 3.3): one finding per table and gaming day."""

import datetime as dt
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from audits.models import Finding
from audits.reconciliation.bulk_read import Rounds
from audits.reconciliation.drafts import FindingDraft, procedural_draft
from audits.reconciliation.postgres_time import moment_of
from audits.reconciliation.terms import SIGN_INCOMPLETE, TermsOfDay
from games.engine.signs.completeness import Missing, missing_on_sign
from games.models import Round, Table
from games.rounds.terms import Terms


class Candidate(NamedTuple):
    """A round with such a bet, ordered by its start, then by its ref."""

    started_at: dt.datetime
    ref: str
    source: str
    round_id: int
    assignment_id: int


class IncompleteSignCheck:
    """Find the first bet of a table's gaming day for which the sign has no limits."""

    def __init__(self, table: Table, day_terms: TermsOfDay) -> None:
        self.table, self.day_terms = table, day_terms
        self._first: int | None = None  # when the first such round began
        self._rounds: list[int] = []  # the rounds that began then
        self.known: Finding | None = None  # already on record, of a round that is not read in this pass

    def see(self, rounds: Rounds) -> None:
        """Look at a block of rounds."""
        lacking = self.day_terms.lacking
        if lacking is None or not len(rounds.boxes):
            return
        if self._first is not None and int(rounds.started_at.min()) > self._first:
            return
        games = self.day_terms.places(rounds.assignments, rounds.started_at)
        if not np.logical_or.reduce(lacking, axis=1)[games].any():
            return
        bets = lacking[np.repeat(games, rounds.sizes), rounds.boxes]
        if rounds.counts is not None:
            bets = bets & rounds.counts
        if not bets.any():
            return
        of_bets = np.repeat(np.arange(len(rounds.ids)), rounds.sizes)
        affected = np.unique(of_bets[bets])
        first = int(rounds.started_at[affected].min())
        if self._first is None or first < self._first:
            self._first, self._rounds = first, []
        if first == self._first:
            self._rounds += rounds.ids[affected[rounds.started_at[affected] == first]].tolist()

    def findings(self) -> Iterator[tuple[int, FindingDraft]]:
        """Yield the finding of the day, unless the one on record is of an earlier round."""
        if not self._rounds or (self.known and not self.is_earlier_than(self.known)):
            return
        candidates = [
            Candidate(*names)
            for names in Round.objects.filter(pk__in=self._rounds).values_list(
                "started_at", "ref", "source", "pk", "assignment"
            )
        ]
        if self.known is not None and self.known.round is not None:
            known = self.known.round
            candidates.append(Candidate(known.started_at, known.ref, known.source, known.pk, known.assignment_id))
        first = min(candidates)
        yield first.round_id, self._draft(self.day_terms.at(first.assignment_id, first.started_at))

    @property
    def has_found(self) -> bool:
        return self._first is not None

    def is_earlier_than(self, known: Finding) -> bool:
        """Say whether a round of this pass may be earlier than the one of the finding on record."""
        return self._first is not None and moment_of(self._first) <= known.round_started_at

    def _draft(self, terms: Terms) -> FindingDraft:
        missing = missing_on_sign(terms.book, terms.layout, terms.limits)
        if terms.limit_set is None:
            detail = "No sign with limits was on record for this table."
        else:
            detail = f"The sign lacked {'; '.join(map(missing_text, missing))}."
        return procedural_draft(terms.book, self.day_terms.weights, SIGN_INCOMPLETE, detail)


def missing_text(missing: Missing) -> str:
    """Write one limit that the sign lacks: `a minimum for four`."""
    where = missing.type if missing.is_whole_type else ", ".join(missing.boxes)
    return f"a {missing.what} for {where}"
