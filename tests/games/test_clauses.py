"""Every numbered rule has its entry, and what an entry names is there."""

import ast
import importlib.util
from functools import cache
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from games.clauses import FOLDER, ClausesError, clauses, read
from games.engine.loader import rulebooks
from games.engine.rulebook import Rulebook
from taisai_backoffice.embedded.home import PROJECT

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
def test_what_is_computed_or_checked_has_a_module_and_a_test(book: Rulebook) -> None:
    bare = [
        clause.rule
        for clause in clauses(book)
        if clause.treatment in ("computed", "checked") and not (clause.modules and clause.tests)
    ]
    assert bare == []


@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.id)
def test_what_nothing_treats_yet_is_planned_or_procedural(book: Rulebook) -> None:
    for clause in clauses(book):
        assert clause.modules or clause.planned or clause.treatment == "procedural", clause.rule


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('rule = "1.1"', 'rule = "9.9"', "rule 9.9 is not a rule of the document"),
        ('rule = "1.1"', 'rule = "1.2"', "rule 1.2 stands twice"),
        ('treatment = "procedural"', 'treatment = "ignored"', "rule 1.1 has no treatment"),
        ('treatment = "procedural"', 'treatment = "procedural"\ncolour = 1', "rule 1.1 has the unknown key colour"),
        ('[[clause]]\nrule = "1.1"\ntreatment = "procedural"\n', "", "rule 1.1 has no entry"),
    ],
)
def test_a_wrong_file_is_an_error_that_says_where(old: str, new: str, fault: str) -> None:
    book = rulebooks()["rws-tai-sai-v6"]
    text = (FOLDER / f"{book.id}.toml").read_text()
    assert old in text
    with pytest.raises(ClausesError, match=fault):
        read(book, text.replace(old, new, 1))


def test_the_command_lists_them(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("clauses", "division-9-2008")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + len(rulebooks()["division-9-2008"].rules)
    assert any(line.startswith("7.1(b)         checked") for line in lines)
    with pytest.raises(CommandError, match="is not a rulebook"):
        call_command("clauses", "poker")
