"""Alternatives that reconcile the same day from plain rows: ORM, one SQL statement, rows in NumPy. Nothing is saved.

Called by `bench.reconciliation.reconcile`; each answers with its seconds and its findings.
"""

import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple
from itertools import groupby
from typing import Any

import django
import numpy as np
import psycopg

from bench.children import answer
from bench.plain import SERIAL
from bench.reconciliation.planted import BEGINS, MINIMUM, TABLES, PlantedTable, Truth
from games.engine.box_numbers import code_of
from games.engine.dice import all_throws
from games.engine.kernel.kernel import Chunk, Kernel, KernelGame
from games.engine.play.findings import RecordedBet, RecordedRound, discrepancy_kind
from games.engine.play.irregularities import Event
from games.engine.rules.loader import rulebook
from games.engine.signs.limits import Limits, Range

THROWS = tuple(all_throws())
AT_ONCE = 500  # rounds whose bets the ORM reads together
ROWS_AT_ONCE = 50_000

SQL = """
WITH held AS (
    SELECT round_id, box, sum(stake)::bigint AS total FROM bench_bet GROUP BY round_id, box
), beside AS (
    SELECT r.id AS round_id, r.game, a.one, a.other, a.allowed,
        coalesce(x.total, 0) AS first, coalesce(y.total, 0) AS second
    FROM bench_round r JOIN bench_apart a ON a.game = r.game
    LEFT JOIN held x ON x.round_id = r.id AND x.box = a.one LEFT JOIN held y ON y.round_id = r.id AND y.box = a.other
), apart AS (
    SELECT round_id, game, allowed, greatest(first, second) - least(first, second) AS placed,
        CASE WHEN first > second THEN one ELSE other END AS heavier,
        CASE WHEN first > second THEN other ELSE one END AS lighter, least(first, second) AS low
    FROM beside WHERE abs(first - second) > allowed
), boxes AS (
    SELECT h.round_id, h.box, h.total, l.minimum, l.maximum, l.code, g.layout, g.in_full, r.throw,
        least(l.maximum, least(a.low, m.maximum) + a.allowed) AS permitted
    FROM held h JOIN bench_round r ON r.id = h.round_id JOIN bench_game g ON g.code = r.game
    JOIN bench_limit l ON l.game = r.game AND l.box = h.box
    LEFT JOIN apart a ON a.round_id = h.round_id AND a.heavier = h.box
    LEFT JOIN bench_limit m ON m.game = a.game AND m.box = a.lighter
), due AS (
    SELECT b.round_id, b.player, x.code, b.stake, b.net, x.minimum, o.gains * CASE
        WHEN x.in_full OR x.total <= x.permitted OR b.stake <= x.minimum THEN b.stake
        ELSE greatest(b.stake * x.permitted / x.total, x.minimum) END AS expected
    FROM bench_bet b JOIN boxes x ON x.round_id = b.round_id AND x.box = b.box
    JOIN bench_odds o ON o.layout = x.layout AND o.throw = x.throw AND o.box = b.box
), found AS (
    SELECT round_id, 'discrepancy' AS kind, ARRAY[code] AS boxes, player, expected AS first, net AS second
        FROM due WHERE expected <> net
    UNION ALL SELECT round_id, 'box-maximum', ARRAY[code], NULL, total, maximum FROM boxes WHERE total > maximum
    UNION ALL SELECT a.round_id, 'differential', ARRAY[h.code, l.code], NULL, a.placed, a.allowed
        FROM apart a JOIN bench_limit h ON h.game = a.game AND h.box = a.heavier
        JOIN bench_limit l ON l.game = a.game AND l.box = a.lighter
    UNION ALL SELECT round_id, 'below-minimum', ARRAY[code], player, stake, minimum FROM due WHERE stake < minimum
)
SELECT r.ref, f.kind, f.boxes, f.player, f.first, f.second FROM found f JOIN bench_round r ON r.id = f.round_id
"""


def game_of(table: PlantedTable) -> KernelGame:
    book = rulebook(table.rulebook)
    limits = Limits(
        {type_: Range(MINIMUM, table.maximum) for type_ in table.layout.types},
        {table.layout.boxes[pair[0]].type: table.differential for pair in table.pairs},
    )
    return KernelGame(book, table.layout, limits)


GAMES = {table.code: game_of(table) for table in TABLES}
PLACES = {code: place for place, code in enumerate(GAMES)}


def found_in(ref: str, code: str, throw: int, bets: list[RecordedBet]) -> Iterator[Truth]:
    """Settle one round by the scalar engine."""
    game, at = GAMES[code], BEGINS
    events = [
        Event("place-bets", at), Event("no-more-bets", at), Event("result", at, dice=THROWS[throw]),
        Event("settled", at),
    ]  # fmt: skip
    recorded = RecordedRound(game.book, game.layout, game.limits, events, bets)
    for wrong in recorded.discrepancies():
        bet = bets[wrong.position]
        yield Truth(ref, wrong.kind, (bet.box,), bet.player, wrong.expected, wrong.recorded)
    for breach in recorded.breaches():
        yield Truth(ref, breach.kind, breach.boxes, breach.player, breach.placed, breach.permitted)


