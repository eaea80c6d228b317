"""reconcile and report as people call them: errors, permissions, files, and a bar only where somebody sees it."""

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from audits.models import Finding, Run
from audits.reconciliation.services.runs import part_take, run_start
from games.models import Denial, Table
from tests.audits.playing import DAY, RIGHT, TOO_HIGH, UNDERPAID, everything, played, record, table_for
from tests.conftest import OPERATOR, House
from tests.games.floors import called
from tests.games.rounds.samples import bet

D = DAY.isoformat()
NOTHING = {"rounds": 0, "bets": 0, "discrepancies": 0, "breaches": 0, "irregularities": 0}


def fault(*command: str) -> str:
    """The one sentence; and nothing was written."""
    before = everything()
    with pytest.raises(CommandError) as refusal:
        call_command(*command)
    assert everything() == before
    (line,) = str(refusal.value).splitlines()
    return line


def report(*options: str, kind: str = "discrepancies", form: str = "json") -> Any:
    return json.loads(called("report", kind, "--day", D, "--format", form, *options))


# --- reconcile ---


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--day", "15.11.2026"], "--day: '15.11.2026' is not a day; write it as 2026-11-15."),
        (["--day", "2026-02-30"], "--day: '2026-02-30' is not a day"),
        (["--day", D, "--table", "TS-99"], "--table: there is no table 'TS-99'; check the code."),
        (["--day", D, "--workers", "0"], "--workers: 0 is not a number of workers; write 1 to 64."),
        (["--day", D, "--workers", "65"], "--workers: 65 is not a number of workers"),
        (["--day", D, "--as", "NOBODY"], "--as: there is no person with the staff number NOBODY"),
    ],
)
def test_reconcile_says_what_is_wrong_and_where(table: Table, options: list[str], said: str) -> None:
    record(played("R-1", UNDERPAID))
    assert fault("reconcile", *options).startswith(said)


def test_a_day_without_rounds_has_nothing(table: Table) -> None:
    for options in ([], ["--table", "TS-01"]):
        counts = json.loads(called("reconcile", "--day", D, "--json", *options))
        assert counts.pop("seconds") >= 0
        assert counts == {"day": D, **NOTHING}
    assert "0 rounds with 0 bets" in called("reconcile", "--day", D)


def test_findings_are_no_failure(table: Table) -> None:
    record(played("R-1", UNDERPAID), played("R-2", TOO_HIGH))
    said = called("reconcile", "--day", D, "--table", "TS-01")
    assert said.startswith(f"{D}, TS-01: 2 rounds with 2 bets in ")
    assert said.endswith(" s: 1 discrepancies, 1 breaches, 0 irregularities.")


@pytest.mark.parametrize(("is_terminal", "shown"), [(True, True), (False, False)])
def test_a_bar_is_shown_on_a_terminal_only(
    table: Table, capsys: Any, monkeypatch: pytest.MonkeyPatch, is_terminal: bool, shown: bool
) -> None:
    record(played("R-1"), played("R-2"))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal, raising=False)
    called("reconcile", "--day", D)
    assert ("100%, 2 rounds" in capsys.readouterr().err) is shown


def test_who_may_not_start_a_run_is_turned_away_on_record(house: House, table: Table) -> None:
    for role in ("pit-manager", "auditor"):
        assert "may not do this (run.start" in fault("reconcile", "--day", D, "--as", role.upper())
        assert Denial.objects.get(staff_id=house[role].pk).door == "command reconcile"
    called("reconcile", "--day", D, "--as", "COMPLIANCE")


def test_only_casinos_within_reach_are_reconciled(house: House, table: Table) -> None:
    record(played("R-1", UNDERPAID))
    house.hire("CO-2", "compliance", casino=house.other)
    assert json.loads(called("reconcile", "--day", D, "--json", "--as", "CO-2"))["rounds"] == 0
    assert "may not do this" in fault("reconcile", "--day", D, "--table", "TS-01", "--as", "CO-2")
    assert json.loads(called("reconcile", "--day", D, "--json", "--as", "COMPLIANCE"))["rounds"] == 1
    assert Run.objects.get(casino=house.casino).who.startswith("COMPLIANCE")


