"""The rulebook files: complete, frozen once published, and read strictly."""

import hashlib
import itertools
import subprocess
import sys
from pathlib import Path

import pytest

from games.engine.loader import FOLDER, Reader, RulebookError, rulebooks
from games.engine.rulebook import Area, Layout, Rulebook
from taisai_backoffice.embedded.home import PROJECT

TOTALS = 'boxes = ["total-4", "total-17"]'
FILES = sorted(FOLDER.glob("*.toml"))
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
        "for found in pkgutil.iter_modules(games.engine.__path__):\n"
        "    if not found.name.startswith('kernel'):  # NumPy is for these alone\n"
        "        importlib.import_module(f'games.engine.{found.name}')\n"
        "from games.engine.documents import paytable_rows; print(len(paytable_rows('rws-tai-sai-v6', 'E')))\n"
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
        ('code = "few-tumbles"', 'code = "die-not-flat"', "situation die-not-flat stands twice"),
        ("odds = 62\n", "", "bet total lacks the key odds"),
        ("odds = 62\n", "odds = 0\n", r"bet total has odds = \[0\]"),
        ("odds = 62\n", "odds = true\n", "bet total has odds = True"),
        (TOTALS, TOTALS.replace("17", "18"), "box total-18, which is not one of its type"),
        (TOTALS, TOTALS.replace("17", "4"), "has a duplicate in boxes"),
        (TOTALS, TOTALS.replace("-4", "-5"), "box total-5 stands twice"),
        ('type = "any-triple"', 'type = "lucky"', "is not a bet type"),
        ("at = [0, 0, 280, 300]", "at = [0, 0, 281, 300]", "overlap on the felt: big and double-6"),
        ("at = [0, 0, 280, 300]", "at = [0, 0, 280]", r"area big has at = \[0, 0, 280\]"),
        ("at = [0, 0, 280, 300]", "at = [0, 0, 0, 300]", r"area big has at = \[0, 0, 0, 300\]"),
        ("totals = [11, ", 'totals = ["11", ', "bet big-small has totals = "),
        ('facts = ["known_dice"]', 'facts = ["weather"]', "interruption asks for the unknown fact weather"),
        ('{ box = "big", at', '{ box = "odd", at', "area odd is not a box of this layout"),
        ('id = "rws-tai-sai-v6"', 'id = "other"', "has the id other, which is not the name of the file"),
        ("2023-10-06T08:00:00+08:00", "2023-10-06T08:00:00", "in_force_from without an offset"),
        ('number = "1.2"', 'number = "1.1"', "rule 1.1 stands twice"),
        ("[settlement]", "[settlement", "not readable as TOML"),
        ("[settlement]", "[settlement]\nvoid_rules = []", "not readable as TOML"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_an_error_that_names_file_and_key(old: str, new: str, fault: str) -> None:
    with pytest.raises(RulebookError, match=fault) as error:
        Reader("rws-tai-sai-v6.toml", changed(old, new)).read()
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


def test_layout_e_prints_big_small_any_triple_and_the_dominoes_twice_and_nothing_else() -> None:
    layout = rulebooks()["rws-tai-sai-v6"].layouts["E"]
    boxes = [area.box for area in layout.areas]
    twice = {box for box in boxes if boxes.count(box) == 2}
    assert twice == {"big", "small", "any-triple"} | {box for box in layout.boxes if box.startswith("domino-")}
    assert len(boxes) == len(layout.boxes) + len(twice)


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


def test_our_own_readings_are_marked_by_name() -> None:
    names = {book.id: {one.name for one in book.interpretations} for book in rulebooks().values()}
    common = {
        "at-the-minimum",
        "minimum-under-differential",
        "minimum-is-a-players",
        "rounded-down",
        "a-known-die-decides",
    }
    assert names == {
        "rws-tai-sai-v6": common | {"covered-tumble-before-the-call", "pair-first"},
        "rws-tai-sai-open-cover-v5": common | {"pair-first"},
        "division-9-2008": {"late-counts-as-never-placed", "pair-first", "2-5-and-6", "drawing-is-ours"},
    }


def test_the_two_rws_documents_differ_where_they_should_and_nowhere_else() -> None:
    covered, opened = rulebooks()["rws-tai-sai-v6"], rulebooks()["rws-tai-sai-open-cover-v5"]
    assert covered.layouts == opened.layouts
    assert covered.limits == opened.limits
    differing = {one.code for one, other in zip(covered.situations, opened.situations, strict=True) if one != other}
    assert differing == {"dice-exposed-early", "tumbler-early"}
    assert {number for number in covered.rules if covered.rules[number] != opened.rules[number]} == {"3.7", "5.5.3"}