def connect() -> "psycopg.Connection[tuple[Any, ...]]":
    connection = psycopg.connect(os.environ["DATABASE_URL"], autocommit=True)
    connection.execute(SERIAL)
    connection.execute("SET work_mem = '256MB'")
    connection.execute("SET synchronize_seqscans = off")
    return connection


def timed(work: Callable[..., Iterable[Truth]]) -> Callable[..., dict[str, object]]:
    def working(*words: Any) -> dict[str, object]:
        started = time.perf_counter()
        findings = list(work(*words))
        return {"seconds": time.perf_counter() - started, "found": [astuple(finding) for finding in findings]}

    return working


# --- The ORM ---


def model_of() -> Any:
    from django.db import models

    class Bet(models.Model):  # noqa: DJ008  never shown
        round_id = models.BigIntegerField(primary_key=True)
        position = models.IntegerField()
        player = models.TextField()
        box = models.SmallIntegerField()
        stake = models.BigIntegerField()
        net = models.BigIntegerField()

        class Meta:
            app_label = "bench"
            managed = False
            db_table = "bench_bet"

    return Bet


def by_orm(rounds: int) -> Iterator[Truth]:
    """Settle the first rounds; limits and odds are in memory, so that only rounds and bets are read."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT id, ref, game, throw FROM bench_round ORDER BY ref LIMIT %s", [rounds])
        facts = {key: rest for key, *rest in cursor.fetchall()}
    keys = list(facts)
    for first in range(0, len(keys), AT_ONCE):
        some = BET.objects.filter(round_id__in=keys[first : first + AT_ONCE]).order_by("round_id", "position")
        for key, bets in groupby(some, key=lambda bet: bet.round_id):
            listed = [RecordedBet(bet.player, code_of(bet.box), bet.stake, bet.net) for bet in bets]
            yield from found_in(*facts[key], listed)


# --- One statement ---


def by_sql() -> Iterator[Truth]:
    with connect() as connection:
        for ref, kind, boxes, player, first, second in connection.execute(SQL):
            named = discrepancy_kind(first, second) if kind == "discrepancy" else kind
            yield Truth(ref, named, tuple(boxes), player, first, second)


# --- Rows into NumPy ---


def by_numpy() -> Iterator[Truth]:
    """Settle rows from a binary cursor by the kernel; flagged rounds are read again and explained."""
    kernel = Kernel(list(GAMES.values()))
    with connect() as connection:
        facts = {key: rest for key, *rest in connection.execute("SELECT id, ref, game, throw FROM bench_round")}
        odd: list[int] = []
        for rows in _whole_rounds(connection):
            keys, sizes = np.unique(rows[:, 0], return_counts=True)
            chunk = Chunk(
                games=np.array([PLACES[facts[key][1]] for key in keys.tolist()]),
                throws=np.array([facts[key][2] for key in keys.tolist()]), void=np.zeros(len(keys), np.bool_),
                sizes=sizes, boxes=rows[:, 1], stakes=rows[:, 2], nets=rows[:, 3],
            )  # fmt: skip
            verdict = kernel.settle(chunk)
            odd += keys[verdict.differs | verdict.breaches].tolist()
        bets = defaultdict(list)
        statement = (
            "SELECT round_id, player, box, stake, net FROM bench_bet WHERE round_id = ANY (%s) ORDER BY 1, position"
        )
        for key, player, box, stake, net in connection.execute(statement, [odd]):
            bets[key].append(RecordedBet(player, code_of(box), stake, net))
        for key in odd:
            yield from found_in(*facts[key], bets[key])


def _whole_rounds(connection: "psycopg.Connection[tuple[Any, ...]]") -> Iterator[np.ndarray]:
    """Yield rows in stored order, which is that of the rounds, without splitting a round."""
    with connection.transaction(), connection.cursor("rows", binary=True) as cursor:
        cursor.execute("SELECT round_id, box, stake, net FROM bench_bet")
        rest = np.empty((0, 4), np.int64)
        while rows := cursor.fetchmany(ROWS_AT_ONCE):
            block = np.concatenate([rest, np.array(rows, np.int64)])
            end = int(np.searchsorted(block[:, 0], block[-1, 0]))
            yield block[:end]
            rest = block[end:]
        yield rest


if __name__ == "__main__":
    django.setup()
    BET = model_of()
    answer(ready=lambda: True, orm=timed(by_orm), sql=timed(by_sql), numpy=timed(by_numpy))
