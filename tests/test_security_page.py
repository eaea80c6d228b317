"""docs/security.md: whatever it names exists, and every item of ASVS 5.0 up to level 2 has its line and its state."""

import re

from taisai_backoffice.embedded.home import PROJECT

PAGE = (PROJECT / "docs" / "security.md").read_text()
ITEM = re.compile(r"^\| (\d+\.\d+\.\d+) \| ([123]) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
STATES = {"met", "not met", "not applicable"}
#: How many items of levels 1 and 2 each chapter has (version 5.0.0); 10 and 17 are not applicable as a whole.
ITEMS = {1: 27, 2: 11, 3: 19, 4: 10, 5: 9, 6: 35, 7: 18, 8: 7, 9: 7, 11: 14, 12: 9, 13: 13, 14: 9, 15: 13, 16: 16}


def test_every_test_that_the_page_names_exists() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)
    assert len(named) > 100
    missing = [(path, name) for path, name in set(named) if f"def {name}(" not in (PROJECT / path).read_text()]
    assert missing == []


def test_every_file_that_the_page_names_exists() -> None:
    named = set(re.findall(r"`((?:tests|games|audits|taisai_backoffice|deploy|docs|scripts)/[\w/.-]+)[`:]", PAGE))
    assert [path for path in named if not (PROJECT / path).exists()] == []


def test_every_item_has_a_state_and_says_what_shows_it() -> None:
    items = ITEM.findall(PAGE)
    assert len({number for number, *_ in items}) == len(items)
    assert {state for *_, state, _ in items} == STATES
    assert [number for number, *_, shown in items if not shown.strip()] == []


def test_no_item_of_levels_one_and_two_is_left_out() -> None:
    found = dict.fromkeys(ITEMS, 0)
    for number, level, *_ in ITEM.findall(PAGE):
        found[int(number.partition(".")[0])] += level != "3"
    assert found == ITEMS
