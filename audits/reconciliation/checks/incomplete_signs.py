"""Bets on boxes for which the sign lacked a limit (RWS 3.3): found once a table and gaming day."""

import datetime as dt
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from audits.models import Finding
from audits.reconciliation.bulk_read import Rounds
from audits.reconciliation.drafts import FindingDraft, procedural_draft
from audits.reconciliation.postgres_time import moment_of
from audits.reconciliation.terms import SIGN_INCOMPLETE, AppliedTerms, TermsOfDay
from games.engine.signs.completeness import Missing, missing_on_sign
from games.models import Round, Table


class Candidate(NamedTuple):
    """A round with such a bet; the first by its start, then by its name."""

    started_at: dt.datetime
    ref: str
    source: str
    round_id: int
    assignment_id: int


class IncompleteSignCheck:
    """Watch the rounds of one gaming day of a table for the first bet that the sign has no limits for."""

    def __init__(self, table: Table, applying: TermsOfDay) -> None:
        self.table, self.applying = table, applying
        self._first: int | None = None  # when the first such round began
        self._rounds: list[int] = []  # those that began then
        self.known: Finding | None = None  # on record already, of a round that is not read in this pass

    def see(self, rounds: Rounds) -> None:
        lacking = self.applying.lacking
        if lacking is None or not len(rounds.boxes):
            return
        if self._first is not None and int(rounds.started_at.min()) > self._first:
            return
        games = self.applying.places(rounds.assignments, rounds.started_at)
        if not np.logical_or.reduce(lacking, axis=1)[games].any():
            return
        bets = lacking[np.repeat(games, rounds.sizes), rounds.boxes]
        if rounds.counts is not None:
            bets = bets & rounds.counts
        if not bets.any():
            return
        of_bets = np.repeat(np.arange(len(rounds.ids)), rounds.sizes)
        found = np.unique(of_bets[bets])
        first = int(rounds.started_at[found].min())
        if self._first is None or first < self._first:
            self._first, self._rounds = first, []
        if first == self._first:
            self._rounds += rounds.ids[found[rounds.started_at[found] == first]].tolist()

    def findings(self) -> Iterator[tuple[int, FindingDraft]]:
        if not self._rounds or (self.known and not self.is_earlier_than(self.known)):
            return
        candidates = [
            Candidate(*names)
            for names in Round.objects.filter(pk__in=self._rounds).values_list(
                "started_at", "ref", "source", "pk", "assignment"
            )
        ]
        if self.known is not None and self.known.round is not None:
            one = self.known.round
            candidates.append(Candidate(one.started_at, one.ref, one.source, one.pk, one.assignment_id))
        first = min(candidates)
        yield first.round_id, self._found(self.applying.at(first.assignment_id, first.started_at))

    @property
    def has_found(self) -> bool:
        return self._first is not None

    def is_earlier_than(self, known: Finding) -> bool:
        """Tell whether a round of this pass may come before the one that is on record."""
        return self._first is not None and moment_of(self._first) <= known.round_started_at

    def _found(self, applied: AppliedTerms) -> FindingDraft:
        game = applied.game
        lacks = missing_on_sign(game.book, game.layout, game.limits)
        if applied.limit_set is None:
            detail = "No sign with limits was on record for this table."
        else:
            detail = f"The sign lacked {'; '.join(map(in_words, lacks))}."
        return procedural_draft(game.book, self.applying.weights, SIGN_INCOMPLETE, detail)


def in_words(missing: Missing) -> str:
    where = missing.type if missing.is_whole_type else ", ".join(missing.boxes)
    return f"a {missing.what} for {where}"
