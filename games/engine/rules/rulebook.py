"""A rulebook: one version of one official document, as values. `loader` reads it from its file."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from games.engine.boxes import Box
from games.engine.dice import Throw
from games.engine.rules.citation import cite
from games.engine.rules.readings import EXCESS, Reading


class Rectangle:
    """A part of the felt, in grid units from the top left corner."""

    x: int
    y: int
    width: int
    height: int

    def overlaps(self, other: "Rectangle") -> bool:
        return (
            self.x < other.x + other.width
            and other.x < self.x + self.width
            and self.y < other.y + other.height
            and other.y < self.y + self.height
        )


@dataclass(frozen=True)
class Area(Rectangle):
    """Where a box is on the felt, and its printed text. A box may have several areas; they are one betting box."""

    box: str
    x: int
    y: int
    width: int
    height: int
    english: str
    chinese: str = ""


@dataclass(frozen=True)
class Caption(Rectangle):
    """Where the felt says what the boxes of a bet type are and pay. No bet is placed there."""

    type: str
    x: int
    y: int
    width: int
    height: int
    english: str


@dataclass(frozen=True)
class Layout:
    """A layout: its boxes in the order of the pay table, and the felt as it is drawn."""

    code: str
    rule: str
    drawing: str  # source of the drawing: an appendix, or ours
    boxes: dict[str, Box]
    areas: tuple[Area, ...]
    captions: tuple[Caption, ...] = ()

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
        """Return every winning box with its odds to 1; calculated once for each of the 56 distinct throws."""
        winning = self._winning.get(throw.ascending)
        if winning is None:
            winning = {code: odds for code, box in self.boxes.items() if (odds := box.odds_on(throw))}
            self._winning[throw.ascending] = winning
        return winning


@dataclass(frozen=True)
class LimitRules:
    """What a document says about bets over or under the limits."""

    excess: str  # the policy: proportional, filled or in-full
    cut: tuple[str, ...]  # a bet of an over-full box is cut
    left: tuple[str, ...]  # a bet at or below the minimum is not cut
    below_minimum: tuple[str, ...]
    differential: tuple[str, ...]  # the bet types that have a differential
    differential_rules: tuple[str, ...]


#: The actions by which a document leaves the decision to a person.
UNDECIDED = ("ruling", "discretion")


@dataclass(frozen=True)
class Situation:
    """What happened, perhaps with facts, and what the document says must be done."""

    code: str
    facts: tuple[str, ...]
    when: dict[str, str]
    action: str
    rules: tuple[str, ...]
    authority: str
    explain: str
    readings: tuple[str, ...] = ()  # the names of our readings that it rests on
    leaves_open: str = ""  # what the rules leave to a ruling, although they decide the rest

    @property
    def is_decided(self) -> bool:
        """Say whether the document itself decides, and leaves nothing to a ruling or to discretion."""
        return self.action not in UNDECIDED and not self.leaves_open


@dataclass(frozen=True)
class Voiding:
    """A rule by which a round is void; a general rule covers exact ones."""

    rule: str
    action: str
    covers: tuple[str, ...]


@dataclass(frozen=True)
class DiscretionRule:
    """What a document leaves to the casino operator: in which situation, for which bets, by which rules."""

    situation: str
    bets: str  # empty: all; "house-placed": bets placed by the house, except on a patron's call
    rules: tuple[str, ...]
    about: str


@dataclass(frozen=True)
class OrderStep:
    """One step in the order of play: from which state to which."""

    kind: str
    before: str
    after: str
    rule: str


@dataclass(frozen=True)
class DocumentApproval:
    """The operator whose casino a document was approved for; `operator` is empty if the document names none."""

    operator: str
    also: tuple[str, ...]  # other names of the same operator
    note: str

    def names(self, operator: str) -> bool:
        """Say whether the document was approved for this operator. Case, spaces, commas and full stops are ignored."""
        return plain_name(operator) in {plain_name(name) for name in (self.operator, *self.also) if name}


def plain_name(name: str) -> str:
    return " ".join(name.casefold().replace(".", " ").replace(",", " ").split())


@dataclass(frozen=True)
class Named:
    """An entry with a name, its rules and a sentence of ours: an announcement, an opening check."""

    name: str
    rules: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Rulebook:
    id: str
    title: str
    name: str  # in short, as people call it: Tai Sai v6
    version: str
    authority: str
    approved_for: DocumentApproval
    in_force_from: datetime
    timezone: str
    sha256: str
    rules: dict[str, str]  # every numbered rule, with a few words of ours on its subject
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
    discretions: dict[str, DiscretionRule]  # by situation
    play: tuple[OrderStep, ...]
    readings: dict[str, Reading]
    announcements: tuple[Named, ...]
    opening_checks: tuple[Named, ...]
    procedural: dict[
        str, tuple[str, ...]
    ]  # checks of the procedure that apply to this document, with the rules they guard

    def cite(self, *numbers: str) -> list[str]:
        return [cite(self.id, number) for number in numbers]

    def reading(self, name: str) -> Reading:
        """Return our reading of that name."""
        return self.readings[name]

    def reading_that_sets(self, setting: str) -> Reading | None:
        """Return the reading that leaves a setting open; None if the document leaves no room for it."""
        return next((reading for reading in self.readings.values() if reading.sets == setting), None)

    def open_policies(self) -> tuple[str, ...]:
        """List the policies for over-full boxes that a standing interpretation may set: our own reading first."""
        reading = self.reading_that_sets(EXCESS)
        return (self.limits.excess, *(reading.values if reading else ()))

    def readings_of(self, situation: Situation) -> list[Reading]:
        """Return the readings that a situation rests on, in its order."""
        return [self.readings[name] for name in situation.readings]
