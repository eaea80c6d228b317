"""Rounds for tests: the contract's example, and sound ones of every kind to change."""

import copy
import datetime as dt
import json
from typing import Any

from games.models import Table
from tests.conftest import House
from tests.games.floor_setup import ready_table, sign

EXAMPLE: dict[str, Any] = {
    "source": "floor", "ref": "TS01-20261115-000123", "table": "TS-01", "dealer": "D102", "supervisor": "S11",
    "events": [
        {"kind": "place-bets", "at": "2026-11-15T19:07:02+08:00"},
        {"kind": "no-more-bets", "at": "2026-11-15T19:07:31+08:00"},
        {"kind": "tumbler", "at": "2026-11-15T19:07:33+08:00", "tumbles": 3},
        {"kind": "result", "at": "2026-11-15T19:07:41+08:00", "dice": [1, 3, 6]},
        {"kind": "settled", "at": "2026-11-15T19:08:20+08:00"},
    ],
    "bets": [
        {"player": "seat-3", "box": "small", "stake": "100.00", "net": "100.00"},
        {"player": "seat-4", "box": "big", "stake": "50", "net": "-50.00"},
    ],
}  # fmt: skip


def example(**changes: Any) -> dict[str, Any]:
    return copy.deepcopy(EXAMPLE) | changes


def event(kind: str, second: int, **fields: Any) -> dict[str, Any]:
    at = dt.datetime(2026, 11, 15, 11, 7, tzinfo=dt.UTC) + dt.timedelta(seconds=second)
    return {"kind": kind, "at": at.isoformat(), **fields}


def bet(player: str = "seat-1", box: str = "small", stake: str = "100.00", **fields: Any) -> dict[str, Any]:
    return {"player": player, "box": box, "stake": stake, **fields}


def line(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode()


def floor(house: House) -> Table:
    """A table that plays by version 6, layout C, with a sign and dice."""
    return ready_table(house, "TS-01", layout="C", limits=sign())


def current(**changes: Any) -> dict[str, Any]:
    """A round of the last minutes, for tests in which the clock goes on."""
    start = dt.datetime.now(dt.UTC) - dt.timedelta(minutes=2)
    kinds: list[tuple[str, dict[str, Any]]] = [
        ("place-bets", {}), ("no-more-bets", {}), ("tumbler", {"tumbles": 3}), ("result", {"dice": [1, 3, 6]}),
        ("settled", {}),
    ]  # fmt: skip
    events = [
        {"kind": kind, "at": (start + dt.timedelta(seconds=index)).isoformat(), **more}
        for index, (kind, more) in enumerate(kinds)
    ]
    return example(events=events, dealer="DEALER", supervisor="PIT-SUPERVISOR") | changes
