"""What a sign lacks: a minimum, a maximum or a Differential, by bet type and by box."""

import pytest

from games.engine.rules.loader import rulebook
from games.engine.rules.rulebook import Layout, Rulebook
from games.engine.signs.completeness import Missing, incomplete_boxes, missing_for, missing_on_sign
from games.engine.signs.limits import Limits, Range

FULL = Range(100, 10_000)
PLACES = [
    ("rws-tai-sai-v6", "A"), ("rws-tai-sai-v6", "C"), ("rws-tai-sai-v6", "E"), ("rws-tai-sai-open-cover-v5", "A"),
    ("rws-tai-sai-open-cover-v5", "C"), ("rws-tai-sai-open-cover-v5", "E"), ("division-9-2008", "1"),
    ("division-9-2008", "2"),
]  # fmt: skip


def place(book: str, layout: str) -> tuple[Rulebook, Layout]:
    found = rulebook(book)
    return found, found.layouts[layout]


def complete(layout: Layout) -> Limits:
    pairs = {"big-small", "odd-even"} & layout.types
    return Limits(dict.fromkeys(layout.types, FULL), dict.fromkeys(pairs, 5_000))


@pytest.mark.parametrize(("book", "code"), PLACES)
def test_3_3_a_sign_with_every_limit_of_its_layout_lacks_nothing(book: str, code: str) -> None:
    found, layout = place(book, code)
    assert missing_on_sign(found, layout, complete(layout)) == []
    assert incomplete_boxes(found, layout, complete(layout)) == []


@pytest.mark.parametrize(("book", "code"), PLACES)
def test_3_3_an_empty_sign_lacks_minimum_and_maximum_of_every_bet_type(book: str, code: str) -> None:
    found, layout = place(book, code)
    lacking = missing_on_sign(found, layout, Limits())
    assert {(one.type, one.what) for one in lacking if one.what != "differential"} == {
        (type_, what) for type_ in layout.types for what in ("minimum", "maximum")
    }
    assert all(one.is_whole_type for one in lacking)
    assert [len(one.boxes) for one in lacking] == [len(layout.boxes_of(one.type)) for one in lacking]


def test_1_3_and_3_3_a_sign_without_a_differential_lacks_it_on_the_pairs_of_its_layout() -> None:
    wanted = {"A": ["big-small"], "C": ["big-small", "odd-even"], "E": ["big-small"]}
    for code, types in wanted.items():
        book, layout = place("rws-tai-sai-v6", code)
        limits = Limits(complete(layout).by_key)
        assert [(one.type, one.what) for one in missing_on_sign(book, layout, limits)] == [
            (type_, "differential") for type_ in types
        ]
        assert missing_for(book, layout, limits, "small") == ("differential",)
        assert "total-4" not in incomplete_boxes(book, layout, limits)


def test_division_9_has_no_differential_and_asks_for_none() -> None:
    book, layout = place("division-9-2008", "2")
    assert missing_on_sign(book, layout, Limits(complete(layout).by_key)) == []


def test_an_entry_of_a_box_replaces_its_types_whole_and_may_lack_what_the_type_had() -> None:
    book, layout = place("rws-tai-sai-v6", "A")
    full = complete(layout)
    limits = Limits({**full.by_key, "total-4": Range(None, 500), "total-5": Range(100, None)}, full.differential)
    assert missing_on_sign(book, layout, limits) == [
        Missing("total", "minimum", ("total-4",), False),
        Missing("total", "maximum", ("total-5",), False),
    ]
    assert missing_for(book, layout, limits, "total-4") == ("minimum",)
    assert "total-6" not in incomplete_boxes(book, layout, limits)


def test_boxes_with_entries_of_their_own_need_none_of_their_type() -> None:
    book, layout = place("rws-tai-sai-v6", "A")
    full = complete(layout)
    keys = {key: value for key, value in full.by_key.items() if key != "big-small"}
    assert missing_on_sign(book, layout, Limits({**keys, "big": FULL, "small": FULL}, full.differential)) == []
    (lacking, _) = missing_on_sign(book, layout, Limits({**keys, "big": FULL}, full.differential))
    assert (lacking.boxes, lacking.is_whole_type) == (("small",), False)
