"""Spreadsheets opened by LibreOffice: what a report wrote is what a person sees, and nothing is computed."""

import csv
import datetime as dt
import io
import shutil
import subprocess
import tempfile
from pathlib import Path
from random import Random

from audits.exports.document import Column, ColumnKind, Document, Row
from audits.exports.writers import WRITERS

PROGRAM = "soffice"
ROWS = 200
COLUMNS = (
    Column("player", "Player"), Column("rules", "Rules", ColumnKind.LIST), Column("net", "Net", ColumnKind.MONEY),
    Column("rounds", "Rounds", ColumnKind.INTEGER), Column("day", "Day", ColumnKind.DATE),
)  # fmt: skip
TEXTS = ("=1+1", "+2", "-3", "@SUM(A1)", "\tx", "陈大文", 'say "so"', "a,b", "seat-3", "http://x", "00123", "1e5")


def scenario(seed: int) -> None:
    if shutil.which(PROGRAM) is None:
        raise RuntimeError("LIBREOFFICE IS NOT INSTALLED: install the package libreoffice-calc, or leave this one out.")
    random = Random(seed)
    rows = [random_row(random) for _ in range(ROWS)]
    with tempfile.TemporaryDirectory(prefix="taisai-sheets-") as name:
        shown = opened(Path(name), rows)
    header, *body = shown
    assert [cell.split(" (")[0] for cell in header] == [column.title for column in COLUMNS]
    assert [line[0] for line in body[:ROWS]] == [row[0] for row in rows]
    assert [line[1] for line in body[:ROWS]] == [", ".join(row[1]) for row in rows]
    assert [float(line[2].replace(",", "").replace("−", "-")) for line in body[:ROWS]] == [row[2] / 100 for row in rows]
    assert [int(line[3].replace(",", "")) for line in body[:ROWS]] == [row[3] for row in rows]


def random_row(random: Random) -> Row:
    return (
        random.choice(TEXTS), random.sample(["5.1.1", "5.14", "=cmd"], random.randint(0, 3)),
        random.randint(-10**9, 10**9), random.randint(0, 10**6),
        dt.date(2026, 1, 1) + dt.timedelta(random.randint(0, 900)),
    )  # fmt: skip


def opened(folder: Path, rows: list[Row]) -> list[list[str]]:
    """Write the rows as XLSX, let LibreOffice save the second sheet as CSV, and read that."""
    path = folder / "report.xlsx"
    document = Document("Sample", COLUMNS, ("Casino",), (("Gaming days", "15 Nov 2026"),))
    with path.open("w+b") as file:
        WRITERS["xlsx"](document, rows, lambda: None, file, lambda count: None)
    second_sheet = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,2"
    profile = f"-env:UserInstallation=file://{folder}/profile"
    command = [PROGRAM, profile, "--headless", "--convert-to", second_sheet, "--outdir", str(folder), str(path)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    (saved,) = folder.glob("report*.csv")
    return list(csv.reader(io.StringIO(saved.read_text(encoding="utf-8"))))
