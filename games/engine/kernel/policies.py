"""Cut the bets of many over-full boxes at once: the policies of `limits`, in whole numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

POLICIES = ("in-full", "proportional", "filled")
INT64 = 2**63


@dataclass(frozen=True)
class CrowdedBoxes:
    """Bets of over-full boxes, in the order of bets, each with the limits of its box."""

    boxes: NDArray[np.intp]  # equal for bets of one box of one round
    stakes: NDArray[np.int64]
    minimums: NDArray[np.int64]
    units: NDArray[np.int64]
    totals: NDArray[np.int64]
    permitted: NDArray[np.int64]

    def of(self, bets: NDArray[np.intp]) -> "CrowdedBoxes":
        return CrowdedBoxes(*(column[bets] for column in vars(self).values()))


def give_way(crowd: CrowdedBoxes, policies: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return the effective stake of each bet, by its policy."""
    result = crowd.stakes.copy()
    sharing = np.flatnonzero(policies == POLICIES.index("proportional"))
    if sharing.size:
        result[sharing] = proportional(crowd.of(sharing))
    filling = np.flatnonzero(policies == POLICIES.index("filled"))
    for bets in _by_box(filling, crowd.boxes):
        first = bets[0]
        bounds = (int(crowd.minimums[first]), int(crowd.permitted[first]), int(crowd.units[first]))
        result[bets] = filled(crowd.stakes[bets].tolist(), *bounds)
    return result


def minimums_exceed(crowd: CrowdedBoxes) -> NDArray[np.bool_]:
    """Flag the bets whose box exceeds what it may hold by the minimums alone."""
    _, places = np.unique(crowd.boxes, return_inverse=True)
    least = np.bincount(places, np.minimum(crowd.stakes, crowd.minimums))
    return np.asarray(least[places] > crowd.permitted)


def _by_box(bets: NDArray[np.intp], boxes: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Group the bets by box, in their order."""
    if not bets.size:
        return []
    ordered = bets[np.argsort(boxes[bets], kind="stable")]
    return np.split(ordered, np.flatnonzero(np.diff(boxes[ordered])) + 1)


def proportional(crowd: CrowdedBoxes) -> NDArray[np.int64]:
    """Cut in proportion: stake × permitted ÷ total, rounded down to the chip unit, never below the minimum."""
    stakes: NDArray[Any] = crowd.stakes
    if int(stakes.max()) * int(crowd.permitted.max()) >= INT64:
        stakes = stakes.astype(object)  # the same sum with Python integers, which cannot overflow
    shares = stakes * crowd.permitted // crowd.totals // crowd.units * crowd.units
    return np.where(
        crowd.stakes <= crowd.minimums, crowd.stakes, np.maximum(shares.astype(np.int64), crowd.minimums)
    )  # fmt: skip


def filled(stakes: Sequence[int], minimum: int, permitted: int, unit: int) -> list[int]:
    """Cut the larger bets of one box until it holds what it may, to within less than a chip unit."""
    result = list(stakes)
    giving = [position for position, stake in enumerate(stakes) if stake > minimum]
    while giving:
        weight = sum(stakes[position] for position in giving)
        room = permitted - (sum(result) - sum(result[position] for position in giving))
        shared = max(room, 0)
        staying = [position for position in giving if stakes[position] * shared >= minimum * weight]
        if len(staying) == len(giving):
            for position in giving:
                result[position] = max(stakes[position] * shared // (weight * unit) * unit, minimum)
            order = sorted(giving, key=lambda place: result[place] * weight - stakes[place] * shared)
            _hand_out(result, order, stakes, room - sum(result[position] for position in giving), unit)
            break
        for position in giving:
            result[position] = minimum if stakes[position] * shared < minimum * weight else result[position]
        giving = staying
    return result


def _hand_out(result: list[int], order: Sequence[int], stakes: Sequence[int], left: int, unit: int) -> None:
    """Hand out left-over chip units; no bet grows beyond its stake."""
    while left >= unit and (open_ := [position for position in order if result[position] < stakes[position]]):
        for position in open_:
            if left < unit:
                break
            more = min(unit, stakes[position] - result[position])
            result[position] += more
            left -= more
