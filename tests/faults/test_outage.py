"""The database goes away under the running product for longer than its pool would wait, and comes back.

Two minutes of it are in `make soak` (tests/soak/outage.py).
"""

from collections.abc import Iterator

import pytest

from tests.soak import outage

#: Long enough for the pool's own pauses between two tries to grow beyond what is allowed.
OUTAGE_SECONDS = 20


@pytest.fixture(scope="module")
def running() -> Iterator[outage.Running]:
    with outage.started_without_database() as running:
        yield running


def test_started_before_their_database_they_wait_for_it(running: outage.Running) -> None:
    outage.wait_and_become_ready(running)


def test_an_outage_is_told_in_time_and_is_over_when_the_database_is_back(running: outage.Running) -> None:
    outage.survive(running, OUTAGE_SECONDS)
