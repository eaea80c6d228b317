"""What changes from one sign to the next, and which changes players must be notified of in time."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from games.engine.rules.rulebook import Layout
from games.engine.signs.limits import Limits, Range

NAMES = {"min": "minimum", "max": "maximum", "differential": "differential"}


@dataclass(frozen=True)
class LimitChange:
    """One figure of a sign: its old and its new value; None if there is no such limit."""

    key: str  # a bet type or a box
    figure: str  # min, max or differential
    old: int | None
    new: int | None

    @property
    def name(self) -> str:
        """Name the limit as the API does: boxes.odd-even.min, differential.odd-even."""
        where = "differential" if self.figure == "differential" else f"boxes.{self.key}"
        return f"{where}.{self.key if self.figure == 'differential' else self.figure}"

    @property
    def is_removal(self) -> bool:
        """Say whether a limit was on the sign and no longer is."""
        return self.old is not None and self.new is None

    @property
    def is_stricter(self) -> bool:
        """Say whether a minimum rises, or a maximum or differential falls. A missing limit is the least strict."""
        if self.figure == "min":
            return (self.new or 0) > (self.old or 0)
        return self.new is not None and (self.old is None or self.new < self.old)


def changes(old: Limits, new: Limits) -> list[LimitChange]:
    """List the changes line by line: the lines of the new sign in its order, then the removed ones."""
    return list(_lines(old, new))


def stricter(layout: Layout, old: Limits, new: Limits) -> list[LimitChange]:
    """List what becomes stricter in any box of the layout, by bet type or by box."""
    box_changes = [change for box in layout.boxes for change in _figures(box, old.of(layout, box), new.of(layout, box))]
    differential_changes = [LimitChange(type_, "differential", old.differential.get(type_), new.differential.get(type_))
             for type_ in _keys(old.differential, new.differential)]  # fmt: skip
    return [change for change in [*box_changes, *differential_changes] if change.is_stricter]


def _lines(old: Limits, new: Limits) -> Iterator[LimitChange]:
    for key in _keys(old.by_key, new.by_key):
        yield from _figures(key, old.by_key.get(key, Range()), new.by_key.get(key, Range()))
    for type_ in _keys(old.differential, new.differential):
        before, after = old.differential.get(type_), new.differential.get(type_)
        if before != after:
            yield LimitChange(type_, "differential", before, after)


def _figures(key: str, old: Range, new: Range) -> Iterator[LimitChange]:
    if old.minimum != new.minimum:
        yield LimitChange(key, "min", old.minimum, new.minimum)
    if old.maximum != new.maximum:
        yield LimitChange(key, "max", old.maximum, new.maximum)


def _keys(old: Iterable[str], new: Iterable[str]) -> list[str]:
    return list(dict.fromkeys([*new, *old]))
