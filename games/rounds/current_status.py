"""The current status of a round: as recorded, or as a correction has changed it since.

A round is written once and keeps the status it was recorded with. Corrections belong to audits, which games does not
import: audits registers a reader at start-up (`read_corrections_with`), and lists call it once a page.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from games.models import LiveRound, Round


@dataclass(frozen=True)
class Corrected:
    """What the corrections of a round have changed."""

    count: int
    status: str | None  # None: only its result was amended
    rules: tuple[str, ...] = ()


Reader = Callable[[Sequence[int]], Mapping[int, Corrected]]
_readers: list[Reader] = []


def read_corrections_with(reader: Reader) -> None:
    """Register the function that reads the corrections of rounds, by their keys, in one query."""
    _readers[:] = [reader]


@dataclass(frozen=True)
class CurrentStatus:
    recorded: str
    status: str
    corrections: int = 0
    rules: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """Return what a reader has to know besides the status; empty if there are no corrections."""
        if not self.corrections:
            return ""
        if self.status == self.recorded:
            return "corrected"
        return f"recorded as {self.recorded}"


def current_statuses(recorded: Mapping[int, str]) -> dict[int, CurrentStatus]:
    """Return the current status of rounds, given the recorded one by key."""
    corrected = _readers[0](list(recorded)) if _readers and recorded else {}
    return {key: _current(status, corrected.get(key)) for key, status in recorded.items()}


def _current(recorded: str, corrected: Corrected | None) -> CurrentStatus:
    if corrected is None:
        return CurrentStatus(recorded, recorded)
    return CurrentStatus(recorded, corrected.status or recorded, corrected.count, corrected.rules)


def add_current_status(rounds: Iterable[Round]) -> None:
    """Set `current` on each round of a page, with one query for all."""
    listed: list[Any] = list(rounds)
    statuses = current_statuses({round_.pk: round_.status for round_ in listed})
    for round_ in listed:
        round_.current = statuses[round_.pk]


def add_current_status_live(rounds: Iterable[LiveRound]) -> None:
    """Set `current` on each round in play: the status of the recorded round once it is over."""
    listed: list[Any] = list(rounds)
    keys = [live.recorded_id for live in listed if live.recorded_id]
    # read the recorded round's status: the rules may void a round whose last step was its settlement
    recorded = Round.objects.filter(pk__in=keys).values_list("pk", "status") if keys else ()
    statuses = current_statuses(dict(recorded))
    for live in listed:
        live.current = statuses.get(live.recorded_id) or CurrentStatus(live.state, live.state)
