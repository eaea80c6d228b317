"""Floor files: loaded whole or, with a sentence for each fault, not at all; and what the sign said by them."""

import datetime as dt
import json
import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from games.access.services.people import staff_update
from games.engine.rules.loader import published, rulebook
from games.engine.signs.limits import Limits, Range
from games.labels.rules import rulebook_label
from games.limits.services.proposals import limits_approve, limits_propose
from games.models import Casino, Denial, LimitSet, LimitSheet, Pit, Staff, Table, TableAssignment
from taisai_backoffice.management.commands.demonstration import PATH as DEMONSTRATION
from tests.conftest import OPERATOR, PEOPLE, House
from tests.games.floors import (
    CASINO,
    EXAMPLE,
    LIMITS,
    PIT,
    STAFF,
    TABLE,
    called,
    edited,
    fault,
    faults,
    load,
    on_record,
    sign,
)
from tests.games.rules.test_commands import manage

START = "2026-11-01T06:00:00+08:00"
LATER = "2026-12-01T06:00:00+08:00"
WITHIN = "2026-11-16T06:00:00+08:00"


@pytest.fixture
def path(db: None, tmp_path: Path) -> Path:
    return tmp_path / "floor.toml"


# --- Loading ---------------------------------------------------------------------------------------


def test_the_example_of_the_contract_loads(path: Path) -> None:
    assert load(path, EXAMPLE) == f"{path}: casinos 1, tables 1, limits 1, staff 1; 5 new or changed."
    casino = Casino.objects.get()
    assert (casino.code, casino.name, casino.timezone) == ("RWS", "Resort casino", "Asia/Singapore")
    assert (casino.currency, casino.gaming_day_starts) == ("SGD", dt.time(6))
    assignment = TableAssignment.objects.get()
    assert (str(assignment.table), str(assignment.pit)) == ("TS-01", "RWS P1")
    assert assignment.game == "Tai Sai v6 · Layout C, chip unit 0.01"
    assert assignment.starts_at == dt.datetime.fromisoformat(START)
    limits = LimitSet.objects.get()
    assert (limits.origin, limits.source, limits.who) == ("file", "floor.toml", "Operator of the machine")
    assert limits.sheet.limits() == Limits(
        {"big-small": Range(50_00, 10_000_00), "total": Range(20_00, 2_000_00)}, {"big-small": 8_000_00}
    )
    person = Staff.objects.get()
    assert (person.number, person.department, person.post) == ("S11", "pit", "pit-supervisor")
    assert not person.has_usable_password()


def test_the_demonstration_floor_has_twelve_tables_in_three_pits_one_elsewhere_and_everybody(db: None) -> None:
    called("load_floor", str(DEMONSTRATION))
    assert Counter(Table.objects.values_list("casino__code", flat=True)) == {"RWS": 12, "HBR": 1}
    assert sorted(Pit.objects.values_list("code", flat=True)) == ["H1", "P1", "P2", "P3"]
    games = set(TableAssignment.objects.values_list("rulebook", "layout"))
    assert games == {(book, layout) for book in published() for layout in rulebook(book).layouts}
    assert LimitSet.objects.count() == 13
    roles = set(Staff.objects.values_list("department", "post"))
    assert roles == {(department, post) for department, post, _ in PEOPLE.values()}


@pytest.mark.parametrize("source", ["example", "demonstration"])
def test_loading_twice_changes_nothing_not_even_a_row_of_history(path: Path, source: str) -> None:
    text = EXAMPLE if source == "example" else DEMONSTRATION.read_text()
    load(path, text)
    before = on_record()
    assert load(path, text).endswith("; already on record; nothing has changed.")
    assert on_record() == before


def test_the_same_entry_twice_in_a_file_is_one(path: Path) -> None:
    load(path, EXAMPLE + TABLE + LIMITS)
    assert (TableAssignment.objects.count(), LimitSet.objects.count()) == (1, 1)


def test_money_is_the_same_however_it_is_written(path: Path) -> None:
    load(path, EXAMPLE)
    before = on_record()
    load(path, edited(EXAMPLE, ('"50"', '"50.00"'), ('"8000"', '"8000.0"')))
    assert on_record() == before


def test_the_same_moment_in_another_offset_is_the_same(path: Path) -> None:
    load(path, EXAMPLE)
    before = on_record()
    load(path, edited(EXAMPLE, (f"from = {START}", 'from = "2026-10-31T22:00:00Z"')))
    assert on_record() == before


def test_without_a_chip_unit_it_is_a_cent(path: Path) -> None:
    load(path, edited(EXAMPLE, ('chip_unit = "0.01"\n', "")))
    assert TableAssignment.objects.get().chip_unit == 1


def test_a_sign_may_lack_minimum_maximum_and_differential(path: Path) -> None:
    load(path, EXAMPLE.replace(LIMITS, f'[[limits]]\ntables = ["TS-01"]\nfrom = {START}\nboxes.big.min = "5"\n'))
    found = sign("TS-01", START)
    assert (found["boxes"], found["differential"]) == ({"big": {"min": "5.00"}}, {})


def test_a_table_may_stand_without_limits(path: Path) -> None:
    load(path, CASINO + TABLE)
    assert load(path, CASINO + TABLE).endswith("nothing has changed.")
    assert (Table.objects.count(), LimitSet.objects.count()) == (1, 0)


def test_an_empty_file_changes_nothing(path: Path) -> None:
    assert load(path, "").endswith("nothing has changed.")


def test_one_sign_for_several_tables_is_one_sheet(path: Path) -> None:
    both = edited(LIMITS, ('["TS-01"]', '["TS-01", "TS-02", "TS-01"]'))
    load(path, CASINO + TABLE + edited(TABLE, ("TS-01", "TS-02")) + both)
    assert (LimitSheet.objects.count(), LimitSet.objects.count()) == (1, 2)


def test_a_pit_is_made_when_an_entry_names_it_and_named_by_its_own(path: Path) -> None:
    load(path, CASINO + TABLE)
    assert Pit.objects.get().name == ""
    load(path, PIT)
    assert Pit.objects.get().name == "Main floor"
    assert Pit.objects.get().history.count() == 2
    load(path, edited(STAFF, ('casino = "RWS"', 'casino = "RWS"\npit = "P7"')))
    assert str(Staff.objects.get().pit) == "RWS P7"


