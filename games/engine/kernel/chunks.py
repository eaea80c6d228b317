"""Chunks of rounds for the `kernel`, its verdict on them, and where the bets of each round are."""

from dataclasses import dataclass, fields
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from games.engine.box_numbers import CODES

COLUMNS = len(CODES) + 1  # by the number of the box; the first box is 1

Ints = NDArray[np.integer[Any]]
Places = NDArray[np.intp]
Amounts = NDArray[np.int64]
Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Chunk:
    """Rounds side by side, with the bets of all rounds one after the other. Any integer type will do."""

    games: Ints  # per round, as all that follow: which of the kernel's games
    throws: Ints  # `throw_number`, or -1 if no dice decide
    void: Flags  # every stake is returned. Neither void nor a throw: unfinished
    sizes: Ints  # number of bets
    boxes: Ints  # per bet, as all that follow: number of the box
    stakes: Ints
    nets: Ints  # as recorded
    counts: Flags | None = None  # False: refused or late; not in a box total, expected net 0
    compared: Flags | None = None  # False: no net was recorded

    def part(self, rounds: slice, bets: slice) -> "Chunk":
        """Return some of the rounds with their bets."""
        return Chunk(
            self.games[rounds],
            self.throws[rounds],
            self.void[rounds],
            self.sizes[rounds],
            self.boxes[bets],
            self.stakes[bets],
            self.nets[bets],
            None if self.counts is None else self.counts[bets],
            None if self.compared is None else self.compared[bets],
        )


@dataclass(frozen=True)
class Verdict:
    """The expected outcome of every bet and every round."""

    effective: Amounts  # per bet: effective stake, also in an unfinished round
    expected: Amounts  # per bet: expected net; 0 in void and unfinished rounds
    differs: Flags  # per round, as all that follow: a recorded net is not the expected one
    breaches: Flags  # a box or a pair exceeds its limit, or a bet is below its minimum
    needs_ruling: Flags  # the minimums alone exceed what a box may hold
    house: Amounts  # expected result of the house
    mean_216: Amounts  # sum of the house results over the 216 throws; 0 in void and unfinished rounds, as is the next
    variance: Floats  # variance of the house result over the 216 throws

    @classmethod
    def blank(cls, rounds: int, bets: int) -> "Verdict":
        return cls(
            effective=np.zeros(bets, np.int64),
            expected=np.zeros(bets, np.int64),
            differs=np.zeros(rounds, np.bool_),
            breaches=np.zeros(rounds, np.bool_),
            needs_ruling=np.zeros(rounds, np.bool_),
            house=np.zeros(rounds, np.int64),
            mean_216=np.zeros(rounds, np.int64),
            variance=np.zeros(rounds, np.float64),
        )

    def put(self, part: "Verdict", rounds: slice, bets: slice) -> None:
        for field in fields(Verdict):
            places = bets if field.name in ("effective", "expected") else rounds
            getattr(self, field.name)[places] = getattr(part, field.name)


class Block:
    """Rounds of a chunk that are settled together.

    Columns of rounds are converted to native types, which is cheap; columns of bets are left as they are.
    """

    def __init__(self, chunk: Chunk) -> None:
        self.size = len(chunk.sizes)
        self.games = chunk.games.astype(np.intp, copy=False)
        self.throws = chunk.throws.astype(np.intp, copy=False)
        self.void = chunk.void.astype(np.bool_, copy=False)
        self.sizes = chunk.sizes.astype(np.intp, copy=False)
        self.boxes, self.stakes, self.nets = chunk.boxes, chunk.stakes, chunk.nets
        self.counts = None if chunk.counts is None else chunk.counts.astype(np.bool_, copy=False)
        self.compared = None if chunk.compared is None else chunk.compared.astype(np.bool_, copy=False)
        self.settled: Flags = (self.throws >= 0) & ~self.void
        self._ends = np.cumsum(self.sizes)

    def counting_stakes(self) -> Amounts:
        """Return a copy of the stakes, with 0 for bets that do not count."""
        stakes = self.stakes.astype(np.int64)
        if self.counts is not None:
            stakes *= self.counts
        return stakes

    def cells(self, lines: Places) -> Places:
        """For each bet, return the place of its box in a table whose `lines` are those of the rounds."""
        cells: Places = np.repeat(lines * COLUMNS, self.sizes)
        cells += self.boxes
        return cells

    def bets_of(self, number: int) -> slice:
        end = int(self._ends[number])
        return slice(end - int(self.sizes[number]), end)

    def rounds_with(self, bets: Flags) -> Flags:
        """Flag the rounds that have one of these bets."""
        flags = np.zeros(self.size, np.bool_)
        flags[np.searchsorted(self._ends, np.flatnonzero(bets), side="right")] = True
        return flags

    def rounds_above(self, bound: int) -> list[int]:
        """List the rounds whose total stakes may exceed the bound; in most blocks there are none."""
        if int(self.stakes.max(initial=0)) * int(self.sizes.max(initial=0)) <= bound:
            return []
        totals = np.bincount(np.repeat(np.arange(self.size), self.sizes), self.stakes, self.size)
        return [int(number) for number in np.flatnonzero(totals > bound)]

    def totals_of_boxes(self, stakes: Amounts) -> Floats:
        """Return one line per round with the total of every box."""
        cells = self.cells(np.arange(self.size))
        totals = np.bincount(cells, stakes, self.size * COLUMNS).reshape(self.size, COLUMNS)
        return cast(Floats, totals)  # with weights, bincount sums in float64

    def sums(self, amounts: Amounts) -> Amounts:
        """Sum the bets of each round."""
        sums = np.zeros(self.size, np.int64)
        with_bets = np.flatnonzero(
            self.sizes
        )  # reduceat would give a round without bets the first bet of the next round
        if with_bets.size:
            sums[with_bets] = np.add.reduceat(amounts, (self._ends - self.sizes)[with_bets])
        return sums

    def differing(self, expected: Amounts) -> Flags:
        """Flag the finished rounds with a recorded net that is not the expected one."""
        wrong: Flags = expected != self.nets
        if self.compared is not None:
            wrong = wrong & self.compared
        return self.rounds_with(wrong) & (self.settled | self.void)
