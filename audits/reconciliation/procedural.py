"""Checks of our own, beside those of the rules: bets before betting began, rounds that overlap, tables not in play."""

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audits.asking import rows
from audits.models import Category, Severity
from audits.reconciliation.applying import microseconds, moment_of
from audits.reconciliation.found import Found
from audits.reconciliation.reading import EARLY, LASTING, Rounds
from games.models import Table, TableStep

#: A round that began this long before another is not asked whether it was still on.
LONGEST = dt.timedelta(hours=6)
OUT_OF_PLAY = {TableStep.Kind.CLOSE: "closed", TableStep.Kind.SUSPEND: "suspended"}

STEPS = "SELECT at, kind FROM games_tablestep WHERE table_id = %s ORDER BY at, id"
#: Of each round, the one that began before it and lasted longest, where it was still on.
OVERLAPS = """
SELECT r.id, o.ref, o.source FROM games_round r CROSS JOIN LATERAL (
    SELECT b.ref, b.source FROM games_round b
    WHERE b.table_id = r.table_id AND b.started_at BETWEEN r.started_at - %s AND r.started_at
      AND (b.started_at, b.ref, b.source) < (r.started_at, r.ref, r.source) AND b.ended_at > r.started_at
    ORDER BY b.ended_at DESC, b.started_at DESC, b.ref DESC LIMIT 1
) o WHERE r.id = ANY (%s)
"""
#: Rounds of the table that began while one of these was on: they may overlap only since it is on record.
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
WHERE r.id = ANY (%s) AND b.placed_at < r.started_at ORDER BY r.id, b.position
"""


class Procedure:
    """Watches the rounds of a table go by, and then says what was not as it should be."""

    def __init__(self, table: Table) -> None:
        self.table = table
        steps = rows(STEPS, table.pk)
        self._moments = [at for at, _ in steps]
        self._kinds = [kind for _, kind in steps]
        self._at = np.array([microseconds(at) for at in self._moments], np.int64)
        self._out = np.array([False, *(kind in OUT_OF_PLAY for kind in self._kinds)])  # before the first step: unknown
        self.lasting: list[int] = []  # new ones that ended after the gaming day
        self._early: list[int] = []
        self._out_of_play: list[tuple[int, int]] = []  # round, place among the steps
        self._times: list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]] = []

    def see(self, rounds: Rounds) -> None:
        self.lasting += rounds.ids[(rounds.flags & LASTING) != 0].tolist()
        self._early += rounds.ids[(rounds.flags & EARLY) != 0].tolist()
        places = np.searchsorted(self._at, rounds.started_at, side="right")
        out = self._out[places]
        self._out_of_play += zip(rounds.ids[out].tolist(), (places[out] - 1).tolist(), strict=True)
        self._times.append((rounds.ids, rounds.started_at, rounds.ended_at))

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

    def findings(self, overlapping: Sequence[int]) -> Iterator[tuple[int, Found]]:
        """For each round that something is to be said of."""
        yield from self._early_bets()
        yield from self._overlaps(overlapping)
        for key, place in self._out_of_play:
            state = OUT_OF_PLAY[TableStep.Kind(self._kinds[place])]
            since = self._moments[place].astimezone(dt.UTC)
            yield key, _found(f"table-{state}", f"The table was {state} from {since:%Y-%m-%d %H:%M} UTC.")

    def _early_bets(self) -> Iterator[tuple[int, Found]]:
        for key, position, player, box in rows(EARLY_BETS, self._early) if self._early else ():
            detail = f"{player} {box} was placed before betting began."
            yield key, _found("early-bet", detail, position=position, player=player, boxes=[box])

    def _overlaps(self, overlapping: Sequence[int]) -> Iterator[tuple[int, Found]]:
        for key, ref, source in rows(OVERLAPS, LONGEST, list(overlapping)) if overlapping else ():
            yield key, _found("overlap", f"Began while {ref} ({source}) was still on.", other=f"{source} {ref}")


def last_end_before(table: Table, moment: dt.datetime) -> dt.datetime | None:
    """When the rounds that began before a moment had all ended."""
    ((found,),) = rows(LAST_END, table.pk, moment - LONGEST, moment)
    return found  # type: ignore[no-any-return]


def begun_meanwhile(ids: Sequence[int]) -> list[tuple[int, dt.date]]:
    """Rounds that began while one of these was on, with their gaming days."""
    return rows(BEGUN_MEANWHILE, list(ids))


def _found(kind: str, detail: str, *, other: str = "", position: int | None = None, **columns: Any) -> Found:
    key = f"{kind} {other}" if position is None else f"{kind} {position}"
    return Found(Category.PROCEDURAL, key, kind, Severity.MEDIUM, detail=detail, position=position, **columns)
