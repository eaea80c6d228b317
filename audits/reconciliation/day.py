"""Reconcile one table's gaming day in one transaction: findings, figures and the outbox change together or not at all.

The row of the daily result is the lock. Its holder reads the rounds in one statement. A round that is recorded
meanwhile stays in the outbox for the next pass.
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
from audits.reconciliation.checks.own_checks import ProcedureCheck, begun_meanwhile
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
LOCKED = f"""
SELECT {", ".join(f"s.{name}" for name in FIGURES)} FROM audits_daysummary s JOIN games_table t ON t.id = s.table_id
WHERE s.table_id = %s AND s.gaming_day = %s FOR UPDATE OF s FOR KEY SHARE OF t
"""
#: Do not wait for another worker: skip the row if it is locked, without an error in the server's log.
LOCKED_IF_FREE = LOCKED.replace("OF s FOR", "OF s SKIP LOCKED FOR").rstrip() + " SKIP LOCKED"
SAVED = f"""
UPDATE audits_daysummary SET {", ".join(f"{name} = %s" for name in (*FIGURES, *COUNTS, "kinds", "changed_at"))}
WHERE table_id = %s AND gaming_day = %s
"""
OTHER_DAYS = (
    "INSERT INTO games_outbox (round_id, at, again) SELECT unnest(%s::bigint[]), %s, true ON CONFLICT DO NOTHING"
)
#: With a subquery, because planning takes long with a plain list of numbers.
TAKEN = "DELETE FROM games_outbox WHERE round_id = ANY (ARRAY(SELECT unnest(%s::bigint[])))"


class BusyError(Exception):
    """Another worker is at work on this table's day."""


@dataclass
class DayResult:
    """The counts of one pass over a table's day."""

    rounds: int = 0
    bets: int = 0
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))


def day_lock(table: Table, day: dt.date, *, wait: bool = True) -> Sums:
    """Lock the day until the transaction ends, and return its current sums.

    Meanwhile no other worker reconciles the day, and the terms of the table do not change. Raises BusyError without
    `wait` if another worker has the day.
    """
    locked = query_rows(LOCKED if wait else LOCKED_IF_FREE, table.pk, day)
    if not locked:
        raise BusyError
    return Sums(*map(int, locked[0]))


def reconcile_day(table: Table, day: dt.date, run: Callable[[], Run], progress: Progress | None = None) -> DayResult:
    """Reconcile all rounds of the day again, in the caller's transaction. The day is locked."""
    day_lock(table, day)
    table_pass = TablePass(table)
    table_pass.read(rounds_of(table, day), progress)
    _requeue_next_day(table, day, table_pass.procedure.lasting)
    table_pass.explain(table_pass.procedure.may_overlap())
    findings_adopt(table.pk, table_pass.ids.tolist(), run)
    on_record = Finding.objects.filter(table=table, gaming_day=day, round__isnull=False)
    findings_save(table_pass.drafts, on_record, run, table_pass.day_terms)
    return _summarise(table, day, table_pass, Sums(), table_pass.drafts.kinds())


def reconcile_waiting(table: Table, day: dt.date, run: Callable[[], Run]) -> DayResult:
    """Reconcile the rounds of the day in the outbox, or the whole day if one of them was reconciled before.

    Raises BusyError if another worker has the day.
    """
    before = day_lock(table, day, wait=False)
    if Outbox.objects.filter(again=True, round__table=table, round__gaming_day=day).exists():
        return reconcile_day(table, day, run)
    table_pass = TablePass(table)
    table_pass.read(rounds_of(table, day, only_waiting=True), None)
    fresh = table_pass.ids.tolist()
    if not fresh:  # another worker was quicker
        return DayResult()
    later = begun_meanwhile(fresh)
    _requeue(table, [(key, its_day) for key, its_day in later if its_day != day])
    here = [key for key, its_day in later if its_day == day]
    on_record = Finding.objects.filter(round__in=fresh) | Finding.objects.filter(round__in=here, kind="overlap")
    sign = table_pass.procedure.sign
    if sign.has_found and (known := _sign_finding(table, day, fresh)):
        if sign.is_earlier_than(known):
            on_record |= Finding.objects.filter(pk=known.pk)
        sign.known = known
    table_pass.explain(sorted({*fresh, *here}))
    findings_adopt(table.pk, fresh, run)
    findings_save(table_pass.drafts, on_record, run, table_pass.day_terms)
    live = Finding.objects.filter(table=table, gaming_day=day, lapsed_at=None, round__isnull=False)  # by their index
    kinds = live.order_by().values_list("category", "kind").annotate(Count("pk"))
    return _summarise(table, day, table_pass, before, {(category, kind): count for category, kind, count in kinds})


