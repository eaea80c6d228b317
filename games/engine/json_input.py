"""Read JSON from other programs, and report all faults at once with their place."""

import json
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from games.engine.dice import Throw, parse_dice
from games.engine.errors import InputError
from games.engine.money import MoneyError, parse_money, parse_positive_money
from games.engine.rules.citation import bare_number
from games.engine.rules.loader import layout, listed, rulebook
from games.engine.rules.readings import POLICIES
from games.engine.rules.rulebook import Layout, Rulebook
from games.engine.settlement import RULING
from games.engine.signs.limits import Bet, Limits, Range

T = TypeVar("T")
LARGEST_TEXT = 10 * 1024 * 1024
FIELDS = ("rulebook", "layout", "dice", "void", "limits", "differential", "chip_unit", "excess", "bets")
LIMIT_FIELDS = ("limits", "differential", "chip_unit")
BET_FIELDS = ("ref", "player", "box", "stake")


@dataclass(frozen=True)
class SettleRequest:
    """A round to be settled."""

    book: Rulebook
    layout: Layout
    throw: Throw | None
    void: str | None
    limits: Limits
    excess: str | None
    bets: tuple[Bet, ...]


# --- Text ------------------------------------------------------------------------------------------


def parse_json(text: str | bytes) -> Any:
    """Read strict JSON: UTF-8, no duplicate keys, no NaN, not too large and not too deep."""
    if len(text) > LARGEST_TEXT:
        raise InputError(f"The input is larger than {LARGEST_TEXT // 1024 // 1024} MB; a round is far smaller.")
    try:
        decoded = text.decode() if isinstance(text, bytes) else text
    except UnicodeDecodeError as error:
        raise InputError(f"The input is not UTF-8 (byte {error.start}); save it as UTF-8.") from None
    if decoded.startswith("\ufeff"):
        raise InputError("The input begins with a byte order mark; save it as UTF-8 without one.")
    if not decoded.strip():
        raise InputError("The input is empty; a JSON object is needed.")
    try:
        return json.loads(decoded, object_pairs_hook=_without_duplicates, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise InputError(
            f"line {error.lineno}, column {error.colno}: not valid JSON ({error.msg}); correct it there."
        ) from None
    except RecursionError:
        raise InputError("The input is nested too deeply; a round is flat.") from None
    except ValueError:  # a number with thousands of digits
        raise InputError("The input has a number that is too long; write money as text.") from None


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for key, value in pairs:
        if key in members:
            raise InputError(f"{_path('', key)}: appears twice in one object; keep one of them.")
        members[key] = value
    return members


def _no_constant(name: str) -> Any:
    raise InputError(f"{name} is not a value of JSON; write money as text and dice as whole numbers.")


def verify_whole_characters(value: Any) -> None:
    """Refuse a lone surrogate: JSON can escape half a character, which can be neither stored nor sent back."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise InputError("The input has half a character (one of \\ud800 to \\udfff alone); write it whole.") from None


# --- Reading ---------------------------------------------------------------------------------------


class InputFaults:
    """Collect the faults of one document, so that all are reported at once."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def add(self, where: str, fault: str) -> None:
        self.found.append(f"{where}: {fault}")

    def trying(self, read: Callable[..., T], *arguments: Any) -> T | None:
        try:
            return read(*arguments)
        except InputError as error:
            self.found.extend(error.faults)
            return None

    def money(self, read: Callable[[object], int], value: object, where: str) -> int | None:
        try:
            return read(value)
        except MoneyError as error:
            self.add(where, f"{error}.")
            return None

    def table(self, value: object, where: str, fields: tuple[str, ...] | None = None) -> dict[str, Any]:
        """Return an object without its nulls, as null means left out. Unknown fields are faults."""
        if not isinstance(value, dict):
            self.add(where, f"{value!r:.40} is not an object; write it as {{…}}.")
            return {}
        if fields is not None:
            for key in value:
                if key not in fields:
                    self.add(_path(where, key), f"is not a known field; the fields are {', '.join(fields)}.")
        return {key: member for key, member in value.items() if member is not None}

    def required(self, data: Mapping[str, Any], where: str, *names: str) -> None:
        for name in names:
            if name not in data:
                self.add(_path(where, name), "is missing; it is needed.")

    def done(self) -> None:
        if self.found:
            raise InputError(*dict.fromkeys(self.found))


def _path(where: str, key: str) -> str:
    """Join the parts of a place in the document."""
    return f"{where}.{shown_key(key)}" if where else shown_key(key)


def shown_key(key: str) -> str:
    """Escape a key that would break the line of a message."""
    return key[:60] if key.isprintable() else repr(key[:60])


def read_request(document: object, *, dice_needed: bool = True) -> SettleRequest:
    faults = InputFaults()
    if not isinstance(document, dict):
        raise InputError("The input is not a JSON object; write it as {…}.")
    data = faults.table(document, "", FIELDS)
    faults.required(data, "", "rulebook", "layout", "bets")
    book = faults.trying(rulebook, data["rulebook"]) if "rulebook" in data else None
    felt = faults.trying(layout, book, data["layout"]) if book and "layout" in data else None
    throw = faults.trying(parse_dice, data["dice"]) if "dice" in data else None
    void = _void(faults, book, data.get("void"))
    if dice_needed and "dice" not in data and "void" not in data:
        faults.add("dice", "is missing; it may be left out only where the round is void.")
    excess = data.get("excess")
    if excess is not None and excess not in POLICIES:
        faults.add("excess", f"{excess!r:.40} is not a policy; choose {listed(POLICIES)}.")
    limits = _limits(faults, book, felt, data)
    bets = _bets(faults, felt, data.get("bets", []))
    faults.done()
    if book is None or felt is None:  # a fault was found
        raise AssertionError
    return SettleRequest(book, felt, throw, void, limits, excess, tuple(bets))


def _void(faults: InputFaults, book: Rulebook | None, value: object) -> str | None:
    if value is None or value == RULING or book is None:
        return RULING if value == RULING else None
    number = bare_number(value, book.id) if isinstance(value, str) else None
    if number not in book.voidings:
        choices = listed([*book.voidings, RULING])
        faults.add("void", f"{value!r:.60} is not a rule by which {book.id} voids a round; choose {choices}.")
        return None
    return number


def _limits(faults: InputFaults, book: Rulebook | None, felt: Layout | None, data: Mapping[str, Any]) -> Limits:
    given = data.get("limits", {}), data.get("differential", {})
    if book and felt:  # a null entry of something the layout lacks is a fault, too
        for where, key, fault in misfits(book, felt, *(bet if isinstance(bet, dict) else {} for bet in given)):
            faults.add(_path("limits" if where == "boxes" else where, key), fault)
    unit = faults.money(parse_positive_money, data["chip_unit"], "chip_unit") if "chip_unit" in data else 1
    return Limits(read_ranges(faults, given[0], "limits"), read_differential(faults, given[1]), unit or 1)


def read_limits(document: object, book: Rulebook, felt: Layout, *, chip_unit: int) -> Limits:
    """Read a document that holds limits only. `chip_unit` applies if the document names none."""
    if not isinstance(document, dict):
        raise InputError("The input is not a JSON object; write it as {…}.")
    faults = InputFaults()
    data = faults.table(document, "", LIMIT_FIELDS)
    limits = _limits(faults, book, felt, data)
    faults.done()
    return limits if "chip_unit" in data else replace(limits, chip_unit=chip_unit)


def misfits(
    book: Rulebook, felt: Layout, boxes: Iterable[str], differential: Iterable[str]
) -> Iterator[tuple[str, str, str]]:
    """List the entries of a sign that do not fit a layout: under boxes or differential, which key, and what to do."""
    for key in boxes:
        if key not in felt.types and key not in felt.boxes:
            fault = f"is neither a bet type nor a box of layout {felt.code}; leave it out, or check its spelling."
            yield "boxes", key, fault
    for key in differential:
        if not (key in book.limits.differential and key in felt.types):
            yield "differential", key, f"layout {felt.code} has no differential of this name; leave it out."


def read_ranges(faults: InputFaults, value: object, where: str) -> dict[str, Range]:
    """Read minimums and maximums by bet type or box."""
    return {key: _range(faults, _path(where, key), entry) for key, entry in faults.table(value, where).items()}


def read_differential(faults: InputFaults, value: object, where: str = "differential") -> dict[str, int]:
    amounts = {
        key: faults.money(parse_money, amount, _path(where, key)) for key, amount in faults.table(value, where).items()
    }
    return {key: amount for key, amount in amounts.items() if amount is not None}


def _range(faults: InputFaults, where: str, value: object) -> Range:
    entry = faults.table(value, where, ("min", "max"))
    minimum, maximum = (
        faults.money(parse_money, entry[name], _path(where, name)) if name in entry else None for name in ("min", "max")
    )
    if minimum is not None and maximum is not None and minimum > maximum:
        faults.add(where, f"the minimum {entry['min']} is above the maximum {entry['max']}; swap or correct them.")
    return Range(minimum, maximum)


def _bets(faults: InputFaults, felt: Layout | None, value: object) -> list[Bet]:
    if not isinstance(value, list):
        faults.add("bets", "is not a list; write it as […].")
        return []
    bets = []
    first: dict[tuple[str, str], int] = {}
    for index, entry in enumerate(value):
        bet = _bet(faults, felt, entry, f"bets[{index}]")
        if bet is None:
            continue
        if (bet.player, bet.box) in first:
            other = first[bet.player, bet.box]
            faults.add(
                f"bets[{index}]", f"{bet.player!r:.40} has a bet in {bet.box} already, bets[{other}]; join them."
            )
        first.setdefault((bet.player, bet.box), index)
        bets.append(bet)
    return bets


def is_plain_text(value: object) -> bool:
    """Check that a text is not empty and has no control characters or half characters."""
    return isinstance(value, str) and value != "" and not {"Cc", "Cs"} & set(map(unicodedata.category, value))


def _bet(faults: InputFaults, felt: Layout | None, value: object, where: str) -> Bet | None:
    before = len(faults.found)
    entry = faults.table(value, where, BET_FIELDS)
    if isinstance(value, dict):
        faults.required(entry, where, "player", "box", "stake")
    for name in ("ref", "player"):
        if name in entry and not is_plain_text(entry[name]):
            faults.add(
                _path(where, name), f"{entry[name]!a:.40} is not a plain text; write letters and digits in quotes."
            )
    if "box" in entry and felt is not None and (not isinstance(entry["box"], str) or entry["box"] not in felt.boxes):
        faults.add(_path(where, "box"), f"{entry['box']!r:.40} is not a box of layout {felt.code}; check its code.")
    stake = faults.money(parse_positive_money, entry["stake"], _path(where, "stake")) if "stake" in entry else None
    if len(faults.found) > before or stake is None:
        return None
    return Bet(entry["player"], str(entry["box"]), stake, entry.get("ref"))