def test_codes_name_the_same_thing_in_any_case(path: Path) -> None:
    load(path, EXAMPLE)
    before = on_record()
    load(path, edited(EXAMPLE, ("TS-01", "ts-01"), ("P1", "p1"), ("S11", "s11")))
    assert on_record() == before


def test_the_file_says_how_long_before_stricter_limits_notice_is_given(path: Path) -> None:
    text = CASINO + "notice_minutes = 45\n"
    load(path, text)
    assert Casino.objects.get().notice_minutes == 45
    before = on_record()
    load(path, text)
    load(path, CASINO)
    assert on_record() == before


def test_loading_many_tables_asks_the_same_of_each(path: Path) -> None:
    def queries(first: int, tables: int) -> int:
        codes = [f"TS-{number:03d}" for number in range(first, first + tables)]
        limits = edited(LIMITS, ('["TS-01"]', json.dumps(codes)))
        with CaptureQueriesContext(connection) as captured:
            load(path, CASINO + "".join(edited(TABLE, ("TS-01", code)) for code in codes) + limits)
        return len(captured)

    queries(900, 1)
    once, twice, thrice = queries(0, 10), queries(100, 20), queries(200, 30)
    assert thrice - twice == twice - once


# --- Wrong files -----------------------------------------------------------------------------------

WHOLE = CASINO + PIT + TABLE + LIMITS + STAFF
FROM = f"from = {START}"
QUOTES, CODE = "write it in quotes", "Use letters, digits"


def case(name: str, old: str, new: str, where: str, remedy: str) -> Any:
    """The whole example with one thing wrong in it."""
    return pytest.param(edited(WHOLE, (old, new)), where, remedy, id=name)


def refuse(path: Path, text: str | bytes, where: str, remedy: str) -> None:
    line = fault(path, text)
    assert line.startswith(f"{where}: "), line
    assert remedy in line


NOT_MOMENTS = [
    ("2026-11-01T06:00:00", "has no offset; write it as"),
    ('"2026-11-01T06:00:00"', "has no offset; write it as"),
    ("2026-11-01", "is not a time; write it as"),
    ("06:00:00", "is not a time; write it as"),
    ('"tomorrow"', "is not a time; write it as"),
    ('"two\\nlines"', "is not a time; write it as"),
    ('""', "is not a time; write it as"),
    ("20261101", "is not a time; write it as"),
    ("0001-01-01T00:00:00+08:00", "lies out of all bounds; check the year"),
    ("9999-12-31T23:59:59-08:00", "lies out of all bounds; check the year"),
    ("1969-12-31T00:00:00Z", "lies out of all bounds; check the year"),
    ("3000-01-01T00:00:00Z", "lies out of all bounds; check the year"),
]


@pytest.mark.parametrize(("entry", "where"), [(TABLE, "table TS-01: from"), (LIMITS, "limits TS-01: from")])
@pytest.mark.parametrize(("moment", "remedy"), NOT_MOMENTS)
def test_from_is_a_moment_with_its_offset(path: Path, entry: str, where: str, moment: str, remedy: str) -> None:
    refuse(path, edited(WHOLE, (entry, edited(entry, (FROM, f"from = {moment}")))), where, remedy)


NOT_AMOUNTS = [
    ("50", 'is a number; write money as text, such as "100.00"'),
    ("50.0", 'is a number; write money as text, such as "100.00"'),
    ("true", "is not text; write money as text"),
    ('"50.001"', "is not an amount; write digits with at most two decimals"),
    ('"-50"', "is not an amount; write digits with at most two decimals"),
    ('"50,00"', "is not an amount; write digits"),
    ('"1e3"', "is not an amount; write digits"),
    ('"٥٠"', "is not an amount; write digits"),
    ('""', "is not an amount; write digits"),
    ('"50\\n"', "is not an amount; write digits"),
    ('"9999999999999999"', "is more than any bet or limit; check the digits"),
]


@pytest.mark.parametrize(
    ("good", "where"),
    [
        ('"0.01"', "table TS-01: chip_unit"),
        ('"50"', "limits TS-01: boxes.big-small.min"),
        ('"2000"', "limits TS-01: boxes.total.max"),
        ('"8000"', "limits TS-01: differential.big-small"),
    ],
)
@pytest.mark.parametrize(("amount", "remedy"), NOT_AMOUNTS)
def test_money_is_text_with_two_decimals(path: Path, good: str, where: str, amount: str, remedy: str) -> None:
    refuse(path, edited(WHOLE, (good, amount)), where, remedy)


@pytest.mark.parametrize("amount", ['"0"', '"0.00"'])
def test_a_chip_unit_of_nothing_is_none(path: Path, amount: str) -> None:
    refuse(path, edited(WHOLE, ('"0.01"', amount)), "table TS-01: chip_unit", "write an amount above 0")


KEYS = {
    "casino": ("casino RWS", CASINO, ["code", "name", "timezone", "currency", "gaming_day_starts"]),
    "pit": ("pit P1", PIT, ["casino", "code", "name"]),
    "table": ("table TS-01", TABLE, ["casino", "pit", "code", "rulebook", "layout", "from"]),
    "limits": ("limits TS-01", LIMITS, ["tables", "from", "boxes"]),
    "staff": ("staff S11", STAFF, ["number", "name", "casino", "department", "post"]),
}


@pytest.mark.parametrize(("kind", "key"), [(kind, key) for kind, (_, _, keys) in KEYS.items() for key in keys])
def test_a_key_that_is_missing(path: Path, kind: str, key: str) -> None:
    where, entry, _ = KEYS[kind]
    rest = "\n".join(line for line in entry.split("\n") if not line.startswith(f"{key} = "))
    called_by = f"{kind} no. 1" if key in ("code", "number", "tables") else where
    refuse(path, edited(WHOLE, (entry, rest)), f"{called_by}: {key}", "is missing; ")


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize(("key", "shown"), [("colour", "colour"), ('"two\\nlines"', "'two\\nlines'")])
def test_a_key_that_nobody_knows(path: Path, kind: str, key: str, shown: str) -> None:
    where, entry, _ = KEYS[kind]
    header = f"[[{kind}]]\n"
    unknown = edited(entry, (header, f'{header}{key} = "red"\n'))
    refuse(path, edited(WHOLE, (entry, unknown)), f"{where}: {shown}", "is not a known key; the keys are ")


