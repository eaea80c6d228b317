"""A task that takes as long as a test wants it to: a worker loads it with --include."""

import time
from pathlib import Path

from taisai_backoffice.celery import app


@app.task
def nap(folder: str) -> str:
    """Notes that it has begun, waits until it is told to go on, and notes that it is done."""
    notes = Path(folder)
    (notes / f"begun-{time.monotonic_ns()}").touch()
    while not (notes / "go").exists():
        time.sleep(0.05)
    (notes / f"done-{time.monotonic_ns()}").touch()
    return "rested"
