"""A rulebook: one version of one official document, as values. `loader` reads it from its file."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from .boxes import Box
from .citation import cite
from .dice import Throw


@dataclass(frozen=True)
class Area:
    """Where a box lies on the felt, in grid units from the top left corner, and what is printed there."""

    box: str
    x: int
    y: int
    width: int
    height: int
    english: str
    chinese: str = ""

    def overlaps(self, other: "Area") -> bool:
        return (
            self.x < other.x + other.width
            and other.x < self.x + self.width
            and self.y < other.y + other.height
            and other.y < self.y + self.height
        )


@dataclass(frozen=True)
class Layout:
    """A layout: its boxes in the order of the pay table, and the felt as it is drawn."""

    code: str
    rule: str
    drawing: str  # whose drawing it is: an appendix, or ours
    boxes: dict[str, Box]
    areas: tuple[Area, ...]

    @cached_property
    def types(self) -> frozenset[str]:
        return frozenset(box.type for box in self.boxes.values())

    @cached_property
    def _by_type(self) -> dict[str, list[Box]]:
        return {type_: [box for box in self.boxes.values() if box.type == type_] for type_ in self.types}

    @cached_property
    def _winning(self) -> dict[tuple[int, ...], dict[str, int]]:
        return {}

    def boxes_of(self, type_: str) -> list[Box]:
        return self._by_type.get(type_, [])

    def winning(self, throw: Throw) -> dict[str, int]:
        """Every winning box with its odds to 1: worked out once for each of the 56 throws that differ."""
        found = self._winning.get(throw.ascending)
        if found is None:
            found = {code: odds for code, box in self.boxes.items() if (odds := box.odds_on(throw))}
            self._winning[throw.ascending] = found
        return found


@dataclass(frozen=True)
class LimitRules:
    """What a document says about bets over or under the limits."""

    excess: str  # the policy: proportional, filled or in-full
    cut: tuple[str, ...]  # a bet of an over-full box gives way
    left: tuple[str, ...]  # one at or under the minimum does not
    below_minimum: tuple[str, ...]
    differential: tuple[str, ...]  # the bet types with one
    differential_rules: tuple[str, ...]


@dataclass(frozen=True)
class Situation:
    """What happened, perhaps with facts, and what the document says is to be done."""

    code: str
    facts: tuple[str, ...]
    when: dict[str, str]
    action: str
    rules: tuple[str, ...]
    authority: str
    explain: str


@dataclass(frozen=True)
class Voiding:
    """A rule by which a round is void; a general one covers exact ones."""

    rule: str
    action: str
    covers: tuple[str, ...]


@dataclass(frozen=True)
class Step:
    """One step in the order of play: from which state to which."""

    kind: str
    before: str
    after: str
    rule: str


@dataclass(frozen=True)
class Named:
    """An entry with a name, its rules and a sentence of ours: an interpretation, an announcement, an opening check."""

    name: str
    rules: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Rulebook:
    id: str
    title: str
    version: str
    authority: str
    in_force_from: datetime
    timezone: str
    sha256: str
    rules: dict[str, str]  # every numbered rule, with a few words of ours on what it is about
    layouts: dict[str, Layout]
    limits: LimitRules
    triple_rules: tuple[str, ...]
    void_rules: tuple[str, ...]
    valid_tumbles: int
    valid_tumbles_rule: str
    ruling_authority: str
    ruling_rules: tuple[str, ...]
    situations: tuple[Situation, ...]
    voidings: dict[str, Voiding]
    play: tuple[Step, ...]
    interpretations: tuple[Named, ...]
    announcements: tuple[Named, ...]
    opening_checks: tuple[Named, ...]

    def cite(self, *numbers: str) -> list[str]:
        return [cite(self.id, number) for number in numbers]
