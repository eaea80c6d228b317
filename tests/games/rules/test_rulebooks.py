"""The rulebook files: complete, frozen once published, and read strictly."""

import hashlib
import itertools
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from games.engine.felt import caption_text, draw, size_of
from games.engine.rules.loader import FOLDER, RulebookError, RulebookReader, rulebooks
from games.engine.rules.rulebook import Area, Layout, Rectangle, Rulebook
from taisai_backoffice.embedded.home import PROJECT

TOTALS = 'boxes = ["total-4", "total-17"]'
FILES = sorted(FOLDER.glob("*.toml"))
BOTH_RWS = pytest.mark.parametrize("book", ["rws-tai-sai-v6", "rws-tai-sai-open-cover-v5"])
LAYOUTS = [(book, layout) for book in rulebooks().values() for layout in book.layouts.values()]


def changed(old: str, new: str, name: str = "rws-tai-sai-v6") -> bytes:
    """A rulebook with one thing changed, once."""
    text = (FOLDER / f"{name}.toml").read_text()
    assert old in text
    return text.replace(old, new, 1).encode()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_published_file_is_frozen_and_an_amendment_is_a_new_file(path: Path) -> None:
    lines = (FOLDER / "SHA256SUMS").read_text().splitlines()
    assert [line.split()[1] for line in lines] == [file.name for file in FILES]
    assert f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}" in lines


def test_the_documents_are_there_with_their_dates() -> None:
    in_force = {book.id: book.in_force_from.isoformat() for book in rulebooks().values()}
    assert in_force == {
        "division-9-2008": "2008-04-25T00:00:00+00:00",
        "rws-tai-sai-open-cover-v5": "2023-10-06T08:00:00+08:00",
        "rws-tai-sai-v6": "2023-10-06T08:00:00+08:00",
    }


