"""What starting costs: the interpreter, Django with all apps, a command with the embedded database from cold."""

import os
import subprocess
import sys
from pathlib import Path

from bench.measure import Row, compare
from taisai_backoffice.embedded.home import PROJECT, Home

TITLE = "Start of a command"


def run(home: Home) -> list[Row]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("DATABASE_", "BROKER_"))}
    environment["TAISAI_HOME"] = str(home.path)

    def call(*command: str | Path) -> None:
        subprocess.run([sys.executable, *command], env=environment, check=True, capture_output=True)

    call(PROJECT / "manage.py", "showmigrations")  # makes and migrates the new home, so that it is not measured
    return compare(
        {
            "Python alone": lambda: call("-c", ""),
            "Django with all apps (manage.py check)": lambda: call(PROJECT / "manage.py", "check"),
            "with the embedded database, started and stopped": lambda: call(
                PROJECT / "manage.py", "migrate", "--check"
            ),
        }
    )
