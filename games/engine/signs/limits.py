"""Limits and the differential: what a box may hold, how its bets are cut, and what is a breach."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple, Protocol

from games.engine.rules.rulebook import Layout


@dataclass(frozen=True)
class Bet:
    player: str
    box: str
    stake: int
    ref: str | None = None


class Placed(Protocol):
    """A bet as far as limits are concerned."""

    @property
    def player(self) -> str: ...
    @property
    def box(self) -> str: ...
    @property
    def stake(self) -> int: ...


@dataclass(frozen=True)
class Range:
    """A minimum for one player's bet and a maximum for all bets of a box; None if there is no such limit."""

    minimum: int | None = None
    maximum: int | None = None


@dataclass(frozen=True)
class Limits:
    """The limits on a sign. An entry for a box replaces the whole entry of its type."""

    by_key: Mapping[str, Range] = field(default_factory=dict)
    differential: Mapping[str, int] = field(default_factory=dict)
    chip_unit: int = 1

    def of(self, layout: Layout, box: str) -> Range:
        return self.ranges(layout)[box]

    def ranges(self, layout: Layout) -> dict[str, Range]:
        """Return the limits of every box, in the order of the layout; calculated once."""
        known = self._ranges.get(id(layout))
        if known is None:
            ranges = {
                code: self.by_key.get(code) or self.by_key.get(box.type) or Range()
                for code, box in layout.boxes.items()
            }
            known = self._ranges[id(layout)] = (layout, ranges)
        return known[1]

    @cached_property
    def _ranges(self) -> dict[int, tuple[Layout, dict[str, Range]]]:
        """Return the limits by box. Cached by the layout's id; the layout is kept, so that its id is never reused."""
        return {}


@dataclass(frozen=True)
class Breach:
    kind: str  # box-maximum, differential, below-minimum
    boxes: tuple[str, ...]
    player: str | None
    placed: int
    permitted: int


class Holding(NamedTuple):
    """A box of a round: its bets, and what it may hold."""

    box: str
    limits: Range
    bets: tuple[int, ...]  # positions
    total: int
    permitted: int | None

    @property
    def is_over_full(self) -> bool:
        return self.permitted is not None and self.total > self.permitted

    def is_left(self, stake: int) -> bool:
        """Say whether a bet is at or below the minimum: such a bet is not cut."""
        return self.limits.minimum is not None and stake <= self.limits.minimum


def holdings(layout: Layout, limits: Limits, bets: Sequence[Placed]) -> dict[str, Holding]:
    """Return every box with bets in it, in the order of the layout."""
    positions: dict[str, list[int]] = {}
    totals: dict[str, int] = {}
    for position, bet in enumerate(bets):
        box = bet.box
        if box in totals:
            positions[box].append(position)
            totals[box] += bet.stake
        else:
            positions[box], totals[box] = [position], bet.stake
    permitted = _permitted(layout, limits, totals)
    return {
        box: Holding(box, range_, tuple(positions[box]), totals[box], permitted[box])
        for box, range_ in limits.ranges(layout).items()
        if box in totals
    }


def _permitted(layout: Layout, limits: Limits, totals: Mapping[str, int]) -> dict[str, int | None]:
    """Return what each box may hold. With a differential, the heavier box may exceed the lighter one only by it."""
    ranges = limits.ranges(layout)
    permitted = {box: ranges[box].maximum for box in totals}
    for heavier, lighter, allowed in _exceeded(layout, limits, totals):
        held = totals.get(lighter, 0)
        cap = ranges[lighter].maximum
        most = (held if cap is None else min(held, cap)) + allowed
        own = permitted[heavier]
        permitted[heavier] = most if own is None else min(own, most)
    return permitted


def _exceeded(layout: Layout, limits: Limits, totals: Mapping[str, int]) -> list[tuple[str, str, int]]:
    """Yield the pairs of boxes that exceed their differential: the heavier, the lighter, the limit."""
    exceeded = []
    for type_, allowed in limits.differential.items():
        first, second = (box.code for box in layout.boxes_of(type_))
        if totals.get(first, 0) < totals.get(second, 0):
            first, second = second, first
        if totals.get(first, 0) - totals.get(second, 0) > allowed:
            exceeded.append((first, second, allowed))
    return exceeded


