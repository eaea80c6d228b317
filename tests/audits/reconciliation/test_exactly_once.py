"""Doubled messages, two workers at once, a cancelled run, a crash in the middle: each round counts once, or not yet."""

from typing import Any

import psycopg
import pytest
from django.core.exceptions import ValidationError
from django.db import connection

from audits.models import DaySummary, Finding, Run, RunPart
from audits.reconciliation import day
from audits.reconciliation.services import arrivals, runs
from audits.reconciliation.services.arrivals import arrivals_take
from audits.reconciliation.services.runs import part_take, parts_waiting, run_cancel, run_start
from audits.tasks import sweep, take_arrivals, take_part
from games.models import Outbox, Table
from tests import servers
from tests.audits.playing import (
    DAY,
    RIGHT,
    TOO_HIGH,
    TWO_HUNDRED,
    UNDERPAID,
    correct,
    day_run,
    drain,
    everything,
    figures,
    findings,
    part_of,
    played,
    record,
    summary_of,
    table_for,
)
from tests.conftest import OPERATOR, House, build_house
from tests.games.floor_setup import MINUTE
from tests.threads import at_once, elsewhere, meanwhile


@pytest.fixture
def committed(clone: str, clock: Any) -> tuple[House, Table]:
    """A table in a database of its own, with rounds that wait."""
    house = build_house()
    table = table_for(house)
    record(*(played(f"R-{number}", (RIGHT, UNDERPAID, TOO_HIGH)[number % 3]) for number in range(1, 10)))
    return house, table


def assert_each_once(table: Table) -> None:
    summary = summary_of(table)
    assert (summary.rounds, summary.discrepancies, summary.breaches) == (9, 3, 3)
    assert Finding.objects.count() == 6
    assert not Outbox.objects.exists()


# --- Two at once ---


def test_a_day_that_another_worker_holds_is_left_to_the_next_sweep_without_an_error_in_the_servers_log(
    committed: tuple[House, Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrivals, "PATIENCE", 1.0)
    _, table = committed
    arrivals.summary_ensure((table.pk, DAY))
    with psycopg.connect(servers.database_url(connection.settings_dict["NAME"])) as other:
        held = "SELECT FROM audits_daysummary WHERE table_id = %s AND gaming_day = %s FOR UPDATE"
        other.execute(held, [table.pk, DAY])
        assert arrivals_take().rounds == 0
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            (process,) = cursor.fetchone()
    assert f"[{process}] ERROR" not in servers.servers()[0].log.read_text()
    assert arrivals_take().rounds == 9
    assert_each_once(table)


def test_two_drains_at_once_take_each_round_once(committed: tuple[House, Table]) -> None:
    done = at_once(arrivals_take, arrivals_take)
    assert sorted(one.rounds for one in done) == [0, 9]
    assert_each_once(committed[1])


def test_a_drain_and_a_day_run_at_once_count_each_round_once(committed: tuple[House, Table]) -> None:
    table = committed[1]
    key = part_of(table).pk
    at_once(arrivals_take, lambda: part_take(key=key), waiting=1)  # a drain does not wait, it asks again
    assert_each_once(table)
    assert RunPart.objects.get(pk=key).is_done


def test_a_doubled_message_and_its_twin_do_a_part_once(committed: tuple[House, Table]) -> None:
    table = committed[1]
    key = part_of(table).pk
    done = at_once(lambda: part_take(key=key), lambda: part_take(key=key), waiting=1)  # the twin goes away
    assert sorted(one is None for one in done) == [False, True]
    assert_each_once(table)
    before = everything()
    take_part(key)
    assert everything() == before


def test_who_waits_for_a_part_is_told_when_somebody_else_has_done_it(committed: tuple[House, Table]) -> None:
    """The command does, while the sweep is at work on one of its parts."""
    part = part_of(committed[1])
    with meanwhile(lambda: part_take(key=part.pk, wait=True)) as answer:
        assert part_take(key=part.pk) is not None
    assert answer.result(20) is None
    assert Run.objects.get(pk=part.run_id).state == "done"
    assert_each_once(committed[1])


def test_who_waits_for_a_part_does_it_where_the_other_dies(committed: tuple[House, Table]) -> None:
    part = part_of(committed[1])
    with meanwhile(lambda: part_take(key=part.pk, wait=True)) as answer:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [runs.LOCK, part.pk])
        assert part_of(committed[1]).pk != part.pk  # this one works on something, and never says that it is done
    assert answer.result(20) == part
    assert_each_once(committed[1])


def test_limits_that_reach_back_while_a_drain_is_at_work_are_applied_in_the_end(
    committed: tuple[House, Table], clock: Any
) -> None:
    house, table = committed
    with meanwhile(lambda: correct(house, table, TWO_HUNDRED)) as approved:
        arrivals_take()  # by the old sign; who approves the new one waits until this is on record
    assert not isinstance(approved.result(20), Exception)
    assert Outbox.objects.filter(again=True).count() == 9
    drain()
    as_drained = findings(table), figures(table)
    day_run(table)
    assert (findings(table), figures(table)) == as_drained
    assert summary_of(table).kinds["breach box-maximum"] == 3
    assert {finding.permitted for finding in Finding.objects.filter(lapsed_at=None, category="breach")} == {20000}


def test_a_drain_while_limits_are_approved_waits_and_uses_the_new_ones(committed: tuple[House, Table]) -> None:
    house, table = committed
    with meanwhile(arrivals_take) as done:
        correct(house, table, TWO_HUNDRED)
    assert not isinstance(done.result(20), Exception)
    drain()
    assert not Finding.objects.exclude(lapsed_at=None).exists()  # never settled by the old ones
    assert {finding.permitted for finding in Finding.objects.filter(category="breach")} == {20000}


