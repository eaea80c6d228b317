"""The cost of a reading with many records against few, in one run."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import psycopg

from bench.floors import Floor, demonstration
from bench.measure import TRIES, Row, show
from taisai_backoffice.embedded.home import PROJECT, Home

LIMIT = 3


@dataclass(frozen=True)
class Growth:
    """A large and a small number of records: the SQL that writes them, and the module that reads them."""

    name: str
    title: str
    few: int
    many: int
    reader: str

    def run(self, home: Home, statements: dict[int, Sequence[bytes]]) -> list[Row]:
        with demonstration(home) as floor:
            environments = {count: self.filled(floor, count, statements[count]) for count in (self.few, self.many)}
            tries = [
                {count: self.measured(environment) for count, environment in environments.items()} for _ in range(TRIES)
            ]
        rows = [row for name in tries[0][self.few] for row in self.rows_of(name, tries)]
        if over := [row.name for row in rows if row.ratio > LIMIT]:
            show(self.title, rows)
            sys.exit(f"Costs more than {LIMIT} times as much as with {self.few:,}: {'; '.join(over)}.")
        return rows

    def rows_of(self, name: str, tries: list[dict[int, dict[str, float]]]) -> list[Row]:
        few, many = (min(attempt[count][name] for attempt in tries) for count in (self.few, self.many))
        verdict = f"limit {LIMIT}: {'within' if many / few <= LIMIT else 'over'}"
        return [Row(f"{name}, {self.few:,}", few, 1), Row(f"{name}, {self.many:,}", many, many / few, verdict)]

    def filled(self, floor: Floor, count: int, statements: Sequence[bytes]) -> dict[str, str]:
        """Yield a separate database filled with records."""
        name = f"{self.name}_{count}"
        environment = floor.copy(name)
        with psycopg.connect(floor.postgres.url("owner", name), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)
            connection.execute("VACUUM ANALYZE")
        return environment

    def measured(self, environment: dict[str, str]) -> dict[str, float]:
        command = [sys.executable, "-m", self.reader]
        done = subprocess.run(command, env=environment, cwd=PROJECT, check=True, stdout=subprocess.PIPE)
        seconds: dict[str, float] = json.loads(done.stdout)
        return seconds