def breaches(
    layout: Layout, limits: Limits, bets: Sequence[Placed], boxes: Mapping[str, Holding] | None = None
) -> list[Breach]:
    """List the breaches: maximums, then differentials, then minimums. `boxes` are the holdings, if known already."""
    boxes = holdings(layout, limits, bets) if boxes is None else boxes
    totals = {box: holding.total for box, holding in boxes.items()}
    over = [
        Breach("box-maximum", (box,), None, holding.total, holding.limits.maximum)
        for box, holding in boxes.items()
        if holding.limits.maximum is not None and holding.total > holding.limits.maximum
    ]
    over_differential = [
        Breach("differential", (heavier, lighter), None, totals[heavier] - totals.get(lighter, 0), allowed)
        for heavier, lighter, allowed in _exceeded(layout, limits, totals)
    ]
    under = [
        Breach("below-minimum", (bet.box,), bet.player, bet.stake, minimum)
        for bet in bets
        if (minimum := boxes[bet.box].limits.minimum) is not None and bet.stake < minimum
    ]
    return [*over, *over_differential, *under]


# --- Excess stakes ---------------------------------------------------------------------------------


def effective_stakes(policy: str, boxes: Mapping[str, Holding], bets: Sequence[Placed], unit: int) -> list[int]:
    """Return the effective stake of each bet; the rest of its stake is returned."""
    stakes = [bet.stake for bet in bets]
    if policy != "in-full":
        share = proportional if policy == "proportional" else filled
        for holding in boxes.values():
            if holding.is_over_full:
                shares = share(holding, [stakes[position] for position in holding.bets], unit)
                for position, stake in zip(holding.bets, shares, strict=True):
                    stakes[position] = stake
    return stakes


def proportional(holding: Holding, stakes: Sequence[int], unit: int) -> list[int]:
    """Cut in proportion: stake × permitted ÷ total, rounded down to the chip unit, never below the minimum."""
    permitted, minimum = holding.permitted or 0, holding.limits.minimum or 0
    return [
        stake if holding.is_left(stake) else max(stake * permitted // holding.total // unit * unit, minimum)
        for stake in stakes
    ]


def filled(holding: Holding, stakes: Sequence[int], unit: int) -> list[int]:
    """Cut the larger bets until the box holds what it may, to within less than a chip unit."""
    minimum = holding.limits.minimum or 0
    result = list(stakes)
    giving = [position for position, stake in enumerate(stakes) if not holding.is_left(stake)]
    while giving:
        room = (holding.permitted or 0) - (sum(result) - sum(result[position] for position in giving))
        weight = sum(stakes[position] for position in giving)
        exact = {position: Fraction(stakes[position] * max(room, 0), weight) for position in giving}
        lifted = {position for position in giving if exact[position] < minimum}
        if not lifted:
            rounded = {position: max(int(exact[position] // unit) * unit, minimum) for position in giving}
            _hand_out(rounded, exact, stakes, room, unit)
            for position in giving:
                result[position] = rounded[position]
            break
        for position in lifted:
            result[position] = minimum
        giving = [position for position in giving if position not in lifted]
    return result


def _hand_out(
    rounded: dict[int, int], exact: Mapping[int, Fraction], stakes: Sequence[int], room: int, unit: int
) -> None:
    """Give left-over chip units to the largest remainders, then by order of bets; no bet grows beyond its stake."""
    order = sorted(rounded, key=lambda position: (rounded[position] - exact[position], position))
    left = room - sum(rounded.values())
    while left >= unit and (open_ := [position for position in order if rounded[position] < stakes[position]]):
        for position in open_:
            if left < unit:
                break
            more = min(unit, stakes[position] - rounded[position])
            rounded[position] += more
            left -= more


def needs_ruling(policy: str, holding: Holding, bets: Sequence[Placed]) -> bool:
    """Say whether the minimums alone exceed what the box may hold."""
    if not holding.is_over_full or policy == "in-full":
        return False
    least = sum(min(bets[position].stake, holding.limits.minimum or 0) for position in holding.bets)
    return least > (holding.permitted or 0)
