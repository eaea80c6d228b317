"""Read rulebooks strictly: an unknown key, a missing rule number or a duplicate is an error with file and key."""

import hashlib
import tomllib
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

from games.engine.boxes import CODES, Box, faces_of
from games.engine.errors import InputError
from games.engine.rules.readings import POLICIES, Reading, fault_of_readings, load_readings
from games.engine.rules.rulebook import (  # fmt: skip
    Area,
    Caption,
    DiscretionRule,
    DocumentApproval,
    Layout,
    LimitRules,
    Named,
    OrderStep,
    Rectangle,
    Rulebook,
    Situation,
    Voiding,
)

FOLDER = Path(__file__).resolve().parent.parent.parent / "rulebooks"
FACTS = ("known_dice", "settled", "with_chips", "in_time")
DISCRETION_BETS = ("", "house-placed")
#: Every check of the procedure. A check that a rulebook does not name does not apply to its tables.
PROCEDURAL = (
    "early-bet", "overlap", "table-closed", "table-suspended", "no-valid-tumble", "tumbler-out-of-order",
    "settled-before-result", "void-after-settlement", "void-without-authority", "amendment-without-authority",
    "dice-contradicted", "unknown-staff", "wrong-post", "sign-incomplete",
)  # fmt: skip


class RulebookError(Exception):
    """A rulebook file is wrong; the message names file and key."""


class RulebookEntry:
    """One table of a file, read key by key; a key left over at the end is an error."""

    def __init__(self, file: str, where: str, data: Any) -> None:
        self.file, self.where = file, where
        if not isinstance(data, dict):
            raise self.error("is not a table")
        self.data = dict(data)

    def error(self, fault: str) -> RulebookError:
        return RulebookError(f"{self.file}: {self.where} {fault}.")

    def take(self, key: str, kind: type, default: Any = ...) -> Any:
        if key not in self.data:
            if default is ...:
                raise self.error(f"lacks the key {key}")
            return default
        value = self.data.pop(key)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self.error(f"has {key} = {value!r}, which is not a {kind.__name__}")
        return value

    def text(self, key: str, default: Any = ...) -> str:
        value: str = self.take(key, str, default)
        if value == "" and default is ...:
            raise self.error(f"has an empty {key}")
        return value

    def texts(self, key: str, default: Any = ...) -> tuple[str, ...]:
        values = self.take(key, list, default)
        if not all(isinstance(value, str) and value for value in values):
            raise self.error(f"has {key} = {values!r}, which is not a list of texts")
        if len(set(values)) < len(values):
            raise self.error(f"has a duplicate in {key}")
        return tuple(values)

    def entries(self, key: str, name: str, default: Any = ...) -> "Iterator[RulebookEntry]":
        """Yield the tables of a list; messages call each by its `name`."""
        for index, data in enumerate(self.take(key, list, default)):
            label = data.get(name, index) if isinstance(data, dict) else index
            yield RulebookEntry(self.file, f"{self.where} {key} {label}".strip(), data)

    def close(self) -> None:
        if self.data:
            raise self.error(f"has the unknown key {min(self.data)}")


