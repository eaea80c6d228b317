"""Chunks of rounds for the `kernel`, its verdict on them, and where in them the bets of a round are."""

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
    """Rounds side by side, and the bets of all rounds one after the other; whole numbers of any type will do."""

    games: Ints  # a round each, as all that follow: which of the kernel's games
    throws: Ints  # `throw_number`, or -1 where no dice decide
    void: Flags  # every stake goes back. Neither void nor a throw: unfinished
    sizes: Ints  # how many bets it has
    boxes: Ints  # a bet each, as all that follow: number of the box
    stakes: Ints
    nets: Ints  # as recorded
    counts: Flags | None = None  # False: refused or late; on no box's total, and expected to have net 0
    compared: Flags | None = None  # False: no net was given

    def part(self, rounds: slice, bets: slice) -> "Chunk":
        """Some of the rounds, with the bets that are theirs."""
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
    """What should have become of every bet and every round."""

    effective: Amounts  # a bet each: what it counts for; in an unfinished round, what it would
    expected: Amounts  # a bet each: net; 0 in void and unfinished rounds
    differs: Flags  # a round each, as all that follow: a net that was given is not the expected one
    breaches: Flags  # a box or a pair over its limit, or a bet under its minimum
    needs_ruling: Flags  # the minimums alone are more than a box may hold
    house: Amounts  # the house's expected result
    mean_216: Amounts  # its result summed over the 216 throws; 0 in void and unfinished rounds, as is the next
    variance: Floats  # of its result over the 216 throws

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

    Numbers of a round are brought to native types, which is cheap; those of a bet are left as they came.
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
        """A copy, with 0 for what does not count."""
        stakes = self.stakes.astype(np.int64)
        if self.counts is not None:
            stakes *= self.counts
        return stakes

    def cells(self, lines: Places) -> Places:
        """For each bet, its box's place in a table in which `lines` are those of the rounds."""
        cells: Places = np.repeat(lines * COLUMNS, self.sizes)
        cells += self.boxes
        return cells

    def bets_of(self, number: int) -> slice:
        end = int(self._ends[number])
        return slice(end - int(self.sizes[number]), end)

    def rounds_with(self, bets: Flags) -> Flags:
        """The rounds that have one of these bets."""
        found = np.zeros(self.size, np.bool_)
        found[np.searchsorted(self._ends, np.flatnonzero(bets), side="right")] = True
        return found

    def rounds_above(self, bound: int) -> list[int]:
        """Rounds whose stakes are together about the bound or more; in most blocks none can be."""
        if int(self.stakes.max(initial=0)) * int(self.sizes.max(initial=0)) <= bound:
            return []
        totals = np.bincount(np.repeat(np.arange(self.size), self.sizes), self.stakes, self.size)
        return [int(number) for number in np.flatnonzero(totals > bound)]

    def totals_of_boxes(self, stakes: Amounts) -> Floats:
        """For each round, a line of what lies on every box."""
        cells = self.cells(np.arange(self.size))
        totals = np.bincount(cells, stakes, self.size * COLUMNS).reshape(self.size, COLUMNS)
        return cast(Floats, totals)  # with weights, they are sums in float64

    def sums(self, amounts: Amounts) -> Amounts:
        """Of the bets of each round."""
        sums = np.zeros(self.size, np.int64)
        with_bets = np.flatnonzero(self.sizes)  # one without any would be given the first bet of the next
        if with_bets.size:
            sums[with_bets] = np.add.reduceat(amounts, (self._ends - self.sizes)[with_bets])
        return sums

    def differing(self, expected: Amounts) -> Flags:
        """Finished rounds with a net that is not the expected one."""
        wrong: Flags = expected != self.nets
        if self.compared is not None:
            wrong = wrong & self.compared
        return self.rounds_with(wrong) & (self.settled | self.void)
