"""Check that a table's sign is complete: which limits it still lacks.

Every box of the layout needs a minimum and a maximum, by its bet type or by an entry of its own. The pairs of boxes
that the document limits by a Differential need that too; a document without a rule on it (Division 9, which leaves
limits to another document) asks for none.
"""

from dataclasses import dataclass

from games.engine.rules.rulebook import Layout, Rulebook
from games.engine.signs.limits import Limits

MINIMUM, MAXIMUM, DIFFERENTIAL = "minimum", "maximum", "differential"


@dataclass(frozen=True)
class Missing:
    """One limit that the sign lacks, for some or all boxes of a bet type."""

    type: str
    what: str  # minimum, maximum or differential
    boxes: tuple[str, ...]  # the boxes that lack it, in the order of the layout
    is_whole_type: bool


def missing_on_sign(book: Rulebook, layout: Layout, limits: Limits) -> list[Missing]:
    """List what the sign lacks: by bet type in the order of the layout, then minimum, maximum, differential."""
    lacking: dict[tuple[str, str], list[str]] = {}
    for code, box in layout.boxes.items():
        for what in missing_for(book, layout, limits, code):
            lacking.setdefault((box.type, what), []).append(code)
    types = list(dict.fromkeys(box.type for box in layout.boxes.values()))
    kinds = (MINIMUM, MAXIMUM, DIFFERENTIAL)
    return [
        Missing(type_, what, tuple(boxes), len(boxes) == len(layout.boxes_of(type_)))
        for type_ in types
        for what in kinds
        if (boxes := lacking.get((type_, what)))
    ]


def missing_for(book: Rulebook, layout: Layout, limits: Limits, box: str) -> tuple[str, ...]:
    """Name the limits that the sign lacks for one box."""
    range_ = limits.of(layout, box)
    missing = []
    if range_.minimum is None:
        missing.append(MINIMUM)
    if range_.maximum is None:
        missing.append(MAXIMUM)
    type_ = layout.boxes[box].type
    if type_ in differential_types(book) and type_ not in limits.differential:
        missing.append(DIFFERENTIAL)
    return tuple(missing)


def incomplete_boxes(book: Rulebook, layout: Layout, limits: Limits) -> list[str]:
    """List the boxes for which `missing_for` names something, looking up each bet type once.

    A worker asks this of every sign that it meets, and looking it up box by box took many times as long.
    """
    without_differential = {type_ for type_ in differential_types(book) if type_ not in limits.differential}
    return [
        code
        for code, range_ in limits.ranges(layout).items()
        if range_.minimum is None or range_.maximum is None or layout.boxes[code].type in without_differential
    ]


def differential_types(book: Rulebook) -> tuple[str, ...]:
    """List the bet types for which the document itself has a differential."""
    return book.limits.differential if book.limits.differential_rules else ()
