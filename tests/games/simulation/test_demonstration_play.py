"""The demonstration floor is filled with its last days: what is missing is added, nothing is repeated."""

import datetime as dt

import pytest
from django.core.management import call_command

from games.management.commands import demonstration_play
from games.models import LiveRound, Round, Table
from games.services.live import live_open
from tests.conftest import OPERATOR
from tests.games.floor import HOUR, NOON


@pytest.fixture
def floor(db: None, clock: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demonstration_play, "DAYS", 2)
    monkeypatch.setattr(demonstration_play, "ROUNDS_A_TABLE", 40)
    call_command("demonstration", "--json")


@pytest.mark.usefixtures("floor")
def test_the_last_days_are_played_once(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("demonstration_play")
    first = Round.objects.count()
    assert 40 * 12 < first <= 2 * 40 * 12
    assert Round.objects.filter(ended_at__gt=NOON).count() == 0
    assert {one.source for one in Round.objects.all()} == {"floor"}
    call_command("demonstration_play")
    assert Round.objects.count() == first
    assert "480 there already" in capsys.readouterr().out


@pytest.mark.usefixtures("floor")
def test_a_later_start_adds_what_was_played_meanwhile_but_plays_over_no_live_round(clock: object) -> None:
    call_command("demonstration_play")
    before = set(Round.objects.values_list("ref", flat=True))
    live_open(actor=OPERATOR, document={"source": "live", "ref": "L-1", "table": "TS-09"})
    clock.shift(8 * HOUR)  # type: ignore[attr-defined]
    LiveRound.objects.update(last_step_at=NOON + 8 * HOUR)
    call_command("demonstration_play")
    added = Round.objects.exclude(ref__in=before)
    assert added.exclude(table__code="TS-09").exists()
    assert not added.filter(table__code="TS-09", started_at__gt=NOON).exists()
    LiveRound.objects.update(last_step_at=NOON)
    call_command("demonstration_play")
    assert added.filter(table__code="TS-09", started_at__gt=NOON).exists()  # else there was nothing to leave out
    assert set(added.values_list("gaming_day", flat=True)) == {dt.date(2026, 11, 15)}


@pytest.mark.usefixtures("db")
def test_in_a_house_of_ones_own_nothing_is_played() -> None:
    call_command("demonstration_play")
    assert not Table.objects.exists()
    assert not Round.objects.exists()