def test_a_run_that_somebody_cancels_says_so(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    record(played("R-1", UNDERPAID))

    def cancelled_first(key: int, wait: bool = False) -> Any:
        Run.objects.update(state="cancelled")
        return part_take(key=key, wait=wait)

    monkeypatch.setattr("audits.management.commands.reconcile.part_take", cancelled_first)
    with pytest.raises(CommandError, match="1 of the tables were not reconciled: the run was cancelled"):
        call_command("reconcile", "--day", D)
    assert not Finding.objects.exists()


# --- report ---


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--day", "tomorrow"], "--day: 'tomorrow' is not a day"),
        ([], "--day: is missing; give a day, or a period with --from and --to."),
        (["--from", D], "--day: is missing"),
        (["--day", D, "--from", D], "--day: cannot be combined with --from or --to"),
        (["--day", D, "--to", D], "--day: cannot be combined with --from or --to"),
        (["--from", D, "--to", "2026-11-14"], "--to: 2026-11-14 is before 2026-11-15"),
        (["--from", "2025-01-01", "--to", D], "--to: the period is longer than 366 days"),
        (["--from", "x", "--to", D], "--from: 'x' is not a day"),
        (["--day", D, "--table", "TS-99"], "--table: there is no table 'TS-99'"),
    ],
)
def test_report_says_what_is_wrong_and_where(table: Table, options: list[str], said: str) -> None:
    record(played("R-1", UNDERPAID))
    assert fault("report", "breaches", "--format", "csv", *options).startswith(said)


@pytest.mark.parametrize("options", [["breaches", "--format", "doc"], ["gossip", "--format", "csv"], ["breaches"]])
def test_kinds_and_formats_are_those_there_are(table: Table, options: list[str]) -> None:
    with pytest.raises(CommandError, match=r"invalid choice|required"):
        call_command("report", *options, "--day", D)


def test_a_report_goes_into_a_file_whole_or_not_at_all(table: Table, tmp_path: Path) -> None:
    record(played("R-1", UNDERPAID))
    path = tmp_path / "found.json"
    assert called("report", "discrepancies", "--day", D, "--format", "json", "-o", str(path)) == ""
    assert json.loads(path.read_text()) == report()
    assert [one.name for one in tmp_path.iterdir()] == ["found.json"]
    missing = tmp_path / "nowhere" / "found.csv"
    with pytest.raises(CommandError, match=r"found\.csv: cannot be written \(No such file or directory\); choose"):
        call_command("report", "discrepancies", "--day", D, "--format", "csv", "-o", str(missing))


def test_a_report_that_cannot_be_copied_leaves_the_old_file(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(played("R-1", UNDERPAID))
    path = tmp_path / "found.csv"
    path.write_text("yesterday's")

    def broken(source: Path, target: Path) -> None:
        target.write_text("round_ref")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("audits.management.commands.report.shutil.copyfile", broken)
    with pytest.raises(CommandError, match="No space left"):
        call_command("report", "discrepancies", "--day", D, "--format", "csv", "-o", str(path))
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("found.csv", "yesterday's")]


def test_nothing_found_is_an_empty_list_and_a_bare_head(table: Table) -> None:
    record(played("R-1", RIGHT))
    assert report() == []
    assert called("report", "breaches", "--day", D, "--format", "csv") == (
        "\ufeffround_ref,table,kind,boxes,player,placed,permitted,rules,source"
    )


def test_a_spreadsheet_computes_nothing_of_ours(table: Table) -> None:
    evil = '=HYPERLINK("http://x")'
    record(played("R-1", bet(evil, net="90.00"), bet("-1+1", "even", net="3.00"), bet("@x", "big", net="3.00")))
    text = called("report", "discrepancies", "--day", D, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))
    assert [row["player"] for row in rows] == [f"'{evil}", "'-1+1", "'@x"]
    assert [row["expected_net"] for row in rows] == ["100.00", "100.00", "-100.00"]  # a number stays a number
    assert [row["player"] for row in report()] == [evil, "-1+1", "@x"]


@pytest.mark.parametrize("role", ["auditor", "compliance", "pit-manager", "casino-manager"])
def test_who_may_export(house: House, table: Table, role: str) -> None:
    record(played("R-1", UNDERPAID))
    assert len(report("--as", role.upper())) == 1


@pytest.mark.parametrize("role", ["pit-supervisor", "surveillance", "administrator"])
def test_who_may_not_export_is_turned_away_on_record(house: House, table: Table, role: str) -> None:
    record(played("R-1", UNDERPAID))
    assert "may not do this (report.export)" in fault(
        "report", "discrepancies", "--day", D, "--format", "csv", "--as", role.upper()
    )
    assert Denial.objects.get(staff_id=house[role].pk).door == "command report"


def test_rows_lie_within_reach(house: House, table: Table) -> None:
    table_for(house, "TS-02")
    house.hire("AU-2", "auditor", casino=house.other)
    record(played("R-1", UNDERPAID), played("R-2", UNDERPAID, table="TS-02"))
    assert [row["round_ref"] for row in report("--as", "AUDITOR")] == ["R-1", "R-2"]
    assert report("--as", "AU-2") == []


def test_lapsed_findings_are_not_reported(table: Table) -> None:
    record(played("R-1", UNDERPAID))
    assert len(report()) == 1
    run = run_start(actor=OPERATOR, casino=table.casino, day=DAY)
    Finding.objects.update(lapsed_by=run, lapsed_at=run.started_at)
    assert report() == []
