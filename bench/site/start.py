"""The cost of a command: the interpreter, the engine, Django with all apps, the embedded database from cold."""

import json
import os
import subprocess
import sys
from pathlib import Path

from bench.measure import Row, compare
from taisai_backoffice.embedded.home import PROJECT, Home

TITLE = "Start of a command"
ROUND = {
    "rulebook": "rws-tai-sai-v6",
    "layout": "C",
    "dice": [1, 3, 6],
    "limits": {"big-small": {"min": "50", "max": "10000"}},
    "bets": [
        {"player": str(seat), "box": box, "stake": "400"}
        for seat in range(10)
        for box in ("big", "small", "odd", "total-10", "three-136")
    ],
}


def run(home: Home) -> list[Row]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("DATABASE_", "BROKER_"))}
    environment["TAISAI_HOME"] = str(home.path)

    def call(*command: str | Path) -> None:
        subprocess.run([sys.executable, *command], env=environment, cwd=PROJECT, check=True, capture_output=True)

    round_ = home.folder("bench") / "round.json"
    round_.write_text(json.dumps(ROUND))
    engine = f"from games.engine.json_output import settle_text; settle_text(open({str(round_)!r}).read())"
    call(PROJECT / "manage.py", "showmigrations")  # creates and migrates the new home, so that this is not measured
    return compare(
        {
            "Python alone": lambda: call("-c", ""),
            "the engine settles a round of 50 bets": lambda: call("-c", engine),
            "manage.py settle, the same round": lambda: call(PROJECT / "manage.py", "settle", round_),
            "manage.py check": lambda: call(PROJECT / "manage.py", "check"),
            "with the embedded database, started and stopped": lambda: call(
                PROJECT / "manage.py", "migrate", "--check"
            ),
        }
    )
