"""Waiting for something to become true, with a deadline and a name for what did not."""

import time
from collections.abc import Callable


def until(question: Callable[[], object], what: str, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not question():
        assert time.monotonic() < deadline, f"waited {seconds} s in vain: {what}"
        time.sleep(0.1)
