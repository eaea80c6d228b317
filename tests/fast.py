"""A pytest plugin: `--fast` leaves out the tests that take longest, and reports what it left out.

For an answer while one works. Every change has to pass the whole run (`make test`, `.ci/run`).
"""

from collections import Counter
from typing import Any

import pytest

#: How the ids of the tests begin that are left out, and what to call them.
LEFT_OUT = {
    "tests/taisai_backoffice/test_run.py": "whole starts",
    "tests/taisai_backoffice/test_embedded.py": "whole starts",
    "tests/taisai_backoffice/test_production.py": "whole starts",
    "tests/faults/": "kills, outages and odd requests",
    "tests/pages/": "pages in a browser",
    "tests/games/api/test_schema.py::test_who_may_do_most_": "API calls made from the schema",
    "tests/games/api/test_schema.py::test_nobody_gets_": "API calls made from the schema",
    "tests/test_routes.py::test_each_role_": "every route, form and button as every role",
    "tests/test_routes.py::test_what_is_only_looked_at_": "every route, form and button as every role",
    "tests/test_routes.py::test_asking_for_the_headers_": "every route, form and button as every role",
    "tests/test_routes.py::test_every_page_can_be_drawn": "every route, form and button as every role",
    "tests/test_routes.py::test_the_author_": "every route, form and button as every role",
    "tests/test_buttons.py": "every route, form and button as every role",
    "tests/test_empty_forms.py": "every route, form and button as every role",
}
LEFT_OUT_KEY = pytest.StashKey[dict[str, int]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fast", action="store_true", help="leave out the tests that take longest, and say which")


def reason_to_leave_out(nodeid: str) -> str:
    """Return what `--fast` calls the group of this test; empty where it runs."""
    return next((reason for start, reason in LEFT_OUT.items() if nodeid.startswith(start)), "")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--fast"):
        return
    left_out = [item for item in items if reason_to_leave_out(item.nodeid)]
    items[:] = [item for item in items if not reason_to_leave_out(item.nodeid)]
    config.hook.pytest_deselected(items=left_out)
    counted = dict(Counter(reason_to_leave_out(item.nodeid) for item in left_out))
    config.stash[LEFT_OUT_KEY] = counted
    if hasattr(config, "workeroutput"):  # a worker of pytest-xdist: the process that prints learns it from here
        config.workeroutput["left_out"] = counted


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what a worker has left out: all workers collect the same tests."""
    if left_out := getattr(node, "workeroutput", {}).get("left_out"):
        node.config.stash[LEFT_OUT_KEY] = left_out


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if left_out := config.stash.get(LEFT_OUT_KEY, {}):
        terminalreporter.section("left out by --fast: run `make test` before you commit")
        for reason, count in left_out.items():
            terminalreporter.write_line(f"{count:8} tests: {reason}")
