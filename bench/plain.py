"""The bets of a day as plain rows with tables of odds and limits: the input of the alternatives."""

import psycopg

from bench.floors import Floor
from bench.reconciliation.planted import MINIMUM, TABLES, PlantedTable
from games.engine.box_numbers import NUMBERS
from games.engine.dice import all_throws
from games.simulation.payout import winners
from taisai_backoffice.embedded.postgres import create_database

BETS = """
COPY (SELECT r.id, b.position::int, b.player, b.box, b.stake, b.net
FROM games_round r, unnest(r.players, r.boxes, r.stakes, r.nets) WITH ORDINALITY
    AS b (player, box, stake, net, position) ORDER BY r.id, b.position) TO STDOUT (FORMAT binary)
"""
ROUNDS = """
COPY (SELECT r.id, r.ref, t.code, (r.dice[1] * 36 + r.dice[2] * 6 + r.dice[3] - 43)::int
FROM games_round r JOIN games_table t ON t.id = r.table_id) TO STDOUT (FORMAT binary)
"""
TABLES_SQL = """
CREATE TABLE bench_bet (round_id bigint NOT NULL, position int NOT NULL, player text NOT NULL,
    box smallint NOT NULL, stake bigint NOT NULL, net bigint NOT NULL);
CREATE TABLE bench_round (id bigint PRIMARY KEY, ref text NOT NULL, game text NOT NULL, throw int NOT NULL);
CREATE TABLE bench_game (code text PRIMARY KEY, layout text NOT NULL, in_full boolean NOT NULL);
CREATE TABLE bench_odds (layout text, throw int, box smallint, gains int, PRIMARY KEY (layout, throw, box));
CREATE TABLE bench_limit (game text, box smallint, code text, minimum bigint, maximum bigint, PRIMARY KEY (game, box));
CREATE TABLE bench_apart (game text, one smallint, other smallint, allowed bigint);
"""
#: The baseline: one process reads every bet once.
SUM = "SELECT count(*), sum(stake), sum(net) FROM bench_bet"
SERIAL = "SET max_parallel_workers_per_gather = 0"


def make(floor: Floor, day: str, name: str) -> None:
    """Make a database `name` with the bets of the database `day`."""
    with psycopg.connect(floor.postgres.url("postgres", "postgres"), autocommit=True) as connection:
        create_database(connection, name)
    url = floor.postgres.url("owner", name)
    with psycopg.connect(floor.postgres.url("app", day)) as source, psycopg.connect(url, autocommit=True) as target:
        target.execute(TABLES_SQL)
        for statement, table in ((BETS, "bench_bet"), (ROUNDS, "bench_round")):
            _pour(source, statement, target, table)
        _describe(target)
        target.execute("CREATE INDEX ON bench_bet (round_id)")
        target.execute("VACUUM (FREEZE, ANALYZE)")


def _pour(
    source: "psycopg.Connection[tuple[object, ...]]",
    statement: str,
    target: "psycopg.Connection[tuple[object, ...]]",
    table: str,
) -> None:
    into = f"COPY {table} FROM STDIN (FORMAT binary)"
    with source.cursor().copy(statement.encode()) as read, target.cursor().copy(into.encode()) as written:
        for data in read:
            written.write(data)


def _describe(target: "psycopg.Connection[tuple[object, ...]]") -> None:
    """Write odds and limits, box by box."""
    layouts = {_layout(table): table for table in TABLES}
    for place, throw in enumerate(all_throws()):
        for name, table in layouts.items():
            odds = winners(table.layout, throw.faces)
            rows = [(name, place, NUMBERS[box], odds.get(box, -1)) for box in table.layout.boxes]
            target.cursor().executemany("INSERT INTO bench_odds VALUES (%s, %s, %s, %s)", rows)
    for table in TABLES:
        target.execute("INSERT INTO bench_game VALUES (%s, %s, %s)", [table.code, _layout(table), table.pays_in_full])
        limits = [(table.code, NUMBERS[box], box, MINIMUM, table.maximum) for box in table.layout.boxes]
        target.cursor().executemany("INSERT INTO bench_limit VALUES (%s, %s, %s, %s, %s)", limits)
        for first, other in table.pairs:
            pair = [table.code, NUMBERS[first], NUMBERS[other], table.differential]
            target.execute("INSERT INTO bench_apart VALUES (%s, %s, %s, %s)", pair)


def _layout(table: PlantedTable) -> str:
    return f"{table.rulebook} {table.layout_code}"
