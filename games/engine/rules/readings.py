"""Readings: how we read a rule whose words leave room, what else it can mean, and which of that the engine can follow.

They are data of the rulebook. A ruling on an interpretation (RWS 5.14(b)) is made on one of them.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from games.engine.rules.loader import RulebookEntry
    from games.engine.rules.rulebook import Rulebook

POLICIES = ("proportional", "filled", "in-full")
EXCESS, ROUNDING = "excess", "rounding"
#: What a standing interpretation can set, each with the values the engine knows. `amount` is any amount of money.
ANY_AMOUNT = "amount"
SETTINGS: dict[str, tuple[str, ...]] = {EXCESS: POLICIES, ROUNDING: (ANY_AMOUNT,)}
#: What a ruling on another reading can do to a round, against the rule that decides it by our reading.
VOID, SETTLE = "void", "settle"
#: What the events of a round show if a reading decides it (games/engine/rules/reopened_rounds.py).
SHOWN = ("valid-tumble-after", "activated-without-tumble", "few-tumbles")


@dataclass(frozen=True)
class Alternative:
    """Another way to read the rule."""

    text: str
    value: str = ""  # of the setting; empty if the engine cannot follow it


@dataclass(frozen=True)
class Excluded:
    """A value of the setting that the document itself rules out."""

    value: str
    rules: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Reading:
    """How we read a rule, and what else it can mean. `rules` is empty if the document is silent."""

    name: str
    rules: tuple[str, ...]
    text: str
    alternatives: tuple[Alternative, ...]
    sets: str = ""  # the setting that it leaves open; empty if the engine follows our reading only
    excluded: tuple[Excluded, ...] = ()
    opens: str = ""  # void or settle; empty if every alternative has the same outcome as our reading
    shown_by: str = ""  # only in rounds whose events show this; empty: in every round of the situation

    @property
    def values(self) -> tuple[str, ...]:
        """Return what a standing interpretation may set instead of our reading."""
        return tuple(alternative.value for alternative in self.alternatives if alternative.value)


def load_readings(
    entries: "Iterable[RulebookEntry]", rules: "Callable[[RulebookEntry], tuple[str, ...]]"
) -> "Iterator[Reading]":
    """Read the `[[reading]]` tables of a file; `rules` reads the rule numbers of one."""
    for entry in entries:
        sets = entry.text("sets", "")
        if sets and sets not in SETTINGS:
            raise entry.error(f"has sets = {sets!r}; the settings are {', '.join(SETTINGS)}")
        reading = Reading(
            name=entry.text("name"),
            rules=rules(entry),
            text=entry.text("text"),
            alternatives=tuple(_alternatives(entry)),
            sets=sets,
            excluded=tuple(_excluded(entry, rules)),
            opens=entry.text("opens", ""),
            shown_by=entry.text("shown_by", ""),
        )
        entry.close()
        _verify_values(entry, reading)
        yield reading


def _alternatives(reading: "RulebookEntry") -> Iterator[Alternative]:
    entries = list(reading.entries("alternatives", "value"))
    if not entries:
        raise reading.error("has no alternative, so it is no reading; say what else the words can mean")
    for entry in entries:
        yield Alternative(text=entry.text("text"), value=entry.text("value", ""))
        entry.close()


def _excluded(reading: "RulebookEntry", rules: "Callable[[RulebookEntry], tuple[str, ...]]") -> Iterator[Excluded]:
    if "excluded" not in reading.data:
        return
    for entry in reading.entries("excluded", "value"):
        yield Excluded(value=entry.text("value"), rules=rules(entry), text=entry.text("text"))
        entry.close()


def _verify_values(entry: "RulebookEntry", reading: Reading) -> None:
    if reading.opens not in ("", VOID, SETTLE):
        raise entry.error(f"has opens = {reading.opens!r}; write {VOID} or {SETTLE}, or leave it out")
    if reading.shown_by and (reading.shown_by not in SHOWN or not reading.opens):
        raise entry.error(f"has shown_by = {reading.shown_by!r}; choose {', '.join(SHOWN)}, beside opens")
    values = [*reading.values, *(excluded.value for excluded in reading.excluded)]
    if reading.sets and not reading.values:
        raise entry.error(f"sets {reading.sets}, but no alternative has a value")
    for value in values:
        if value not in SETTINGS.get(reading.sets, ()):
            raise entry.error(f"has the value {value!r}, which is no value of the setting {reading.sets or '(none)'}")
    if len(set(values)) < len(values):
        raise entry.error("has a value twice")


def fault_of_readings(book: "Rulebook") -> str:
    """Describe what is wrong with a file's readings as a whole: which entries name them, and what they leave open."""
    for situation in book.situations:
        if unknown := [name for name in situation.readings if name not in book.readings]:
            return f"situation {situation.code} names the reading {unknown[0]}, which does not exist"
    setting = [reading.sets for reading in book.readings.values() if reading.sets]
    if len(set(setting)) < len(setting):
        return "two readings leave the same setting open"
    excess = book.reading_that_sets(EXCESS)
    if excess is None:
        return "no reading says which policies for an over-full box are open"
    named = [*excess.values, *(excluded.value for excluded in excess.excluded)]
    if sorted([book.limits.excess, *named]) != sorted(POLICIES):
        return (
            f"reading {excess.name} has to name each policy but the document's own once, as an alternative or as "
            f"excluded; it names {', '.join(named)}"
        )
    return ""


# --- What a standing interpretation may set --------------------------------------------------------


def setting_faults(book: "Rulebook", excess: str = "", rounding: int | None = None) -> dict[str, str]:
    """Explain, by the name of the setting, why a document does not leave it open; empty if it does."""
    faults = {}
    if excess and excess not in book.open_policies():
        faults[EXCESS] = _why_closed(book, excess)
    if rounding is not None and book.reading_that_sets(ROUNDING) is None:
        faults[ROUNDING] = f"{book.id} leaves nothing open about rounding; leave it out."
    return faults


def _why_closed(book: "Rulebook", excess: str) -> str:
    reading = book.reading_that_sets(EXCESS)
    excluded = next((entry for entry in reading.excluded if entry.value == excess), None) if reading else None
    choose = f"Choose {' or '.join(book.open_policies())}."
    if excluded is None:
        return f"{excess!r:.40} is no policy that {book.id} leaves open. {choose}"
    return f"{', '.join(book.cite(*excluded.rules))} excludes {excess}: {excluded.text} {choose}"


def readings_that_set(book: "Rulebook", excess: str = "", rounding: int | None = None) -> list[str]:
    """Return the names of the readings that a setting is about."""
    settings = [*([EXCESS] if excess else []), *([ROUNDING] if rounding is not None else [])]
    return [reading.name for name in settings if (reading := book.reading_that_sets(name)) is not None]
