"""Checks of the procedure over the rounds of a table: early bets, overlaps, tables not in play, people, the sign.

What the events of a single round show is in `games.engine.play.procedure`.
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
from audits.reconciliation.checks.out_of_play import OutOfPlay
from audits.reconciliation.drafts import FindingDraft, procedural_draft
from audits.reconciliation.postgres_time import microseconds, moment_of
from audits.reconciliation.terms import TermsOfDay
from games.database.sql import query_rows
from games.engine.rules.loader import rulebook
from games.models import Table

#: A round that began this long before another is not asked whether it was still on.
LONGEST = dt.timedelta(hours=24)

#: SQL by hand: a lateral join.
#: Of each round, the one that began before it and lasted longest, where it was still on.
OVERLAPS = """
SELECT r.id, o.ref, o.source FROM games_round r CROSS JOIN LATERAL (
    SELECT b.ref, b.source FROM games_round b
    WHERE b.table_id = r.table_id AND b.started_at BETWEEN r.started_at - %s AND r.started_at
      AND (b.started_at, b.ref, b.source) < (r.started_at, r.ref, r.source) AND b.ended_at > r.started_at
    ORDER BY b.ended_at DESC, b.started_at DESC, b.ref DESC LIMIT 1
) o WHERE r.id = ANY (%s)
"""
#: SQL by hand: a join over times.
#: Rounds of the table that began while one of these was on: they may overlap only since it is on record.
BEGUN_MEANWHILE = """
SELECT DISTINCT l.id, l.gaming_day FROM games_round r JOIN games_round l
  ON l.table_id = r.table_id AND l.started_at >= r.started_at AND l.started_at < r.ended_at
WHERE r.id = ANY (%s)
"""
# SQL by hand: asked in every pass, for the benchmark.
LAST_END = """
SELECT max(ended_at) FROM games_round WHERE table_id = %s AND started_at >= %s AND started_at < %s
"""
# SQL by hand: the keys go as one array; for the benchmark.
EARLY_BETS = """
SELECT r.id, b.position - 1, b.player, b.box FROM games_roundbet b JOIN games_round r ON r.id = b.round_id
WHERE r.id = ANY (%s) AND b.placed_at < r.started_at AND NOT b.refused AND NOT b.withdrawn ORDER BY r.id, b.position
"""
# SQL by hand: the keys go as one array; for the benchmark.
RULEBOOKS = "SELECT id, rulebook FROM games_round WHERE id = ANY (%s)"


class Procedure:
    """Watches the rounds of a table go by, and then says what was not as it should be."""

    def __init__(self, table: Table, applying: TermsOfDay) -> None:
        self.table, self.applying = table, applying
        self._out_of_play = OutOfPlay(applying.weights, applying.closures)
        self.lasting: list[int] = []  # new ones that ended after the gaming day
        self.sign = IncompleteSignCheck(table, applying)
        self._doubtful: dict[int, tuple[int, dt.datetime]] = {}  # rounds, with their crew and when they began
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
        doubtful = self.applying.crews.doubtful(rounds.crews)
        if doubtful.any():
            columns = (column[doubtful].tolist() for column in (rounds.ids, rounds.crews, rounds.started_at))
            for key, crew, started_at in zip(*columns, strict=True):
                self._doubtful[key] = (crew, moment_of(started_at))

    def may_overlap(self) -> list[int]:
        """Rounds that began while another was on, by their times alone."""
        if not self._times:
            return []
        ids, started, ended = (np.concatenate(column) for column in zip(*self._times, strict=True))
        order = np.argsort(started, kind="stable")
        started, ended = started[order], ended[order]
        before = last_end_before(self.table, moment_of(started[0]))
        first = microseconds(before) if before else np.iinfo(np.int64).min
        until = np.maximum.accumulate(np.concatenate([[first], ended]))[:-1]
        same = np.zeros(len(started), np.bool_)
        same[:-1] = started[:-1] == started[1:]  # which of two comes first is for the statement to say
        found: list[int] = ids[order][(until > started) | same].tolist()
        return found

    def findings(self, overlapping: Sequence[int]) -> Iterator[tuple[int, FindingDraft]]:
        """Yield what is to be said of each round, with its rules and its severity."""
        drafts = [*self._early_bets(), *self._overlaps(overlapping), *self._crew_faults()]
        books = dict(query_rows(RULEBOOKS, [draft.round_id for draft in drafts])) if drafts else {}
        for draft in drafts:
            yield draft.round_id, draft.found(books[draft.round_id], self.applying.weights)
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
        for key, fault in self.applying.crews.faults(self._doubtful):
            yield ProceduralDraft(key, fault.kind, fault.detail, fault.post)


class ProceduralDraft(NamedTuple):
    """What is to be said of a round, before its rulebook is at hand."""

    round_id: int
    kind: str
    detail: str
    mark: str = ""  # what tells it from others of its kind in the same round
    columns: dict[str, Any] = {}

    def found(self, book_id: str, policy: FindingPolicy) -> FindingDraft:
        return procedural_draft(rulebook(book_id), policy, self.kind, self.detail, self.mark, **self.columns)


def last_end_before(table: Table, moment: dt.datetime) -> dt.datetime | None:
    """When the rounds that began before a moment had all ended."""
    ((found,),) = query_rows(LAST_END, table.pk, moment - LONGEST, moment)
    return found  # type: ignore[no-any-return]


def begun_meanwhile(ids: Sequence[int]) -> list[tuple[int, dt.date]]:
    """Rounds that began while one of these was on, with their gaming days."""
    return query_rows(BEGUN_MEANWHILE, list(ids))