def test_the_engine_needs_no_django() -> None:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['django', 'numpy', 'psycopg', 'celery']))\n"
        "import importlib, pkgutil, games.engine\n"
        "for found in pkgutil.walk_packages(games.engine.__path__, 'games.engine.'):\n"
        "    if '.kernel.' not in found.name:  # NumPy is for these alone\n"
        "        importlib.import_module(found.name)\n"
        "from games.engine.json_output import paytable_rows; print(len(paytable_rows('rws-tai-sai-v6', 'E')))\n"
    )
    answer = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert answer.stdout == "107\n", answer.stderr


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("[settlement]", "[settlement]\ncolour = 1", "rws-tai-sai-v6.toml: settlement has the unknown key colour"),
        ('excess = "proportional"', 'excess = "fair"', "limits has excess = 'fair'"),
        ('excess = "proportional"', "excess = 1", "limits has excess = 1, which is not a str"),
        ('triple_rules = ["3.10"]', 'triple_rules = ["3.99"]', "settlement names rule 3.99"),
        ('valid_tumbles_rule = "3.7"\n', "", "settlement lacks the key valid_tumbles_rule"),
        ('cut = ["5.1.1"]', 'cut = ["5.99"]', "limits names rule 5.99"),
        ('rules = ["5.5.2"]\n', "", "situation die-not-flat lacks the key rules"),
        ('rules = ["5.5.2"]', "rules = []", "situation die-not-flat has no rule number"),
        ('rules = ["5.5.2"]', 'rules = ["9.9"]', "situation die-not-flat names rule 9.9, which is not among"),
        ('code = "few-tumbles"', 'code = "die-not-flat"', "situation die-not-flat appears twice"),
        ("odds = 62\n", "", "bet total lacks the key odds"),
        ("odds = 62\n", "odds = 0\n", r"bet total has odds = \[0\]"),
        ("odds = 62\n", "odds = true\n", "bet total has odds = True"),
        (TOTALS, TOTALS.replace("17", "18"), "box total-18, which is not one of its type"),
        (TOTALS, TOTALS.replace("17", "4"), "has a duplicate in boxes"),
        (TOTALS, TOTALS.replace("-4", "-5"), "box total-5 appears twice"),
        ('type = "any-triple"', 'type = "lucky"', "is not a bet type"),
        ("at = [0, 0, 280, 300]", "at = [0, 0, 281, 300]", "overlap on the felt: big and double-6"),
        ("at = [0, 0, 280, 300]", "at = [0, 0, 280]", r"area big has at = \[0, 0, 280\]"),
        ("at = [0, 0, 280, 300]", "at = [0, 0, 0, 300]", r"area big has at = \[0, 0, 0, 300\]"),
        ('type = "domino", at = [0, 440, 105', 'type = "domino", at = [0, 440, 106', "and the caption of domino"),
        ('{ type = "domino", at', '{ type = "four", at', "caption four is not a bet type of this layout"),
        ('operator = "Resorts World at Sentosa Pte. Ltd."\n', "", "document approved_for lacks the key operator"),
        ("operator = ", "silent = true\noperator = ", "document approved_for is silent and names an operator"),
        ("totals = [11, ", 'totals = ["11", ', "bet big-small has totals = "),
        ('sets = "excess"', 'sets = "odds"', "reading excess-in-proportion has sets = 'odds'; the settings are"),
        ('sets = "excess"\n', "", r"has the value 'filled', which is no value of the setting \(none\)"),
        ('value = "filled", text', "text", "sets excess, but no alternative has a value"),
        ('value = "filled"', 'value = "in-full"', "reading excess-in-proportion has a value twice"),
        ('value = "filled"', 'value = "proportional"', "has to name each policy but the document's own once"),
        ('value = "in-full", rules = ["5.1.1"]', 'value = "in-full", rules = ["5.99"]', "names rule 5.99"),
        ('{ text = "The minimum is on the total of all bets in the box." },', "", "is no reading; say what else"),
        ('name = "rounded-down"', 'name = "excess-in-proportion"', "reading excess-in-proportion appears twice"),
        ('sets = "excess"', 'sets = "rounding"', "has the value 'filled', which is no value of the setting rounding"),
        ('sets = "rounding"', 'sets = "excess"', "has the value 'amount', which is no value of the setting excess"),
        ('readings = ["affected-by-damaged-dice"]', 'readings = ["luck"]', "dice-damaged names the reading luck"),
        ('facts = ["known_dice"]', 'facts = ["weather"]', "interruption asks for the unknown fact weather"),
        ('{ box = "big", at', '{ box = "odd", at', "area odd is not a box of this layout"),
        ('id = "rws-tai-sai-v6"', 'id = "other"', "has the id other, which is not the name of the file"),
        ("2023-10-06T08:00:00+08:00", "2023-10-06T08:00:00", "in_force_from without an offset"),
        ('number = "1.2"', 'number = "1.1"', "rule 1.1 appears twice"),
        ("[settlement]", "[settlement", "not valid TOML"),
        ("[settlement]", "[settlement]\nvoid_rules = []", "not valid TOML"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_an_error_that_names_file_and_key(old: str, new: str, fault: str) -> None:
    with pytest.raises(RulebookError, match=fault) as error:
        RulebookReader("rws-tai-sai-v6.toml", changed(old, new)).read()
    assert str(error.value).startswith("rws-tai-sai-v6.toml: ")


@pytest.mark.parametrize(
    ("book", "layout"), LAYOUTS, ids=lambda value: getattr(value, "id", getattr(value, "code", ""))
)
def test_every_box_lies_on_the_felt_and_nothing_overlaps(book: Rulebook, layout: Layout) -> None:
    assert {area.box for area in layout.areas} == set(layout.boxes)
    for one, other in itertools.combinations(layout.areas, 2):
        assert not one.overlaps(other), (one, other)


def test_areas_that_touch_do_not_overlap() -> None:
    left = Area("a", 0, 0, 10, 10, "A")
    assert not left.overlaps(Area("b", 10, 0, 10, 10, "B"))
    assert not left.overlaps(Area("b", 0, 10, 10, 10, "B"))
    assert left.overlaps(Area("b", 9, 9, 10, 10, "B"))
    assert left.overlaps(Area("b", 2, 2, 1, 1, "B"))


@pytest.mark.parametrize(
    ("book", "layout"), LAYOUTS, ids=lambda value: getattr(value, "id", getattr(value, "code", ""))
)
def test_captions_overlap_nothing(book: Rulebook, layout: Layout) -> None:
    for caption in layout.captions:
        assert not any(caption.overlaps(area) for area in layout.areas), caption
    for one, other in itertools.combinations(layout.captions, 2):
        assert not one.overlaps(other), (one, other)


def cells(areas: Iterable[Rectangle]) -> set[tuple[int, int]]:
    """Squares of ten units, which is fine enough to tell what of layout E is covered."""
    return {
        (x, y)
        for area in areas
        for x in range(area.x, area.x + area.width)
        if x % 10 == 0
        for y in range(area.y, area.y + area.height)
        if y % 10 == 0
    }


@BOTH_RWS
def test_layout_e_covers_its_felt_but_for_the_two_cells_that_the_appendix_has_not(book: str) -> None:
    layout = rulebooks()[book].layouts["E"]
    width, height = size_of(layout)
    whole = {(x, y) for x in range(0, width, 10) for y in range(0, height, 10)}
    bare = whole - cells([*layout.areas, *layout.captions])
    beside = {area.box: area for area in layout.areas if area.box in ("pair-116", "pair-664")}
    empty = [replace(area, x=area.x + area.width) for area in beside.values()]
    assert bare == cells(empty)


@BOTH_RWS
def test_layout_e_prints_the_boxes_of_both_ends_twice_and_all_others_once(book: str) -> None:
    layout = rulebooks()[book].layouts["E"]
    printed = Counter(area.box for area in layout.areas)
    at_both_ends = {"big-small", "any-triple", "triple", "domino", "total"}
    assert printed == {code: 2 if box.type in at_both_ends else 1 for code, box in layout.boxes.items()}


def rows_of(layout: Layout, left: int, right: int) -> list[list[str]]:
    """The boxes between two lines, row by row, from left to right."""
    inside = [area for area in layout.areas if left <= area.x and area.x + area.width <= right]
    inside.sort(key=lambda area: (area.y, area.x))
    return [[area.box for area in row] for _, row in itertools.groupby(inside, key=lambda area: area.y)]


def totals(*numbers: int) -> list[str]:
    return [f"total-{number}" for number in numbers]


@BOTH_RWS
def test_layout_e_row_by_row_as_appendix_e_has_it(book: str) -> None:
    layout = rulebooks()[book].layouts["E"]
    *left, _ = rows_of(layout, 0, 840)
    assert left[0] == ["big", "small", "any-triple"]
    assert left[1] == [f"triple-{face}" for face in range(1, 7)]
    assert [len(row) for row in left[2:5]] == [5, 5, 5]
    assert left[5:] == [totals(10, 9, 8, 7, 6, 5, 4), totals(11, 12, 13, 14, 15, 16, 17)]
    *right, _ = rows_of(layout, 1410, 2250)
    assert right[0] == ["any-triple", "small", "big"]
    assert right[1:5] == left[1:5]
    assert right[5:7] == [totals(4, 5, 6, 7, 8, 9, 10), totals(17, 16, 15, 14, 13, 12, 11)]
    assert right[7:] == [[f"single-{face}" for face in range(1, 7)]]
    *middle, _ = rows_of(layout, 840, 1410)
    first = [int(row[0].rpartition("-")[2]) for row in middle]
    assert first == [126, 123, 124, 125, 113, 221, 331, 441, 551, 661]
    assert [len(row) for row in middle] == [5, 5, 5, 5, 4, 5, 5, 5, 5, 4]
    fours = [box.removeprefix("four-") for box in rows_of(layout, 0, 2250)[-1]]
    assert " ".join(fours) == "6543 6542 6532 6432 5432 6541 6531 6431 5431 6521 6421 5421 6321 5321 4321"


@pytest.mark.parametrize(
    ("code", "texts"),
    [
        ("A", ["TWO DICE 1 WINS 6"]),
        ("C", ["PAIR AND ONE 1 WINS 50", "THREE NUMBERS 1 WINS 30"]),
        ("E", ["DOMINO COMBINATION 1 WINS 6", "1 TO 1 ON ONE DIE • 2 TO 1 ON TWO DICE • 12 TO 1 ON THREE DICE"]),
    ],
)
def test_a_caption_says_what_its_bet_type_pays_and_the_drawing_has_it(code: str, texts: list[str]) -> None:
    book = rulebooks()["rws-tai-sai-v6"]
    layout = book.layouts[code]
    assert set(texts) <= {caption_text(layout, caption) for caption in layout.captions}
    for text in texts:
        assert f">{text}</text>" in draw(book, layout)


def test_the_felt_shows_what_is_printed_in_english_and_chinese() -> None:
    layout = rulebooks()["rws-tai-sai-v6"].layouts["C"]
    printed = {area.box: (area.english, area.chinese) for area in layout.areas}
    assert {box: printed[box] for box in ("big", "small", "odd", "even", "pair-113")} == {
        "big": ("BIG", "大"),
        "small": ("SMALL", "小"),
        "odd": ("ODD", "单"),
        "even": ("EVEN", "双"),
        "pair-113": ("1 1 3", ""),
    }


BOTH = {
    "bet-on-request": ("5.7", "5.13"),
    "excess-in-proportion": ("5.1.1", "5.1.2"), "rounded-down": ("5.1.1",), "excess-is-returned": ("5.1", "5.1.1"),
    "at-the-minimum": ("5.1.1", "5.1.2"), "minimum-under-differential": ("5.1.2",),
    "minimum-is-a-players": ("3.3", "5.2", "5.2.1"), "heavier-box-is-cut": ("1.3", "5.1", "5.1.1"),
    "minimums-exceed-the-box": ("5.1.1", "5.14"), "last-placed-goes-back-first": ("5.1",),
    "sign-names-every-bet": ("3.3",), "terms-at-the-start": ("1.7", "3.3"), "at-the-call-is-in-time": ("3.6", "5.7"),
    "late-counts-as-never-placed": ("5.7",), "withdrawn-in-time": ("5.7",), "no-call-on-record": ("3.6", "5.7"),
    "winnings-are-kept": ("5.3",), "moved-chips-stay": ("5.9",), "activated-without-a-tumble": ("5.5.1",),
    "tumbler-never-started": ("5.5.1", "5.14"), "tumbler-fault-not-covered": ("3.7", "5.5.1", "5.14"),
    "void-is-not-healed": ("1.9", "5.5"), "affected-by-damaged-dice": ("5.6",),
    "a-known-die-decides": ("5.4.1", "5.4.2"), "open-boxes-need-the-result": ("5.4.1", "5.14"),
    "all-dice-known": ("3.8", "5.4.1"),
    "result-before-interruption": ("5.4.1",), "void-after-settlement": ("1.7", "5.5"),
    "last-result-counts": ("3.8", "5.14"), "settled-by-its-dice": ("3.8", "5.14"),
    "error-itself-is-corrected": ("5.8",), "one-round-at-a-time": ("1.7", "3.2"), "double-in-its-place": (),
    "four-needs-three-faces": ("4.1.2", "4.1.3"), "domino-wins-once": ("4.1",),
    "areas-printed-twice": ("2.1.1", "4.1.3"), "pay-table-governs": ("2.1.1", "4.1"),
    "acting-shift-manager": ("1.5", "5.14"),
}  # fmt: skip
READINGS: dict[str, dict[str, tuple[str, ...]]] = {
    "rws-tai-sai-v6": BOTH | {"covered-tumble-before-the-call": ("3.7", "5.5.3")},
    "rws-tai-sai-open-cover-v5": BOTH | {"dice-in-the-open": ("3.7", "5.5.3")},
    "division-9-2008": {
        "misplaced-by-the-house": ("4.6", "4.9"),
        "settled-in-full": (), "rounded-down": (), "limits-are-reported": (), "terms-at-the-start": ("6.1",),
        "at-the-call-is-in-time": ("4.7", "6.2"), "late-counts-as-never-placed": ("4.7",),
        "withdrawn-in-time": ("4.7(b)",), "no-call-on-record": ("4.7", "6.2"),
        "few-tumbles-is-incorrect": ("6.1", "7.1(b)"), "activated-without-a-tumble": ("7.1(b)",),
        "void-is-not-healed": ("7.1",), "display-is-equipment": ("7.4", "7.5"), "void-after-settlement": ("7.1",),
        "last-result-counts": ("7.2",), "settled-by-its-dice": ("4.2",), "double-in-its-place": ("6.3",),
        "four-needs-three-faces": ("4.1(j)",), "domino-wins-once": ("4.1(g)",), "2-5-and-6": ("4.1(i)", "4.10"),
        "drawing-is-ours": ("3.2",), "supervisor-is-pit-supervisor": ("5.0", "7.2"), "shift-manager-decides": (),
    },
}  # fmt: skip


def test_our_own_readings_are_marked_by_name() -> None:
    found = {book.id: {name: reading.rules for name, reading in book.readings.items()} for book in rulebooks().values()}
    assert found == READINGS
    for book in rulebooks().values():
        for reading in book.readings.values():
            assert reading.alternatives, (book.id, reading.name)
            assert book.reading(reading.name) is reading


def test_which_settings_a_standing_interpretation_may_change_is_data() -> None:
    opened = {
        book.id: (
            book.open_policies(),
            {reading.name: (reading.sets, reading.values) for reading in book.readings.values() if reading.sets},
        )
        for book in rulebooks().values()
    }
    rws = (
        ("proportional", "filled"),
        {"excess-in-proportion": ("excess", ("filled",)), "rounded-down": ("rounding", ("amount",))},
    )
    assert opened == {
        "rws-tai-sai-v6": rws,
        "rws-tai-sai-open-cover-v5": rws,
        "division-9-2008": (
            ("in-full", "proportional", "filled"),
            {"settled-in-full": ("excess", ("proportional", "filled")), "rounded-down": ("rounding", ("amount",))},
        ),
    }


def test_5_1_1_settling_an_over_full_box_in_full_is_excluded_by_the_document() -> None:
    excess = rulebooks()["rws-tai-sai-v6"].reading_that_sets("excess")
    assert excess is not None
    assert [(one.value, one.rules) for one in excess.excluded] == [("in-full", ("5.1.1",))]


@pytest.mark.parametrize("book", rulebooks().values(), ids=lambda book: book.id)
def test_a_situation_names_the_readings_that_it_rests_on(book: Rulebook) -> None:
    for situation in book.situations:
        assert [reading.name for reading in book.readings_of(situation)] == list(situation.readings)
    known = next(situation for situation in book.situations if situation.code == "late-bet")
    assert known.readings == ("at-the-call-is-in-time", "late-counts-as-never-placed")


def test_the_two_rws_documents_differ_where_they_should_and_nowhere_else() -> None:
    covered, opened = rulebooks()["rws-tai-sai-v6"], rulebooks()["rws-tai-sai-open-cover-v5"]
    assert covered.layouts == opened.layouts
    assert covered.limits == opened.limits
    differing = {
        situation.code
        for situation, other in zip(covered.situations, opened.situations, strict=True)
        if situation != other
    }
    assert differing == {"dice-exposed-early", "tumbler-early"}
    assert {number for number in covered.rules if covered.rules[number] != opened.rules[number]} == {"3.7", "5.5.3"}
