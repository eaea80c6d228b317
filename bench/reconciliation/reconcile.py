"""A gaming day reconciled, against one plain reading of its bets: `BENCH=big` adds ten million bets."""

import os
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import psycopg

from bench import plain
from bench.children import Child
from bench.floors import Floor
from bench.measure import TRIES, Row, compare, show
from bench.reconciliation.planted import BETS, FLOOR, PlantedDay, Truth, differences
from taisai_backoffice.embedded.database import migrate
from taisai_backoffice.embedded.home import Home
from taisai_backoffice.embedded.lease import Lease
from taisai_backoffice.embedded.postgres import Postgres

BIG = os.environ.get("BENCH") == "big"
#: Sizes in bets; the first one is shown but not judged.
SIZES = (300_000, 3_000_000, *((10_000_000,) if BIG else ()))
FLOOR_NAME = "every bet read once: count, sum, sum"
ONE, TWO, AGAIN = "one worker, first run", "two workers, first run", "one worker, run again"
NUMPY, SQL, ORM = "rows to NumPy by a binary cursor", "one SQL statement", "the ORM, limits cached"
#: The highest ratio to the baseline, and a good one.
LIMITS = {ONE: (6, 3), TWO: (4, 1.5), AGAIN: (6, 3)}
ORM_ROUNDS = 500  # a sample; its time is multiplied
MOST_MEGABYTES = 200
FLAT = 1.1
GROWTH = 1.15
TITLE = f"Reconciling a day of {BETS} bets a round, findings and summary saved, best of {TRIES}"

FOUND = """
SELECT r.ref, f.kind, f.boxes, f.player, coalesce(f.expected, f.placed), coalesce(f.recorded, f.permitted)
FROM audits_finding f JOIN games_round r ON r.id = f.round_id WHERE f.lapsed_at IS NULL
"""
SUMMARY = "SELECT sum(rounds), sum(bets), sum(turnover), sum(house_recorded) FROM audits_daysummary"
LEFT = "SELECT count(*) FROM games_outbox"


class UntrueError(SystemExit):
    """A candidate missed planted findings or made others: the figures would mean nothing."""


@dataclass
class Measured:
    bets: int
    rows: list[Row]
    peaks: dict[str, float] = field(default_factory=dict)  # megabytes

    def of(self, name: str) -> Row:
        return next(row for row in self.rows if row.name == name)


def run(home: Home) -> list[Row]:
    with ExitStack() as stack:
        postgres = Postgres(home)
        stack.callback(Lease.take(postgres, prepare=lambda: migrate(postgres)).give_back)
        floor = Floor(home, postgres)
        measured = [of_size(floor, bets) for bets in SIZES]
    draw(measured, Home.from_environment().folder("bench") / "reconcile.png")
    rows = [named(row, measurement.bets) for measurement in measured for row in measurement.rows]
    return rows + [row for less, more in pairwise(measured) for row in grown(less, more)]


def named(row: Row, bets: int) -> Row:
    return Row(f"{bets // 1000:,}k: {row.name}", row.seconds, row.ratio, row.note, row.is_kept)


def of_size(floor: Floor, bets: int) -> Measured:
    print(f"  {bets:,} bets: writing and importing the day", file=sys.stderr)
    day = Day(floor, bets)
    try:
        measured = day.measure()
    finally:
        day.drop()
    show(f"{bets:,} bets", measured.rows)
    return measured


