"""Write what was played: rounds, floor and truth, all of them or none."""

import contextlib
import datetime as dt
import gzip
import heapq
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO

import msgspec

from games.floor.moments import day_bounds
from games.simulation.closures import PlantedClosures, State, states_text
from games.simulation.known_findings import Findings
from games.simulation.play import PlayedRound, table_day
from games.simulation.played_floor import PlayedTable

PACKED = ".gz"
PACKING = 6  # nearly as small as 9, in half the time
PART = ".part"
EVERY = 500  # rounds between two progress reports


def files_of(path: Path) -> tuple[Path, Path, Path]:
    """Return the files for rounds, floor and truth."""
    return path, path.with_name(path.name + ".floor.toml"), path.with_name(path.name + ".truth.json")


def days_played(
    *,
    tables: Sequence[PlayedTable],
    days: Sequence[dt.date],
    rounds: int,
    seed: int,
    faults: float,
    states: list[State] | None = None,
) -> Iterator[PlayedRound]:
    """Yield every table's rounds, in order of time, then of refs. One round of each table at a time is in memory.

    With `states`, tables are sometimes closed and suspended; the list receives the entries for the floor file.
    """
    for day in days:
        streams = []
        for table in tables:
            closures = None
            if states is not None and table.supervisors:
                closures = PlantedClosures(table, seed=seed, day=day, rounds=rounds, states=states)
                if day == days[0]:
                    closures.open(day_bounds(table.casino, day)[0], "Beginning of the gaming day")
            streams.append(table_day(table=table, day=day, rounds=rounds, seed=seed, faults=faults, closures=closures))
        yield from heapq.merge(
            *streams, key=lambda played_round: (played_round.started_at, played_round.document["ref"])
        )


def write(
    path: Path,
    *,
    floor: str,
    played: Iterator[PlayedRound],
    states: Sequence[State] = (),
    progress: Callable[[int], None] | None = None,
) -> tuple[int, int]:
    """Write the files. Return how many rounds and bets there are.

    Until all is written, only files that end in .part exist. The floor file ends with `states`, read last.
    """
    targets = files_of(path)
    parts = [target.with_name(target.name + PART) for target in targets]
    try:
        truth, counts = Findings(), (0, 0)
        with parts[0].open("wb") as file:
            counts = _rounds(file, path.suffix == PACKED, played, truth, progress)
        parts[1].write_text(floor + states_text(states))
        parts[2].write_text(json.dumps(asdict(truth), indent=1, ensure_ascii=False) + "\n")
        for part, target in reversed(list(zip(parts, targets, strict=True))):
            part.replace(target)
    finally:
        for part in parts:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
    return counts


def _packed(file: IO[bytes]) -> gzip.GzipFile:
    """Compress without name or time, so that the same rounds give the same bytes."""
    return gzip.GzipFile(filename="", mode="wb", compresslevel=PACKING, fileobj=file, mtime=0)


def _rounds(
    file: IO[bytes],
    is_packed: bool,
    played: Iterator[PlayedRound],
    truth: Findings,
    progress: Callable[[int], None] | None,
) -> tuple[int, int]:
    encode = msgspec.json.Encoder().encode
    rounds = bets = 0
    with _packed(file) if is_packed else contextlib.nullcontext(file) as sink:
        for played_round in played:
            sink.write(encode(played_round.document) + b"\n")
            truth.add(played_round.findings)
            rounds += 1
            bets += len(played_round.document["bets"])
            if progress and rounds % EVERY == 0:
                progress(rounds)
    if progress:
        progress(rounds)
    return rounds, bets