@pytest.mark.parametrize("kind", KEYS)
def test_single_brackets_are_told_from_double_ones(path: Path, kind: str) -> None:
    refuse(path, edited(WHOLE, (f"[[{kind}]]", f"[{kind}]")), kind, f"write each one as [[{kind}]].")


@pytest.mark.parametrize(
    ("text", "where", "remedy"),
    [
        case("a kind of entry that nobody knows", CASINO, f'colour = "red"\n{CASINO}', "colour",
             "are casino, pit, table"),
        case("a kind of two lines", CASINO, f'"a\\nb" = "red"\n{CASINO}', "'a\\nb'", "are casino, pit, table"),
        case("a casino as text", CASINO, 'casino = "RWS"\n', "casino", "write each one as [[casino]]"),
        case("casinos as texts", CASINO, 'casino = ["RWS"]\n', "casino no. 1", "write it as [[casino]]"),
        case("a casino twice", CASINO, CASINO * 2, "casino RWS", "occurs twice in the file; keep one"),
        case("a time zone that is none", "Asia/Singapore", "Asia/Sentosa", "casino RWS: timezone",
             "such as Asia/Singapore"),
        case("a time zone by path", "Asia/Singapore", "../../etc/passwd", "casino RWS: timezone",
             "such as Asia/Singapore"),
        case("a currency in small letters", "SGD", "sgd", "casino RWS: currency", "three capital letters"),
        case("a currency of two lines", "SGD", "SGD\\n", "casino RWS: currency", QUOTES),
        case("a code too long", '"RWS"\nname', f'"{"R" * 21}"\nname', f"casino {'R' * 21}: code",
             "at most 20 characters"),
        case("a code with a space", '"RWS"\nname', '"R WS"\nname', "casino R WS: code", CODE),
        case("a name too long", "Resort casino", "R" * 201, "casino RWS: name", "at most 200 characters"),
        case("a name by number", '"Resort casino"', "7", "casino RWS: name", QUOTES),
        case("a pit twice", PIT, PIT + edited(PIT, ("Main", "Upper"), ('"P1"', '"p1"')), "pit p1", "occurs twice"),
        case("a pit of no casino", '[[pit]]\ncasino = "RWS"', '[[pit]]\ncasino = "MBS"', "pit P1: casino",
             "[[casino]]"),
        case("a pit with a space", 'code = "P1"', 'code = "P 1"', "pit P 1: code", CODE),
    ],
)  # fmt: skip
def test_a_wrong_casino_or_pit(path: Path, text: str, where: str, remedy: str) -> None:
    refuse(path, text, where, remedy)


@pytest.mark.parametrize(
    "hour",
    ["6", "true", '"6:00"', '"24:00"', '"06:60"', '"noon"', '"06+08"', '"0600Z"', '"06:00+08"', '"T0600"', START],
)
def test_a_gaming_day_starts_at_a_time_of_day(path: Path, hour: str) -> None:
    refuse(path, edited(WHOLE, ('"06:00"', hour)), "casino RWS: gaming_day_starts", "write it as 06:00 in quotes")


@pytest.mark.parametrize(
    ("minutes", "remedy"),
    [
        *((text, "write a whole number of minutes") for text in ('"30"', "30.5", "true", "inf", "nan", "[30]")),
        ("-1", "greater than or equal to 0"),
        ("1441", "less than or equal to 1440"),
    ],
)
def test_notice_is_a_number_of_minutes(path: Path, minutes: str, remedy: str) -> None:
    text = edited(WHOLE, ("currency", f"notice_minutes = {minutes}\ncurrency"))
    refuse(path, text, "casino RWS: notice_minutes", remedy)


@pytest.mark.parametrize(
    ("text", "where", "remedy"),
    [
        case("a rulebook that is none", "rws-tai-sai-v6", "rws-tai-sai-v7", "table TS-01: rulebook",
             "choose division-9-2008, "),
        case("a rulebook by number", '"rws-tai-sai-v6"', "6", "table TS-01: rulebook", "choose division-9-2008, "),
        case("a layout of Division 9 under RWS", 'layout = "C"', 'layout = "2"', "table TS-01: layout",
             "choose A, C or E."),
        case("a layout of RWS under Division 9", "rws-tai-sai-v6", "division-9-2008", "table TS-01: layout",
             "choose 1 or 2."),
        case("a layout by number", 'layout = "C"', "layout = 2", "table TS-01: layout", "in quotes"),
        case("no casino of that name", 'casino = "RWS"\npit', 'casino = "MBS"\npit', "table TS-01: casino",
             "there is no casino MBS; add it as [[casino]], or check its code."),
        case("a casino of two lines", 'casino = "RWS"\npit', 'casino = "R\\nS"\npit', "table TS-01: casino", QUOTES),
        case("a pit with a space", 'pit = "P1"', 'pit = "P 1"', "table TS-01: pit", CODE),
        case("a code with a space", "TS-01", "TS 01", "table TS 01: code", CODE),
        case("a code that ends its line", 'code = "TS-01"', 'code = "TS-01\\n"', "table no. 1: code", QUOTES),
        case("another game from the same moment", TABLE, TABLE + edited(TABLE, ('"C"', '"E"')), "table TS-01: from",
             f"TS-01 has another assignment from {START}, Tai Sai v6 · Layout C, chip unit 0.01; choose another"),
        case("another unit from the same moment", TABLE, TABLE + edited(TABLE, ('"0.01"', '"5"')), "table TS-01: from",
             "choose another time, or keep that assignment"),
        case("another pit from the same moment", TABLE, TABLE + edited(TABLE, ('"P1"', '"P2"')), "table TS-01: from",
             "choose another time, or keep that assignment"),
    ],
)  # fmt: skip
def test_a_wrong_table(path: Path, text: str, where: str, remedy: str) -> None:
    refuse(path, text, where, remedy)


