"""A process that is started and warmed up before anything is measured; it takes requests and answers in JSON."""

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from taisai_backoffice.embedded.home import PROJECT


class Child:
    def __init__(self, module: str, environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", module], env=environment, cwd=PROJECT, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self.ask("ready")

    def ask(self, *words: object) -> Any:
        if self.process.stdin is None or self.process.stdout is None:
            raise AssertionError
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.process.args} ended with {self.process.wait()}.")
        return json.loads(line)

    def end(self) -> None:
        self.process.communicate()

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *error: object) -> None:
        self.end()


def answer(**can: Callable[..., object]) -> None:
    """Answer requests in the child process until there are no more."""
    for line in sys.stdin:
        name, *words = json.loads(line)
        print(json.dumps(can[name](*words)), flush=True)
