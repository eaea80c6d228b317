"""Running `simulate` in tests, and reading what it wrote."""

import datetime as dt
import json
from io import StringIO
from pathlib import Path
from typing import Any

from django.core.management import call_command

DAY = "2026-11-10"


def simulated(path: Path, **options: Any) -> Path:
    """The file of rounds; its floor and truth lie beside it."""
    chosen = {"day": DAY, "tables": 8, "rounds-per-table": 30, "seed": 1} | options
    arguments = [f"--{name}={value}" for name, value in chosen.items()]
    call_command("simulate", *arguments, f"-o{path}", stdout=StringIO())
    return path


def floor_of(path: Path) -> Path:
    return path.with_name(path.name + ".floor.toml")


def truth_of(path: Path) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = json.loads(path.with_name(path.name + ".truth.json").read_text())
    return found


def moments_of(document: dict[str, Any]) -> list[dt.datetime]:
    """Of events and bets."""
    times = [*document["events"], *(bet for bet in document["bets"] if "at" in bet)]
    return [dt.datetime.fromisoformat(time_["at"]) for time_ in times]
