"""Reading a floor file: each entry taken apart, each fault with its entry and key. Touches no database."""

import datetime as dt
import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import Model

from games.access.roles import access_policy, is_of_posts
from games.engine.errors import InputError
from games.engine.json_input import (
    LARGEST_TEXT,
    InputFaults,
    is_plain_text,
    misfits,
    read_differential,
    read_ranges,
    shown_key,
)
from games.engine.money import parse_positive_money
from games.engine.rules.loader import layout, listed, rulebook, rulebooks
from games.engine.signs.limits import Limits
from games.floor.moments import LAST, MomentError, parse_moment
from games.models import Casino, Pit, Staff, Table, TableState, TableStep

T = TypeVar("T")
CASINO = ("code", "name", "timezone", "currency", "gaming_day_starts", "notice_minutes", "operator")
PIT = ("casino", "code", "name")
TABLE = ("casino", "pit", "code", "rulebook", "layout", "chip_unit", "from")
LIMITS = ("tables", "from", "boxes", "differential")
STAFF = ("number", "name", "casino", "pit", "department", "post")
STATE = (
    "table", "state", "from", "reason", "cause", "notice_given_at", "opening_checks_by", "rectified", "rectified_by",
    "checked_by",
)  # fmt: skip
KINDS = ("casino", "pit", "table", "limits", "staff", "state")
DEFAULT_CHIP_UNIT = "0.01"
HOUR = re.compile(r"\d{2}:\d{2}(:\d{2})?", re.ASCII)


@dataclass(frozen=True)
class CasinoEntry:
    where: str
    values: dict[str, Any]


@dataclass(frozen=True)
class PitEntry:
    where: str
    casino: str
    code: str
    name: str


@dataclass(frozen=True)
class TableEntry:
    where: str
    casino: str
    pit: str
    code: str
    rulebook: str
    layout: str
    chip_unit: str
    starts_at: dt.datetime


@dataclass(frozen=True)
class LimitsEntry:
    where: str
    tables: tuple[str, ...]
    starts_at: dt.datetime
    limits: Limits


@dataclass(frozen=True)
class StaffEntry:
    where: str
    number: str
    name: str
    department: str
    post: str
    casino: str | None
    pit: str | None


@dataclass(frozen=True)
class StateEntry:
    """A table as it was from a moment on: open, closed or suspended; empty texts where the file says nothing."""

    where: str
    table: str
    state: str
    starts_at: dt.datetime
    reason: str = ""
    cause: str = ""
    notice_given_at: dt.datetime | None = None
    opening_checks_by: str = ""
    rectified: str = ""
    rectified_by: str = ""
    checked_by: str = ""


@dataclass(frozen=True)
class Floor:
    casinos: list[CasinoEntry] = field(default_factory=list)
    pits: list[PitEntry] = field(default_factory=list)
    tables: list[TableEntry] = field(default_factory=list)
    limits: list[LimitsEntry] = field(default_factory=list)
    staff: list[StaffEntry] = field(default_factory=list)
    states: list[StateEntry] = field(default_factory=list)


class FloorFaults(InputFaults):
    """Faults of one entry, with the readers that only floor files need."""

    def text(self, data: dict[str, Any], where: str, key: str, default: str | None = None) -> str:
        value = data.get(key, default)
        if key in data and (not is_plain_text(value) or not str(value).strip()):
            self.add(f"{where}: {key}", f"{value!r:.60} is not a plain text; write it in quotes, on one line.")
            return ""
        return value or ""

    def moment(self, data: dict[str, Any], where: str, key: str) -> dt.datetime | None:
        if key not in data:
            return None
        try:
            return parse_moment(data[key])
        except MomentError as error:
            self.add(f"{where}: {key}", f"{error}.")
            return None

    def choice(self, where: str, key: str, value: str, choices: tuple[str, ...], kind: str) -> None:
        if value and value not in choices:
            self.add(f"{where}: {key}", f"{value!r:.60} is not a {kind}; choose {listed(choices)}.")

    def fields(self, where: str, record: Model, names: dict[str, str]) -> None:
        """What the model itself says about its fields; `names` maps its fields to the file's keys."""
        exclude = {field.name for field in record._meta.fields} - names.keys()
        try:
            record.clean_fields(exclude=exclude)
        except ValidationError as error:
            for name, messages in error.message_dict.items():
                for message in messages:
                    self.add(f"{where}: {names[name]}", message)