# --- Cancelled, or crashed ---


def test_a_part_of_a_cancelled_run_is_not_begun(table: Table) -> None:
    record(played("R-1", UNDERPAID))
    part = part_of(table)
    run_cancel(actor=OPERATOR, run=part.run)
    before = everything()
    assert part_take(key=part.pk) is None
    assert everything() == before
    assert part.pk not in parts_waiting()
    assert Run.objects.get(pk=part.run_id).ended_by == "Operator of the machine"


def test_a_run_that_is_cancelled_in_the_middle_of_a_part_leaves_all_as_it_was(
    committed: tuple[House, Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By whoever reads a page in another session, while a worker tells how far it has come."""
    house, table = committed
    part = part_of(table)
    monkeypatch.setattr(runs, "EVERY_SECONDS", 0)
    arrivals, sums = everything("audits_finding", "games_outbox"), []

    def cancel_and_tell(telling: runs.ProgressWriter, rounds: int) -> None:
        sums.append(rounds)
        elsewhere(lambda: run_cancel(actor=house["shift-manager"], run=part.run))
        tell(telling, rounds)

    tell = runs.ProgressWriter.__call__
    monkeypatch.setattr(runs.ProgressWriter, "__call__", cancel_and_tell)
    assert part_take(key=part.pk) is None
    assert sums == [9]
    assert everything("audits_finding", "games_outbox") == arrivals
    assert DaySummary.objects.get().rounds == 0
    part.refresh_from_db()
    assert (part.is_done, part.run.state, part.rounds_read) == (False, "cancelled", 9)
    drain()
    assert_each_once(table)


def test_a_run_that_is_cancelled_after_the_last_look_is_not_done_either(
    committed: tuple[House, Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    house, table = committed
    part = part_of(table)
    summarise = day._summarise

    def cancel_first(*arguments: Any) -> day.DayResult:
        elsewhere(lambda: run_cancel(actor=house["shift-manager"], run=part.run))
        return summarise(*arguments)

    monkeypatch.setattr(day, "_summarise", cancel_first)
    assert part_take(key=part.pk) is None
    part.refresh_from_db()
    assert (part.is_done, Finding.objects.count(), Outbox.objects.count()) == (False, 0, 9)


@pytest.mark.parametrize("where", ["explained", "findings_save", "_summarise"])
def test_a_crash_in_the_middle_changes_nothing_and_the_next_attempt_does_it_all(
    table: Table, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    record(played("R-1", UNDERPAID), played("R-2", TOO_HIGH))
    part = part_of(table)
    arrivals_of_nobody = everything("audits_finding", "games_outbox", "audits_run")

    def crash(*arguments: Any) -> None:
        raise RuntimeError("The power failed")

    with monkeypatch.context() as patched:
        patched.setattr(day, where, crash)
        for attempt in (lambda: part_take(key=part.pk), arrivals_take):
            with pytest.raises((RuntimeError, ExceptionGroup)):
                attempt()
    assert everything("audits_finding", "games_outbox", "audits_run") == arrivals_of_nobody
    assert summary_of(table).rounds == 0
    assert part_take(key=part.pk) is not None
    assert (summary_of(table).rounds, Outbox.objects.count()) == (2, 0)


def test_the_end_of_a_run_is_on_record_with_its_last_part_or_not_at_all(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that is killed between the two would leave a run that never ends."""
    record(played("R-1", UNDERPAID))
    part = part_of(table)

    def crash(run: Run) -> None:
        raise RuntimeError("The power failed")

    with monkeypatch.context() as patched:
        patched.setattr(runs, "_end_if_done", crash)
        with pytest.raises(RuntimeError):
            part_take(key=part.pk)
    assert parts_waiting() == [part.pk]
    part_take(key=part.pk)
    assert Run.objects.get(pk=part.run_id).state == "done"


# --- Runs ---


def test_a_run_that_is_over_is_not_cancelled_and_no_close_ever_is(table: Table) -> None:
    record(played("R-1"))
    run = day_run(table)
    with pytest.raises(ValidationError, match="already ended"):
        run_cancel(actor=OPERATOR, run=run)
    close = runs.close_start(casino=table.casino, day=DAY, who="The system")
    with pytest.raises(ValidationError, match="cannot be cancelled"):
        run_cancel(actor=OPERATOR, run=close)


def test_a_run_hands_its_parts_to_workers_once_it_is_on_record(
    house: House, table: Table, django_capture_on_commit_callbacks: Any
) -> None:
    table_for(house, "TS-02")
    record(played("R-1"), played("R-2", table="TS-02"))
    sent: list[int] = []
    with django_capture_on_commit_callbacks(execute=True):
        run = run_start(actor=OPERATOR, casino=table.casino, day=DAY, send=sent.append)
        assert sent == []
    assert sent == [part.pk for part in run.parts.order_by("pk")]
    assert [part.rounds_expected for part in run.parts.all()] == [1, 1]


def test_a_day_without_rounds_is_done_at_once(table: Table) -> None:
    assert run_start(actor=OPERATOR, casino=table.casino, day=DAY).parts.count() == 0
    assert Run.objects.get().state == "done"


def test_the_sweep_takes_what_no_message_told_of(table: Table, clock: Any) -> None:
    record(played("R-1", UNDERPAID))
    part = part_of(table)
    sweep()
    assert not Outbox.objects.exists()
    assert parts_waiting() == [part.pk]  # whoever was told of it has some time to begin
    clock.shift(MINUTE)
    sweep()
    assert parts_waiting() == []
    record(played("R-2", UNDERPAID))
    take_arrivals()
    assert summary_of(table).rounds == 2