SIGN = f"TS-01: limits from {START}"
BIG_SMALL = '"big-small" = { min = "50", max = "10000" }'


@pytest.mark.parametrize(
    ("text", "where", "remedy"),
    [
        case("a minimum above its maximum", 'max = "10000"', 'max = "49.99"', "limits TS-01: boxes.big-small",
             "the minimum 50 is above the maximum 49.99; swap or correct them."),
        case("a limit that is neither", BIG_SMALL, '"big-small" = { minimum = "50" }',
             "limits TS-01: boxes.big-small.minimum", "the fields are min, max."),
        case("a limit as text", BIG_SMALL, '"big-small" = "50"', "limits TS-01: boxes.big-small", "write it as {"),
        case("boxes as a list", "boxes = {", "boxes = [] #", "limits TS-01: boxes", "write it as {"),
        case("a differential as text", "differential = {", 'differential = "8000" #', "limits TS-01: differential",
             "write it as {"),
        case("a type that no layout has", '"total" = ', '"roulette" = ', "limits TS-01: boxes.roulette",
             "leave it out, or check"),
        case("a box that no layout has", '"total" = ', '"total-3" = ', "limits TS-01: boxes.total-3",
             "leave it out, or check"),
        case("a type with a very long name", '"total" = ', f'"{"x" * 70}" = ', f"limits TS-01: boxes.{'x' * 60}",
             "leave it out"),
        case("a type of two lines", '"total" = ', '"a\\nb" = ', "limits TS-01: boxes.'a\\nb'", "leave it out"),
        case("a type with a NUL", '"total" = ', '"a\\u0000b" = ', "limits TS-01: boxes.'a\\x00b'", "leave it out"),
        case("a differential of one box", '"big-small" = "8000"', '"big" = "8000"', "limits TS-01: differential.big",
             "leave it out"),
        case("a differential with a very long name", '"big-small" = "8000"', f'"{"x" * 70}" = "8000"',
             f"limits TS-01: differential.{'x' * 60}", "leave it out"),
        case("no table of that name", '["TS-01"]', '["TS-10"]', "limits TS-10: tables",
             "there is no table TS-10; add it as [[table]], or check its code."),
        case("no tables at all", '["TS-01"]', "[]", "limits no. 1: tables", 'write it as ["TS-01"].'),
        case("tables as text", '["TS-01"]', '"TS-01"', "limits TS-01: tables", 'write it as ["TS-01"].'),
        case("tables by number", '["TS-01"]', "[1]", "limits 1: tables", 'write it as ["TS-01"].'),
        case("a table with a NUL", '["TS-01"]', '["TS\\u0000"]', "limits no. 1: tables", 'write it as ["TS-01"].'),
        case("a table of two lines", '["TS-01"]', '["TS\\n01"]', "limits no. 1: tables", 'write it as ["TS-01"].'),
        case("other limits from the same moment", LIMITS, LIMITS + edited(LIMITS, ('"50"', '"100"')),
             "limits TS-01: from",
             f"TS-01 has other limits from {START}, recorded by Operator of the machine; choose another time"),
        case("another differential from the same moment", LIMITS, LIMITS + edited(LIMITS, ('"8000"', '"9000"')),
             "limits TS-01: from", "choose another time, or keep those limits."),
    ],
)  # fmt: skip
def test_wrong_limits(path: Path, text: str, where: str, remedy: str) -> None:
    refuse(path, text, where, remedy)


@pytest.mark.parametrize(
    ("rulebook", "layout", "type_"),
    [
        ("rws-tai-sai-v6", "A", "odd-even"),
        ("rws-tai-sai-v6", "A", "four-6532"),
        ("rws-tai-sai-v6", "E", "double"),
        ("rws-tai-sai-open-cover-v5", "E", "odd"),
        ("division-9-2008", "1", "pair-113"),
        ("division-9-2008", "1", "three"),
    ],
)
def test_limits_on_what_the_layout_lacks(path: Path, rulebook: str, layout: str, type_: str) -> None:
    edits = (("rws-tai-sai-v6", rulebook), ('layout = "C"', f'layout = "{layout}"'), ('"total" = ', f'"{type_}" = '))
    refuse(path, edited(WHOLE, *edits), f"{SIGN}: boxes.{type_}", f"nor a box of layout {layout}; leave it out")


def test_a_differential_that_the_layout_lacks(path: Path) -> None:
    text = edited(WHOLE, ('layout = "C"', 'layout = "E"'), ('"big-small" = "8000"', '"odd-even" = "8000"'))
    refuse(path, text, f"{SIGN}: differential.odd-even", "layout E has no differential of this name; leave it out.")


@pytest.mark.parametrize(
    ("text", "where", "remedy"),
    [
        case("a department that is none", 'department = "pit"', 'department = "bar"', "staff S11: department",
             "choose pit, "),
        case("a department by number", 'department = "pit"', "department = 1", "staff S11: department", QUOTES),
        case("a post that is none", '"pit-supervisor"', '"king"', "staff S11: post", "choose dealer, pit-supervisor, "),
        case("a post by number", '"pit-supervisor"', "3", "staff S11: post", QUOTES),
        case("a post outside the pit", 'department = "pit"', 'department = "audit"', "staff S11: post", "leave it out"),
        case("a pit outside the pit", STAFF,
             edited(STAFF, ('department = "pit"', 'department = "it"'), ("post", 'pit = "P1" #')),
             "staff S11: pit", "leave it out"),
        case("no casino of that name", 'casino = "RWS"\ndep', 'casino = "MBS"\ndep', "staff S11: casino",
             "there is no casino MBS; add it as [[casino]], or check its code."),
        case("a casino by number", 'casino = "RWS"\ndep', "casino = 3\ndep", "staff S11: casino", QUOTES),
        case("a pit with a space", "post = ", 'pit = "P 1"\npost = ', "staff S11: pit", CODE),
        case("a number with a space", "S11", "S 11", "staff S 11: number", CODE),
        case("a number too long", '"S11"', f'"{"S" * 33}"', f"staff {'S' * 33}: number", "at most 32 characters"),
        case("a name of nothing", '"Supervisor 11"', '" "', "staff S11: name", QUOTES),
        case("a name with a NUL", '"Supervisor 11"', '"a\\u0000b"', "staff S11: name", QUOTES),
        case("a person twice", STAFF, STAFF * 2, "staff S11", "occurs twice in the file; keep one of them"),
        case("a person twice in another case", STAFF, STAFF + edited(STAFF, ('"S11"', '"s11"')), "staff s11",
             "occurs twice"),
    ],
)  # fmt: skip
def test_a_wrong_person(path: Path, text: str, where: str, remedy: str) -> None:
    refuse(path, text, where, remedy)


