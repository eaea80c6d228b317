"""An independent count, from the documents alone: which boxes are on each felt, when they win, what they pay and hold.

Nothing of the engine is used here, and the engine uses nothing of this: the tests hold the two against each other.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations, product

Throw = tuple[int, ...]

V6, OPEN_COVER, DIVISION_9 = "rws-tai-sai-v6", "rws-tai-sai-open-cover-v5", "division-9-2008"
RULEBOOKS = (V6, OPEN_COVER, DIVISION_9)
FELTS = (
    *((rulebook, layout) for rulebook in (V6, OPEN_COVER) for layout in "ACE"),
    (DIVISION_9, "1"),
    (DIVISION_9, "2"),
)
FACES = range(1, 7)
THROWS: tuple[Throw, ...] = tuple(product(FACES, repeat=3))

# Which boxes are on which felt (RWS 4.1.1 to 4.1.3, Division 9 4.1).

PLAIN = (
    *("big", "small", "any-triple"),
    *(f"single-{face}" for face in FACES),
    *(f"triple-{face}" for face in FACES),
    *(f"total-{total}" for total in range(4, 18)),
    *(f"domino-{low}{high}" for low, high in combinations(FACES, 2)),
)
DOUBLES = tuple(f"double-{face}" for face in FACES)
ODD_EVEN = ("odd", "even")
FOUR_FOURS = ("four-6543", "four-6532", "four-5432", "four-4321")
ALL_FOURS = tuple("four-{3}{2}{1}{0}".format(*faces) for faces in combinations(FACES, 4))
THREES = tuple("three-{}{}{}".format(*faces) for faces in combinations(FACES, 3))
THIRTY_PAIRS = tuple(f"pair-{twice}{twice}{once}" for twice, once in permutations(FACES, 2))
RWS_PAIRS = tuple(box for box in THIRTY_PAIRS if box not in {"pair-112", "pair-665"})

BOXES: dict[str, tuple[str, ...]] = {
    "A": (*PLAIN, *DOUBLES),
    "C": (*PLAIN, *DOUBLES, *ODD_EVEN, *FOUR_FOURS, *THREES, *RWS_PAIRS),
    "E": (*PLAIN, *ALL_FOURS, *THREES, *RWS_PAIRS),
    "1": (*PLAIN, *DOUBLES),
    "2": (*PLAIN, *DOUBLES, *ODD_EVEN, *FOUR_FOURS, *THREES, *THIRTY_PAIRS),
}

# What a box pays on a throw.

SINGLE_PAYS = {1: 1, 2: 2, 3: 12}
TOTAL_PAYS = {4: 62, 5: 31, 6: 18, 7: 12, 8: 8, 9: 7, 10: 6, 11: 6, 12: 7, 13: 8, 14: 12, 15: 18, 16: 31, 17: 62}


def is_triple(throw: Throw) -> bool:
    return len(set(throw)) == 1


def _single(throw: Throw, face: str) -> int:
    return SINGLE_PAYS.get(throw.count(int(face)), 0)


def _total(throw: Throw, total: str) -> int:
    return TOTAL_PAYS[sum(throw)] if sum(throw) == int(total) else 0


def _faces(text: str) -> list[int]:
    return sorted(int(face) for face in text)


#: By the first word of a box: does it win on a throw that has no triple? `big` and its kin lose on every triple.
NO_TRIPLE: dict[str, Callable[[int], bool]] = {
    "big": lambda total: 11 <= total <= 17,
    "small": lambda total: 4 <= total <= 10,
    "odd": lambda total: total % 2 == 1,
    "even": lambda total: total % 2 == 0,
}
#: By the first word of a box: whether it wins, and then at what odds.
FIXED: dict[str, tuple[Callable[[Throw, str], bool], int]] = {
    "domino": (lambda throw, faces: set(_faces(faces)) <= set(throw), 6),
    "double": (lambda throw, face: throw.count(int(face)) >= 2, 11),
    "triple": (lambda throw, face: throw.count(int(face)) == 3, 180),
    "any": (lambda throw, _: is_triple(throw), 31),
    "four": (lambda throw, faces: len(set(throw)) == 3 and set(throw) <= set(_faces(faces)), 7),
    "three": (lambda throw, faces: sorted(throw) == _faces(faces), 30),
    "pair": (lambda throw, faces: sorted(throw) == _faces(faces), 50),
}
DIVISION_9_PAIR_PAYS = 60


def odds(rulebook: str, box: str, throw: Throw) -> int:
    """What the box pays to 1 on this throw; 0 where it loses."""
    kind, _, what = box.partition("-")
    if kind in NO_TRIPLE:
        return int(NO_TRIPLE[kind](sum(throw)) and not is_triple(throw))
    if kind == "single":
        return _single(throw, what)
    if kind == "total":
        return _total(throw, what)
    wins, pays = FIXED[kind]
    if kind == "pair" and rulebook == DIVISION_9:
        pays = DIVISION_9_PAIR_PAYS
    return pays if wins(throw, what) else 0


def winning(rulebook: str, layout: str, throw: Throw) -> dict[str, int]:
    paid = {box: odds(rulebook, box, throw) for box in BOXES[layout]}
    return {box: pays for box, pays in paid.items() if pays}


def ways_to_win(rulebook: str, box: str) -> int:
    return sum(odds(rulebook, box, throw) > 0 for throw in THROWS)


def edge(rulebook: str, box: str) -> Fraction:
    """What the house keeps of each unit staked, on average."""
    gains = sum(odds(rulebook, box, throw) or -1 for throw in THROWS)
    return Fraction(-gains, len(THROWS))


def bet_type(box: str) -> str:
    kind = box.partition("-")[0]
    names = {"big": "big-small", "small": "big-small", "odd": "odd-even", "even": "odd-even", "any": "any-triple"}
    return names.get(kind, kind)


def call(throw: Throw) -> str:
    """What the dealer calls (Division 9, 6.3): ascending, a double or triple named in its place."""
    faces, shown = sorted(throw), ""
    while faces:
        face = faces[0]
        alike = faces.count(face)
        shown += (", " if shown else "") + ["", "double ", "triple "][alike - 1] + str(face)
        faces = faces[alike:]
    return f"{shown}, total {sum(throw)}"


# Which rules a bet within all limits is settled by.

PAY_TABLE = {"A": "4.1.1", "C": "4.1.2", "E": "4.1.3"}
PARAGRAPHS = {
    "small": "a", "big": "b", "triple": "c", "double": "d", "any": "e", "total": "f", "domino": "g", "single": "h",
    "three": "i", "pair": "i", "four": "j", "odd": "k", "even": "l",
}  # fmt: skip


def rules(rulebook: str, layout: str, box: str, throw: Throw) -> list[str]:
    if rulebook == DIVISION_9:
        numbers = [f"4.1({PARAGRAPHS[box.partition('-')[0]]})"]
        numbers += ["4.10"] if odds(rulebook, box, throw) else []
    else:
        numbers = [PAY_TABLE[layout], *(["3.10"] if is_triple(throw) else [])]
    return [f"{rulebook}#{number}" for number in numbers]


# Limits, in cents, as the contract words them.


@dataclass(frozen=True)
class Limit:
    """The limit on one box: None where there is no such limit."""

    minimum: int | None = None
    maximum: int | None = None


OPPOSITES = {"big": "small", "small": "big", "odd": "even", "even": "odd"}


def limit_on(limits: Mapping[str, Limit], box: str) -> Limit:
    """A box's own entry counts whole, else that of its type."""
    return limits.get(box) or limits.get(bet_type(box)) or Limit()


