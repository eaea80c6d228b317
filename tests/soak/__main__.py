"""`make soak`: seeded scenarios one after another, as many as wanted; goes on where it was stopped.

A failure names its scenario and seed, ends the soak, and is the first to be tried again by the next one.
"""

import argparse
import json
import logging
import os
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from taisai_backoffice.embedded.home import Home

Scenario = Callable[[int], None]


class Progress:
    """Which seeds of which scenario are done, in a file: written after each run, whole or not at all."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.done: dict[str, list[int]] = json.loads(path.read_text()) if path.exists() else {}

    def is_done(self, name: str, seed: int) -> bool:
        return seed in self.done.get(name, [])

    def note(self, name: str, seed: int) -> None:
        self.done[name] = sorted({*self.done.get(name, []), seed})
        draft = self.path.with_suffix(".new")
        draft.write_text(json.dumps(self.done))
        draft.replace(self.path)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description="Seeded runs of kills and fuzzing.")
    parser.add_argument("--runs", type=int, default=int(os.environ.get("RUNS") or 50), help="seeds for each scenario")
    parser.add_argument("--only", metavar="NAME", help="this scenario only")
    parser.add_argument("--seed", type=int, help="this seed only, done or not")
    parser.add_argument("--restart", action="store_true", help="forget what is done and begin anew")
    return parser.parse_args()


def load_scenarios() -> dict[str, Scenario]:
    """As under pytest: first the throwaway servers, then Django, then what needs them."""
    import tests.servers  # noqa: F401

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "taisai_backoffice.settings")
    import django

    django.setup()
    logging.disable(logging.CRITICAL)  # refusals and odd requests by the thousand are what is wanted here
    from tests.soak.scenarios import SCENARIOS

    return SCENARIOS


def run(name: str, scenario: Scenario, seed: int) -> bool:
    started = time.monotonic()
    try:
        scenario(seed)
    except Exception:
        traceback.print_exc()
        say(f"{name}, seed {seed}: FAILED; to repeat it: python -m tests.soak --only {name} --seed {seed}")
        return False
    say(f"{name}, seed {seed}: passed in {time.monotonic() - started:.0f} s")
    return True


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    wanted = options()
    path = Home.from_environment().folder("soak") / "done.json"  # before the throwaway servers set a home of their own
    if wanted.restart:
        path.unlink(missing_ok=True)
    progress = Progress(path)
    scenarios = load_scenarios()
    if wanted.only is not None and wanted.only not in scenarios:
        say(f"There is no scenario {wanted.only}; there are {', '.join(scenarios)}.")
        return 2
    seeds = range(wanted.runs) if wanted.seed is None else [wanted.seed]
    todo = [
        (name, seed)
        for seed in seeds
        for name in scenarios
        if wanted.only in (None, name) and (wanted.seed is not None or not progress.is_done(name, seed))
    ]
    for name, seed in todo:
        if not run(name, scenarios[name], seed):
            return 1
        progress.note(name, seed)
    say(f"{len(todo)} runs passed; {sum(map(len, progress.done.values()))} are done in all ({path}).")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        say("Stopped; the next soak goes on from here.")
        sys.exit(130)
