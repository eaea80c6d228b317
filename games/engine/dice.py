"""Three dice: a throw, how the dealer calls it, and which dice are known after an interruption."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from games.engine.errors import InputError

FACES = range(1, 7)
COUNT = 3
UNKNOWN = "?"


@dataclass(frozen=True)
class Throw:
    """The uppermost faces of three dice, in the order in which they were recorded."""

    faces: tuple[int, int, int]

    @cached_property
    def ascending(self) -> tuple[int, ...]:
        return tuple(sorted(self.faces))

    @property
    def total(self) -> int:
        return sum(self.faces)

    @cached_property
    def is_triple(self) -> bool:
        return len(set(self.faces)) == 1

    def count(self, face: int) -> int:
        return self.faces.count(face)

    def call(self) -> str:
        """Write the throw as the dealer calls it: lowest to highest, then the total; doubles and triples are named.

        >>> Throw((6, 1, 6)).call()
        '1, double 6, total 13'
        """
        names = {1: "", 2: "double ", 3: "triple "}
        named = [f"{names[self.count(face)]}{face}" for face in dict.fromkeys(self.ascending)]
        return f"{', '.join(named)}, total {self.total}"


def all_throws() -> Iterator[Throw]:
    """Yield the 216 equally likely throws."""
    return (Throw((first, second, third)) for first, second, third in product(FACES, repeat=COUNT))


def parse_dice(value: object, where: str = "dice") -> Throw:
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != COUNT:
        raise InputError(f"{where}: {COUNT} dice are needed, as [1, 3, 6].")
    for index, face in enumerate(value):
        if isinstance(face, bool) or not isinstance(face, int) or face not in FACES:
            raise InputError(
                f"{where}[{index}]: {_shown(face)} is not a face of a die; write a whole number from 1 to 6."
            )
    first, second, third = value
    return Throw((first, second, third))


def parse_known_dice(text: str, where: str = "known_dice") -> tuple[int, ...]:
    """Read the dice known when play was interrupted: `2,?,?` is (2,), `?,?,?` is ()."""
    parts = [part.strip() for part in text.split(",")] if isinstance(text, str) else []
    readable = {UNKNOWN, *map(str, FACES)}
    if len(parts) != COUNT or not readable.issuperset(parts):
        raise InputError(f"{where}: {_shown(text)} does not name three dice; write each as 1 to 6 or ?, such as 2,?,?.")
    return tuple(int(part) for part in parts if part != UNKNOWN)


def completions(known: Sequence[int]) -> list[Throw]:
    """List every throw that the known dice can still become."""
    return [Throw((*known, *rest)) for rest in product(FACES, repeat=COUNT - len(known))]  # type: ignore[arg-type]


def _shown(value: object) -> str:
    return repr(value)[:40]
