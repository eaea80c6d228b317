"""Reports against bare tools: CSV by psql, XLSX by XlsxWriter, PDF by typst; a year of daily results to a month."""

from bench.children import Child
from bench.floors import demonstration
from bench.measure import TRIES, Row
from taisai_backoffice.embedded.home import Home

CSV_ROWS, XLSX_ROWS, PDF_ROWS = 1_000_000, 200_000, 100
TABLES = 100
MOST_MEMORY_MB = 128
TITLE = f"Reports: {CSV_ROWS:,} rows as CSV, {XLSX_ROWS:,} as XLSX, {PDF_ROWS} as PDF, a year of {TABLES} tables"
#: What each is compared with, and how many times its cost is allowed.
PAIRS = {
    "csv": ("psql \\copy of the same query", 3.0),
    "xlsx": ("XlsxWriter fed from memory", 1.3),
    "pdf": ("typst alone", 3.0),
    "daily": ("a month of daily results", 15.0),
}
NAMES = {
    "csv": f"CSV, {CSV_ROWS:,} rows", "xlsx": f"XLSX, {XLSX_ROWS:,} rows", "pdf": f"PDF, {PDF_ROWS} rows",
    "daily": f"daily results, a year of {TABLES} tables",
}  # fmt: skip


def run(home: Home) -> list[Row]:
    with demonstration(home) as floor:
        environment = floor.copy("reports")
        with Child("bench.desk.report_maker", environment) as maker:
            maker.ask("prepare", TABLES)
            return [row for name in PAIRS for row in pair(maker, name)] + [memory(maker)]


def pair(maker: Child, name: str) -> list[Row]:
    """Measure the bare tool and the report in turn, and compare the best of each."""
    tries = [(float(maker.ask(f"{name}_bare")), float(maker.ask(name))) for _ in range(TRIES)]
    bare, ours = (min(seconds) for seconds in zip(*tries, strict=True))
    against, limit = PAIRS[name]
    ratio = ours / bare
    verdict = f"limit {limit}: {'within' if ratio <= limit else 'over'}"
    return [Row(against, bare, 1), Row(NAMES[name], ours, ratio, verdict, ratio <= limit)]


def memory(maker: Child) -> Row:
    grown = float(maker.ask("memory"))
    verdict = f"{grown:.0f} MB over the process at rest, limit {MOST_MEMORY_MB}"
    return Row("memory, the CSV report", 0, 0, verdict, grown <= MOST_MEMORY_MB)
