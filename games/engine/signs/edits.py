"""Edits of a sign: change single figures, keep everything else; and find which limits a change would remove."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from games.engine.rules.rulebook import Layout
from games.engine.signs.changes import LimitChange, changes
from games.engine.signs.limits import Limits, Range

FIGURES = ("min", "max", "differential")


@dataclass(frozen=True)
class Edits:
    """New figures by key and figure; None removes the limit. A key in `free` keeps its line without any figure."""

    figures: Mapping[tuple[str, str], int | None] = field(default_factory=dict)
    free: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.figures or self.free)


def edited(limits: Limits, edits: Edits) -> Limits:
    """Return the sign with these figures changed; every other line stays as it is written, in its place."""
    lines = dict(limits.by_key)
    differential = dict(limits.differential)
    for (key, figure), amount in edits.figures.items():
        line = lines.get(key, Range())
        if figure == "min":
            lines[key] = Range(amount, line.maximum)
        elif figure == "max":
            lines[key] = Range(line.minimum, amount)
        elif amount is None:
            differential.pop(key, None)
        else:
            differential[key] = amount
    lines |= dict.fromkeys(edits.free, Range())
    touched = {key for key, figure in edits.figures if figure != "differential"} - edits.free
    by_key = {key: line for key, line in lines.items() if line != Range() or key not in touched}
    return Limits(by_key, differential, limits.chip_unit)


def removals(layout: Layout | None, old: Limits, new: Limits) -> list[LimitChange]:
    """List the limits of the old sign that the new one no longer has.

    A figure that is no longer written counts, and a box that loses the limit of its type to an empty line of its own.
    """
    removed = [change for change in changes(old, new) if change.is_removal]
    if layout is None:
        return removed
    known = {(change.key, change.figure) for change in removed}
    return [*removed, *(change for change in _freed(layout, old, new) if not _named(layout, change, known))]


def _freed(layout: Layout, old: Limits, new: Limits) -> Iterator[LimitChange]:
    for box in layout.boxes:
        before, after = old.of(layout, box), new.of(layout, box)
        for figure, was, becomes in (
            ("min", before.minimum, after.minimum),
            ("max", before.maximum, after.maximum),
        ):
            if was is not None and becomes is None:
                yield LimitChange(box, figure, was, None)


def _named(layout: Layout, change: LimitChange, known: Collection[tuple[str, str]]) -> bool:
    """Say whether a removal is named already, by the box itself or by its bet type."""
    return any((key, change.figure) in known for key in (change.key, layout.boxes[change.key].type))


def is_named(change: LimitChange, names: Collection[str]) -> bool:
    """Say whether a list of names has a limit, by its full name: boxes.odd-even.min, differential.odd-even."""
    return change.name in names


def named_figures(limits: Limits, names: Collection[str]) -> dict[tuple[str, str], None]:
    """List the figures of a sign that a list of names covers, as edits that remove them."""
    return {(change.key, change.figure): None for change in changes(limits, Limits()) if is_named(change, names)}
