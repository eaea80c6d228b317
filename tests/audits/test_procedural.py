"""Checks of our own: bets before betting began, rounds over one another, tables that were not in play."""

from collections.abc import Callable
from typing import Any

import pytest

from audits.models import Finding
from games.models import Table
from games.services.tables import table_close, table_open, table_resume, table_suspend
from tests.audits.playing import BORDER, DAY_BEFORE, RIGHT, day_run, drain, kinds, played, record, summary_of
from tests.conftest import House
from tests.games.floor import HOUR, MINUTE, NOON, SECOND, ready_table
from tests.games.rounds.samples import bet

AT = NOON - HOUR


def test_a_bet_before_betting_began(table: Table) -> None:
    early = bet("seat-2", "big", "60.00", net="-60.00", at=(AT - SECOND).isoformat())
    at_the_call = bet("seat-3", "big", "60.00", net="-60.00", at=AT.isoformat())
    record(played("R-1", RIGHT, early, at_the_call, at=AT))
    drain()
    found = Finding.objects.get()
    assert (found.category, found.kind, found.position, found.player, found.boxes) == (
        "procedural", "early-bet", 1, "seat-2", ["big"],
    )  # fmt: skip
    summary = summary_of(table)
    assert (summary.procedural, summary.discrepancies, summary.breaches, summary.irregularities) == (1, 0, 0, 0)


@pytest.mark.parametrize("first", ["R-1", "R-2"])
def test_two_rounds_over_one_another_whichever_arrives_first(table: Table, first: str) -> None:
    rounds = {"R-1": played("R-1", at=AT, lasts=100), "R-2": played("R-2", at=AT + 90 * SECOND)}
    record(rounds.pop(first))
    drain()
    assert kinds(table) == []
    record(*rounds.values())
    drain()
    assert kinds(table) == [("R-2", "overlap")]
    assert Finding.objects.get().detail == "Began while R-1 (floor) was still on."
    before = list(Finding.objects.values_list("pk", "found_by"))
    day_run(table)
    assert list(Finding.objects.values_list("pk", "found_by")) == before


def test_a_round_that_begins_as_the_last_ends_overlaps_nothing(table: Table) -> None:
    record(played("R-1", at=AT, lasts=60), played("R-2", at=AT + 60 * SECOND))
    drain()
    assert kinds(table) == []


def test_of_two_that_begin_together_the_second_by_name_overlaps(table: Table) -> None:
    record(played("R-2", at=AT), played("R-1", at=AT))
    drain()
    assert kinds(table) == [("R-2", "overlap")]


def test_rounds_of_two_gaming_days_over_one_another(table: Table) -> None:
    record(played("R-1", at=BORDER - 30 * SECOND), played("R-2", at=BORDER + 20 * SECOND))
    drain()
    assert kinds(table) == [("R-2", "overlap")]
    assert summary_of(table).procedural == 1
    assert summary_of(table, DAY_BEFORE).procedural == 0


def test_a_third_round_that_lasts_longer_is_the_one_that_was_still_on(table: Table) -> None:
    record(played("R-1", at=AT, lasts=70), played("R-3", at=AT + 60 * SECOND))
    drain()
    old = Finding.objects.get()
    record(played("R-2", at=AT + SECOND, lasts=300))
    drain()
    old.refresh_from_db()
    assert old.is_lapsed
    standing = Finding.objects.filter(lapsed_at=None).order_by("round__ref")
    assert [(one.round.ref, one.detail) for one in standing] == [
        ("R-2", "Began while R-1 (floor) was still on."), ("R-3", "Began while R-2 (floor) was still on."),
    ]  # fmt: skip


def test_a_round_at_a_table_that_was_closed_or_suspended(house: House, clock: Any) -> None:
    clock.move_to(NOON - 9 * HOUR)
    table = ready_table(house, layout="C")
    boss = house["shift-manager"]
    steps: list[Callable[[], Any]] = [
        lambda: table_open(actor=boss, table=table, reason="Start of shift"),
        lambda: table_suspend(actor=boss, table=table, reason="A spilled drink"),
        lambda: table_resume(actor=boss, table=table, reason="Dry again"),
        lambda: table_close(actor=boss, table=table, notice_given_at=NOON - 3 * HOUR, reason="Quiet"),
    ]
    for number, step in enumerate(steps):
        clock.move_to(NOON + (number - 5) * HOUR)
        step()
    clock.move_to(NOON)
    # before the first step nothing is known; at the very moment of a step it counts already
    record(*(played(f"R-{number}", at=NOON + (number - 5) * HOUR + 30 * MINUTE) for number in range(-1, 4)))
    record(played("R-9", at=NOON - 4 * HOUR))
    drain()
    assert kinds(table) == [("R-1", "table-suspended"), ("R-3", "table-closed"), ("R-9", "table-suspended")]
    assert {one.detail for one in Finding.objects.filter(kind="table-closed")} == {
        "The table was closed from 2026-11-15 10:00 UTC."
    }
    assert (summary_of(table).procedural, summary_of(table).irregularities) == (3, 0)
