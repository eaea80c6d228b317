"""What every record of rounds has to be, asked by SQL: each in the outbox and the ledger once, and no chain broken."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

from django.db import connection

#: One SQL statement with its parameters, and all its rows: by Django's connection, or by one's own.
Ask = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]

ROUNDS = "SELECT id, source, ref, table_id, fingerprint FROM games_round WHERE table_id = ANY(%s)"
CHAINS = "SELECT id, name, length, head FROM games_ledgerchain WHERE name = ANY(%s)"
LEAVES = (
    "SELECT chain_id, position, kind, subject, content, previous, hash FROM games_ledgerleaf "
    "WHERE chain_id = ANY(%s) ORDER BY chain_id, position"
)
OUTBOX = "SELECT o.round_id FROM games_outbox o JOIN games_round r ON r.id = o.round_id WHERE r.table_id = ANY(%s)"


def ask_django(statement: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())


def verify_tables(ask: Ask, tables: Sequence[int]) -> dict[tuple[str, str], bytes]:
    """The rounds of these tables by name, each with its fingerprint; all that goes with them has been looked at."""
    rounds = ask(ROUNDS, [list(tables)])
    leaves = verify_chains(ask, tables)
    assert Counter(key for (key,) in ask(OUTBOX, [list(tables)])) == Counter(key for key, *_ in rounds)
    assert sorted(leaves) == sorted(
        (table, key, source, ref, bytes(print_).hex()) for key, source, ref, table, print_ in rounds
    ), "the leaves are not those of the rounds, one each"
    found = {(source, ref): bytes(print_) for _, source, ref, _, print_ in rounds}
    assert len(found) == len(rounds), "a round is on record twice"
    return found


def verify_chains(ask: Ask, tables: Sequence[int]) -> list[tuple[int, int, str, str, str]]:
    """Every hash computed anew; returns table, id, source, ref and fingerprint of each leaf of a round."""
    names = {f"table:{table}": table for table in tables}
    chains = {key: (names[name], length, bytes(head)) for key, name, length, head in ask(CHAINS, [list(names)])}
    ends = {key: (0, bytes(32)) for key in chains}
    rounds = []
    for chain, position, kind, subject, content, previous, hash_ in ask(LEAVES, [list(chains)]):
        last, head = ends[chain]
        assert (position, bytes(previous)) == (last + 1, head), f"chain {chain} is broken at {position}"
        head = sha256(head + bytes(content)).digest()
        assert bytes(hash_) == head, f"chain {chain} has a wrong hash at {position}"
        ends[chain] = position, head
        held = json.loads(bytes(content))
        assert held[1:3] == [kind, subject]
        if kind == "round":
            rounds.append((chains[chain][0], subject, held[3], held[4], held[-1]))
    assert ends == {key: (length, head) for key, (_, length, head) in chains.items()}, "a chain's end is not its last"
    return rounds
