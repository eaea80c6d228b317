"""A clock that stands still until a test moves it."""

from collections.abc import Iterator
from typing import Any

import pytest
import time_machine

from tests.games.floor_setup import NOON


@pytest.fixture
def clock() -> Iterator[Any]:
    """Noon of a Sunday in November, UTC; `clock.shift(MINUTE)` and `clock.move_to(moment)`."""
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller
