"""docs/architecture.md is kept true: every file, function and class that it names exists."""

import ast
import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent
PAGE = (PROJECT / "docs" / "architecture.md").read_text()
NAMED = sorted(set(re.findall(r"`([\w./]+\.py)::(\w+)`", PAGE)))


def test_the_walks_name_functions() -> None:
    assert len(NAMED) > 30


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_what_a_walk_names_exists(file: str, name: str) -> None:
    names = set()
    for node in ast.parse((PROJECT / file).read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    assert name in names


@pytest.mark.parametrize("app", ["games", "audits"])
def test_every_package_of_an_app_is_on_the_page(app: str) -> None:
    rows = PAGE.partition(f"**`{app}/`")[2].partition("\n\n**")[0]
    named = set(re.findall(r"`(\w+)/`", rows))
    folders = {path.name for path in (PROJECT / app).iterdir() if path.is_dir() and not path.name.startswith("__")}
    assert folders - {"management", "migrations", "templatetags"} <= named


def test_every_file_in_the_lists_of_changes_exists() -> None:
    for file in re.findall(r"`((?:games|audits|taisai_backoffice|templates)/[\w./]+\.(?:py|toml|html|txt))`", PAGE):
        assert (PROJECT / file).exists(), file
