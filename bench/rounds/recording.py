"""Record a file of rounds by the import service, against a raw COPY of its bets; and the memory it takes."""

import json
import os
import subprocess
import sys
from pathlib import Path

from bench.floors import Floor, demonstration
from bench.measure import TRIES, Row
from bench.played import rounds, write_file
from bench.rounds.recorder import BETS_A_ROUND, ROUNDS, SHARES
from taisai_backoffice.embedded.home import PROJECT, Home

TITLE = f"Recording {ROUNDS * BETS_A_ROUND:,} bets in {ROUNDS:,} rounds, best of {TRIES}"
LIMITS = {"import": (8, 3), "again": (2, 0.5)}
NAMES = {
    "plain": "raw COPY, a row a bet, no index",
    "import": "import: checks, fingerprints, ledger, outbox",
    "again": "the same file again",
    "repacked": "the same rounds in another file",
    "indexed": "COPY, a row a bet, usual indexes",
    "bulk_create": f"bulk_create (1/{SHARES['bulk_create']} of the bets, scaled)",
    "save": f"save() (1/{SHARES['save']} of the bets, scaled)",
}
TIMES_AS_MANY = 10
FLAT = 1.1


def run(home: Home) -> list[Row]:
    with demonstration(home) as floor:
        tries = [recorded(floor, seed) for seed in range(1, TRIES + 1)]
        few, many = (peak_memory(floor, ROUNDS * times) for times in (1, TIMES_AS_MANY))
    best = {way: min(attempt[way] for attempt in tries) for way in NAMES}
    return [Row(NAMES[way], seconds, seconds / best["plain"], verdict(way, seconds / best["plain"]))
            for way, seconds in best.items()] + [memory(few, few, 1), memory(many, few, TIMES_AS_MANY)]  # fmt: skip


def recorded(floor: Floor, seed: int) -> dict[str, float]:
    """Run every candidate once, on a separate database where the rounds are new."""
    name = f"recording_{seed}"
    environment = floor.copy(name)
    try:
        command = [sys.executable, "-m", "bench.rounds.recorder", str(seed)]
        done = subprocess.run(command, env=environment, cwd=PROJECT, check=True, stdout=subprocess.PIPE)
        seconds: dict[str, float] = json.loads(done.stdout)
        return seconds
    finally:
        floor.drop(name)


def verdict(way: str, ratio: float) -> str:
    if way not in LIMITS:
        return ""
    limit, goal = LIMITS[way]
    return f"limit {limit}, goal {goal}: {'within' if ratio <= limit else 'over'}"


# --- Memory ---


def peak_memory(floor: Floor, count: int) -> tuple[float, float]:
    """Return the CPU seconds of `import_rounds` for this many rounds, start included, and its peak memory in MB."""
    name = f"memory_{count}"
    path = floor.home.folder("bench") / f"{name}.ndjson"
    write_file(path, rounds(count, BETS_A_ROUND, seed=count))
    environment = floor.copy(name)
    try:
        return measured([sys.executable, str(PROJECT / "manage.py"), "import_rounds", str(path)], environment)
    finally:
        floor.drop(name)
        path.unlink()


def measured(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{Path(command[1]).name} {command[2]} failed with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def memory(found: tuple[float, float], least: tuple[float, float], times: int) -> Row:
    seconds, peak = found
    ratio = peak / least[1]
    note = f"{peak:.0f} MB at most (the seconds are its CPU)" + (
        f", flat: {'within' if ratio <= FLAT else 'over'}" if times > 1 else ""
    )
    return Row(f"memory of import_rounds, {ROUNDS * BETS_A_ROUND * times:,} bets", seconds, ratio, note)
