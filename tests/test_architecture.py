"""What the tree promises: games never imports audits, exports know nothing of games, no odd rooms."""

import ast
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent
ODD_ROOMS = {"utils", "helpers", "common", "core", "misc"}


def sources(folder: str) -> list[Path]:
    return [path for path in (PROJECT / folder).rglob("*.py") if "migrations" not in path.parts]


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module.partition(".")[0])
    return found


@pytest.mark.parametrize("path", sources("games"), ids=lambda path: str(path.relative_to(PROJECT)))
def test_games_never_imports_audits(path: Path) -> None:
    assert "audits" not in imports(path)


@pytest.mark.parametrize("path", sources("audits/exports"), ids=lambda path: path.name)
def test_how_a_file_is_written_knows_nothing_of_games(path: Path) -> None:
    assert "games" not in imports(path)


@pytest.mark.parametrize("folder", ["games", "audits", "taisai_backoffice"])
def test_every_room_has_a_name_that_says_what_is_in_it(folder: str) -> None:
    assert not {path.stem for path in sources(folder)} & ODD_ROOMS
