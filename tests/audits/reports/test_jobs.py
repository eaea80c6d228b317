"""Reports as jobs: made once and whole, cancelled, tried again, handed out on record, certified once, removed."""

import csv
import datetime as dt
import io
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import time_machine
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import connection, transaction
from django.utils import timezone

from audits.exports.document import Column, ColumnKind, Row
from audits.exports.rows_file import read_rows, row_as_json, row_from_json, write_rows
from audits.exports.writers import WRITERS
from audits.models import ReportCertificate, ReportRun
from audits.reports.reach import reports_seen
from audits.reports.registry import REPORTS
from audits.reports.services.certificates import report_certify, report_check
from audits.reports.services.files import certified_path, file_path, reports_folder, rows_path
from audits.reports.services.production import report_take
from audits.reports.services.reports import report_again, report_ask, report_cancel, report_file, reports_expire
from games.access.gate import Actor
from games.engine.play.findings import VERSION
from games.models import AccessRecord, Denial, Staff, Table
from tests.audits.playing import DAY, RIGHT, UNDERPAID, drain, played, record, table_for
from tests.conftest import OPERATOR, House
from tests.games.rounds.samples import bet

pytestmark = pytest.mark.usefixtures("table")


def ask(actor: Actor, kind: str = "discrepancies", format: str = "csv", **more: Any) -> ReportRun:
    return report_ask(actor=actor, kind=kind, format=format, **{"first": DAY, "last": DAY, **more})


def make(actor: Actor, kind: str = "discrepancies", format: str = "csv", **more: Any) -> ReportRun:
    run = report_take(key=ask(actor, kind, format, **more).pk)
    assert run is not None
    return run


