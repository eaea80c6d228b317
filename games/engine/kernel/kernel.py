"""Settle many rounds at once with NumPy, in whole numbers; rulebooks, layouts, limits and policies may be mixed.

Only this package of the engine needs more than the standard library. It gives every round the same result as
`settlement`, `limits` and `exposure` do one by one; tests compare the two.

Totals and house results are sums of whole numbers in float64, exact below 2**53. The largest possible number is
216 × (highest odds + 1) × all stakes of a round. A round in which that may exceed 2**52 is settled by the scalar
engine: with odds of 180 to 1, a round with stakes above 115,000 million minor units. A result beyond int64 raises an
OverflowError; it is never a wrong number.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from games.engine.box_numbers import CODES, NUMBERS, code_of, numbers_of
from games.engine.dice import FACES, Throw, all_throws
from games.engine.exposure import distinct_throws, exposure
from games.engine.kernel.chunks import COLUMNS, Amounts, Block, Chunk, Flags, Floats, Places, Verdict
from games.engine.kernel.policies import POLICIES, CrowdedBoxes, give_way, minimums_exceed
from games.engine.rules.rulebook import Layout, Rulebook
from games.engine.settlement import settle
from games.engine.signs.limits import Bet, Limits, breaches, effective_stakes, holdings

__all__ = ["Chunk", "Kernel", "KernelGame", "Verdict", "throw_number"]

ALL_THROWS = tuple(all_throws())
THROWS = len(ALL_THROWS)
NO_THROW = THROWS  # the line in which no box wins or loses
EXACT = 2**52
BLOCK = 768  # rounds; a larger block gets fresh memory each time, which takes longer than the calculation
NEVER = 2**62  # as good as no limit: no stake is so large
NOT_THERE = 2**63 - 1  # the minimum of a box that the layout lacks, so that every bet in it is flagged


@dataclass(frozen=True)
class KernelGame:
    """The rules, layout and limits a round is settled by."""

    book: Rulebook
    layout: Layout
    limits: Limits
    excess: str | None = None  # None: the rulebook's own policy

    @property
    def policy(self) -> str:
        return self.excess or self.book.limits.excess


def throw_number(dice: Sequence[int]) -> int:
    """Return the place of a throw among the 216, from 0 for 1, 1, 1."""
    first, second, third = dice
    return ((first - 1) * len(FACES) + second - 1) * len(FACES) + third - 1


class Kernel:
    """Tables of odds and limits of every game, and the settlement of chunks by them."""

    def __init__(self, games: Sequence[KernelGame]) -> None:
        self.games = tuple(games)
        layouts = list({id(game.layout): game.layout for game in self.games}.values())
        place = {id(layout): number for number, layout in enumerate(layouts)}
        tables = [_tables(layout) for layout in layouts]
        self._layouts = np.array([place[id(game.layout)] for game in self.games], np.intp)
        self._multipliers = np.array([table.multipliers for table in tables], np.int16).ravel()
        self._payoffs = [table.payoffs for table in tables]
        self._ways = np.array([ways for _, ways in distinct_throws()], np.float64)
        self._bound = EXACT // (THROWS * (int(self._multipliers.max(initial=0)) + 1))
        self._minimums = np.array([_minimums(game) for game in self.games], np.int64).ravel()
        self._maximums = np.array([_maximums(game) for game in self.games], np.float64).reshape(-1, COLUMNS)
        self._differentials = _differentials(self.games)
        self._units = np.array([min(game.limits.chip_unit, NEVER) for game in self.games], np.int64)
        self._policies = np.array([POLICIES.index(game.policy) for game in self.games], np.intp)

    def settle(self, chunk: Chunk) -> Verdict:
        """Calculate the expected outcome of every bet and every round."""
        self._verify(chunk)
        if len(chunk.sizes) <= BLOCK:
            return self._settle_block(Block(chunk))
        verdict, start = Verdict.blank(len(chunk.sizes), len(chunk.boxes)), 0
        for first in range(0, len(chunk.sizes), BLOCK):
            rounds = slice(first, first + BLOCK)
            bets = slice(start, start + int(chunk.sizes[rounds].sum()))
            verdict.put(self._settle_block(Block(chunk.part(rounds, bets))), rounds, bets)
            start = bets.stop
        return verdict

    def _verify(self, chunk: Chunk) -> None:
        """Refuse numbers outside the tables: NumPy would read them from a wrong place."""
        bounds = (
            ("games", chunk.games, 0, len(self.games) - 1),
            ("throws", chunk.throws, -1, THROWS - 1),
            ("sizes", chunk.sizes, 0, len(chunk.boxes)),
            ("boxes", chunk.boxes, 1, len(CODES)),
            ("stakes", chunk.stakes, 0, NEVER),
        )
        for name, column, least, most in bounds:
            if column.size and not least <= int(column.min()) <= int(column.max()) <= most:
                raise ValueError(f"{name}: a number is outside {least} to {most}.")
        if int(chunk.sizes.sum()) != len(chunk.boxes):
            raise ValueError(f"sizes: they add up to {int(chunk.sizes.sum())} bets, but {len(chunk.boxes)} are given.")

    def _settle_block(self, block: Block) -> Verdict:
        effective = block.counting_stakes()
        too_large = block.rounds_above(self._bound)
        for number in too_large:
            effective[block.bets_of(number)] = 0
        totals = block.totals_of_boxes(effective)
        beyond = self._beyond(block, totals)
        broken = beyond | self._below_minimum(block)
        needs_ruling = self._give_way(block, beyond, totals, effective)
        if block.void.any():
            effective[np.repeat(block.void, block.sizes)] = 0
        expected = self._multipliers.take(block.cells(self._lines(block))) * effective
        sums, variance = self._outlook(block, totals)
        differs, house = block.differing(expected), -block.sums(expected)
        verdict = Verdict(effective, expected, differs, broken, needs_ruling, house, sums, variance)
        for number in too_large:
            self._settle_exactly(block, number, verdict)
        if too_large:
            verdict.differs[:] = block.differing(expected)
        return verdict

    def _lines(self, block: Block) -> Places:
        """For each round, return the line of the multipliers for its layout and throw."""
        lines = np.where(block.settled, block.throws, NO_THROW)
        lines += self._layouts[block.games] * (THROWS + 1)
        return lines

    # --- Limits ---

    def _beyond(self, block: Block, totals: Floats) -> Flags:
        """Flag rounds with a box over its maximum, or a pair over its differential."""
        beyond = np.any(totals > self._maximums.take(block.games, axis=0), axis=1)
        for (first, other), allowed in self._differentials.items():
            beyond |= np.abs(totals[:, first] - totals[:, other]) > allowed[block.games]
        return np.asarray(beyond)

    def _below_minimum(self, block: Block) -> Flags:
        """Flag rounds with a bet below its minimum."""
        minimums = self._minimums.take(block.cells(block.games))
        low: Flags = block.stakes < minimums
        if block.counts is not None:
            low = low & block.counts
        missing = block.boxes[low][minimums[low] == NOT_THERE]
        if missing.size:
            raise ValueError(f"boxes: the layout of a round has no box {code_of(int(missing[0]))}.")
        return block.rounds_with(low)

    def _permitted(self, games: Places, totals: Floats) -> Floats:
        """Return what each box may hold, with maximum and differential."""
        maximums = self._maximums[games]
        permitted = maximums.copy()
        for (first, other), differential in self._differentials.items():
            difference, allowed = totals[:, first] - totals[:, other], differential[games]
            for heavier, lighter, exceeded in (
                (first, other, difference > allowed),
                (other, first, -difference > allowed),
            ):
                most = np.minimum(totals[:, lighter], maximums[:, lighter]) + allowed
                permitted[exceeded, heavier] = np.minimum(permitted[exceeded, heavier], most[exceeded])
        return permitted

    def _give_way(self, block: Block, beyond: Flags, totals: Floats, effective: Amounts) -> Flags:
        """Cut the bets of over-full boxes in `effective` and `totals`. Return the rounds that need a ruling."""
        needs_ruling = np.zeros(block.size, np.bool_)
        giving = beyond & ~block.void & (self._policies[block.games] != POLICIES.index("in-full"))
        rounds = np.flatnonzero(giving)
        if not rounds.size:
            return needs_ruling
        permitted = self._permitted(block.games[rounds], totals[rounds])
        bets, lines = (
            np.flatnonzero(np.repeat(giving, block.sizes)),
            np.repeat(np.arange(len(rounds)), block.sizes[rounds]),
        )
        crowded = (totals[rounds] > permitted)[lines, block.boxes[bets]]
        bets, lines = bets[crowded], lines[crowded]
        rounds, boxes = rounds[lines], block.boxes[bets]
        games = block.games[rounds]
        crowd = CrowdedBoxes(
            boxes=lines * COLUMNS + boxes,
            stakes=effective[bets],
            minimums=self._minimums[games * COLUMNS + boxes],
            units=self._units[games],
            totals=totals[rounds, boxes].astype(np.int64),
            permitted=permitted[lines, boxes].astype(np.int64),
        )
        effective[bets] = give_way(crowd, self._policies[games])
        np.add.at(totals, (rounds, boxes), effective[bets] - crowd.stakes)
        needs_ruling[rounds[minimums_exceed(crowd)]] = True
        return np.asarray(needs_ruling & block.settled)

    # --- Over all throws ---

    def _outlook(self, block: Block, totals: Floats) -> tuple[Amounts, Floats]:
        """Return the sum and the variance of the house result over the 216 throws."""
        sums, variance = np.zeros(block.size, np.int64), np.zeros(block.size, np.float64)
        layouts = np.where(block.settled, self._layouts[block.games], -1)
        for number, payoffs in enumerate(self._payoffs):
            rounds = np.flatnonzero(layouts == number)
            if rounds.size:
                results = totals[rounds, : len(payoffs)] @ payoffs
                sums[rounds] = results[:, -1]
                # no matrix product: a round's sum must not depend on the other rounds in the block
                variance[rounds] = (np.square(results[:, :-1]) * self._ways).sum(axis=1) / THROWS**3
        return sums, variance

    # --- Too large for the tables ---

    def _settle_exactly(self, block: Block, number: int, verdict: Verdict) -> None:
        """Settle one round by the scalar engine and store it in the verdict; `differs` is left to the caller."""
        game = self.games[block.games[number]]
        bets = np.arange(len(block.boxes))[block.bets_of(number)]
        if block.counts is not None:
            bets = bets[block.counts[bets]]
        placed = [Bet("", code_of(int(block.boxes[bet])), int(block.stakes[bet])) for bet in bets]
        verdict.breaches[number] = bool(breaches(game.layout, game.limits, placed))
        if block.settled[number]:
            throw = ALL_THROWS[block.throws[number]]
            done = settle(game.book, game.layout, throw, placed, limits=game.limits, excess=game.excess)
            outlook = exposure(game.book, game.layout, placed, game.limits, game.excess)
            verdict.effective[bets] = np.array([settled.effective for settled in done.bets], np.int64)
            verdict.expected[bets] = np.array([settled.net for settled in done.bets], np.int64)
            verdict.needs_ruling[number] = bool(done.needs_ruling)
            verdict.house[number] = done.house
            verdict.mean_216[number] = int(outlook.mean * THROWS)
            verdict.variance[number] = outlook.variance
        elif not block.void[number]:
            boxes = holdings(game.layout, game.limits, placed)
            stakes = effective_stakes(game.policy, boxes, placed, game.limits.chip_unit)
            verdict.effective[bets] = np.array(stakes, np.int64)


# --- Tables of a layout, and of a game -------------------------------------------------------------


@dataclass(frozen=True)
class LayoutTables:
    layout: Layout
    multipliers: NDArray[np.int16]
    payoffs: Floats


_KNOWN: dict[int, LayoutTables] = {}


def _tables(layout: Layout) -> LayoutTables:
    """Build the tables of a layout once per process. The layout is kept with them, so that its id is never reused."""
    known = _KNOWN.get(id(layout))
    if known is None:
        multipliers = _multipliers(layout)
        known = _KNOWN[id(layout)] = LayoutTables(layout, multipliers, _payoffs(layout, multipliers))
    return known


def _multipliers(layout: Layout) -> NDArray[np.int16]:
    """For every throw and box, return what a bet gains per unit; the last line is zero."""
    lines = {throw.ascending: _line(layout, throw) for throw, _ in distinct_throws()}
    place = {faces: number for number, faces in enumerate(lines)}
    table = np.array([*lines.values(), [0] * COLUMNS], np.int16)
    return table[[*(place[throw.ascending] for throw in ALL_THROWS), -1]]


def _line(layout: Layout, throw: Throw) -> list[int]:
    line, odds = [0] * COLUMNS, layout.winning(throw)
    for code in layout.boxes:
        line[NUMBERS[code]] = odds.get(code, -1)
    return line


def _payoffs(layout: Layout, multipliers: NDArray[np.int16]) -> Floats:
    """For every box, return 216 × the house gain above its mean on the 56 distinct throws; last, its sum over all 216.

    So scaled, every number is whole, and a variance loses nothing to the difference of two large numbers.
    """
    width = max(numbers_of(layout)) + 1
    house = -multipliers[:THROWS, :width].astype(np.int64)
    sums = house.sum(axis=0)
    distinct = house[[throw_number(throw.faces) for throw, _ in distinct_throws()]]
    return np.vstack([distinct * THROWS - sums, sums]).T.astype(np.float64)


def _minimums(game: KernelGame) -> list[int]:
    line = [NOT_THERE] * COLUMNS
    for code in game.layout.boxes:
        line[NUMBERS[code]] = min(game.limits.of(game.layout, code).minimum or 0, NEVER)
    return line


def _maximums(game: KernelGame) -> list[float]:
    line = [np.inf] * COLUMNS
    for code in game.layout.boxes:
        maximum = game.limits.of(game.layout, code).maximum
        line[NUMBERS[code]] = np.inf if maximum is None else float(min(maximum, NEVER))
    return line


def _differentials(games: Sequence[KernelGame]) -> dict[tuple[int, int], Floats]:
    """Return, by the numbers of two boxes, the differential of each game."""
    differentials: dict[tuple[int, int], Floats] = {}
    for number, game in enumerate(games):
        for type_, allowed in game.limits.differential.items():
            first, other = (NUMBERS[box.code] for box in game.layout.boxes_of(type_))
            column = differentials.setdefault((first, other), np.full(len(games), np.inf))
            column[number] = min(allowed, NEVER)
    return differentials
