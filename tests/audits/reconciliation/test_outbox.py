"""A recording wakes the reconciliation; that nobody hears it breaks nothing."""

from typing import Any

import pytest
from kombu.connection import Connection

from audits.tasks import take_arrivals
from games.models import Outbox, Round, Table
from games.rounds.services import outbox
from games.rounds.services.outbox import BACKLOG, reconciliation_wake
from taisai_backoffice.celery import app
from tests.audits.playing import TWO_HUNDRED, correct, drain, played, record, table_for
from tests.conftest import House, build_house
from tests.games.floor_setup import SECOND


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the tasks that were sent."""
    names: list[str] = []
    monkeypatch.setattr(app, "send_task", lambda name, **options: names.append(name))
    return names


def test_a_recording_wakes_once_it_is_on_record(
    table: Table, sent: list[str], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        record(played("R-1"))
        assert sent == []
    assert sent == ["audits.tasks.take_arrivals"]
    assert sent[0] == take_arrivals.name  # which the workers know


def test_limits_that_reach_back_wake_it_too(
    house: House, table: Table, sent: list[str], django_capture_on_commit_callbacks: Any
) -> None:
    record(played("R-1"))
    drain()
    with django_capture_on_commit_callbacks(execute=True):
        correct(house, table, TWO_HUNDRED)
    assert sent == ["audits.tasks.take_arrivals"]


def test_where_nothing_waits_nothing_is_sent(table: Table, sent: list[str]) -> None:
    reconciliation_wake()
    assert sent == []


def test_a_backlog_needs_workers_and_no_more_messages(table: Table, sent: list[str], clock: Any) -> None:
    record(played("R-1"))
    clock.shift(BACKLOG)
    reconciliation_wake()
    assert len(sent) == 1
    clock.shift(SECOND)
    record(played("R-2"))
    reconciliation_wake()
    assert len(sent) == 1


def test_a_broker_that_is_gone_breaks_no_recording_and_is_left_alone_for_a_while(
    clone: str, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody listens at the address; by a clock that stands still kombu would try for ever, so it tries once."""
    table_for(build_house())
    tried: list[str] = []

    def to_nobody(name: str, **options: Any) -> None:
        tried.append(name)
        with connect("redis://127.0.0.1:1/0", transport_options={"max_retries": 1}) as nobody:
            send_task(name, connection=nobody, **options)

    connect: Any = Connection
    send_task = app.send_task
    monkeypatch.setattr(app, "send_task", to_nobody)
    monkeypatch.setattr(outbox, "_silent_until", [0.0])
    record(played("R-1"), played("R-2"))
    assert tried == ["audits.tasks.take_arrivals"]
    assert (Round.objects.count(), Outbox.objects.count()) == (2, 2)
    monkeypatch.setattr(outbox, "_silent_until", [0.0])
    record(played("R-3"))
    assert len(tried) == 2
