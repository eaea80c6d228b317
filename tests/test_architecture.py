"""What the tree promises, beside the import contracts of `make lint`: small rooms with clear names."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps

PROJECT = Path(__file__).parent.parent
APPS = ("games", "audits", "taisai_backoffice")
ODD_ROOMS = {"utils", "helpers", "common", "core", "misc"}
#: What Django and Celery look for at an app's root.
LOOSE = {"__init__", "admin", "apps", "models", "tasks"}
MOST_MODULES = 15
#: Django asks for these names.
DJANGO_NAMES = {"Command", "Meta"}


def sources(folder: str) -> list[Path]:
    return sorted(path for path in (PROJECT / folder).rglob("*.py") if "migrations" not in path.parts)


def packages() -> list[Path]:
    folders = {path.parent for app in (*APPS, "bench", "tests") for path in sources(app)}
    return sorted(folders)


@pytest.mark.parametrize("app", APPS)
def test_every_room_has_a_name_that_says_what_is_in_it(app: str) -> None:
    assert not {path.stem for path in sources(app)} & ODD_ROOMS


@pytest.mark.parametrize("folder", packages(), ids=lambda folder: str(folder.relative_to(PROJECT)))
def test_no_package_has_more_modules_than_one_keeps_in_mind(folder: Path) -> None:
    modules = [path.name for path in folder.glob("*.py") if path.name != "__init__.py"]
    tests = [name for name in modules if name.startswith("test_")]
    assert len(modules) - len(tests) <= MOST_MODULES
    assert len(tests) <= MOST_MODULES


@pytest.mark.parametrize("app", ["games", "audits"])
def test_at_the_root_of_an_app_is_only_what_django_looks_for(app: str) -> None:
    assert {path.stem for path in (PROJECT / app).glob("*.py")} <= LOOSE


def top_classes(path: Path) -> Iterator[str]:
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ClassDef) and node.name not in DJANGO_NAMES:
            yield node.name


def test_no_two_classes_of_the_product_share_a_name() -> None:
    where = defaultdict(list)
    for app in APPS:
        for path in sources(app):
            for name in top_classes(path):
                where[name].append(str(path.relative_to(PROJECT)))
    assert {name: paths for name, paths in where.items() if len(paths) > 1} == {}


def imports_in_functions(path: Path) -> Iterator[tuple[int, bool]]:
    """Each import inside a function: its line, and whether a comment beside or above it names the reason."""
    text = path.read_text()
    lines = text.splitlines()
    for function in ast.walk(ast.parse(text)):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        imports = [node for node in ast.walk(function) if isinstance(node, ast.Import | ast.ImportFrom)]
        if imports:
            first, last = imports[0].lineno, max(node.end_lineno or node.lineno for node in imports)
            yield first, any("#" in line for line in lines[first - 2 : last])


@pytest.mark.parametrize("app", APPS)
def test_an_import_inside_a_function_names_its_reason(app: str) -> None:
    silent = [
        f"{path.relative_to(PROJECT)}:{line}"
        for path in sources(app)
        for line, says_why in imports_in_functions(path)
        if not says_why
    ]
    assert silent == []


def test_the_game_names_no_table_of_what_is_said_about_it() -> None:
    assert [str(path.relative_to(PROJECT)) for path in sources("games") if "audits_" in path.read_text()] == []


@pytest.mark.parametrize("app", ["games", "audits"])
def test_every_model_declares_its_own_grants(app: str) -> None:
    models = [model for model in apps.get_app_config(app).get_models() if not hasattr(model, "instance_type")]
    assert [model.__name__ for model in models if "grants" not in vars(model)] == []
