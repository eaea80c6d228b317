"""One table's gaming day, reconciled in one transaction: findings, figures and the outbox change together or not.

The row of the day's summary is the lock. Whoever holds it reads the rounds in one statement; a round that is recorded
meanwhile has its place in the outbox and waits for the next.
"""

import datetime as dt
import json
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field

import numpy as np
from django.db import connection
from django.db.models import Count
from django.utils import timezone
from numpy.typing import NDArray

from audits.models import COUNTS, FIGURES, Category, DaySummary, Finding, Run
from audits.reconciliation.adoption import findings_adopt
from audits.reconciliation.bulk_read import (
    BY_ENGINE,
    CORRECTED,
    IRREGULAR,
    SETTLED,
    TIMED,
    VOID,
    Reading,
    Rounds,
    rounds_of,
)
from audits.reconciliation.checks.own_checks import Procedure, begun_meanwhile
from audits.reconciliation.drafts import Sight, drafts_in
from audits.reconciliation.explain import explained
from audits.reconciliation.scalar_totals import sums_of_round
from audits.reconciliation.store import GatheredDrafts, findings_save
from audits.reconciliation.terms import SIGN_INCOMPLETE, TermsOfDay, terms_of_day
from audits.reconciliation.totals import Sums, sums_of
from games.database.sql import query_rows
from games.engine.kernel.kernel import Chunk, Verdict
from games.models import Outbox, Table

Progress = Callable[[int], None]
COUNT_OF = {
    Category.DISCREPANCY: "discrepancies",
    Category.BREACH: "breaches",
    Category.IRREGULARITY: "irregularities",
    Category.PROCEDURAL: "procedural",
    Category.BY_RULING: "by_ruling",
}
# SQL by hand: each table of a join is locked in its own way, with the figures in the same step.
LOCKED = f"""
SELECT {", ".join(f"s.{name}" for name in FIGURES)} FROM audits_daysummary s JOIN games_table t ON t.id = s.table_id
WHERE s.table_id = %s AND s.gaming_day = %s FOR UPDATE OF s FOR KEY SHARE OF t
"""
#: Where workers meet nobody waits: what another one holds is skipped, without an error in the server's log.
LOCKED_IF_FREE = LOCKED.replace("OF s FOR", "OF s SKIP LOCKED FOR").rstrip() + " SKIP LOCKED"
# SQL by hand: one statement a pass, for the benchmark.
SAVED = f"""
UPDATE audits_daysummary SET {", ".join(f"{name} = %s" for name in (*FIGURES, *COUNTS, "kinds", "changed_at"))}
WHERE table_id = %s AND gaming_day = %s
"""
#: SQL by hand for the benchmark.
#: By a subquery: the planner weighs every number of a list that it sees.
TAKEN = "DELETE FROM games_outbox WHERE round_id = ANY (ARRAY(SELECT unnest(%s::bigint[])))"


class BusyError(Exception):
    """Another worker is at work on this table's day."""


@dataclass
class DayResult:
    """What one pass over a table's day came to."""

    rounds: int = 0
    bets: int = 0
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))


def day_lock(table: Table, day: dt.date, *, wait: bool = True) -> Sums:
    """Until the transaction ends nobody else reconciles this day, and nobody changes what the table is settled by."""
    locked = query_rows(LOCKED if wait else LOCKED_IF_FREE, table.pk, day)
    if not locked:
        raise BusyError
    return Sums(*map(int, locked[0]))


def reconcile_day(table: Table, day: dt.date, run: Callable[[], Run], progress: Progress | None = None) -> DayResult:
    """All rounds of the day anew. The caller's transaction; its day is locked."""
    day_lock(table, day)
    seen = TablePass(table)
    seen.read(rounds_of(table, day), progress)
    _overlapped_elsewhere(table, day, seen.procedure.lasting)
    seen.explain(seen.procedure.may_overlap())
    findings_adopt(table.pk, seen.ids.tolist(), run)
    on_record = Finding.objects.filter(table=table, gaming_day=day, round__isnull=False)
    findings_save(seen.gathered, on_record, run, seen.applying)
    return _summarise(table, day, seen, Sums(), seen.gathered.kinds())


def reconcile_waiting(table: Table, day: dt.date, run: Callable[[], Run]) -> DayResult:
    """The rounds of the day that wait in the outbox; all of it, where one of them was reconciled before.

    Raises BusyError where another worker has the day.
    """
    before = day_lock(table, day, wait=False)
    if Outbox.objects.filter(again=True, round__table=table, round__gaming_day=day).exists():
        return reconcile_day(table, day, run)
    seen = TablePass(table)
    seen.read(rounds_of(table, day, only_waiting=True), None)
    fresh = seen.ids.tolist()
    if not fresh:  # somebody else was quicker
        return DayResult()
    later = begun_meanwhile(fresh)
    _again(table, [(key, its_day) for key, its_day in later if its_day != day])
    here = [key for key, its_day in later if its_day == day]
    on_record = Finding.objects.filter(round__in=fresh) | Finding.objects.filter(round__in=here, kind="overlap")
    if seen.procedure.sign.has_found and (known := _sign_finding(table, day, fresh)):
        if seen.procedure.sign.is_earlier_than(known):
            on_record |= Finding.objects.filter(pk=known.pk)
        seen.procedure.sign.known = known
    seen.explain(sorted({*fresh, *here}))
    findings_adopt(table.pk, fresh, run)
    findings_save(seen.gathered, on_record, run, seen.applying)
    live = Finding.objects.filter(table=table, gaming_day=day, lapsed_at=None, round__isnull=False)  # by their index
    kinds = live.order_by().values_list("category", "kind").annotate(Count("pk"))
    return _summarise(table, day, seen, before, {(category, kind): count for category, kind, count in kinds})


