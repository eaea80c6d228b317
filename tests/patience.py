"""Waiting for something to become true, with a deadline and a name for what did not."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def wait_for(condition: Callable[[], T], what: Callable[[], str] | str, seconds: float = 60) -> T:
    """Ask until there is an answer; without one in time, say what is missing."""
    deadline = time.monotonic() + seconds
    while not (answer := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"After {seconds} s {what if isinstance(what, str) else what()}")
        time.sleep(0.02)
    return answer