@pytest.mark.parametrize(
    ("content", "what", "remedy"),
    [
        (b"[[table\n", "is not valid TOML (", "line 1"),
        (b'code = "RWS"\ncode = "RWS"\n', "is not valid TOML (", "line 2"),
        (b"\xef\xbb\xbf" + EXAMPLE.encode(), "begins with a byte order mark; ", "save it as UTF-8 without one"),
        (EXAMPLE.encode("utf-16"), "is not UTF-8 (byte 0); ", "save it as UTF-8"),
        ("# Café\n".encode("latin-1"), "is not UTF-8 (byte 5); ", "save it as UTF-8"),
        (b"x = " + b"[" * 5_000, "is not valid TOML (", "correct it there"),
        (b"x = " + b"9" * 5_000, "is not valid TOML (", "correct it there"),
        (b"#" * (10 * 1024 * 1024 + 1), "is larger than 10 MB; ", "a floor is far smaller"),
    ],
    ids=["broken off", "key twice", "byte order mark", "UTF-16", "Latin-1", "deep", "long number", "large"],
)
def test_a_file_that_is_no_floor(path: Path, content: bytes, what: str, remedy: str) -> None:
    line = fault(path, content)
    assert line.startswith(what)
    assert remedy in line


def test_a_file_that_is_not_there_or_is_a_folder(path: Path) -> None:
    with pytest.raises(
        CommandError, match=r"floor.toml: cannot be read \(No such file or directory\); name a floor file.$"
    ):
        call_command("load_floor", str(path))
    path.mkdir()
    with pytest.raises(CommandError, match=r"floor.toml: cannot be read \(Is a directory\); name a floor file.$"):
        call_command("load_floor", str(path))


@pytest.mark.parametrize("name", [b"two\nlines.toml", b"\xff.toml"])
def test_a_file_whose_name_cannot_stand_in_a_record(db: None, tmp_path: Path, name: bytes) -> None:
    path = tmp_path / os.fsdecode(name)
    path.write_text(EXAMPLE)
    with pytest.raises(CommandError, match=r"the name cannot be recorded; rename the file\.$") as refusal:
        call_command("load_floor", str(path))
    assert str(refusal.value).isascii()
    assert Casino.objects.count() == 0


def test_several_faults_get_a_sentence_each(path: Path) -> None:
    wrong = edited(
        WHOLE, ("Asia/Singapore", "Moon"), ('layout = "C"', 'layout = "X"'), ('"50"', "50"), ('"S11"', '"S 11"')
    )
    assert [line.split(": ")[0:2] for line in faults(path, wrong)] == [
        ["casino RWS", "timezone"], ["table TS-01", "layout"], ["limits TS-01", "boxes.big-small.min"],
        ["staff S 11", "number"],
    ]  # fmt: skip


def test_several_faults_that_only_the_records_show_get_a_sentence_each(path: Path) -> None:
    load(path, EXAMPLE)
    others = edited(TABLE, ('"C"', '"E"')) + edited(LIMITS, ('["TS-01"]', '["TS-02"]')) + edited(STAFF, ("RWS", "MBS"))
    lines = faults(path, others)
    assert [line.split(": ")[0:2] for line in lines] == [
        ["table TS-01", "from"], ["limits TS-02", "tables"], ["staff S11", "casino"]
    ]  # fmt: skip


def test_one_sign_that_does_not_fit_several_tables_is_told_for_each(path: Path) -> None:
    both = edited(LIMITS, ('["TS-01"]', '["TS-01", "TS-02"]'), ('"total"', '"odd-even"'))
    a = edited(TABLE, ('layout = "C"', 'layout = "A"'))
    lines = faults(path, CASINO + a + edited(a, ("TS-01", "TS-02")) + both)
    assert [line.split(": ")[0] for line in lines] == ["TS-01", "TS-02"]


IN_FORCE = {
    "division-9-2008": ("1", "2008-04-25T00:00:00Z", "2008-04-24T23:59:59Z"),
    "rws-tai-sai-v6": ("A", "2023-10-06T08:00:00+08:00", "2023-10-06T07:59:59+08:00"),
    "rws-tai-sai-open-cover-v5": ("A", "2023-10-06T08:00:00+08:00", "2023-10-06T07:59:59+08:00"),
}


@pytest.mark.parametrize("book", IN_FORCE)
def test_no_table_and_no_sign_begins_before_its_rulebook_is_in_force(path: Path, book: str) -> None:
    layout, first, too_early = IN_FORCE[book]
    table = edited(TABLE, ("rws-tai-sai-v6", book), ('layout = "C"', f'layout = "{layout}"'), (START, first))
    limits = edited(LIMITS, (START, first))
    refuse(
        path,
        CASINO + edited(table, (first, too_early)),
        "table TS-01: from",
        f"{book} is in force from ",
    )
    lines = faults(path, CASINO + table + edited(limits, (first, too_early)))
    assert len(lines) == 1
    assert f"{rulebook_label(book)} is in force from " in lines[0]
    assert "begin then or later." in lines[0]
    load(path, CASINO + table + limits)
    assert sign("TS-01", first)["rulebook"] == book


def test_a_table_stays_in_its_casino(path: Path) -> None:
    load(path, EXAMPLE + edited(CASINO, ('"RWS"', '"MBS"')))
    moved = edited(TABLE, ("RWS", "MBS"), (START, LATER))
    refuse(path, moved, "table TS-01: casino", "TS-01 is a table of RWS and cannot move; choose another code.")


