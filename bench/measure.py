"""Measure candidates: the best of three interleaved tries of each, and its ratio to the first."""

import time
from collections.abc import Callable
from dataclasses import dataclass

TRIES = 3


@dataclass(frozen=True)
class Row:
    name: str
    seconds: float
    ratio: float  # to the first candidate
    note: str = ""
    is_kept: bool = True  # the limit set for it, if any


def compare(
    candidates: dict[str, Callable[[], object]], notes: Callable[[float], str] = lambda seconds: ""
) -> list[Row]:
    """Run each candidate in turn, three times, so that a slow moment of the machine affects all alike.

    One that returns seconds counted them itself, without what it had to prepare.
    """
    best = dict.fromkeys(candidates, float("inf"))
    for _ in range(TRIES):
        for name, work in candidates.items():
            started = time.perf_counter()
            counted = work()
            seconds = counted if isinstance(counted, float) else time.perf_counter() - started
            best[name] = min(best[name], seconds)
    floor = next(iter(best.values()))
    return [Row(name, seconds, seconds / floor, notes(seconds)) for name, seconds in best.items()]


def show(title: str, rows: list[Row]) -> None:
    print(f"\n{title}")
    for row in rows:
        print(f"  {row.name:<44} {row.seconds:9.3f} s   × {row.ratio:6.2f}   {row.note}")
