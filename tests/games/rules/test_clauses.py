"""Every numbered rule has its entry, and what an entry names is there."""

import ast
import importlib.util
import json
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from games.clauses import FOLDER, ClausesError, clauses, read
from games.engine.rules.loader import rulebooks
from games.engine.rules.rulebook import Rulebook
from taisai_backoffice.embedded.home import PROJECT
from tests.games.engine.oracle import DIVISION_9, OPEN_COVER, V6
from tests.games.evidence import opens_a_page, rulebooks_of

MOST = 12
BOOKS = list(rulebooks().values())


@cache
def functions(path: Path) -> set[str]:
    return {node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.id)
def test_every_rule_of_the_document_has_its_entry(book: Rulebook) -> None:
    assert [clause.rule for clause in clauses(book)] == list(book.rules)


@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.id)
def test_every_module_and_test_that_is_named_is_there(book: Rulebook) -> None:
    for clause in clauses(book):
        for module in clause.modules:
            assert importlib.util.find_spec(module), (clause.rule, module)
        for test in clause.tests:
            path, _, name = test.partition("::")
            assert name in functions(PROJECT / path), (clause.rule, test)


@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.id)
def test_every_test_that_is_named_uses_this_rulebook(book: Rulebook) -> None:
    others = [
        (clause.rule, test, sorted(rulebooks_of(test)))
        for clause in clauses(book)
        for test in clause.tests
        if book.id not in rulebooks_of(test)
    ]
    assert others == []


@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.id)
def test_what_is_shown_has_a_test_that_opens_a_page(book: Rulebook) -> None:
    unseen = [
        clause.rule
        for clause in clauses(book)
        if clause.treatment == "shown" and not any(map(opens_a_page, clause.tests))
    ]
    assert unseen == []


def test_whether_a_test_opens_a_page_is_found_in_what_it_calls() -> None:
    assert opens_a_page("tests/games/live/test_practice.py::test_6_3_the_page_shows_the_result_as_it_is_called")
    assert opens_a_page(
        "tests/audits/rules/test_rws_on_record.py::test_5_3_the_page_says_what_becomes_of_the_bet_of_a_player_who_left"
    )
    assert not opens_a_page("tests/games/rules/test_division_9.py::test_6_5_a_losing_wagers_are_collected")
    assert not opens_a_page("tests/audits/rules/test_rws_on_record.py::test_1_6_each_bet_keeps_its_player")


@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.id)
def test_every_rule_that_is_treated_has_a_test_that_carries_its_number(book: Rulebook) -> None:
    """Or that of the paragraph above it, such as 5.0 for 5.0(a)."""
    unnamed = [
        clause.rule
        for clause in clauses(book)
        if clause.tests and not any(carries(test.partition("::")[2], clause.rule) for test in clause.tests)
    ]
    assert unnamed == []


def carries(name: str, rule: str) -> bool:
    numbers = [part for part in re.split(r"[.()]", rule) if part]
    return any(name.startswith(f"test_{'_'.join(numbers[:count])}_") for count in range(len(numbers), 1, -1))


def test_no_test_stands_for_more_than_twelve_clauses() -> None:
    named = Counter(test for book in BOOKS for clause in clauses(book) for test in clause.tests)
    assert [(test, count) for test, count in named.items() if count > MOST] == []


@pytest.mark.parametrize(
    ("test", "rulebooks"),
    [
        ("tests/games/rules/test_rws.py::test_5_5_2_a_die_that_is_not_flat_voids", {V6, OPEN_COVER}),
        ("tests/games/rules/test_rws_play.py::test_3_7_the_open_tumbler_runs_after_betting_closed", {OPEN_COVER}),
        ("tests/games/rules/test_division_9.py::test_6_5_a_losing_wagers_are_collected", {DIVISION_9}),
        ("tests/games/rules/test_division_9_wagers.py::test_4_1_a_small", {DIVISION_9}),
        ("tests/games/live/test_practice.py::test_3_3_a_i_there_are_six_numbered_buttons", {DIVISION_9}),
        (
            "tests/audits/rules/test_division_9_on_record.py::"
            "test_4_8_a_winning_bet_that_was_to_be_taken_back_does_not_cite_it",
            {DIVISION_9},
        ),
        ("tests/games/history/test_history.py::test_history_keeps_no_password", set()),
    ],
)
def test_what_a_test_is_about_is_found_in_what_it_names(test: str, rulebooks: set[str]) -> None:
    assert rulebooks_of(test) == rulebooks


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('rule = "1.1"', 'rule = "9.9"', "rule 9.9 is not a rule of the document"),
        ('rule = "1.1"', 'rule = "1.2"', "rule 1.2 appears twice"),
        ('treatment = "statement"', 'treatment = "ignored"', "rule 1.1 has no treatment"),
        ('treatment = "statement"', 'treatment = "statement"\ncolour = 1', "rule 1.1 has the unknown key colour"),
        ('treatment = "statement"\nwhy', 'treatment = "statement"\nplanned', "1.1 is statement and does not say why"),
        ('treatment = "statement"\nwhy', 'treatment = "procedural"\nplanned', "1.1 is procedural and does not say why"),
        ('treatment = "statement"', 'treatment = "computed"', "1.1 is computed and names no module or no test"),
    ],
)
def test_a_wrong_file_is_an_error_that_says_where(old: str, new: str, fault: str) -> None:
    book = rulebooks()["rws-tai-sai-v6"]
    text = (FOLDER / f"{book.id}.toml").read_text()
    assert old in text
    with pytest.raises(ClausesError, match=fault):
        read(book, text.replace(old, new, 1))


def test_a_rule_without_an_entry_is_an_error() -> None:
    book = rulebooks()["rws-tai-sai-v6"]
    head, first, *rest = (FOLDER / f"{book.id}.toml").read_text().split("[[clause]]")
    assert 'rule = "1.1"' in first
    with pytest.raises(ClausesError, match=r"rule 1\.1 has no entry"):
        read(book, "[[clause]]".join([head, *rest]))


def test_the_command_lists_them(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("clauses", "division-9-2008")
    lines = capsys.readouterr().out.splitlines()
    assert lines.index("") == 1 + len(rulebooks()["division-9-2008"].rules)
    assert any(line.startswith("7.1(b)         checked") for line in lines)
    with pytest.raises(CommandError, match="is not a rulebook"):
        call_command("clauses", "poker")


def test_the_command_lists_our_readings_with_what_else_the_words_can_mean(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("clauses", "rws-tai-sai-v6")
    lines = capsys.readouterr().out.splitlines()
    at = next(at for at, line in enumerate(lines) if line.startswith("excess-in-proportion (5.1.1, 5.1.2): "))
    assert at > lines.index("Our readings, where the words leave room")
    assert lines[at + 1].endswith("[a standing interpretation can set excess: filled]")
    assert lines[at + 2].startswith("    not in-full, by 5.1.1: ")
    for name in rulebooks()["rws-tai-sai-v6"].readings:
        assert any(line.startswith(f"{name} (") for line in lines), name


def test_the_command_lists_them_as_json_too(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("clauses", "division-9-2008", "--format", "json")
    answer = json.loads(capsys.readouterr().out)
    assert [clause["rule"] for clause in answer["division-9-2008"]] == list(rulebooks()["division-9-2008"].rules)
    late = next(one for one in answer["readings"]["division-9-2008"] if one["name"] == "late-counts-as-never-placed")
    assert late["rules"] == ["division-9-2008#4.7"]
    assert late["sets"] == ""
    assert [other["value"] for other in late["alternatives"]] == [""]