def test_from_a_shell_a_wrong_file_is_plain_sentences(clone: str, tmp_path: Path) -> None:
    path = tmp_path / "floor.toml"
    path.write_text(edited(EXAMPLE, ("Asia/Singapore", "Moon"), ('layout = "C"', 'layout = "X"')))
    refused = manage("load_floor", str(path), database=clone)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert [line.split(": ")[:3] for line in refused.stderr.splitlines()] == [
        [str(path), "casino RWS", "timezone"],
        [str(path), "table TS-01", "layout"],
    ]
    assert Casino.objects.count() == 0


def test_two_loads_at_once_are_one_after_the_other(clone: str, tmp_path: Path) -> None:
    path = tmp_path / "floor.toml"
    path.write_text(EXAMPLE)
    with ThreadPoolExecutor() as pool:
        loads = list(pool.map(lambda _: manage("load_floor", str(path), database=clone), range(3)))
    assert [(process.returncode, process.stderr) for process in loads] == [(0, "")] * 3
    assert Counter(process.stdout.rpartition("; ")[2].strip() for process in loads) == {
        "5 new or changed.": 1,
        "nothing has changed.": 2,
    }


# --- Later entries ---------------------------------------------------------------------------------

TO_A = edited(TABLE, (START, LATER), ('layout = "C"', 'layout = "A"'))
ODD_EVEN = edited(LIMITS, ('"total" = ', '"odd-even" = '))


def games() -> list[tuple[str, str | None, str]]:
    """From, until and layout of each assignment, in the order of time."""
    return [
        (
            table_assignment.during.lower.isoformat(),
            table_assignment.during.upper.isoformat() if table_assignment.during.upper else None,
            table_assignment.layout,
        )
        for table_assignment in TableAssignment.objects.order_by("during")
    ]


def utc(moment: str) -> str:
    return dt.datetime.fromisoformat(moment).astimezone(dt.UTC).isoformat()


def test_a_later_table_entry_takes_over_from_its_moment(path: Path) -> None:
    load(path, EXAMPLE + TO_A)
    assert games() == [(utc(START), utc(LATER), "C"), (utc(LATER), None, "A")]
    assert [sign("TS-01", at)["layout"] for at in ("2026-12-01T05:59:59.999999+08:00", LATER)] == ["C", "A"]


def test_limits_that_do_not_fit_the_later_layout_are_refused(path: Path) -> None:
    refuse(path, CASINO + TABLE + TO_A + ODD_EVEN, f"{SIGN}: boxes.odd-even", "nor a box of layout A; leave it out")


def test_a_later_layout_that_the_limits_on_record_do_not_fit_is_refused(path: Path) -> None:
    load(path, CASINO + TABLE + ODD_EVEN)
    refuse(path, TO_A, f"{SIGN}: boxes.odd-even", "nor a box of layout A; leave it out")


def test_limits_may_change_at_the_very_moment_of_the_layout(path: Path) -> None:
    load(path, CASINO + TABLE + TO_A + ODD_EVEN + edited(LIMITS, (START, LATER)))
    assert (sign("TS-01", START)["to"], sign("TS-01", LATER)["from"]) == (LATER, LATER)


def test_limits_that_change_a_second_after_the_layout_are_too_late(path: Path) -> None:
    late = edited(LIMITS, (START, "2026-12-01T06:00:01+08:00"))
    refuse(path, CASINO + TABLE + TO_A + ODD_EVEN + late, f"{SIGN}: boxes.odd-even", "nor a box of layout A")


def test_the_order_in_the_file_does_not_matter(path: Path) -> None:
    load(path, CASINO + edited(LIMITS, (START, LATER)) + ODD_EVEN + TO_A + TABLE)
    assert games() == [(utc(START), utc(LATER), "C"), (utc(LATER), None, "A")]


def test_an_earlier_entry_is_slotted_in(path: Path) -> None:
    load(path, EXAMPLE + TO_A + edited(LIMITS, (START, LATER), ('"50"', '"100"')))
    between = edited(TABLE, (START, WITHIN), ('layout = "C"', 'layout = "E"'))
    load(path, between + edited(LIMITS, (START, WITHIN), ('"50"', '"75"')))
    assert games() == [(utc(START), utc(WITHIN), "C"), (utc(WITHIN), utc(LATER), "E"), (utc(LATER), None, "A")]
    signs = [sign("TS-01", moment) for moment in (START, WITHIN, LATER)]
    assert [(sign["from"], sign["to"]) for sign in signs] == [(START, WITHIN), (WITHIN, LATER), (LATER, None)]
    assert [sign["boxes"]["big-small"]["min"] for sign in signs] == ["50.00", "75.00", "100.00"]


def test_an_entry_before_all_others_ends_where_they_begin(path: Path) -> None:
    load(path, EXAMPLE)
    early = "2026-10-01T06:00:00+08:00"
    load(path, edited(TABLE, (START, early), ('layout = "C"', 'layout = "A"')) + edited(LIMITS, (START, early)))
    assert games() == [(utc(early), utc(START), "A"), (utc(START), None, "C")]
    assert sign("TS-01", early)["to"] == START


def test_a_layout_slotted_in_under_limits_that_do_not_fit_it_is_refused(path: Path) -> None:
    load(path, CASINO + TABLE + ODD_EVEN + TO_A + edited(LIMITS, (START, LATER)))
    between = edited(TABLE, (START, WITHIN), ('layout = "C"', 'layout = "E"'))
    refuse(path, between, f"{SIGN}: boxes.odd-even", "nor a box of layout E")


def test_limits_that_end_before_the_table_begins_belong_nowhere(path: Path) -> None:
    early = "2026-10-01T06:00:00+08:00"
    line = f"TS-01: limits from {early}: the table has no layout while they are in force; assign one first."
    assert fault(path, EXAMPLE + edited(LIMITS, (START, early))) == line


def test_another_rulebook_pit_and_chip_unit_from_a_later_moment(path: Path) -> None:
    later = edited(
        TABLE, (START, LATER), ("rws-tai-sai-v6", "division-9-2008"), ('layout = "C"', 'layout = "2"'),
        ('"P1"', '"P2"'), ('"0.01"', '"5"'),
    )  # fmt: skip
    load(path, EXAMPLE + later)
    assignment = TableAssignment.objects.get(during__contains=dt.datetime.fromisoformat(LATER))
    assert (assignment.game, assignment.pit.code) == ("Division 9 (2008) · Layout 2, chip unit 5.00", "P2")


