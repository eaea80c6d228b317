"""What a test is about, found in what it is given and in what it refers to: its rulebooks, and pages it opens."""

import importlib
import importlib.util
import inspect
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

from django.test import Client

from games.engine.rules.loader import published
from games.engine.rules.rulebook import Rulebook

DEPTH = 5  # a test, its fixtures and helpers, theirs, and how they log in


@cache
def rulebooks_of(test: str) -> frozenset[str]:
    """Return the ids of the rulebooks that `tests/path.py::name` is about.

    What the test itself names decides: its parameters, and the constants and names in its code. Where it names none,
    its fixtures and helpers do, with their defaults; then theirs.
    """
    path, _, name = test.partition("::")
    module = importlib.import_module(path.removesuffix(".py").replace("/", "."))
    level: list[FunctionType] = [getattr(module, name)]
    found = frozenset(_ids(_parameters(level[0])))
    for _ in range(DEPTH):
        found |= frozenset(rulebook for function in level for rulebook in _named(function))
        if found:
            return found
        level = [helper for function in level for helper in _helpers(function)]
        found = frozenset(_ids(default for function in level for default in _defaults(function)))
    return found


@cache
def opens_a_page(test: str) -> bool:
    """Tell whether `tests/path.py::name` asks the product for a page or an answer of its API, itself or by a helper."""
    path, _, name = test.partition("::")
    module = importlib.import_module(path.removesuffix(".py").replace("/", "."))
    level: list[FunctionType] = [getattr(module, name)]
    for _ in range(DEPTH):
        if any(_refers_to(function, Client) for function in level):
            return True
        level = [helper for function in level for helper in (*_helpers(function), *_methods(function))]
    return False


def _refers_to(function: FunctionType, wanted: type) -> bool:
    names, _ = _code(function.__code__)
    return any(function.__globals__.get(name) is wanted for name in names)


def _methods(function: FunctionType) -> Iterator[FunctionType]:
    """The methods of the tests' own classes that it names, or that its parameters are of."""
    names, _ = _code(function.__code__)
    named = [function.__globals__.get(name) for name in names]
    for one in (*named, *getattr(function, "__annotations__", {}).values()):
        if isinstance(one, type) and one.__module__.startswith("tests."):
            yield from (method for method in vars(one).values() if isinstance(method, FunctionType))


def _ids(values: Iterable[Any]) -> Iterator[str]:
    """Rulebooks, their ids and citations of their rules, also inside of lists and the like."""
    for value in values:
        if isinstance(value, Rulebook):
            yield value.id
        elif isinstance(value, str):
            yield from (id_ for id_ in published() if value == id_ or f"{id_}#" in value)
        elif isinstance(value, dict):
            yield from _ids([*value, *value.values()])
        elif isinstance(value, (list, tuple, set, frozenset)):
            yield from _ids(value)


def _parameters(function: Callable[..., Any]) -> list[Any]:
    marks = [mark for mark in getattr(function, "pytestmark", []) if mark.name == "parametrize"]
    return [getattr(value, "values", value) for mark in marks for value in list(mark.args[1])]


def _named(function: FunctionType) -> Iterator[str]:
    names, constants = _code(function.__code__)
    values = [function.__globals__[name] for name in names if name in function.__globals__]
    yield from _ids([value for value in values if not isinstance(value, ModuleType)])
    yield from _ids(constants)


def _code(code: CodeType) -> tuple[set[str], list[Any]]:
    names, constants = (
        set(code.co_names),
        [co_const for co_const in code.co_consts if not isinstance(co_const, CodeType)],
    )
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            more, others = _code(inner)
            names |= more
            constants += others
    return names, constants


def _helpers(function: FunctionType) -> Iterator[FunctionType]:
    """The fixtures it asks for and the functions of the tests that it calls."""
    names, _ = _code(function.__code__)
    asked = [_fixture(function, name) for name in inspect.signature(function).parameters]
    called = [function.__globals__.get(name) for name in names]
    for one in (*asked, *called):
        plain = getattr(one, "__wrapped__", None) or getattr(one, "_fixture_function", None) or one
        if isinstance(plain, FunctionType) and plain.__module__.startswith("tests."):
            yield plain


def _fixture(function: FunctionType, name: str) -> Any:
    """In the module of the test, else in the conftest nearest to it."""
    places = [function.__module__]
    package = function.__module__
    while "." in package:
        package = package.rpartition(".")[0]
        places.append(f"{package}.conftest")
    for place in places:
        if importlib.util.find_spec(place) and (found := getattr(importlib.import_module(place), name, None)):
            return found
    return None


def _defaults(function: FunctionType) -> list[Any]:
    defaults = (parameter.default for parameter in inspect.signature(function).parameters.values())
    return [default for default in defaults if default is not inspect.Parameter.empty]