def may_hold(
    limits: Mapping[str, Limit], differential: Mapping[str, int], placed: Mapping[str, int], box: str
) -> int | None:
    """What a box may hold, given what was placed in each; None where nothing limits it."""
    maximum = limit_on(limits, box).maximum
    gap = differential.get(bet_type(box))
    other = OPPOSITES.get(box)
    if gap is None or other is None or placed.get(box, 0) - placed.get(other, 0) <= gap:
        return maximum
    others_maximum = limit_on(limits, other).maximum
    lighter = placed.get(other, 0)
    if others_maximum is not None:
        lighter = min(lighter, others_maximum)
    return lighter + gap if maximum is None else min(maximum, lighter + gap)


def proportional(stake: int, total: int, permitted: int | None, minimum: int | None, unit: int) -> int:
    """The stake that counts under the policy `proportional`."""
    least = minimum or 0
    if permitted is None or total <= permitted or stake <= least:
        return stake
    return max(stake * permitted // (total * unit) * unit, least)


def floors(stakes: Sequence[int], minimum: int | None) -> int:
    """What the minimums alone keep in a box."""
    return sum(min(stake, minimum or 0) for stake in stakes)


# Money as the contract writes it.


def cents(text: str) -> int:
    amount = Fraction(text) * 100
    assert amount.denominator == 1, text
    return int(amount)


def money(amount: int) -> str:
    sign = "-" if amount < 0 else ""
    return f"{sign}{abs(amount) // 100}.{abs(amount) % 100:02d}"
