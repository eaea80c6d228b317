"""The number of every betting box of every layout: one frozen list, by which the record of a bet names its box.

The number of a box is its line in `box_numbers.txt`. A new rulebook may add lines at the end; none ever changes.
"""

from functools import cache
from pathlib import Path

from games.engine.rules.rulebook import Layout

CODES: tuple[str, ...] = tuple(Path(__file__).with_name("box_numbers.txt").read_text().split())
NUMBERS: dict[str, int] = {code: number for number, code in enumerate(CODES, 1)}


def code_of(number: int) -> str:
    return CODES[number - 1]


@cache
def _numbers(codes: tuple[str, ...]) -> frozenset[int]:
    return frozenset(NUMBERS[code] for code in codes)


def numbers_of(layout: Layout) -> frozenset[int]:
    """Return the numbers of a layout's boxes."""
    return _numbers(tuple(layout.boxes))