def _sign_finding(table: Table, day: dt.date, fresh: list[int]) -> Finding | None:
    """The day's finding on an incomplete sign, where it is on record for a round that was reconciled before."""
    standing = Finding.objects.filter(table=table, gaming_day=day, kind=SIGN_INCOMPLETE, lapsed_at=None)
    return standing.exclude(round__in=fresh).select_related("round").first()


def _overlapped_elsewhere(table: Table, day: dt.date, lasting: list[int]) -> None:
    """Rounds of the next day that may overlap only since one of this day, which is new, is on record."""
    if lasting:
        _again(table, [(key, its_day) for key, its_day in begun_meanwhile(lasting) if its_day != day])


def _again(table: Table, rounds: list[tuple[int, dt.date]]) -> None:
    """Whoever is at work on these days is waited for: he may have looked already, and would take them out unseen."""
    if not rounds:
        return
    days = sorted({day for _, day in rounds})
    list(DaySummary.objects.select_for_update().filter(table=table, gaming_day__in=days).order_by("gaming_day"))
    now = timezone.now()
    Outbox.objects.bulk_create([Outbox(round_id=key, at=now, again=True) for key, _ in rounds], ignore_conflicts=True)


def _summarise(
    table: Table, day: dt.date, seen: "TablePass", before: Sums, kinds: Mapping[tuple[str, str], int]
) -> DayResult:
    """The figures as they are now."""
    before.add(seen.sums)
    counts = dict.fromkeys(COUNTS, 0)
    for (category, _), count in kinds.items():
        counts[COUNT_OF[Category(category)]] += count
    by_kind = json.dumps({f"{category} {kind}": count for (category, kind), count in sorted(kinds.items())})
    with connection.cursor() as cursor:
        figures = (getattr(before, name) for name in FIGURES)
        cursor.execute(SAVED, [*figures, *counts.values(), by_kind, timezone.now(), table.pk, day])
    _taken(seen.ids)
    return DayResult(seen.sums.rounds, seen.sums.bets, counts)


def _taken(ids: NDArray[np.int64]) -> None:
    """Out of the outbox: those that were seen, and no other that has come meanwhile."""
    if Outbox.objects.exists():
        with connection.cursor() as cursor:
            cursor.execute(TAKEN, [f"{{{','.join(map(str, ids.tolist()))}}}"])


class TablePass:
    """One reading of rounds: what the kernel saw in them, and what the engine says about these."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.applying: TermsOfDay = terms_of_day(table)
        self.procedure = Procedure(table, self.applying)
        self.sums = Sums()
        self.gathered = GatheredDrafts()
        self._ids: list[NDArray[np.int64]] = []
        self._odd: dict[int, int] = {}  # rounds, with what was seen in them
        self._corrected: list[int] = []
        self._by_engine: list[int] = []  # settled by the scalar engine, one by one

    @property
    def ids(self) -> NDArray[np.int64]:
        return np.concatenate(self._ids) if self._ids else np.array([], np.int64)

    def read(self, blocks: Reading, progress: Progress | None) -> None:
        """The reading is closed whatever happens: a connection that is still sending rows cannot even roll back."""
        with closing(blocks):
            for rounds in blocks:
                self._see(rounds)
                if progress:
                    progress(self.sums.rounds)

    def _see(self, rounds: Rounds) -> None:
        self.procedure.see(rounds)
        self._ids.append(rounds.ids.astype(np.int64))
        corrected = rounds.flags & CORRECTED != 0
        by_engine = (rounds.flags & BY_ENGINE != 0) & ~corrected
        if corrected.any() or by_engine.any():
            self._corrected += rounds.ids[corrected].tolist()
            self._by_engine += rounds.ids[by_engine].tolist()
            rounds = rounds.only(~(corrected | by_engine))
        verdict = self._settle(rounds)
        self.sums.add(sums_of(rounds, verdict))
        irregular = verdict.needs_ruling | (rounds.flags & (IRREGULAR | TIMED) != 0)
        seen = (
            verdict.differs * Sight.DISCREPANCY.value
            + verdict.breaches * Sight.BREACH.value
            + irregular * Sight.IRREGULARITY.value
        )
        odd = seen != 0
        self._odd.update(zip(rounds.ids[odd].tolist(), seen[odd].tolist(), strict=True))

    def _settle(self, rounds: Rounds) -> Verdict:
        chunk = Chunk(
            games=self.applying.places(rounds.assignments, rounds.started_at),
            throws=np.where(rounds.status == SETTLED, rounds.throws, -1),
            void=rounds.status == VOID,
            sizes=rounds.sizes, boxes=rounds.boxes, stakes=rounds.stakes, nets=rounds.nets, counts=rounds.counts,
            compared=rounds.compared,
        )  # fmt: skip
        return self.applying.kernel.settle(chunk)

    def explain(self, overlapping: list[int]) -> None:
        """Once the reading is over: a connection does one thing at a time."""
        policy, crews = self.applying.weights, self.applying.crews
        for one, recorded in explained(list(self._odd), self.applying):
            self.gathered.add(one.pk, drafts_in(recorded, policy, crews, self._odd[one.pk]), one)
        for keys, are_corrected in ((self._corrected, True), (self._by_engine, False)):
            for one, recorded in explained(keys, self.applying, are_corrected=are_corrected):
                self.sums.add(sums_of_round(recorded))
                self.gathered.add(one.pk, drafts_in(recorded, policy, crews), one)
        for key, found in self.procedure.findings(overlapping):
            self.gathered.add(key, [found])
