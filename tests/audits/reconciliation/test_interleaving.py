"""Rounds in any order, drains and day runs at any moment: in the end all is as after one calm run."""

import datetime as dt
import random
from typing import Any

import pytest
from django.db import transaction

from audits.reconciliation.services.arrivals import arrivals_take
from games.floor.services.tables import table_open, table_suspend
from games.models import Outbox, Table
from tests.audits.playing import (
    BORDER,
    DAY,
    DAY_BEFORE,
    RIGHT,
    TOO_HIGH,
    TWO_HUNDRED,
    UNDERPAID,
    correct,
    day_run,
    drain,
    figures,
    findings,
    kinds,
    played,
    record,
    summary_of,
    table_for,
)
from tests.conftest import House
from tests.games.floor_setup import HOUR, MINUTE, SECOND, ready_table
from tests.games.rounds.samples import bet

Document = dict[str, Any]


def shuffled_day(chance: random.Random) -> list[Document]:
    """Rounds on both sides of the border of two gaming days, many of them wrong, some over one another."""
    bets: tuple[list[dict[str, Any]], ...] = (
        [RIGHT], [UNDERPAID], [TOO_HIGH, bet("seat-2", "big", "20.00", net="-20.00")],
        [bet(net="100.00"), bet("seat-2", "single-3", "30.00", net="0.00", refused=True)],
        [bet("seat-3", "total-10", "12345.67", net="74074.02"), bet("seat-1", "single-1", "1000.00", net="-1000.00")],
        [],
    )  # fmt: skip
    odd: tuple[dict[str, Any], ...] = (
        {}, {}, {}, {"lasts": 400}, {"dice": (4, 4, 4)},
        {"events": [("place-bets", 0, {}), ("no-more-bets", 20, {})]},
        {"events": [("place-bets", 0, {}), ("tumbler", 5, {"tumbles": 1}), ("settled", 50, {})]},
    )  # fmt: skip
    documents = []
    for number in range(1, 13):
        at = BORDER + dt.timedelta(seconds=chance.randrange(-1200, 1200, 20))
        chosen = [dict(one) for one in chance.choice(bets)]
        for one in chosen:
            if chance.random() < 0.3:
                one["at"] = (at + chance.randrange(-10, 50) * SECOND).isoformat()
        documents.append(played(f"R-{number}", *(chosen or [RIGHT]), at=at, **chance.choice(odd)))
    return documents


def calmly(house: House, table: Table, documents: list[Document], *, with_correction: bool) -> tuple[Any, Any]:
    """What one run over each day makes of the rounds; and all of it is undone."""
    with transaction.atomic():
        record(*documents)
        if with_correction:
            correct(house, table, TWO_HUNDRED, BORDER - 5 * MINUTE)
        day_run(table, DAY_BEFORE)
        day_run(table, DAY)
        found = findings(table), figures(table)
        transaction.set_rollback(True)
    return found


@pytest.mark.parametrize("seed", range(8))
def test_no_order_of_arrivals_drains_and_day_runs_makes_a_difference(house: House, table: Table, seed: int) -> None:
    chance = random.Random(seed)
    documents = shuffled_day(chance)
    with_correction = chance.random() < 0.4
    expected = calmly(house, table, documents, with_correction=with_correction)
    assert expected[0]
    chance.shuffle(documents)
    correction_after = chance.randrange(len(documents)) if with_correction else None
    for number, document in enumerate(documents):
        record(document)
        if number == correction_after:
            correct(house, table, TWO_HUNDRED, BORDER - 5 * MINUTE)
        if chance.random() < 0.4:
            arrivals_take()
        if chance.random() < 0.25:
            day_run(table, chance.choice([DAY, DAY_BEFORE]))
    drain()
    found = findings(table)
    assert [one for one in found if one not in expected[0]] == []
    assert [one for one in expected[0] if one not in found] == []
    assert figures(table) == expected[1]


def test_a_round_that_arrives_after_the_day_run_is_added(table: Table) -> None:
    record(played("R-1", UNDERPAID))
    day_run(table)
    before = summary_of(table)
    record(played("R-2", TOO_HIGH))
    assert summary_of(table).rounds == 1  # nothing yet
    arrivals_take()
    after = summary_of(table)
    assert (after.rounds, after.bets, after.discrepancies, after.breaches) == (2, 2, 1, 1)
    assert after.turnover == before.turnover + 400000
    assert after.kinds == {"breach box-maximum": 1, "discrepancy underpaid": 1}


# --- Across the border of two days ---


@pytest.mark.parametrize("taken_by", ["a drain", "a day run"])
def test_a_round_of_the_day_before_that_arrives_late_is_seen_to_overlap_the_next_day(
    table: Table, taken_by: str
) -> None:
    record(played("R-2", at=BORDER + MINUTE))
    drain()
    assert kinds(table) == []
    record(played("R-1", at=BORDER - MINUTE, lasts=300))
    if taken_by == "a drain":
        arrivals_take()
    else:
        day_run(table, DAY_BEFORE)
    assert list(Outbox.objects.values_list("round__ref", "again")) == [("R-2", True)]
    drain()
    assert kinds(table) == [("R-2", "overlap")]
    assert summary_of(table).procedural == 1
    day_run(table, DAY_BEFORE)
    assert not Outbox.objects.exists()  # it was said once


def test_a_table_that_is_open_or_suspended_changes_nothing_of_the_order(house: House, clock: Any) -> None:
    clock.move_to(BORDER - HOUR)
    table = ready_table(house, layout="C")
    clock.move_to(BORDER)
    table_open(actor=house["shift-manager"], table=table, reason="Start")
    clock.shift(HOUR)
    table_suspend(actor=house["pit-manager"], table=table, reason="Spilled drink")
    clock.shift(HOUR)
    documents = [played(f"R-{n}", at=BORDER + n * 10 * MINUTE) for n in range(1, 12)]
    expected = calmly(house, table, documents, with_correction=False)
    for document in reversed(documents):
        record(document)
        arrivals_take()
    assert (findings(table), figures(table)) == expected
    assert {kind for _, kind in kinds(table)} == {"table-suspended"}


def test_tables_are_reconciled_each_by_its_own(house: House, table: Table) -> None:
    other = table_for(house, "TS-02")
    record(played("R-1", UNDERPAID), played("R-1", RIGHT, table="TS-02", source="elsewhere"))
    day_run(table)
    assert Outbox.objects.get().round.table == other
    drain()
    assert (summary_of(table).discrepancies, summary_of(other).discrepancies) == (1, 0)
    assert kinds(table) == [("R-1", "underpaid")]  # no overlap with another table's round