def test_a_casino_and_a_person_are_updated_with_history(path: Path) -> None:
    load(path, EXAMPLE)
    edits = (("Resort casino", "Resort"), ('"06:00"', '"05:30"'), ('"pit-supervisor"', '"pit-manager"'))
    load(path.with_name("new.toml"), edited(CASINO + STAFF, *edits))
    casino, person = Casino.objects.get(), Staff.objects.get()
    assert (casino.name, casino.gaming_day_starts, person.post) == ("Resort", dt.time(5, 30), "pit-manager")
    for row, before in (casino.history.all(), person.history.all()):
        assert before.history_change_reason == "Loaded from floor.toml"
        assert (row.history_author, row.history_change_reason) == ("Operator of the machine", "Loaded from new.toml")
    assert (casino.history.last().name, person.history.last().post) == ("Resort casino", "pit-supervisor")


def test_a_pit_that_the_entry_leaves_out_stays(path: Path) -> None:
    load(path, CASINO + edited(STAFF, ("post = ", 'pit = "P1"\npost = ')))
    load(path, edited(STAFF, ("Supervisor 11", "Mei Lin Tan")))
    assert (Staff.objects.get().name, str(Staff.objects.get().pit)) == ("Mei Lin Tan", "RWS P1")


def test_a_person_who_leaves_the_pit_leaves_post_and_pit(path: Path) -> None:
    load(path, CASINO + edited(STAFF, ("post = ", 'pit = "P1"\npost = ')))
    load(path, edited(STAFF, ('department = "pit"', 'department = "audit"'), ("post = ", "# ")))
    person = Staff.objects.get()
    assert (person.department, person.post, person.pit) == ("audit", "", None)


def test_a_person_who_goes_to_another_casino_leaves_the_pit(path: Path) -> None:
    load(path, CASINO + edited(STAFF, ("post = ", 'pit = "P1"\npost = ')) + edited(CASINO, ('"RWS"', '"MBS"')))
    load(path, edited(STAFF, ("RWS", "MBS")))
    person = Staff.objects.get()
    assert (person.casino and person.casino.code, person.pit) == ("MBS", None)


def test_who_has_left_stays_away(path: Path) -> None:
    load(path, EXAMPLE)
    staff_update(actor=OPERATOR, staff=Staff.objects.get(), changes={"is_active": False}, reason="Left")
    before = on_record()
    load(path, EXAMPLE)
    assert on_record() == before


BIG_SMALL_NAMES = ("boxes.big-small.min", "boxes.big-small.max")
TOTAL_NAMES = ("boxes.total.min", "boxes.total.max")


def test_a_file_whose_limits_were_corrected_since_is_still_on_record(house: House, tmp_path: Path) -> None:
    path = tmp_path / "floor.toml"
    with time_machine.travel(dt.datetime(2026, 11, 15, 12, tzinfo=dt.UTC)):
        load(path, TABLE + LIMITS)
        proposal = limits_propose(
            actor=house["pit-manager"], tables=[Table.objects.get()], limits=Limits({"big-small": Range(60_00, None)}),
            starts_at=dt.datetime.fromisoformat(START), is_correction=True, reason="The sign said 60",
            remove=(remove := {"TS-01": ["boxes.big-small.max", *TOTAL_NAMES, "differential.big-small"]}),
        )  # fmt: skip
        limits_approve(
            actor=house["shift-manager"], proposal=proposal, reason="Seen on the photograph", remove=remove
        )  # fmt: skip
        before = on_record()
        assert load(path, TABLE + LIMITS).endswith("nothing has changed.")
        assert on_record() == before
        assert sign("TS-01", START)["boxes"] == {"big-small": {"min": "60.00"}}


def test_a_file_whose_table_has_another_layout_since_is_still_on_record(path: Path) -> None:
    load(path, EXAMPLE)
    load(path, TO_A)
    before = on_record()
    assert load(path, EXAMPLE).endswith("nothing has changed.")
    assert on_record() == before


# --- As whom ---------------------------------------------------------------------------------------


def test_without_as_the_history_names_the_operator(path: Path) -> None:
    load(path, EXAMPLE)
    for model in (Casino, Pit, Table, TableAssignment, Staff):
        assert set(model.history.values_list("history_author", flat=True)) == {"Operator of the machine"}
    assert LimitSet.objects.get().who == "Operator of the machine"


def test_as_nobody_is_an_error(path: Path) -> None:
    before = on_record()
    with pytest.raises(
        CommandError, match=r"^--as: there is no person with the staff number NOBODY; check it, or add "
    ):
        load(path, EXAMPLE, "--as=NOBODY")
    assert on_record() == before


def test_a_casino_manager_sets_up_a_table_in_his_own_name(house: House, tmp_path: Path) -> None:
    load(tmp_path / "floor.toml", TABLE, "--as=casino-manager")
    row = TableAssignment.history.get()
    assert row.history_user == house["casino-manager"]
    assert row.history_author == "CASINO-MANAGER Person CASINO-MANAGER, casino manager"


def test_a_casino_manager_cannot_load_limits_past_the_approval(house: House, tmp_path: Path) -> None:
    before = on_record()
    with pytest.raises(CommandError, match=r"casino manager may not do this \(limits.load, table TS-01\)"):
        load(tmp_path / "floor.toml", TABLE + LIMITS, "--as=CASINO-MANAGER")
    assert on_record() == before
    denial = Denial.objects.get(staff_id=house["casino-manager"].pk)
    assert (denial.action, denial.thing, denial.door) == ("limits.load", "table TS-01", "command load_floor")


@pytest.mark.parametrize("role", ["dealer", "pit-manager", "shift-manager", "compliance", "administrator"])
def test_others_set_up_no_tables(house: House, tmp_path: Path, role: str) -> None:
    before = on_record()
    with pytest.raises(CommandError, match=r"may not do this \(table.add"):
        load(tmp_path / "floor.toml", TABLE, f"--as={role}")
    assert on_record() == before