class RulebookReader:
    """Read one file into a rulebook; knows which rule numbers the document has."""

    def __init__(self, file: str, content: bytes) -> None:
        self.file = file
        self.sha256 = hashlib.sha256(content).hexdigest()
        try:
            self.root = RulebookEntry(file, "", tomllib.loads(content.decode()))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise RulebookError(f"{file}: not valid TOML: {error}.") from None
        self.numbers: dict[str, str] = {}

    def rules(self, entry: RulebookEntry, key: str = "rules") -> tuple[str, ...]:
        """Read rule numbers of this document; an entry without any must say that the document is silent."""
        silent = entry.take("silent", bool, False) if key == "rules" else False
        numbers = entry.texts(key, [] if silent else ...)
        if not numbers and not silent:
            raise entry.error(f"has no rule number in {key}")
        for number in numbers:
            self.known(entry, number)
        return numbers

    def rules_or_none(self, entry: RulebookEntry, key: str) -> tuple[str, ...]:
        """Read rule numbers of this document; empty if it has none on the matter."""
        return tuple(self.known(entry, number) for number in entry.texts(key))

    def rule(self, entry: RulebookEntry, key: str = "rule") -> str:
        return self.known(entry, entry.text(key))

    def known(self, entry: RulebookEntry, number: str) -> str:
        if number not in self.numbers:
            raise entry.error(f"names rule {number}, which is not among the rules of the document")
        return number

    def read(self) -> Rulebook:
        self.numbers = self._numbers()
        document = RulebookEntry(self.file, "document", self.root.take("document", dict))
        authority = RulebookEntry(self.file, "uncovered", self.root.take("uncovered", dict))
        settlement = RulebookEntry(self.file, "settlement", self.root.take("settlement", dict))
        book = Rulebook(
            id=document.text("id"),
            title=document.text("title"),
            name=document.text("name"),
            version=document.text("version"),
            authority=document.text("authority"),
            approved_for=self._approval(document),
            in_force_from=self._moment(document),
            timezone=document.text("timezone"),
            sha256=self.sha256,
            rules=self.numbers,
            layouts=unique(self._layouts(), lambda layout: layout.code, self.file, "layout"),
            limits=self._limits(),
            triple_rules=self.rules_or_none(settlement, "triple_rules"),
            void_rules=self.rules_or_none(settlement, "void_rules"),
            valid_tumbles=settlement.take("valid_tumbles", int),
            valid_tumbles_rule=self.rule(settlement, "valid_tumbles_rule"),
            ruling_authority=authority.text("authority"),
            ruling_rules=self.rules(authority),
            situations=tuple(self._situations()),
            voidings=unique(self._voidings(), lambda voiding: voiding.rule, self.file, "voiding"),
            discretions=unique(self._discretions(), lambda discretion: discretion.situation, self.file, "discretion"),
            play=tuple(self._play()),
            readings=self._readings(),
            announcements=self._named("announcement"),
            opening_checks=self._named("opening_check"),
            procedural=self._procedural(),
        )
        for entry in (document, authority, settlement, self.root):
            entry.close()
        if fault := fault_of_readings(book):
            raise RulebookError(f"{self.file}: {fault}.")
        if book.id != Path(self.file).stem:
            raise document.error(f"has the id {book.id}, which is not the name of the file")
        return book

    def _numbers(self) -> dict[str, str]:
        numbers: dict[str, str] = {}
        for entry in self.root.entries("rule", "number"):
            number = entry.text("number")
            if number in numbers:
                raise entry.error("appears twice")
            numbers[number] = entry.text("about")
            entry.close()
        return numbers

    def _approval(self, document: RulebookEntry) -> DocumentApproval:
        entry = RulebookEntry(self.file, "document approved_for", document.take("approved_for", dict))
        silent = entry.take("silent", bool, False)
        approval = DocumentApproval(
            entry.text("operator", "" if silent else ...), entry.texts("also", []), entry.text("note")
        )
        entry.close()
        if silent and (approval.operator or approval.also):
            raise entry.error("is silent and names an operator")
        return approval

    def _moment(self, document: RulebookEntry) -> datetime:
        moment: datetime = document.take("in_force_from", datetime)
        if moment.tzinfo is None:
            raise document.error("has in_force_from without an offset")
        return moment

    def _limits(self) -> LimitRules:
        entry = RulebookEntry(self.file, "limits", self.root.take("limits", dict))
        excess = entry.text("excess")
        if excess not in POLICIES:
            raise entry.error(f"has excess = {excess!r}; the policies are {', '.join(POLICIES)}")
        limits = LimitRules(
            excess=excess,
            cut=self.rules_or_none(entry, "cut"),
            left=self.rules_or_none(entry, "left"),
            below_minimum=self.rules_or_none(entry, "below_minimum"),
            differential=entry.texts("differential"),
            differential_rules=self.rules_or_none(entry, "differential_rules"),
        )
        entry.close()
        return limits

    def _procedural(self) -> dict[str, tuple[str, ...]]:
        """Read the checks of the procedure that apply to this document, each with the rules it guards, if any."""
        entry = RulebookEntry(self.file, "procedural", self.root.take("procedural", dict))
        checks = {kind: self.rules_or_none(entry, kind) for kind in PROCEDURAL if kind in entry.data}
        entry.close()
        return checks

    # --- Layouts ---

    def _layouts(self) -> Iterator[Layout]:
        for entry in self.root.entries("layout", "code"):
            boxes = unique(self._boxes(entry), lambda box: box.code, self.file, entry.where + " box")
            areas, captions = tuple(self._areas(entry, boxes)), tuple(self._captions(entry, boxes))
            layout = Layout(entry.text("code"), self.rule(entry), entry.text("drawing"), boxes, areas, captions)
            entry.close()
            self._verify_no_overlap(entry, layout)
            yield layout

    def _boxes(self, layout: RulebookEntry) -> Iterator[Box]:
        for entry in layout.entries("bet", "type"):
            type_ = entry.text("type")
            if type_ not in CODES:
                raise entry.error(f"is not a bet type; the types are {', '.join(CODES)}")
            codes = entry.texts("boxes")
            odds = self._odds(entry, type_)
            totals = frozenset(entry.take("totals", list, []))
            if not all(type(total) is int for total in totals):
                raise entry.error(f"has totals = {sorted(map(str, totals))}; write whole numbers")
            triples_lose = entry.take("triples_lose", bool, False)
            rules = self.rules(entry)
            win_rules = self.rules_or_none(entry, "win_rules") if "win_rules" in entry.data else ()
            entry.close()
            if (type_ in ("big-small", "odd-even")) != bool(totals):
                raise entry.error(
                    "needs totals" if not totals else "has totals, which only big-small and odd-even need"
                )
            for code in codes:
                faces = faces_of(type_, code)
                if faces is None:
                    raise entry.error(f"has the box {code}, which is not one of its type")
                own = frozenset({int(code.rpartition("-")[2])}) if type_ == "total" else totals
                yield Box(code, type_, odds, rules, win_rules, own, triples_lose, faces)

    def _odds(self, entry: RulebookEntry, type_: str) -> tuple[int, ...]:
        """Read one number, or three for a single die, by the count of dice."""
        odds = entry.take("odds", list) if type_ == "single" else [entry.take("odds", int)]
        if len(odds) != (3 if type_ == "single" else 1) or not all(
            isinstance(number, int) and number > 0 for number in odds
        ):
            raise entry.error(f"has odds = {odds!r}; write whole numbers above 0, three of them for a single die")
        return tuple(odds)

    def _areas(self, layout: RulebookEntry, boxes: dict[str, Box]) -> Iterator[Area]:
        areas: list[Area] = []
        for entry in layout.entries("area", "box"):
            area = Area(entry.text("box"), *self._place(entry), entry.text("en"), entry.text("zh", ""))
            entry.close()
            if area.box not in boxes:
                raise entry.error("is not a box of this layout")
            areas.append(area)
        if missing := boxes.keys() - {area.box for area in areas}:
            raise layout.error(f"has no area for the box {min(missing)}")
        yield from areas

    def _captions(self, layout: RulebookEntry, boxes: dict[str, Box]) -> Iterator[Caption]:
        types = {box.type for box in boxes.values()}
        for entry in layout.entries("caption", "type", []):
            caption = Caption(entry.text("type"), *self._place(entry), entry.text("en"))
            entry.close()
            if caption.type not in types:
                raise entry.error("is not a bet type of this layout")
            yield caption

    def _verify_no_overlap(self, entry: RulebookEntry, layout: Layout) -> None:
        names: list[tuple[Rectangle, str]] = [(area, area.box) for area in layout.areas]
        names += [(caption, f"the caption of {caption.type}") for caption in layout.captions]
        for (area, name), (other, other_name) in combinations(names, 2):
            if area.overlaps(other):
                raise entry.error(f"has areas that overlap on the felt: {name} and {other_name}")

    def _place(self, entry: RulebookEntry) -> tuple[int, int, int, int]:
        at = entry.take("at", list)
        if len(at) != len("xywh") or not all(type(number) is int and number >= 0 for number in at) or 0 in at[2:]:
            raise entry.error(f"has at = {at!r}; write whole numbers as [x, y, width, height]")
        return at[0], at[1], at[2], at[3]

    # --- Situations and procedure ---

    def _situations(self) -> Iterator[Situation]:
        seen = set()
        for entry in self.root.entries("situation", "code"):
            situation = Situation(
                code=entry.text("code"),
                facts=entry.texts("facts", []),
                when=entry.take("when", dict, {}),
                action=entry.text("action"),
                authority=entry.text("authority", "rule"),
                rules=self.rules(entry),
                explain=entry.text("explain"),
                readings=entry.texts("readings", []),
                leaves_open=entry.text("leaves_open", ""),
            )
            entry.close()
            if unknown := {*situation.facts, *situation.when} - set(FACTS):
                raise entry.error(f"asks for the unknown fact {min(unknown)}")
            key = (situation.code, tuple(sorted(situation.when.items())))
            if key in seen:
                raise entry.error("appears twice")
            seen.add(key)
            yield situation

    def _voidings(self) -> Iterator[Voiding]:
        for entry in self.root.entries("voiding", "rule"):
            voiding = Voiding(self.rule(entry), entry.text("action", "void"), entry.texts("covers", []))
            for number in voiding.covers:
                self.known(entry, number)
            entry.close()
            yield voiding

    def _discretions(self) -> Iterator[DiscretionRule]:
        """Read the discretions; empty if the document leaves nothing to the operator."""
        for entry in self.root.entries("discretion", "situation", []):
            discretion = DiscretionRule(
                entry.text("situation"), entry.text("bets", ""), self.rules(entry), entry.text("about")
            )  # fmt: skip
            if discretion.bets not in DISCRETION_BETS:
                raise entry.error(f"has bets = {discretion.bets!r}; write house-placed, or leave it out for all bets")
            entry.close()
            yield discretion

    def _play(self) -> Iterator[OrderStep]:
        for entry in self.root.entries("play", "step"):
            kind, rule, after = entry.text("step"), self.rule(entry), entry.text("to")
            for before in entry.texts("from"):
                yield OrderStep(kind, before, after, rule)
            entry.close()

    def _readings(self) -> dict[str, Reading]:
        read = load_readings(self.root.entries("reading", "name"), self.rules)
        return unique(read, lambda reading: reading.name, self.file, "reading")

    def _named(self, key: str) -> tuple[Named, ...]:
        steps = []
        for entry in self.root.entries(key, "name"):
            steps.append(Named(entry.text("name"), self.rules(entry), entry.text("text")))
            entry.close()
        return tuple(unique(steps, lambda named: named.name, self.file, key).values())


