"""A pytest plugin: at the end of every run, the ten test files that took longest, over all workers."""

from collections import Counter

import pytest

SHOWN = 10


class SlowestFiles:
    """Sum up what the phases of the tests of each file took."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid.partition("::")[0]] += report.duration  # type: ignore[assignment]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.seconds:
            terminalreporter.section(f"slowest files, of {sum(self.seconds.values()):.0f} s in all workers")
        for file, seconds in self.seconds.most_common(SHOWN):
            terminalreporter.write_line(f"{seconds:8.1f} s  {file}")


def pytest_configure(config: pytest.Config) -> None:
    """Only the process that prints sums up; workers report to it."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(SlowestFiles())
