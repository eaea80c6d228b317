"""What to do next, for an action that a rulebook asks for: `steps.toml`, read once."""

import tomllib
from functools import cache
from pathlib import Path

PATH = Path(__file__).with_name("steps.toml")


@cache
def _steps() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads(PATH.read_text())


def next_steps(situation: str, action: str) -> list[str]:
    """What the situation asks for first, then what the action does."""
    steps = _steps()
    return [*steps["situation"].get(situation, ()), *steps["action"][action]]