def test_a_casino_manager_does_nothing_in_another_casino(house: House, tmp_path: Path) -> None:
    before = on_record()
    with pytest.raises(CommandError, match="may not do this"):
        load(tmp_path / "floor.toml", edited(TABLE, ("RWS", "ELSE"), ("P1", "Q1")), "--as=CASINO-MANAGER")
    assert on_record() == before


def test_a_file_that_changes_nothing_needs_no_rights(house: House, tmp_path: Path) -> None:
    path = tmp_path / "floor.toml"
    load(path, TABLE + LIMITS)
    assert load(path, TABLE + LIMITS, "--as=DEALER").endswith("nothing has changed.")


# --- What the sign said ----------------------------------------------------------------------------

LOADED = dt.datetime(2026, 11, 15, 12, tzinfo=dt.UTC)


def test_the_sign_as_the_contract_has_it(path: Path) -> None:
    with time_machine.travel(LOADED, tick=False):
        load(path, EXAMPLE)
        found = sign("TS-01", "2026-11-15T21:07:00+08:00")
    assert list(found.items()) == [
        ("table", "TS-01"),
        ("at", "2026-11-15T21:07:00+08:00"),
        ("known_at", "2026-11-15T20:00:00+08:00"),
        ("rulebook", "rws-tai-sai-v6"),
        ("layout", "C"),
        ("from", START),
        ("to", None),
        ("boxes", {"big-small": {"min": "50.00", "max": "10000.00"}, "total": {"min": "20.00", "max": "2000.00"}}),
        ("differential", {"big-small": "8000.00"}),
        ("origin", "file"),
        ("proposed_by", None),
        ("approved_by", None),
    ]


def test_the_sign_names_who_proposed_and_who_approved_it(house: House, tmp_path: Path) -> None:
    with time_machine.travel(LOADED) as clock:
        load(tmp_path / "floor.toml", TABLE + LIMITS)
        proposal = limits_propose(
            actor=house["pit-manager"], tables=[Table.objects.get()], limits=Limits({"big": Range(60_00, None)}),
            starts_at=dt.datetime.fromisoformat(LATER), reason="A busy month",
            remove=(remove := {"TS-01": [*BIG_SMALL_NAMES, *TOTAL_NAMES, "differential.big-small"]}),
        )  # fmt: skip
        limits_approve(actor=house["shift-manager"], proposal=proposal, reason="Agreed", remove=remove)
        clock.shift(1)
        found = sign("TS-01", LATER)
    assert (found["origin"], found["proposed_by"], found["approved_by"]) == ("proposal", "PIT-MANAGER", "SHIFT-MANAGER")


def test_as_known_before_it_was_loaded_there_was_no_sign(path: Path) -> None:
    with time_machine.travel(LOADED, tick=False):
        load(path, EXAMPLE)
    assert sign("TS-01", START, "--known-at=2026-11-15T12:00:00Z")["known_at"] == "2026-11-15T20:00:00+08:00"
    with pytest.raises(CommandError) as refusal:
        sign("TS-01", START, "--known-at=2026-11-15T11:59:59.999999Z")
    assert str(refusal.value) == (
        f"TS-01: no limits were in force at {START} as known at 2026-11-15T19:59:59.999999+08:00; none are on record."
    )


def test_what_was_loaded_later_was_not_known_before(path: Path) -> None:
    with time_machine.travel(LOADED, tick=False):
        load(path, EXAMPLE)
    with time_machine.travel(LOADED + dt.timedelta(days=1), tick=False):
        load(path, edited(LIMITS, (START, WITHIN), ('"50"', '"75"')) + edited(TABLE, (START, WITHIN), ('"C"', '"E"')))
        now, then = sign("TS-01", LATER), sign("TS-01", LATER, "--known-at=2026-11-16T00:00:00Z")
        before, after = sign("TS-01", START, "--known-at=2026-11-16T00:00:00Z"), sign("TS-01", START)
    assert (then["boxes"]["big-small"]["min"], then["layout"], then["from"]) == ("50.00", "C", START)
    assert (now["boxes"]["big-small"]["min"], now["layout"], now["from"]) == ("75.00", "E", WITHIN)
    assert (before["to"], after["to"]) == (None, WITHIN)


def test_the_sign_as_text(path: Path) -> None:
    with time_machine.travel(LOADED, tick=False):
        load(path, EXAMPLE + edited(LIMITS, (START, LATER)))
        lines = called("limits_at", "ts-01", WITHIN, "--format=text").splitlines()
    assert lines[:3] == [
        f"TS-01 at {WITHIN}, as known at 2026-11-15T20:00:00+08:00: rws-tai-sai-v6, layout C",
        f"in force from {START} until {LATER} (origin: file)",
        "",
    ]
    assert "Big/Small                                min         50  max       10,000  1 to 1" in lines
    assert lines[-1] == "Differential big-small                   8,000"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["TS-99", START], "TABLE: there is no table TS-99; check the code."),
        (["TS-01", "2026-11-15T21:07:00"],
         "MOMENT: 2026-11-15T21:07:00 has no offset; write it as 2026-11-15T21:07:00+08:00."),
        (["TS-01", "21:07"], "MOMENT: 21:07 is not a time; write it as 2026-11-15T21:07:00+08:00."),
        (["TS-01", START, "--known-at=now"], "--known-at: now is not a time; write it as 2026-11-15T21:07:00+08:00."),
        (["TS-01", START, "--known-at="], "--known-at: '' is not a time; write it as 2026-11-15T21:07:00+08:00."),
        (["TS-01", "2026-11-01T05:59:59+08:00"],
         f"TS-01: no limits were in force at 2026-11-01T05:59:59+08:00; the first are in force from {START}."),
        (["TS-02", START], f"TS-02: no limits were in force at {START}; none are on record."),
    ],
)  # fmt: skip
def test_a_sign_that_cannot_be_told(path: Path, arguments: list[str], line: str) -> None:
    load(path, EXAMPLE + edited(TABLE, ("TS-01", "TS-02")))
    with pytest.raises(CommandError) as refusal:
        call_command("limits_at", *arguments)
    assert str(refusal.value) == line
