"""Betting boxes: what a box code means, and whether a throw hits it.

Which boxes a layout has and what they pay is the rulebook's matter; so are the totals of Big, Small, Odd and Even.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from games.engine.dice import Throw


@dataclass(frozen=True)
class Box:
    """One betting box of a layout."""

    code: str
    type: str
    odds: tuple[int, ...]  # to 1; three for a single die, by the count of dice that show it
    rules: tuple[str, ...]  # the pay table's paragraph for this box
    win_rules: tuple[str, ...] = ()  # cited in addition for a win
    totals: frozenset[int] = frozenset()
    triples_lose: bool = False
    faces: tuple[int, ...] = field(default=())

    @property
    def best_odds(self) -> int:
        """Return the highest odds the box pays to 1."""
        return max(self.odds)

    def hits(self, throw: Throw) -> int:
        """Count how often the throw hits the box: 0 loses, more than once only for a single die."""
        return HITS[self.type](self, throw)

    def odds_on(self, throw: Throw) -> int:
        """Return the odds to 1 on this throw; 0 if the box loses."""
        hits = self.hits(throw)
        if hits == 0:
            return 0
        return self.odds[hits - 1] if len(self.odds) > 1 else self.odds[0]


def _total_without_triple(box: Box, throw: Throw) -> int:
    return int(throw.total in box.totals and not (box.triples_lose and throw.is_triple))


def _same_faces(box: Box, throw: Throw) -> int:
    return int(throw.ascending == tuple(sorted(box.faces)))


HITS: dict[str, Callable[[Box, Throw], int]] = {
    "big-small": _total_without_triple,
    "odd-even": _total_without_triple,
    "single": lambda box, throw: throw.count(box.faces[0]),
    "total": _total_without_triple,
    "domino": lambda box, throw: int(set(box.faces) <= set(throw.faces)),
    "double": lambda box, throw: int(throw.count(box.faces[0]) >= len(box.faces)),
    "triple": _same_faces,
    "any-triple": lambda box, throw: int(throw.is_triple),
    "four": lambda box, throw: int(len(set(throw.faces)) == len(throw.faces) and set(throw.faces) <= set(box.faces)),
    "three": _same_faces,
    "pair": _same_faces,
}

#: How the codes of each type look. The digits are faces, except those of a total.
CODES = {
    "big-small": re.compile(r"big|small"),
    "odd-even": re.compile(r"odd|even"),
    "single": re.compile(r"single-([1-6])"),
    "total": re.compile(r"total-([4-9]|1[0-7])"),
    "domino": re.compile(r"domino-([1-6])(?!\1)([1-6])"),
    "double": re.compile(r"double-([1-6])"),
    "triple": re.compile(r"triple-([1-6])"),
    "any-triple": re.compile(r"any-triple"),
    "four": re.compile(r"four-([1-6]{4})"),
    "three": re.compile(r"three-([1-6]{3})"),
    "pair": re.compile(r"pair-([1-6])\1(?!\1)([1-6])"),
}

WITHOUT_FACES = {"big-small", "odd-even", "total", "any-triple"}


def faces_of(type_: str, code: str) -> tuple[int, ...] | None:
    """Return the faces a code names, as often as they have to appear; None if the code is not one of the type."""
    match = CODES[type_].fullmatch(code)
    if match is None:
        return None
    if type_ in WITHOUT_FACES:
        return ()
    digits = tuple(int(digit) for digit in code.rpartition("-")[2])
    if type_ == "double":
        return digits * 2
    if type_ == "triple":
        return digits * 3
    return digits if _in_order(type_, digits) else None


def _in_order(type_: str, digits: tuple[int, ...]) -> bool:
    """Check the order of the digits: ascending for domino and three, descending for four, each face once."""
    if type_ in ("domino", "three"):
        return list(digits) == sorted(set(digits))
    if type_ == "four":
        return list(digits) == sorted(set(digits), reverse=True)
    return True
