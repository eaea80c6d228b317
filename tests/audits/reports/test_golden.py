"""Each report over a fixed simulated week, as files kept beside the tests: a change of a figure is seen at once.

`GOLDEN=write pytest tests/audits/reports/test_golden.py` writes them anew, after the change was understood.
"""

import datetime as dt
import os
import re
from pathlib import Path

import pytest
import time_machine
from django.core.management import call_command

from audits.reports.registry import REPORTS
from audits.reports.services.production import report_take
from audits.reports.services.reports import report_ask, report_file
from games.models import Casino
from tests.conftest import OPERATOR

GOLDEN = Path(__file__).parents[2] / "golden" / "reports"
FIRST, LAST = dt.date(2026, 11, 9), dt.date(2026, 11, 15)
#: 05:00 in Singapore, the last hour of the week: what is set up and exported then is in the period, too.
NOW = dt.datetime(2026, 11, 15, 21, tzinfo=dt.UTC)
#: A report's own key is another one each time.
KEY = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seven days at two tables with faults planted, as files."""
    target = tmp_path_factory.mktemp("golden") / "week.ndjson"
    call_command(
        "simulate", "--day", str(FIRST), "--days", "7", "--tables", "2", "--rounds-per-table", "12", "--seed", "18",
        "--faults", "0.4", "-o", str(target),
    )  # fmt: skip
    return target


@pytest.mark.django_db
@time_machine.travel(NOW, tick=False)
def test_every_report_of_the_week_is_as_it_was(week: Path) -> None:
    call_command("load_floor", f"{week}.floor.toml", verbosity=0)
    call_command("import_rounds", str(week), verbosity=0)
    casino = Casino.objects.get()
    for kind in sorted(REPORTS):
        run = report_take(
            key=report_ask(actor=OPERATOR, kind=kind, format="csv", first=FIRST, last=LAST, casino=casino).pk
        )
        assert run is not None
        assert (run.state, run.fault) == ("done", "")
        made, kept = KEY.sub("KEY", report_file(actor=OPERATOR, run=run).read_bytes().decode()), GOLDEN / f"{kind}.csv"
        if os.environ.get("GOLDEN") == "write":
            kept.parent.mkdir(exist_ok=True)
            kept.write_bytes(made.encode())
        assert made.encode() == kept.read_bytes(), kind
