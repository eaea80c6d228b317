"""Twenty terminals in one process: play the tables of a floor file live, and print the outcome as JSON.

`python -m bench.rounds.live_player ADDRESS KEY FLOOR_FILE DAY SECONDS SPEED`
"""

import datetime as dt
import json
import sys
from pathlib import Path
from threading import Thread

import django


def main(arguments: list[str]) -> None:
    address, key, floor, day, seconds, speed = arguments
    django.setup()
    from games.simulation.live_table import LiveTable
    from games.simulation.played_floor import played_tables
    from games.simulation.playing_terminal import Caller, Refused

    until = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=float(seconds))
    times: list[float] = []
    errors: list[str] = []
    tables = [
        LiveTable(table, Caller(address, key, heard=times.append, troubled=errors.append), seed=1, speed=float(speed))
        for table in played_tables(Path(floor), dt.date.fromisoformat(day))
    ]

    def play(table: LiveTable) -> None:
        try:
            table.play(until)
        except Refused as error:
            errors.append(str(error))

    threads = [Thread(target=play, args=(table,)) for table in tables]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counts = {"steps": sum(table.steps for table in tables), "rounds": sum(table.rounds for table in tables)}
    print(json.dumps({"times": times, "errors": errors, **counts}))


if __name__ == "__main__":
    main(sys.argv[1:])