def rows_of(run: ReportRun) -> list[dict[str, str]]:
    text = file_path(run).read_text(encoding="utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


# --- Made ---


def test_a_report_is_kept_with_its_rows_hash_engine_rulebooks_and_the_moment_it_is_true(house: House) -> None:
    record(played("R-1", UNDERPAID), played("R-2", RIGHT))
    run = make(house["compliance"])
    assert (run.state, run.row_count, run.engine, run.rulebooks) == ("done", 1, VERSION, ["rws-tai-sai-v6"])
    assert run.as_of is not None
    assert run.expires_at == run.ended_at + dt.timedelta(days=90)  # type: ignore[operator]
    assert [row["round_ref"] for row in rows_of(run)] == ["R-1"]  # what was pending was reconciled first


@pytest.mark.parametrize("format", ["csv", "xlsx", "pdf", "json"])
@pytest.mark.parametrize("kind", sorted(REPORTS))
def test_every_report_in_every_format_also_of_an_empty_period(house: House, kind: str, format: str) -> None:
    run = make(house["compliance"], kind, format, first=DAY - dt.timedelta(days=400), last=DAY - dt.timedelta(days=399))
    assert (run.state, run.fault) == ("done", "")
    content = file_path(run).read_bytes()
    starts = {"csv": b"\xef\xbb\xbf", "xlsx": b"PK", "pdf": b"%PDF-1.7", "json": b"["}
    assert content.startswith(starts[format])
    if format == "json" and not run.row_count:
        assert json.loads(content) == []


def test_a_nil_report_says_so_in_words(house: House) -> None:
    record(played("R-1", RIGHT), played("R-2", RIGHT))
    run = make(house["compliance"], format="xlsx")
    sheet = openpyxl.load_workbook(file_path(run)).worksheets[0]
    words = " ".join(str(cell.value) for line in sheet.iter_rows() for cell in line if cell.value)
    assert "No discrepancies were found in 2 rounds." in words


def test_a_second_print_with_the_same_figures_is_a_reprint_one_with_others_is_not(house: House) -> None:
    record(played("R-1", UNDERPAID))
    prints = [make(house["compliance"], format="pdf") for _ in range(2)]
    record(played("R-2", UNDERPAID))
    prints.append(make(house["compliance"], format="pdf"))
    assert [run.is_reprint for run in prints] == [False, True, False]


def test_rows_come_back_with_their_types() -> None:
    kinds = list(ColumnKind)
    columns = [Column(kind.value, kind.value, kind) for kind in kinds]
    moment = dt.datetime(2026, 10, 25, 1, 30, tzinfo=dt.UTC)
    row: Row = ("=1", ["a", "b"], -1050, 7, Decimal("1.50"), Decimal("12.5"), DAY, moment, True)
    target = io.BytesIO()
    count, digest = write_rows([row, (None,) * len(kinds)], target, lambda rows: None)
    assert (count, len(digest)) == (2, 64)
    path = reports_folder() / "types.rows"
    path.write_bytes(target.getvalue())
    assert list(read_rows(columns, path)) == [row, (None,) * len(kinds)]
    assert row_from_json(columns, json.loads(json.dumps(row_as_json(row)))) == row


# --- Cancelled, failed, killed ---


def test_a_report_that_is_cancelled_is_not_made_and_one_that_is_done_is_not_cancelled(house: House) -> None:
    run = ask(house["compliance"])
    report_cancel(actor=house["compliance"], run=run)
    assert report_take(key=run.pk) is None
    with pytest.raises(ValidationError, match="already finished"):
        report_cancel(actor=house["compliance"], run=make(house["compliance"]))


def test_an_unexpected_error_is_tried_three_times_and_then_said(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: Any) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(WRITERS, "csv", broken)
    run = ask(house["compliance"])
    states = []
    for _ in range(3):
        report_take(key=run.pk)
        run.refresh_from_db()
        states.append((run.state, run.retry_at is not None))
    assert states == [("waiting", True), ("waiting", True), ("failed", False)]
    assert "OSError" in run.fault
    assert not list(reports_folder().glob(f"{run.pk.hex}*"))


def test_a_pdf_of_too_many_rows_fails_at_once_and_says_what_to_do(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("audits.exports.pdf.writer.MOST_PDF_ROWS", 1)
    record(played("R-1", UNDERPAID), played("R-2", UNDERPAID))
    run = make(house["compliance"], format="pdf")
    assert run.state == "failed"
    assert "XLSX" in run.fault


# --- Whose ---


def test_a_pit_manager_has_the_reports_of_the_pit_and_no_others(house: House) -> None:
    table_for(house, "TS-02", pit="P2")
    record(played("R-1", UNDERPAID), played("R-2", UNDERPAID, table="TS-02"))
    own, whole = make(house["pit-manager"]), make(house["compliance"])
    assert [row["round_ref"] for row in rows_of(own)] == ["R-1"]
    assert [row["round_ref"] for row in rows_of(whole)] == ["R-1", "R-2"]
    assert set(reports_seen(house["pit-manager"])) == {own}
    assert set(reports_seen(house["compliance"])) == {own, whole}
    with pytest.raises(PermissionDenied):
        report_file(actor=house["pit-manager"], run=whole)


@pytest.mark.parametrize("role", ["pit-supervisor", "surveillance", "administrator", "dealer"])
def test_others_get_none(house: House, role: str) -> None:
    run = make(house["compliance"])
    with pytest.raises(PermissionDenied):
        ask(house[role])
    with pytest.raises(PermissionDenied):
        report_file(actor=house[role], run=run)
    assert not reports_seen(house[role]).exists()
    assert Denial.objects.filter(staff=house[role], action="report.export").exists()


def test_another_casinos_reports_are_absent(house: House) -> None:
    stranger = house.hire("C-ELSE", "compliance", casino=house.other)
    run = make(house["compliance"])
    assert not reports_seen(stranger).filter(pk=run.pk).exists()
    with pytest.raises(PermissionDenied):
        ask(stranger, casino=house.casino)


def test_a_person_who_moved_to_another_pit_before_it_was_made_gets_nothing(house: House) -> None:
    run = ask(house["pit-manager"])
    Staff.objects.filter(pk=house["pit-manager"].pk).update(pit=house.pits["P2"])
    made = report_take(key=run.pk)
    assert made is not None
    assert made.state == "failed"
    assert "may no longer make this report" in made.fault


def test_every_download_is_on_record_and_a_changed_file_is_not_handed_out(house: House) -> None:
    run = make(house["auditor"])
    assert report_file(actor=house["auditor"], run=run) == file_path(run)
    assert AccessRecord.objects.filter(kind="export", thing__contains="report discrepancies").count() == 1
    file_path(run).write_bytes(b"forged")
    with pytest.raises(ValidationError, match="hash differs"):
        report_file(actor=house["auditor"], run=run)
    assert AccessRecord.objects.filter(kind="export").count() == 1


# --- Certified, changed, removed ---


def test_compliance_certifies_once_and_the_certificate_is_in_the_file(house: House) -> None:
    record(played("R-1", UNDERPAID))
    run = make(house["compliance"], format="xlsx")
    certificate = report_certify(actor=house["compliance"], run=run, statement="Complete and correct.")
    book = openpyxl.load_workbook(certified_path(run))
    words = " ".join(str(cell.value) for line in book.worksheets[0].iter_rows() for cell in line if cell.value)
    assert "Complete and correct." in words
    assert certificate.name in words
    with pytest.raises(ValidationError, match="already certified"):
        report_certify(actor=house["compliance"], run=run, statement="Again.")
    with pytest.raises(Exception, match="permission denied"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE audits_reportcertificate SET statement = 'x'")


@pytest.mark.parametrize("role", ["auditor", "pit-manager", "casino-manager", "administrator"])
def test_nobody_else_certifies(house: House, role: str) -> None:
    run = make(house["compliance"], format="pdf")
    with pytest.raises(PermissionDenied):
        report_certify(actor=house[role], run=run, statement="Complete.")
    assert not ReportCertificate.objects.exists()


@pytest.mark.parametrize(
    ("format", "statement", "fault"),
    [
        ("csv", "Complete.", "Only PDF and XLSX"),
        ("pdf", " ", "Enter the statement"),
        ("pdf", "x" * 2001, "longer than"),
    ],
)
def test_what_cannot_be_certified(house: House, format: str, statement: str, fault: str) -> None:
    run = make(house["compliance"], format=format)
    with pytest.raises(ValidationError, match=fault):
        report_certify(actor=house["compliance"], run=run, statement=statement)


def test_figures_that_changed_since_are_seen_and_run_again_beside_the_old(house: House) -> None:
    record(played("R-1", UNDERPAID))
    run = make(house["compliance"], format="pdf")
    assert report_check(run=run) is False
    record(played("R-2", bet("seat-9", net="3.00")))
    again = report_take(key=report_again(actor=house["compliance"], run=run).pk)
    assert again is not None
    assert (again.again_of_id, again.row_count) == (run.pk, 2)
    assert report_check(run=run) is True
    with pytest.raises(ValidationError, match="figures have changed"):
        report_certify(actor=house["compliance"], run=run, statement="Complete.")


def test_a_change_is_found_when_the_report_is_certified(house: House) -> None:
    record(played("R-1", UNDERPAID))
    run = make(house["compliance"], format="pdf")
    record(played("R-2", UNDERPAID))
    drain()
    with pytest.raises(ValidationError, match="figures have changed"):
        report_certify(actor=house["compliance"], run=run, statement="Complete.")
    assert not ReportCertificate.objects.exists()
    assert ReportRun.objects.get().changed_at is not None


def test_a_report_that_stops_its_worker_every_time_is_said_to_have_failed(house: House) -> None:
    run = ask(house["compliance"])
    ReportRun.objects.filter(pk=run.pk).update(state="running", started_at=timezone.now(), attempts=3)
    assert report_take(key=run.pk) is None
    run.refresh_from_db()
    assert (run.state, run.fault) == ("failed", "The worker was stopped 3 times before the report was finished.")
    assert not list(reports_folder().glob(f"{run.pk.hex}*"))


def test_an_expired_file_is_not_handed_out_even_before_it_is_removed(house: House) -> None:
    run = make(house["compliance"])
    with time_machine.travel(timezone.now() + dt.timedelta(days=91)):
        assert file_path(run).exists()
        with pytest.raises(ValidationError, match="expired on"):
            report_file(actor=house["compliance"], run=run)


def test_a_file_is_removed_when_it_expires_and_its_record_stays(house: House) -> None:
    run = make(house["compliance"])
    with time_machine.travel(timezone.now() + dt.timedelta(days=89)):
        assert reports_expire() == 0
    with time_machine.travel(timezone.now() + dt.timedelta(days=91)):
        assert reports_expire() == 1
    run.refresh_from_db()
    assert not file_path(run).exists()
    assert not rows_path(run).exists()
    with pytest.raises(ValidationError, match="expired on"):
        report_file(actor=house["compliance"], run=run)


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({"kind": "gossip"}, "not a report"),
        ({"format": "doc"}, "not a format"),
        ({"first": DAY, "last": DAY - dt.timedelta(days=1)}, "is before"),
        ({"first": DAY - dt.timedelta(days=366), "last": DAY}, "longer than 366 days"),
    ],
)
def test_wrong_input_is_refused_and_nothing_is_kept(house: House, values: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValidationError, match=fault):
        ask(house["compliance"], **{"kind": "discrepancies", "format": "csv", **values})
    assert not ReportRun.objects.exists()


def test_a_report_of_the_operator_over_all_casinos(table: Table, house: House) -> None:
    record(played("R-1", UNDERPAID))
    run = make(OPERATOR)
    assert (run.casino, run.row_count) == (None, 1)
    assert not reports_seen(house["compliance"]).exists()


def test_the_folder_is_private(house: House) -> None:
    run = make(house["compliance"])
    assert all(path.stat().st_mode & 0o077 == 0 for path in Path(reports_folder()).glob(f"{run.pk.hex}*"))
