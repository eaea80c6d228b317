"""Reports while other sessions act: cancelled in the middle, taken by two workers, left by one that died."""

import datetime as dt

import pytest
from django.db import connection
from django.utils import timezone

from audits.models import ReportRun
from audits.reports.services import production
from audits.reports.services.files import reports_folder
from audits.reports.services.production import report_take, reports_waiting
from audits.reports.services.reports import report_ask
from games.access.gate import Actor
from tests.audits.playing import DAY, UNDERPAID, played, record, table_for
from tests.conftest import build_house


def ask(actor: Actor) -> ReportRun:
    return report_ask(actor=actor, kind="discrepancies", format="csv", first=DAY, last=DAY)


def test_a_report_cancelled_while_it_is_made_leaves_no_file(clone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    house = build_house()
    table_for(house)
    record(played("R-1", UNDERPAID))
    monkeypatch.setattr(production, "EVERY_SECONDS", 0.0)
    run = ask(house["compliance"])

    def cancel(rows: int) -> None:
        own = connection.copy()
        with own.cursor() as cursor:
            cursor.execute("UPDATE audits_reportrun SET state = 'cancelled', ended_at = now() WHERE id = %s", [run.pk])
        own.close()

    made = report_take(key=run.pk, on_progress=cancel)
    assert made is not None
    assert made.state == "cancelled"
    assert not list(reports_folder().glob(f"{run.pk.hex}*"))


def test_a_report_whose_worker_died_is_found_by_the_sweep_and_two_workers_make_it_once(clone: str) -> None:
    house = build_house()
    run = ask(house["compliance"])
    ReportRun.objects.filter(pk=run.pk).update(state="running", started_at=timezone.now() - dt.timedelta(minutes=5))
    assert reports_waiting() == [run.pk]
    with production.ReportClaim(run.pk) as claim:
        assert claim.is_held
        assert report_take(key=run.pk) is None  # another worker makes it
    made = report_take(key=run.pk)
    assert made is not None
    assert made.state == "done"
    assert reports_waiting() == []
