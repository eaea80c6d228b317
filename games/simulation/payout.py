"""Which boxes win on a throw, from the dice alone; the odds come from the rulebook."""

from functools import cache
from itertools import combinations

from games.engine.rules.rulebook import Layout

Dice = tuple[int, int, int]
LEAST_BIG = 11
FACES = "123456"


def winners(layout: Layout, dice: Dice) -> dict[str, int]:
    """Return every winning box of the layout with its odds to 1."""
    winning = {}
    for code, hits in _hit(tuple(sorted(dice))):
        box = layout.boxes.get(code)
        if box is not None:
            winning[code] = box.odds[hits - 1 if len(box.odds) > 1 else 0]
    return winning


@cache
def _hit(dice: tuple[int, ...]) -> tuple[tuple[str, int], ...]:
    """List the boxes that a throw hits on any layout, and how often."""
    total = sum(dice)
    faces = sorted(set(dice))
    hit = [(f"single-{face}", dice.count(face)) for face in faces]
    hit += [(f"domino-{first}{other}", 1) for first, other in combinations(faces, 2)]
    hit += [(f"double-{face}", 1) for face in faces if dice.count(face) > 1]
    hit.append((f"total-{total}", 1))
    if len(faces) == 1:
        hit += [(f"triple-{faces[0]}", 1), ("any-triple", 1)]
        return tuple(hit)
    hit += [("big" if total >= LEAST_BIG else "small", 1), ("odd" if total % 2 else "even", 1)]
    if len(faces) == len(dice):
        hit.append(("three-" + "".join(map(str, faces)), 1))
        hit += [(f"four-{_descending(faces, other)}", 1) for other in FACES if int(other) not in faces]
    else:
        pair, other = sorted(faces, key=dice.count, reverse=True)
        hit.append((f"pair-{pair}{pair}{other}", 1))
    return tuple(hit)


def _descending(faces: list[int], other: str) -> str:
    return "".join(sorted([*map(str, faces), other], reverse=True))