def read_floor(content: bytes) -> Floor:
    data = _toml(content)
    faults = FloorFaults()
    known = faults.table(data, "", KINDS)
    entries = {kind: _entries(faults, known, kind) for kind in KINDS}
    floor = Floor(
        _all(faults, entries["casino"], _casino, "code"),
        _all(faults, entries["pit"], _pit, "code"),
        _all(faults, entries["table"], _table, "code"),
        _all(faults, entries["limits"], _limits, "tables"),
        _all(faults, entries["staff"], _staff, "number"),
        _all(faults, entries["state"], _state, "table"),
    )
    _verify_once(faults, [(casino.where, casino.values["code"]) for casino in floor.casinos])
    _verify_once(faults, [(pit.where, f"{pit.casino} {pit.code.upper()}") for pit in floor.pits])
    _verify_once(faults, [(one.where, one.number.upper()) for one in floor.staff])
    faults.done()
    return floor


def _toml(content: bytes) -> dict[str, Any]:
    if len(content) > LARGEST_TEXT:
        raise InputError(f"is larger than {LARGEST_TEXT // 1024 // 1024} MB; a floor is far smaller.")
    try:
        text = content.decode()
        if text.startswith("\ufeff"):
            raise InputError("begins with a byte order mark; save it as UTF-8 without one.")
        return tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8 (byte {error.start}); save it as UTF-8.") from None
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise InputError(f"is not readable as TOML ({error}); put it right there.") from None


def _entries(faults: FloorFaults, data: dict[str, Any], kind: str) -> list[Any]:
    value = data.get(kind, [])
    if not isinstance(value, list):
        faults.add(kind, f"is not a list; write each one as [[{kind}]].")
        return []
    return value


def _all(
    faults: FloorFaults, entries: list[Any], read: Callable[[FloorFaults, str, dict[str, Any]], T], label: str
) -> list[T]:
    """Each entry is called by its label, or by its place where it has none; one with a fault is left out."""
    kind = read.__name__.lstrip("_")
    found = []
    for number, entry in enumerate(entries, 1):
        name = entry.get(label) if isinstance(entry, dict) else None
        called = name if isinstance(name, str) else ", ".join(map(str, name)) if isinstance(name, list) else ""
        where = f"{kind} {called[:60]}" if called.strip() and called.isprintable() else f"{kind} no. {number}"
        if not isinstance(entry, dict):
            faults.add(where, f"is not a table of keys; write it as [[{kind}]].")
            continue
        before = len(faults.found)
        one = read(faults, where, entry)
        if len(faults.found) == before:
            found.append(one)
    return found


def _keys(faults: FloorFaults, where: str, entry: dict[str, Any], known: tuple[str, ...], *needed: str) -> None:
    for key in entry:
        if key not in known:
            faults.add(f"{where}: {shown_key(key)}", f"is not a known key; the keys are {', '.join(known)}.")
    for key in needed:
        if key not in entry:
            faults.add(f"{where}: {key}", "is missing; it is needed.")