def unique(values: Iterable[Any], key: Any, file: str, what: str) -> dict[str, Any]:
    by_key: dict[str, Any] = {}
    for value in values:
        if key(value) in by_key:
            raise RulebookError(f"{file}: {what} {key(value)} appears twice.")
        by_key[key(value)] = value
    return by_key


@cache
def published() -> tuple[str, ...]:
    """Return the ids of all published rulebooks."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


@cache
def read_rulebook(id_: str) -> Rulebook:
    path = FOLDER / f"{id_}.toml"
    return RulebookReader(path.name, path.read_bytes()).read()


def rulebooks() -> dict[str, Rulebook]:
    """Return every published rulebook by its id."""
    return {id_: read_rulebook(id_) for id_ in published()}


def rulebook(id_: object, where: str = "rulebook") -> Rulebook:
    if not isinstance(id_, str) or id_ not in published():
        raise InputError(f"{where}: {id_!r:.60} is not a rulebook; choose {listed(published())}.")
    return read_rulebook(id_)


def layout(book: Rulebook, code: object, where: str = "layout") -> Layout:
    if not isinstance(code, str):
        raise InputError(
            f"{where}: {code!r:.60} is not a text; write the layout in quotes, as {next(iter(book.layouts))!r}."
        )
    if code not in book.layouts:
        raise InputError(f"{where}: {code!r:.60} is not a layout of {book.id}; choose {listed(book.layouts)}.")
    return book.layouts[code]


def listed(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last
