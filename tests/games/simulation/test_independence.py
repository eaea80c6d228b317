"""The simulation knows what it planted; it never asks the code that settles and judges."""

import ast
from pathlib import Path

import pytest

from games import simulation

PACKAGE = Path(simulation.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
#: What it may read: the rulebooks as data, money, and errors.
ALLOWED = {"games.engine.errors", "games.engine.rules.loader", "games.engine.money", "games.engine.rules.rulebook"}
#: How a box is asked whether it wins.
ASKING = {"hits", "odds_on", "settle", "assess", "advise"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_it_reads_rulebooks_and_never_asks_the_settlement_code(path: Path) -> None:
    tree = ast.parse(path.read_text())
    imported = {name for node in ast.walk(tree) for name in names(node)}
    assert {name for name in imported if name.startswith("games.engine")} <= ALLOWED
    assert not {name for name in imported if name.startswith(("games.services", "games.rounds", "audits"))}
    assert not {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)} & ASKING


def names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        assert node.level == 0
        return [node.module or ""]
    return []
