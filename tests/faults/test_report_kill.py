"""A worker that is killed in the middle of a report: no half file, and the report is finished by the next one."""

import datetime as dt
import os
import signal
import subprocess
import sys

from django.utils import timezone

from audits.models import ReportRun
from audits.reports.services.files import file_path, reports_folder, sha256_of
from audits.reports.services.production import report_take, reports_waiting
from audits.reports.services.reports import report_ask
from taisai_backoffice.embedded.home import PROJECT
from tests import servers
from tests.audits.playing import DAY, UNDERPAID, played, record, table_for
from tests.conftest import build_house

#: Makes the report and stops in the middle of it, with rows already written.
WORKER = """
import sys, time, django
django.setup()
from audits.reports.services.production import report_take
def stop(rows):
    print("in the middle", flush=True)
    time.sleep(600)
report_take(key=sys.argv[1], on_progress=stop)
"""


def test_a_worker_killed_in_the_middle_leaves_no_half_file_and_the_next_one_finishes_it(clone: str) -> None:
    house = build_house()
    table_for(house)
    record(played("R-1", UNDERPAID), played("R-2", UNDERPAID))
    run = report_ask(actor=house["compliance"], kind="discrepancies", format="csv", first=DAY, last=DAY)
    environment = os.environ | {"DATABASE_URL": servers.database_url(clone)}
    worker = subprocess.Popen(
        [sys.executable, "-c", WORKER, str(run.pk)], cwd=PROJECT, env=environment, stdout=subprocess.PIPE, text=True
    )
    with worker:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "in the middle\n"
        assert report_take(key=run.pk) is None  # while it is alive, it is its own
        worker.send_signal(signal.SIGKILL)
        worker.wait(30)
    run.refresh_from_db()
    assert (run.state, run.sha256) == ("running", "")
    assert not file_path(run).exists()
    ReportRun.objects.filter(pk=run.pk).update(started_at=timezone.now() - dt.timedelta(minutes=1))
    assert reports_waiting() == [run.pk]
    finished = report_take(key=run.pk)
    assert finished is not None
    assert (finished.state, finished.row_count, finished.sha256) == ("done", 2, sha256_of(file_path(run)))
    assert not list(reports_folder().glob("*.unfinished"))
