"""Checks of the procedure that look beyond one round: early bets, overlaps, tables not in play, people, the sign.

Checks of a single round's events are in `games.engine.play.procedure`.
"""

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audits.models import FindingPolicy
from audits.reconciliation.bulk_read import EARLY, LASTING, Rounds
from audits.reconciliation.checks.crew import CrewFault
from audits.reconciliation.checks.incomplete_signs import IncompleteSignCheck
from audits.reconciliation.checks.out_of_play import OutOfPlayCheck
from audits.reconciliation.drafts import FindingDraft, procedural_draft
from audits.reconciliation.postgres_time import microseconds, moment_of
from audits.reconciliation.terms import TermsOfDay
from games.database.sql import query_rows
from games.engine.rules.loader import rulebook
from games.models import Table

#: Rounds longer than this are not looked for as overlapping ones.
LONGEST = dt.timedelta(hours=24)

#: For each round, the earlier round that ended last, if it ended after this one began.
OVERLAPS = """
SELECT r.id, o.ref, o.source FROM games_round r CROSS JOIN LATERAL (
    SELECT b.ref, b.source FROM games_round b
    WHERE b.table_id = r.table_id AND b.started_at BETWEEN r.started_at - %s AND r.started_at
      AND (b.started_at, b.ref, b.source) < (r.started_at, r.ref, r.source) AND b.ended_at > r.started_at
    ORDER BY b.ended_at DESC, b.started_at DESC, b.ref DESC LIMIT 1
) o WHERE r.id = ANY (%s)
"""
#: Rounds of the table that began during one of these: now that it is on record, they may overlap it.
BEGUN_MEANWHILE = """
SELECT DISTINCT l.id, l.gaming_day FROM games_round r JOIN games_round l
  ON l.table_id = r.table_id AND l.started_at >= r.started_at AND l.started_at < r.ended_at
WHERE r.id = ANY (%s)
"""
LAST_END = """
SELECT max(ended_at) FROM games_round WHERE table_id = %s AND started_at >= %s AND started_at < %s
"""
EARLY_BETS = """
SELECT r.id, b.position - 1, b.player, b.box FROM games_roundbet b JOIN games_round r ON r.id = b.round_id
WHERE r.id = ANY (%s) AND b.placed_at < r.started_at AND NOT b.refused AND NOT b.withdrawn ORDER BY r.id, b.position
"""
RULEBOOKS = "SELECT id, rulebook FROM games_round WHERE id = ANY (%s)"


class ProcedureCheck:
    """Collect the rounds of a table block by block, then yield the procedural findings."""

    def __init__(self, table: Table, day_terms: TermsOfDay) -> None:
        self.table, self.day_terms = table, day_terms
        self._out_of_play = OutOfPlayCheck(day_terms.weights, day_terms.closures)
        self.lasting: list[int] = []  # new rounds that ended after the gaming day
        self.sign = IncompleteSignCheck(table, day_terms)
        self._doubtful: dict[int, tuple[int, dt.datetime]] = {}  # by round: its crew, and when it began
        self._early: list[int] = []
        self._times: list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]] = []

    def see(self, rounds: Rounds) -> None:
        self.lasting += rounds.ids[(rounds.flags & LASTING) != 0].tolist()
        self._early += rounds.ids[(rounds.flags & EARLY) != 0].tolist()
        self._see_crews(rounds)
        self.sign.see(rounds)
        self._out_of_play.see(rounds)
        self._times.append((rounds.ids, rounds.started_at, rounds.ended_at))

    def _see_crews(self, rounds: Rounds) -> None:
        doubtful = self.day_terms.crews.doubtful(rounds.crews)
        if doubtful.any():
            columns = (column[doubtful].tolist() for column in (rounds.ids, rounds.crews, rounds.started_at))
            for key, crew, started_at in zip(*columns, strict=True):
                self._doubtful[key] = (crew, moment_of(started_at))

    def may_overlap(self) -> list[int]:
        """List the rounds that began during another one, judged by their times alone."""
        if not self._times:
            return []
        ids, started, ended = (np.concatenate(column) for column in zip(*self._times, strict=True))
        order = np.argsort(started, kind="stable")
        started, ended = started[order], ended[order]
        before = last_end_before(self.table, moment_of(started[0]))
        first = microseconds(before) if before else np.iinfo(np.int64).min
        until = np.maximum.accumulate(np.concatenate([[first], ended]))[:-1]
        same = np.zeros(len(started), np.bool_)
        same[:-1] = started[:-1] == started[1:]  # the SQL statement decides which of the two comes first
        overlapping: list[int] = ids[order][(until > started) | same].tolist()
        return overlapping

    def findings(self, overlapping: Sequence[int]) -> Iterator[tuple[int, FindingDraft]]:
        """Yield the findings of each round, with rules and severity."""
        drafts = [*self._early_bets(), *self._overlaps(overlapping), *self._crew_faults()]
        books = dict(query_rows(RULEBOOKS, [draft.round_id for draft in drafts])) if drafts else {}
        for draft in drafts:
            yield draft.round_id, draft.finding(books[draft.round_id], self.day_terms.weights)
        yield from self._out_of_play.findings()
        yield from self.sign.findings()

    def _early_bets(self) -> "Iterator[ProceduralDraft]":
        for key, position, player, box in query_rows(EARLY_BETS, self._early) if self._early else ():
            detail = f"{player} {box} was placed before betting began."
            yield ProceduralDraft(
                key, "early-bet", detail, str(position), {"position": position, "player": player, "boxes": [box]}
            )

    def _overlaps(self, overlapping: Sequence[int]) -> "Iterator[ProceduralDraft]":
        for key, ref, source in query_rows(OVERLAPS, LONGEST, list(overlapping)) if overlapping else ():
            yield ProceduralDraft(key, "overlap", f"Began while {ref} ({source}) was still on.", f"{source} {ref}")

    def _crew_faults(self) -> "Iterator[ProceduralDraft]":
        fault: CrewFault
        for key, fault in self.day_terms.crews.faults(self._doubtful):
            yield ProceduralDraft(key, fault.kind, fault.detail, fault.post)


class ProceduralDraft(NamedTuple):
    """A procedural finding of a round, before its rulebook is looked up."""

    round_id: int
    kind: str
    detail: str
    mark: str = ""  # distinguishes it from others of its kind in the same round
    columns: dict[str, Any] = {}

    def finding(self, book_id: str, policy: FindingPolicy) -> FindingDraft:
        """Return the finding with the rules of a rulebook and the severity of a policy."""
        return procedural_draft(rulebook(book_id), policy, self.kind, self.detail, self.mark, **self.columns)


def last_end_before(table: Table, moment: dt.datetime) -> dt.datetime | None:
    """Return the last end of the rounds that began before a moment."""
    ((last_end,),) = query_rows(LAST_END, table.pk, moment - LONGEST, moment)
    return last_end  # type: ignore[no-any-return]


def begun_meanwhile(ids: Sequence[int]) -> list[tuple[int, dt.date]]:
    """List the rounds that began during one of these, with their gaming days."""
    return query_rows(BEGUN_MEANWHILE, list(ids))
