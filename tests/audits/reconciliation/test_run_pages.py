"""Runs, days and policies on pages: begun without a broker too, figures frozen beside those of now, money as text."""

import datetime as dt
from collections.abc import Iterator

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks
from structlog.testing import capture_logs

from audits import tasks
from audits.models import ClosedSummary, DaySummary, Finding, Run
from audits.reconciliation.services.runs import close_start, part_take, run_start
from tests.audits.findings.test_finding_pages import page
from tests.audits.sittings import GRAVE, played
from tests.conftest import OPERATOR, House
from tests.games.logins import logged_in
from tests.games.rounds.samples import bet
from tests.leading import sending_to

RUNS, DAYS = "/admin/audits/run/", "/admin/audits/daysummary/"


def a_run(house: House, finding: Finding) -> Run:
    return run_start(actor=OPERATOR, casino=house.casino, day=finding.gaming_day)


@pytest.fixture
def no_broker() -> Iterator[None]:
    """Nobody listens there."""
    with sending_to("redis://127.0.0.1:1/0"):
        yield


def test_a_run_is_begun_from_its_page_and_waits_for_the_sweep_where_no_broker_is(
    house: House, no_broker: None, monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:  # fmt: skip
    (one,) = played(house)
    sent = {"day": one.gaming_day.isoformat(), "casino": str(house.casino.pk), "table": ""}
    with capture_logs() as logs, django_capture_on_commit_callbacks(execute=True):
        answer = logged_in(house["shift-manager"]).post(f"{RUNS}add/", sent)
    assert "parts not sent to workers" in [log["event"] for log in logs]
    run = Run.objects.get(kind="day")
    assert answer.headers["Location"] == f"{RUNS}{run.pk}/change/"
    assert (run.state, run.who.partition(" ")[0]) == ("running", "SHIFT-MANAGER")
    shown = page(house, f"{RUNS}{run.pk}/change/")
    assert '<meta http-equiv="refresh"' in shown
    assert "0 of 1 rounds, 0 of 1 tables done" in shown
    monkeypatch.setattr(tasks, "OVERDUE", dt.timedelta(0))
    tasks.sweep()
    shown = page(house, f"{RUNS}{run.pk}/change/")
    assert "refresh" not in shown.partition("</head>")[0]
    assert "1 with 1 bets" in shown


def test_a_table_of_another_casino_is_not_offered(house: House) -> None:
    (one,) = played(house)
    shown = page(house, f"{RUNS}add/", "shift-manager")
    assert "TS-01" in shown
    assert str(house.other) not in shown
    sent = {"day": one.gaming_day.isoformat(), "casino": str(house.other.pk), "table": ""}
    assert "Select a valid choice" in logged_in(house["shift-manager"]).post(f"{RUNS}add/", sent).content.decode()
    assert not Run.objects.filter(kind="day").exists()


def test_arrivals_are_listed_for_who_asks(house: House) -> None:
    (one,) = played(house)
    address = f"{RUNS}{one.found_by_id}/change/"
    assert address not in page(house, RUNS)
    assert address in page(house, RUNS, kind="arrivals")
    assert "just been recorded" in page(house, address)


def test_a_run_is_cancelled_once(house: House) -> None:
    (one,) = played(house)
    run = a_run(house, one)
    address = f"{RUNS}{run.pk}/cancel/"
    assert address in page(house, f"{RUNS}{run.pk}/change/", "compliance")
    assert address not in page(house, f"{RUNS}{run.pk}/change/", "pit-manager")
    told = [logged_in(house["compliance"]).post(address, {"sent": "1"}, follow=True).content.decode() for _ in range(2)]
    assert "is cancelled. Results of finished tables are kept." in told[0]
    assert "This run has already ended" in told[1]
    assert "Cancelled by COMPLIANCE" in page(house, f"{RUNS}{run.pk}/change/")


def test_a_day_shows_its_figures_and_what_changed_since_it_was_closed(house: House) -> None:
    (one,) = played(house)
    close = close_start(casino=house.casino, day=one.gaming_day, who="x")
    part_take(key=close.parts.get().pk)
    summary = DaySummary.objects.get()
    address = f"{DAYS}{summary.pk}/change/"
    shown = page(house, address, "pit-supervisor")
    assert "At closing" in shown
    assert "Discrepancy: overpaid" in shown
    assert "Changed since" not in shown
    played(house, [GRAVE], ref="LATE")
    shown = page(house, address, "pit-supervisor")
    assert "Changed since the day was closed" in shown
    assert "Discrepancy: loser paid" in shown
    frozen = ClosedSummary.objects.get()
    assert (frozen.rounds, DaySummary.objects.get().rounds) == (1, 2)
    assert "changed since" in page(house, f"/admin/audits/dayclose/{frozen.close_id}/change/", "auditor")
    shown = page(house, DAYS)
    assert "−2,800.00" in shown  # the house's result: 300.00 and 2,500.00 paid out
    assert "No gaming day matches" in page(house, DAYS, table="TS-77")
    assert "No gaming day matches" in page(house, DAYS, last="2020-01-01")


def test_days_of_many_tables_add_up(house: House) -> None:
    played(house)
    played(house, [bet("seat-1", "big", "100.00", net="-100.00")], table="TS-02", ref="R-2")
    total = page(house, DAYS).partition('class="ts-total"')[2]
    assert "200.00" in total  # staked
    assert "−200.00" in total  # 300.00 out, 100.00 in
    assert "Total" in total


def test_the_page_of_a_run_shows_what_is_new_and_what_is_no_longer_found(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    (one,) = played(house)
    first = a_run(house, one)
    for part in first.parts.all():
        part_take(key=part.pk)
    assert "There are no new findings" in page(house, f"{RUNS}{first.pk}/change/", "compliance")
    monkeypatch.setattr("games.engine.play.findings.discrepancy_kind", lambda *nets: "underpaid")  # another engine
    second = a_run(house, one)
    for part in second.parts.all():
        part_take(key=part.pk)
    shown = page(house, f"{RUNS}{second.pk}/change/", "compliance")
    assert "New in this run: 1" in shown
    assert "No longer found in this run: 1" in shown
