"""Names of bet types and betting boxes."""

from collections.abc import Sequence

#: How two boxes of one bet type are called together, as on the sign.
PAIRS = {"big-small": "Big/Small", "odd-even": "Odd/Even"}
BET_TYPES = {
    **PAIRS,
    "single": "Single",
    "total": "Total",
    "domino": "Domino",
    "double": "Double",
    "triple": "Specific triple",
    "any-triple": "Any triple",
    "four": "Four",
    "three": "Three",
    "pair": "Pair",
}
#: Kinds of boxes whose number is a number; of all others it lists faces.
NUMBERED = ("total", "single")


def bet_type_label(code: str) -> str:
    """Name a bet type: `Big/Small` for `big-small`."""
    return BET_TYPES.get(code) or code.replace("-", " ").capitalize()


def box_label(code: str) -> str:
    """Name a betting box: `Domino 2-4` for `domino-24`, `Total 16` for `total-16`, `Any triple` for `any-triple`."""
    kind, _, faces = code.rpartition("-")
    if not faces.isdecimal():
        return code.replace("-", " ").capitalize()
    return f"{kind.capitalize()} {faces if kind in NUMBERED else '-'.join(faces)}"


def boxes_label(codes: Sequence[str]) -> str:
    """Name several boxes: `Big and Small`."""
    return " and ".join(map(box_label, codes))


def pair_label(codes: Sequence[str]) -> str:
    """Name the bet type of two opposite boxes, whichever comes first: `Big/Small`."""
    return next((name for type_, name in PAIRS.items() if set(type_.split("-")) == set(codes)), boxes_label(codes))


def key_label(key: str) -> str:
    """Name what limits are keyed by: a bet type or one box."""
    return BET_TYPES.get(key) or box_label(key)
