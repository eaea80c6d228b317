"""A progress bar on a terminal."""

import sys

BAR = 30


class ProgressBar:
    def __init__(self, name: str, total: int) -> None:
        self.name, self.total = name, max(total, 1)

    def __call__(self, read: int, rounds: int) -> None:
        part = min(read / self.total, 1.0)
        filled = int(part * BAR)
        end = "\n" if part >= 1 else ""
        sys.stderr.write(f"\r{self.name} [{'█' * filled}{' ' * (BAR - filled)}] {part:4.0%}, {rounds} rounds{end}")
        sys.stderr.flush()


def bar_on_terminal(name: str, total: int) -> ProgressBar | None:
    """Return a progress bar; None if there is no terminal to show it."""
    return ProgressBar(name, total) if sys.stderr.isatty() else None
