"""Rounds at a closed or suspended table: choose them, and write the table's states for the floor file.

These faults are independent of those planted in a round, and change nothing of what is played.
"""

import datetime as dt
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from games.floor.moments import zone_of
from games.simulation import known_findings as sentences
from games.simulation.played_floor import PlayedTable
from games.simulation.round_draft import RoundDraft

SECOND = dt.timedelta(seconds=1)
BOTH_FROM = 10  # rounds a day, from which a table has both: closed, and suspended
MOST = 3  # rounds in a row
#: The shortest round before a change of state: a round that overlaps it begins later still.
LASTING = 3 * SECOND
MALFUNCTIONS = 2 / 3  # share of the suspensions
CLOSED, SUSPENDED, UNCHECKED = "table-closed", "table-suspended", "unchecked"
MALFUNCTION, OTHER = "malfunction", "other"


@dataclass(frozen=True)
class State:
    """An entry of the floor file."""

    table: str
    state: str
    at: dt.datetime
    reason: str
    more: dict[str, str | dt.datetime] = field(default_factory=dict)


@dataclass
class ClosureWindow:
    """A number of consecutive rounds that should not be played."""

    kind: str
    cause: str
    count: int
    detail: str = ""


class PlantedClosures:
    """Follow a table's day; close or suspend it before some rounds, and open it again after them."""

    def __init__(self, table: PlayedTable, *, seed: int, day: dt.date, rounds: int, states: list[State]) -> None:
        """Collect the floor file entries in `states`. The table needs a supervisor, who signs its checks."""
        self.table, self.states = table, states
        self._waiting = dict(_plan(table, seed, day, rounds))
        self._next: ClosureWindow | None = None
        self._on: ClosureWindow | None = None

    def see(self, number: int, draft: RoundDraft) -> None:
        """Note what is wrong with a round by the state of its table, and change that state around it."""
        self._next = self._waiting.pop(number, None) or self._next
        if self._on is None and self._next is not None and self._has_room(draft):
            self._on, self._next = self._next, None
            self._begin(self._on, draft)
        if self._on is None:
            return
        window = self._on
        is_ruled = window.cause != OTHER
        draft.wrong(CLOSED if window.kind == UNCHECKED else window.kind, window.detail, is_ruled=is_ruled)
        window.count -= 1
        if window.count <= 0 and draft.ended_at - draft.started_at >= LASTING:
            self.end(draft)

    def _has_room(self, draft: RoundDraft) -> bool:
        """Say whether the previous round began long enough ago."""
        return draft.earlier is None or draft.earlier.started_at < draft.started_at - 2 * SECOND

    def _begin(self, window: ClosureWindow, draft: RoundDraft) -> None:
        at = draft.started_at - 2 * SECOND
        if window.kind == SUSPENDED:
            reason = "Areas of the layout do not light up" if window.cause == MALFUNCTION else "A spilled drink"
            self._note("suspended", at, reason, cause=window.cause)
            window.detail = sentences.SUSPENDED_FROM.format(self._clock(at))
            return
        self._note("closed", at, "Few players", notice_given_at=at)
        window.detail = sentences.CLOSED_FROM.format(self._clock(at))
        if window.kind == UNCHECKED:
            at += SECOND
            self._note("open", at, "Players are waiting")
            window.detail = sentences.UNCHECKED.format(self._clock(at))

    def end(self, draft: RoundDraft) -> None:
        """Open the table again shortly after a round began; do nothing if it is open."""
        window, self._on = self._on, None
        if window is None:
            return
        at = draft.started_at + SECOND
        if window.kind == UNCHECKED:
            self._note("closed", at, "The opening checks were not made", notice_given_at=at)
            at += SECOND
        if window.kind == SUSPENDED and window.cause == MALFUNCTION:
            self._note(
                "open", at, "All areas light up", rectified="A fuse was replaced", rectified_by="Maker's technician",
                checked_by=self.table.supervisors[0],
            )  # fmt: skip
        elif window.kind == SUSPENDED:
            self._note("open", at, "The layout is dry")
        else:
            self.open(at, "Players are waiting")

    def open(self, at: dt.datetime, reason: str) -> None:
        """Open a closed table, with its opening checks if the rulebook has any."""
        checks = {"opening_checks_by": self.table.supervisors[0]} if self.table.book.opening_checks else {}
        self._note("open", at, reason, **checks)

    def _note(self, state: str, at: dt.datetime, reason: str, **more: str | dt.datetime) -> None:
        self.states.append(State(self.table.code, state, at, reason, dict(more)))

    def _clock(self, at: dt.datetime) -> str:
        return at.astimezone(zone_of(self.table.casino)).isoformat(sep=" ", timespec="minutes")


def _plan(table: PlayedTable, seed: int, day: dt.date, rounds: int) -> Iterator[tuple[int, ClosureWindow]]:
    """Yield the first round of each window: a closure and a suspension, or one of them in turn on a short day."""
    random = Random(f"{seed}/{table.code}/{day}/states")  # noqa: S311  it guards nothing
    is_unchecked = bool(table.book.opening_checks) and random.random() < 1 / 2
    cause = MALFUNCTION if random.random() < MALFUNCTIONS else OTHER
    kinds = [(UNCHECKED if is_unchecked else CLOSED, ""), (SUSPENDED, cause)]
    if rounds < BOTH_FROM:
        kinds = [kinds[(day.toordinal() + table.place) % len(kinds)]]
    random.shuffle(kinds)
    share = rounds // len(kinds)
    for index, (kind, cause) in enumerate(kinds):
        first = 1 + index * share + random.randrange(max(share - MOST, 1))
        yield first, ClosureWindow(kind, cause, 1 if rounds < BOTH_FROM * MOST else random.randint(1, MOST))


def states_text(states: Sequence[State]) -> str:
    """Write the states as entries of a floor file, table by table in order of time."""
    listed = sorted(states, key=lambda state: (state.table, state.at))
    return "".join(f"\n{_entry(state)}" for state in listed)


def _entry(state: State) -> str:
    keys: dict[str, str | dt.datetime] = {
        "table": state.table, "state": state.state, "from": state.at, "reason": state.reason, **state.more,
    }  # fmt: skip
    return "[[state]]\n" + "".join(f"{key} = {_value(value)}\n" for key, value in keys.items())


def _value(value: str | dt.datetime) -> str:
    return value.isoformat() if isinstance(value, dt.datetime) else json.dumps(value)