def _sign_finding(table: Table, day: dt.date, fresh: list[int]) -> Finding | None:
    """Return the day's finding on an incomplete sign, if it is on record for a round that was reconciled before."""
    standing = Finding.objects.filter(table=table, gaming_day=day, kind=SIGN_INCOMPLETE, lapsed_at=None)
    return standing.exclude(round__in=fresh).select_related("round").first()


def _requeue_next_day(table: Table, day: dt.date, lasting: list[int]) -> None:
    """Queue rounds of the next day that may overlap a new round of this day."""
    if lasting:
        _requeue(table, [(key, its_day) for key, its_day in begun_meanwhile(lasting) if its_day != day])


def _requeue(table: Table, rounds: list[tuple[int, dt.date]]) -> None:
    """Put rounds into the outbox again, after any other worker on their days has finished.

    Otherwise that worker, having read the rounds before, would remove them from the outbox without another look.
    """
    if not rounds:
        return
    days = sorted({day for _, day in rounds})
    list(DaySummary.objects.select_for_update().filter(table=table, gaming_day__in=days).order_by("gaming_day"))
    with connection.cursor() as cursor:
        cursor.execute(OTHER_DAYS, [[key for key, _ in rounds], timezone.now()])


def _summarise(
    table: Table, day: dt.date, table_pass: "TablePass", before: Sums, kinds: Mapping[tuple[str, str], int]
) -> DayResult:
    """Save the day's figures and take its rounds out of the outbox."""
    before.add(table_pass.sums)
    counts = dict.fromkeys(COUNTS, 0)
    for (category, _), count in kinds.items():
        counts[COUNT_OF[Category(category)]] += count
    by_kind = json.dumps({f"{category} {kind}": count for (category, kind), count in sorted(kinds.items())})
    with connection.cursor() as cursor:
        figures = (getattr(before, name) for name in FIGURES)
        cursor.execute(SAVED, [*figures, *counts.values(), by_kind, timezone.now(), table.pk, day])
    _take_from_outbox(table_pass.ids)
    return DayResult(table_pass.sums.rounds, table_pass.sums.bets, counts)


def _take_from_outbox(ids: NDArray[np.int64]) -> None:
    """Delete these rounds from the outbox, and none that have arrived meanwhile."""
    if query_rows("SELECT FROM games_outbox LIMIT 1"):
        with connection.cursor() as cursor:
            cursor.execute(TAKEN, [f"{{{','.join(map(str, ids.tolist()))}}}"])


class TablePass:
    """One pass over rounds of a table: the kernel settles them, and the engine explains those that differ."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.day_terms: TermsOfDay = terms_of_day(table)
        self.procedure = ProcedureCheck(table, self.day_terms)
        self.sums = Sums()
        self.drafts = GatheredDrafts()
        self._ids: list[NDArray[np.int64]] = []
        self._to_explain: dict[int, int] = {}  # by round: what the kernel saw in it
        self._corrected: list[int] = []
        self._by_engine: list[int] = []  # settled one by one by the scalar engine

    @property
    def ids(self) -> NDArray[np.int64]:
        return np.concatenate(self._ids) if self._ids else np.array([], np.int64)

    def read(self, blocks: Reading, progress: Progress | None) -> None:
        """Read and settle all blocks.

        The reading is always closed: a connection that is still sending rows cannot even roll back.
        """
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
        differs = seen != 0
        self._to_explain.update(zip(rounds.ids[differs].tolist(), seen[differs].tolist(), strict=True))

    def _settle(self, rounds: Rounds) -> Verdict:
        chunk = Chunk(
            games=self.day_terms.places(rounds.assignments, rounds.started_at),
            throws=np.where(rounds.status == SETTLED, rounds.throws, -1),
            void=rounds.status == VOID,
            sizes=rounds.sizes, boxes=rounds.boxes, stakes=rounds.stakes, nets=rounds.nets, counts=rounds.counts,
            compared=rounds.compared,
        )  # fmt: skip
        return self.day_terms.kernel.settle(chunk)

    def explain(self, overlapping: list[int]) -> None:
        """Collect the findings, once the reading is over: a connection does one thing at a time."""
        policy, crews = self.day_terms.weights, self.day_terms.crews
        for round_, recorded in explained(list(self._to_explain), self.day_terms):
            self.drafts.add(round_.pk, drafts_in(recorded, policy, crews, self._to_explain[round_.pk]), round_)
        for keys, are_corrected in ((self._corrected, True), (self._by_engine, False)):
            for round_, recorded in explained(keys, self.day_terms, are_corrected=are_corrected):
                self.sums.add(sums_of_round(recorded))
                self.drafts.add(round_.pk, drafts_in(recorded, policy, crews), round_)
        for key, draft in self.procedure.findings(overlapping):
            self.drafts.add(key, [draft])