def _casino(faults: FloorFaults, where: str, entry: dict[str, Any]) -> CasinoEntry:
    _keys(faults, where, entry, CASINO, "code", "name", "timezone", "currency", "gaming_day_starts")
    values: dict[str, Any] = {key: faults.text(entry, where, key) for key in ("code", "name", "timezone", "currency")}
    values["gaming_day_starts"] = _hour(faults, where, entry)
    if type(minutes := entry.get("notice_minutes")) is int:
        values["notice_minutes"] = minutes
    elif minutes is not None:
        fault = f"{minutes!r:.60} is not a whole number; write a whole number of minutes."
        faults.add(f"{where}: notice_minutes", fault)
    if "operator" in entry:  # left out: what is on record stays
        values["operator"] = faults.text(entry, where, "operator")
    present = {key: key for key in values if key in entry and values[key] not in ("", None)}
    faults.fields(where, Casino(**values), present)
    return CasinoEntry(where, values)


def _hour(faults: FloorFaults, where: str, entry: dict[str, Any]) -> dt.time | None:
    value = entry.get("gaming_day_starts")
    if isinstance(value, dt.time) or value is None:
        return value
    try:
        if isinstance(value, str) and HOUR.fullmatch(value):
            return dt.time.fromisoformat(value)
    except ValueError:
        pass
    faults.add(f"{where}: gaming_day_starts", f"{value!r:.60} is not a time of day; write it as 06:00 in quotes.")
    return None


def _pit(faults: FloorFaults, where: str, entry: dict[str, Any]) -> PitEntry:
    _keys(faults, where, entry, PIT, "casino", "code", "name")
    casino, code, name = (faults.text(entry, where, key) for key in PIT)
    if code:
        faults.fields(where, Pit(code=code, name=name), {"code": "code", "name": "name"})
    return PitEntry(where, casino, code, name)


def _table(faults: FloorFaults, where: str, entry: dict[str, Any]) -> TableEntry:
    _keys(faults, where, entry, TABLE, *(key for key in TABLE if key != "chip_unit"))
    casino, pit, code = (faults.text(entry, where, key) for key in ("casino", "pit", "code"))
    for record, name, value in ((Table(code=code), "code", code), (Pit(code=pit), "pit", pit)):
        if value:
            faults.fields(where, record, {"code": name})
    book = faults.trying(rulebook, entry["rulebook"], f"{where}: rulebook") if "rulebook" in entry else None
    felt = faults.trying(layout, book, entry["layout"], f"{where}: layout") if book and "layout" in entry else None
    unit = entry.get("chip_unit", DEFAULT_CHIP_UNIT)
    faults.money(parse_positive_money, unit, f"{where}: chip_unit")
    starts_at = faults.moment(entry, where, "from")
    if book and starts_at and starts_at < book.in_force_from:
        in_force = book.in_force_from.isoformat()
        faults.add(f"{where}: from", f"{book.id} is in force from {in_force}; begin then or later.")
    return TableEntry(
        where, casino, pit, code, book.id if book else "", felt.code if felt else "", unit, starts_at or LAST
    )


def _limits(faults: FloorFaults, where: str, entry: dict[str, Any]) -> LimitsEntry:
    _keys(faults, where, entry, LIMITS, "tables", "from", "boxes")
    tables = entry.get("tables", [])
    if (
        not isinstance(tables, list)
        or not all(is_plain_text(code) for code in tables)
        or ("tables" in entry and not tables)
    ):
        faults.add(f"{where}: tables", 'is not a list of table codes; write it as ["TS-01"].')
        tables = []
    starts_at = faults.moment(entry, where, "from")
    boxes = read_ranges(faults, entry.get("boxes", {}), f"{where}: boxes")
    differential = read_differential(faults, entry.get("differential", {}), f"{where}: differential")
    limits = Limits(boxes, differential)
    _verify_known(faults, where, limits)
    return LimitsEntry(where, tuple(dict.fromkeys(tables)), starts_at or LAST, limits)


