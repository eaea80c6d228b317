"""What `--fast` leaves out exists: a test that is renamed does not come back into the fast run unnoticed."""

import pytest

from taisai_backoffice.embedded.home import PROJECT
from tests.fast import LEFT_OUT, reason_to_leave_out


@pytest.mark.parametrize("start", LEFT_OUT)
def test_what_the_fast_run_leaves_out_exists(start: str) -> None:
    path, _, name = start.partition("::")
    assert (PROJECT / path).exists()
    assert not name or f"def {name}" in (PROJECT / path).read_text()


def test_all_else_is_run() -> None:
    assert reason_to_leave_out("tests/faults/test_kills.py::test_x") == "kills, outages and odd requests"
    assert reason_to_leave_out("tests/test_routes.py::test_every_route_has_its_line_and_every_line_its_route") == ""
