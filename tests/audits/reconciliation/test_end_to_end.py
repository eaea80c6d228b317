"""simulate → load_floor → import_rounds → reconcile → report: what is found is what was planted, and nothing else."""

import csv
import datetime as dt
import io
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from audits.management.commands import reconcile
from audits.models import DaySummary, Finding, Run
from audits.reconciliation.services.runs import parts_waiting
from games.models import Outbox, Round, TableAssignment
from tests.audits.playing import everything
from tests.games.engine.oracle import FELTS
from tests.games.floors import called
from tests.games.simulation.runs import DAY, floor_of, simulated, truth_of

KINDS = ("discrepancies", "breaches", "irregularities", "procedural")
COUNTED = KINDS[:3]
NEXT_DAY = (dt.date.fromisoformat(DAY) + dt.timedelta(days=1)).isoformat()
BOTH = ("--from", DAY, "--to", NEXT_DAY)
ROUNDS = 20  # a table and day

Truth = dict[str, list[dict[str, Any]]]


def floor(folder: Path, seed: int) -> Path:
    """Two days of a table of every rulebook and layout, on record."""
    sizes = {"tables": len(FELTS), "rounds-per-table": ROUNDS, "days": 2, "faults": 0.4}
    path = simulated(folder / "rounds.ndjson", seed=seed, **sizes)
    called("load_floor", str(floor_of(path)))
    called("import_rounds", str(path))
    assert set(TableAssignment.objects.values_list("rulebook", "layout")) == set(FELTS)
    return path


def reported(*options: str) -> Truth:
    return {kind: json.loads(called("report", kind, *options, "--format", "json")) for kind in KINDS}


def reported_in_csv(*options: str) -> Truth:
    texts = {kind: called("report", kind, *options, "--format", "csv") for kind in KINDS}
    return {
        kind: list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=""))) for kind, text in texts.items()
    }


def as_cells(truth: Truth) -> Truth:
    def cell(value: Any) -> str:
        return " ".join(value) if isinstance(value, list) else value or ""

    return {kind: [{name: cell(value) for name, value in row.items()} for row in rows] for kind, rows in truth.items()}


def counted(day: str, *options: str) -> dict[str, Any]:
    counts: dict[str, Any] = json.loads(called("reconcile", "--day", day, "--json", *options))
    assert counts.pop("seconds") >= 0
    return counts


def expected_counts(path: Path, **which: Any) -> dict[str, Any]:
    rounds = Round.objects.filter(**which)
    truth = planted(path, **which)
    found = {kind: len(truth[kind]) for kind in COUNTED}
    return {"day": str(which["gaming_day"]), "rounds": rounds.count(), "bets": bets_of(rounds), **found}


def bets_of(rounds: Any) -> int:
    return sum(len(round_.players) for round_ in rounds.only("players"))


def planted(path: Path, **which: Any) -> Truth:
    """The truth of some rounds."""
    refs = set(Round.objects.filter(**which).values_list("ref", flat=True))
    return {kind: [row for row in truth_of(path)[kind] if row["round_ref"] in refs] for kind in KINDS}


@pytest.mark.parametrize("seed", [71, 72])
def test_a_report_takes_what_waits_and_says_the_truth_row_by_row(
    db: None, clock: Any, tmp_path: Path, seed: int
) -> None:
    path = floor(tmp_path, seed)
    truth = truth_of(path)
    assert all(truth[kind] for kind in KINDS)
    code = truth["breaches"][0]["table"]
    assert reported("--day", NEXT_DAY, "--table", code) == planted(path, gaming_day=NEXT_DAY, table__code=code)
    assert Outbox.objects.count() == (2 * len(FELTS) - 1) * ROUNDS  # only what was asked for is taken
    assert reported(*BOTH) == truth
    assert not Outbox.objects.exists()
    assert reported_in_csv(*BOTH) == as_cells(truth)
    assert reported("--day", NEXT_DAY) == planted(path, gaming_day=NEXT_DAY)


def test_reconcile_counts_what_is_there_and_finds_the_truth(db: None, clock: Any, tmp_path: Path) -> None:
    path = floor(tmp_path, 73)
    code = truth_of(path)["breaches"][0]["table"]
    assert counted(DAY, "--table", code) == expected_counts(path, gaming_day=DAY, table__code=code)
    assert DaySummary.objects.count() == 1  # the others are left alone
    for day in (DAY, NEXT_DAY):
        assert counted(day) == expected_counts(path, gaming_day=day)
    assert not Outbox.objects.exists()
    before = everything("audits_finding")
    assert reported(*BOTH) == truth_of(path)
    assert counted(DAY) == expected_counts(path, gaming_day=DAY)
    assert everything("audits_finding") == before


def test_what_killed_workers_leave_is_done_by_the_command(
    clone: str, clock: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, parent, take = floor(tmp_path, 75), os.getpid(), reconcile.take

    def die_if_beside(key: int) -> int:
        if os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        return take(key)

    monkeypatch.setattr(reconcile, "take", die_if_beside)
    for day in (DAY, NEXT_DAY):
        assert counted(day, "--workers", "3") == expected_counts(path, gaming_day=day)
    assert not Outbox.objects.exists()
    assert reported(*BOTH) == truth_of(path)


def test_who_stops_the_command_cancels_its_run_and_what_was_done_stays(
    clone: str, clock: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, taken, take = floor(tmp_path, 76), iter((True, False)), reconcile.take

    def stopped_at_the_second(key: int) -> int:
        if next(taken):
            return take(key)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(reconcile, "take", stopped_at_the_second)
        with pytest.raises(KeyboardInterrupt):
            called("reconcile", "--day", DAY)
    run = Run.objects.get()
    assert (run.state, run.parts.filter(is_done=True).count()) == (Run.State.CANCELLED, 1)
    assert parts_waiting() == []  # no sweep goes on with it
    assert counted(DAY) == expected_counts(path, gaming_day=DAY)


def test_several_workers_find_the_truth_and_one_alone_the_same(clone: str, clock: Any, tmp_path: Path) -> None:
    path = floor(tmp_path, 74)
    for day in (DAY, NEXT_DAY):
        assert counted(day, "--workers", "2") == expected_counts(path, gaming_day=day)
    assert not Outbox.objects.exists()
    assert reported(*BOTH) == truth_of(path)
    before, sums = everything("audits_finding"), list(DaySummary.objects.order_by("pk").values())
    for day in (DAY, NEXT_DAY):
        assert counted(day) == expected_counts(path, gaming_day=day)
    assert everything("audits_finding") == before
    assert list(DaySummary.objects.order_by("pk").values()) == sums
    assert not Finding.objects.exclude(lapsed_at=None).exists()
