"""Each report over a fixed simulated week, as files kept beside the tests: a change of a figure is seen at once.

`GOLDEN=write pytest tests/audits/reports/test_golden.py` writes them anew, after the change was understood.
"""

import datetime as dt
import os
from pathlib import Path

import pytest
from django.core.management import call_command

from audits.services.report_files import file_path
from audits.services.report_making import report_take
from audits.services.reports import report_ask
from games.models import Casino
from tests.conftest import OPERATOR

GOLDEN = Path(__file__).parents[2] / "golden" / "reports"
FIRST, LAST = dt.date(2026, 11, 9), dt.date(2026, 11, 15)
#: Those that a simulated floor fills, or that say the same of every floor without people's work.
KINDS = ("discrepancies", "breaches", "irregularities", "procedural", "by-ruling", "voids", "limits", "daily",
         "incidents", "log", "disputes", "rulings", "corrections")  # fmt: skip


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
def test_every_report_of_the_week_is_as_it_was(week: Path) -> None:
    call_command("load_floor", f"{week}.floor.toml", verbosity=0)
    call_command("import_rounds", str(week), verbosity=0)
    casino = Casino.objects.get()
    for kind in KINDS:
        run = report_take(
            key=report_ask(actor=OPERATOR, kind=kind, format="csv", first=FIRST, last=LAST, casino=casino).pk
        )
        assert run is not None
        assert (run.state, run.fault) == ("done", "")
        made, kept = file_path(run).read_bytes(), GOLDEN / f"{kind}.csv"
        if os.environ.get("GOLDEN") == "write":
            kept.parent.mkdir(exist_ok=True)
            kept.write_bytes(made)
        assert made.decode() == kept.read_bytes().decode(), kind
