"""How people call the limits of a sign: bet types, boxes and figures in words."""

from games.engine.signs.changes import NAMES, LimitChange

TYPE_NAMES = {
    "big-small": "Big and Small",
    "odd-even": "Odd and Even",
    "single": "Single die",
    "total": "Total",
    "domino": "Domino",
    "double": "Double",
    "triple": "Specific triple",
    "any-triple": "Any triple",
    "four": "Four numbers",
    "three": "Three different numbers",
    "pair": "Pair and a third number",
}


def key_name(key: str) -> str:
    """Name a bet type or a box: Big and Small, Total 4, Domino 2-4, Any triple."""
    if key in TYPE_NAMES:
        return TYPE_NAMES[key]
    type_, _, faces = key.partition("-")
    if not faces:
        return type_.capitalize()
    return f"{type_.capitalize()} {faces if type_ in ('total', 'single') else '-'.join(faces)}"


def amount_text(amount: int | None) -> str:
    """For people: thousands apart, no cents where there are none."""
    if amount is None:
        return "–"
    return f"{amount // 100:,}" if amount % 100 == 0 else f"{amount // 100:,}.{amount % 100:02d}"


def change_text(change: LimitChange) -> str:
    """Write one change in a line: Big and Small minimum 50 → 100."""
    new = "removed" if change.is_removal else amount_text(change.new)
    return f"{key_name(change.key)} {NAMES[change.figure]} {amount_text(change.old)} → {new}"