def _verify_known(faults: FloorFaults, where: str, limits: Limits) -> None:
    """What no layout at all has is told here; what the table's own lacks, once its layouts are known."""
    strange = set.intersection(
        *(
            {(part, key) for part, key, _ in misfits(book, felt, limits.by_key, limits.differential)}
            for book in rulebooks().values()
            for felt in book.layouts.values()
        )
    )
    for part, key in sorted(strange):
        fault = "no layout of any rulebook has one of this name; leave it out, or check its spelling."
        faults.add(f"{where}: {part}.{shown_key(key)}", fault)


def _staff(faults: FloorFaults, where: str, entry: dict[str, Any]) -> StaffEntry:
    _keys(faults, where, entry, STAFF, "number", "name", "department")
    values = {key: faults.text(entry, where, key) for key in STAFF}
    faults.choice(where, "department", values["department"], tuple(access_policy().departments), "department")
    faults.choice(where, "post", values["post"], access_policy().posts, "post")
    if values["number"] and values["name"]:
        person = Staff(number=values["number"], name=values["name"])
        faults.fields(where, person, {"number": "number", "name": "name"})
    if values["pit"]:
        faults.fields(where, Pit(code=values["pit"]), {"code": "pit"})
    _verify_post(faults, where, entry, values)
    return StaffEntry(
        where, values["number"], values["name"], values["department"], values["post"], values["casino"] or None,
        values["pit"] or None,
    )  # fmt: skip


def _verify_post(faults: FloorFaults, where: str, entry: dict[str, Any], values: dict[str, str]) -> None:
    if is_of_posts(values["department"]):
        for key in ("casino", "post"):
            if key not in entry:
                faults.add(f"{where}: {key}", f"is missing; people of the pit have a {key}.")
    elif values["department"] in access_policy().departments:
        for key in ("post", "pit"):
            if values[key]:
                faults.add(f"{where}: {key}", f"only people of the pit have a {key}; leave it out.")


#: Which keys only one state has.
ONLY = {
    "cause": "suspended", "notice_given_at": "closed", "opening_checks_by": "open", "rectified": "open",
    "rectified_by": "open", "checked_by": "open",
}  # fmt: skip


def _state(faults: FloorFaults, where: str, entry: dict[str, Any]) -> StateEntry:
    starts_at = faults.moment(entry, where, "from")
    if starts_at is not None:  # a table has several
        where = f"{where} from {starts_at.isoformat(sep=' ')}"
    _keys(faults, where, entry, STATE, "table", "state", "from")
    moments = ("from", "notice_given_at")
    values = {key: faults.text(entry, where, key) for key in STATE if key not in moments}
    faults.choice(where, "state", values["state"], tuple(TableState.values), "state")
    faults.choice(where, "cause", values["cause"], tuple(TableStep.Cause.values), "cause")
    notice = faults.moment(entry, where, "notice_given_at")
    for key, state in ONLY.items():
        if key in entry and values["state"] in TableState.values and values["state"] != state:
            faults.add(f"{where}: {key}", f"only a table that is {state} has it; leave it out.")
    if values["state"] == TableState.CLOSED and "notice_given_at" not in entry:
        faults.add(f"{where}: notice_given_at", "is missing; write when players were told that the table closes.")
    if notice is not None and starts_at is not None and notice > starts_at:
        faults.add(f"{where}: notice_given_at", "is later than the closing; check both times.")
    return StateEntry(where, starts_at=starts_at or LAST, notice_given_at=notice, **values)


def _verify_once(faults: FloorFaults, names: list[tuple[str, str]]) -> None:
    seen: set[str] = set()
    for where, name in names:
        if name in seen:
            faults.add(where, "stands twice in the file; keep one of them.")
        seen.add(name)


def entries_of(floor: Floor) -> Iterator[tuple[str, int]]:
    """How many of each kind, for the summary."""
    counts = (len(floor.casinos), len(floor.tables), len(floor.limits), len(floor.staff))
    yield from zip(("casinos", "tables", "limits", "staff"), counts, strict=True)
    if floor.states:
        yield "states", len(floor.states)
