"""A finding is the same row in every run; it lapses when it is no longer found, and stands again when it is."""

from typing import Any

from django.utils import timezone

from audits.findings.services.findings import finding_acknowledge
from audits.models import Finding, Run
from audits.reconciliation.services.arrivals import arrivals_take
from games.models import Outbox, Table
from tests.audits.playing import (
    RIGHT,
    TOO_HIGH,
    TWO_HUNDRED,
    UNDERPAID,
    correct,
    day_run,
    drain,
    everything,
    findings,
    kinds,
    played,
    record,
    summary_of,
)
from tests.conftest import House
from tests.games.floor_setup import MINUTE, sign
from tests.games.rounds.samples import bet


def rows() -> list[tuple[Any, ...]]:
    return list(Finding.objects.order_by("pk").values_list("pk", "found_by", "found_at", "lapsed_at"))


def test_a_second_run_changes_no_finding(table: Table, clock: Any) -> None:
    record(played("R-1", UNDERPAID), played("R-2", TOO_HIGH), played("R-3", RIGHT))
    drain()
    before = rows()
    assert len(before) == len(kinds(table))
    assert {run.kind for run in Run.objects.all()} == {"arrival"}
    clock.shift(MINUTE)
    day_run(table)
    day_run(table)
    assert rows() == before
    assert not Finding.history.exists()


def test_what_was_found_is_pinned_to_run_rulebook_limits_and_engine(table: Table) -> None:
    record(played("R-1", UNDERPAID))
    run = day_run(table)
    found = Finding.objects.get(kind="underpaid")
    assert (found.found_by, found.rulebook, found.limit_set, found.engine) == (
        run, "rws-tai-sai-v6", table.limit_sets.get(), run.engine,
    )  # fmt: skip
    assert (found.expected, found.recorded, found.amount) == (10000, 9000, 1000)
    assert found.rules == ["rws-tai-sai-v6#4.1.2"]


def test_a_limit_set_that_reaches_back_lapses_some_adds_others_and_its_own_correction_revives_them(
    house: House, table: Table, clock: Any
) -> None:
    record(played("R-1", TOO_HIGH), played("R-2", bet(stake="300.00", net="300.00")))
    drain()
    (breach,) = Finding.objects.filter(lapsed_at=None, category="breach")
    assert (breach.placed, breach.permitted) == (400000, 300000)

    clock.shift(MINUTE)
    lower = correct(house, table, TWO_HUNDRED)
    assert set(Outbox.objects.values_list("round__ref", "again")) == {("R-1", True), ("R-2", True)}
    drain()
    breach.refresh_from_db()
    lapse = breach.history.latest()
    run = Run.objects.latest("pk")
    assert (breach.lapsed_by, breach.is_lapsed) == (run, True)
    assert (lapse.history_author, lapse.history_change_reason) == (f"Reconciliation run {run}", "No longer found")
    assert {(one.round_ref, one.kind, one.placed, one.permitted, one.expected) for one in standing()} == {
        ("R-1", "box-maximum", 400000, 20000, None), ("R-1", "overpaid", None, None, 20000),
        ("R-2", "box-maximum", 30000, 20000, None), ("R-2", "overpaid", None, None, 20000),
    }  # fmt: skip
    assert {one.limit_set for one in standing()} == {lower}
    assert summary_of(table).breaches == 2
    others = {one.pk for one in standing()}

    clock.shift(MINUTE)
    correct(house, table, sign())
    drain()
    assert [one.pk for one in standing()] == [breach.pk]  # the very same row
    breach.refresh_from_db()
    revival = breach.history.latest()
    assert (revival.history_change_reason, breach.lapsed_by, breach.lapsed_at) == ("Found again", None, None)
    assert breach.history.count() == 2
    assert others < set(Finding.objects.values_list("pk", flat=True))  # nothing is ever deleted
    assert (summary_of(table).breaches, summary_of(table).discrepancies) == (1, 0)


def standing() -> list[Finding]:
    return list(Finding.objects.filter(lapsed_at=None).order_by("pk"))


def test_a_limit_set_from_now_on_touches_no_round_of_before(house: House, table: Table, clock: Any) -> None:
    record(played("R-1", TOO_HIGH))
    drain()
    before = rows()
    correct(house, table, TWO_HUNDRED, starts_at=timezone.now())
    assert not Outbox.objects.exists()
    day_run(table)
    assert rows() == before


def test_people_s_words_stay_with_a_finding_that_lapses_and_comes_back(house: House, table: Table, clock: Any) -> None:
    record(played("R-1", TOO_HIGH))
    drain()
    breach = Finding.objects.get()
    finding_acknowledge(actor=house["pit-supervisor"], finding=breach, reason="Told the dealer")
    for limits in (TWO_HUNDRED, sign()):
        clock.shift(MINUTE)
        correct(house, table, limits)
        drain()
    breach.refresh_from_db()
    assert (breach.state, breach.is_lapsed) == ("acknowledged", False)
    assert [one.history_change_reason for one in breach.history.order_by("history_id")] == [
        "Told the dealer", "No longer found", "Found again",
    ]  # fmt: skip


def test_a_day_run_and_the_arrivals_say_the_same(table: Table) -> None:
    record(played("R-1", TOO_HIGH, bet("seat-2", "big", "20.00", net="5.00")), played("R-2", UNDERPAID))
    drain()
    by_arrival = findings(table)
    assert {kind for _, kind in kinds(table)} >= {"box-maximum", "below-minimum", "paid-loser", "underpaid"}
    day_run(table)
    assert findings(table) == by_arrival


def test_nothing_is_written_where_nothing_waits(table: Table) -> None:
    record(played("R-1", TOO_HIGH))
    drain()
    before = everything()
    arrivals_take()
    assert everything() == before
