"""The demonstration floor is filled with its last days: what is missing is added, nothing is repeated."""

import datetime as dt

import pytest
from django.core.management import call_command

from audits.models import Category, Finding
from games.live.services import live_open
from games.models import LiveRound, Round, Table
from games.simulation.writer import days_played
from taisai_backoffice.management.commands import demonstration_play
from tests.conftest import OPERATOR
from tests.games.floor_setup import HOUR, NOON
from tests.games.floors import called


@pytest.fixture
def floor(db: None, clock: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demonstration_play, "DAYS", 2)
    monkeypatch.setattr(demonstration_play, "ROUNDS_A_TABLE", 40)
    call_command("demonstration", "--json")


@pytest.mark.usefixtures("floor")
def test_the_last_days_are_played_once(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("demonstration_play")
    first = Round.objects.count()
    assert 40 * 13 < first <= 2 * 40 * 13
    assert Round.objects.filter(ended_at__gt=NOON).count() == 0
    assert {round_.source for round_ in Round.objects.all()} == {"floor"}
    call_command("demonstration_play")
    assert Round.objects.count() == first
    assert "520 already on record" in capsys.readouterr().out


@pytest.mark.usefixtures("floor")
def test_rounds_that_an_earlier_version_played_otherwise_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(demonstration_play, "SEED", 1)
        call_command("demonstration_play")
    before = dict(Round.objects.values_list("ref", "fingerprint"))
    call_command("demonstration_play")
    assert before.items() <= dict(Round.objects.values_list("ref", "fingerprint")).items()


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


@pytest.mark.usefixtures("floor")
def test_what_is_found_in_its_procedure_is_what_was_planted() -> None:
    call_command("demonstration_play")
    today = dt.date(2026, 11, 15)
    days = [today - dt.timedelta(days=1), today]
    for day in days:
        called("reconcile", "--day", str(day))
    found = Finding.objects.filter(category=Category.PROCEDURAL).values_list("round__ref", "kind", "detail")
    tables = list(demonstration_play.demonstration_tables(NOON))
    played = days_played(tables=tables, days=days, rounds=40, seed=demonstration_play.SEED, faults=0.03)
    planted = {(row["round_ref"], row["kind"], row["detail"]) for one in played for row in one.findings.procedural}
    on_record = set(Round.objects.values_list("ref", flat=True))
    assert set(found) == {row for row in planted if row[0] in on_record}
    assert 0 < len(found) < len(on_record) / 10


@pytest.mark.usefixtures("db")
def test_in_a_house_of_ones_own_nothing_is_played() -> None:
    call_command("demonstration_play")
    assert not Table.objects.exists()
    assert not Round.objects.exists()