class Day:
    """A recorded day in one database, its bets as plain rows in another, and its true findings."""

    def __init__(self, floor: Floor, bets: int) -> None:
        self.floor, self.name, self.plain = floor, f"day_{bets}", f"plain_{bets}"
        self.planted = PlantedDay(bets // BETS)
        self.peaks: dict[str, float] = {}
        folder = floor.home.folder("bench")
        rounds, text = folder / "day.ndjson", folder / "floor.toml"
        self.planted.write(rounds)
        text.write_text(FLOOR)
        own = Floor(floor.home, floor.postgres)
        own.environment = floor.copy(self.name)
        own.manage("load_floor", str(text))
        own.manage("import_rounds", str(rounds))
        rounds.unlink()
        with psycopg.connect(floor.postgres.url("owner", self.name), autocommit=True) as connection:
            connection.execute("VACUUM (FREEZE, ANALYZE) games_round")
            connection.execute("VACUUM (ANALYZE) games_outbox")
        plain.make(floor, self.name, self.plain)

    def drop(self) -> None:
        for name in (self.name, self.plain):
            self.floor.drop(name)

    def measure(self) -> Measured:
        url = self.floor.postgres.url("owner", self.plain)
        with ExitStack() as stack:
            again = self._copy("again")
            stack.callback(self.floor.drop, "again")
            worker = stack.enter_context(Child("bench.reconciliation.reconciler", again))
            worker.ask("reconciled", 1)
            peers = stack.enter_context(
                Child("bench.reconciliation.reconcile_peers", self.floor.environment | {"DATABASE_URL": url})
            )
            reader = stack.enter_context(psycopg.connect(url, autocommit=True))
            reader.execute(plain.SERIAL)
            rows = compare(
                {
                    FLOOR_NAME: lambda: self._sum(reader),
                    ONE: lambda: self._first(1),
                    TWO: lambda: self._first(2),
                    AGAIN: lambda: self._reconciled(worker, 1, "again"),
                    NUMPY: lambda: self._peer(peers, "numpy"),
                    SQL: lambda: self._peer(peers, "sql"),
                    ORM: lambda: self._sample(peers),
                }
            )
        return Measured(self.planted.bets, [self._judged(row) for row in rows], self.peaks)

    # --- The ways ---

    def _copy(self, name: str) -> dict[str, str]:
        return self.floor.copy(name, template=self.name)

    def _sum(self, reader: "psycopg.Connection[tuple[object, ...]]") -> None:
        if (reader.execute(plain.SUM).fetchone() or ())[0] != self.planted.bets:
            raise UntrueError("The plain rows are not the bets of the day.")

    def _first(self, workers: int) -> float:
        """Reconcile a fresh copy without findings, which is in memory as the plain rows are."""
        environment = self._copy("first")
        with psycopg.connect(environment["DATABASE_URL"], autocommit=True) as connection:
            connection.execute("SELECT sum(cardinality(nets)) FROM games_round")
        try:
            with Child("bench.reconciliation.reconciler", environment) as worker:
                return self._reconciled(worker, workers, "first")
        finally:
            self.floor.drop("first")

    def _reconciled(self, worker: Child, workers: int, database: str) -> float:
        answer = worker.ask("reconciled", workers)
        name = {("first", 1): ONE, ("first", 2): TWO}.get((database, workers), AGAIN)
        self.peaks[name] = max(self.peaks.get(name, 0), answer["peak"])
        self._verify_record(database, name)
        return float(answer["seconds"])

    def _peer(self, peers: Child, way: str) -> float:
        answer = peers.ask(way)
        self._verify(way, self.planted.truth, answer["found"])
        return float(answer["seconds"])

    def _sample(self, peers: Child) -> float:
        answer = peers.ask("orm", ORM_ROUNDS)
        sample = sorted(f"{self.planted.seed}-{number:07d}" for number in range(ORM_ROUNDS))
        self._verify("orm", {finding for finding in self.planted.truth if finding.ref <= sample[-1]}, answer["found"])
        return float(answer["seconds"]) * self.planted.rounds / ORM_ROUNDS

    # --- Whether their findings are true ---

    def _verify(self, way: str, truth: Iterable[Truth], rows: Iterable[Iterable[object]]) -> None:
        found = [
            Truth(ref, kind, tuple(boxes), player, first, second) for ref, kind, boxes, player, first, second in rows
        ]  # type: ignore[arg-type, misc]
        if wrong := differences(truth, found):
            raise UntrueError("\n".join([f"{way}: the planted truth was not found.", *wrong]))

    def _verify_record(self, database: str, way: str) -> None:
        with psycopg.connect(self.floor.postgres.url("app", database), autocommit=True) as connection:
            self._verify(way, self.planted.truth, connection.execute(FOUND).fetchall())
            sums = tuple(map(int, connection.execute(SUMMARY).fetchone() or ()))
            left = connection.execute(LEFT).fetchone()
        planted = self.planted
        if sums != (planted.rounds, planted.bets, planted.turnover, planted.house) or left != (0,):
            raise UntrueError(f"{way}: the day's summary says {sums}, and {left} rounds were left in the outbox.")

    # --- Whether they are quick enough ---

    def _judged(self, row: Row) -> Row:
        notes, is_kept = [], True
        if row.name in LIMITS and self.planted.bets > SIZES[0]:
            limit, goal = LIMITS[row.name]
            is_kept = row.ratio <= limit
            notes.append(f"at most {limit}, goal {goal}: {'within' if is_kept else 'OVER'}")
        if row.name in self.peaks:
            peak = self.peaks[row.name]
            is_kept &= peak < MOST_MEGABYTES
            notes.append(f"{peak:.0f} MB{'' if peak < MOST_MEGABYTES else f', OVER {MOST_MEGABYTES}'}")
        if row.name == ORM:
            notes.append(f"{ORM_ROUNDS} rounds, scaled")
        return Row(row.name, row.seconds, row.ratio, "; ".join(notes), is_kept)


def grown(less: Measured, more: Measured) -> list[Row]:
    """Describe how time and memory grow from one size to the next."""
    times = more.of(ONE).ratio / less.of(ONE).ratio
    peak = more.peaks[ONE] / less.peaks[ONE]
    sizes = f"{less.bets // 1000:,}k to {more.bets // 1000:,}k"
    return [
        Row(
            f"{sizes}: time against the floor's", more.of(ONE).seconds, times,
            f"at most {GROWTH}: {'within' if times <= GROWTH else 'OVER'}", times <= GROWTH,
        ),
        Row(
            f"{sizes}: memory of a worker", more.of(ONE).seconds, peak,
            f"flat, at most {FLAT}: {'within' if peak <= FLAT else 'OVER'}", peak <= FLAT,
        ),
    ]  # fmt: skip


def draw(measured: list[Measured], path: Path) -> None:
    """Draw the ratio to the baseline by size, on a logarithmic scale."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
    bets = [measurement.bets for measurement in measured]
    for name in (row.name for row in measured[0].rows):
        axes.plot(bets, [measurement.of(name).ratio for measurement in measured], marker="o", label=name)
    axes.set(xscale="log", yscale="log", xlabel="bets", ylabel="times the floor", title=TITLE)
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(fontsize="small")
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
    print(f"  drawn in {path}", file=sys.stderr)
