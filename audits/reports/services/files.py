"""The files of reports: in the home folder, named by the report's key, complete or absent."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from django.conf import settings

from audits.models import ReportRun

ROWS, CERTIFIED, UNFINISHED = ".rows", ".certified", ".unfinished"


def reports_folder() -> Path:
    folder: Path = settings.HOME.folder("reports")
    return folder


def rows_path(run: ReportRun) -> Path:
    return reports_folder() / f"{run.pk.hex}{ROWS}"


def file_path(run: ReportRun) -> Path:
    return reports_folder() / f"{run.pk.hex}.{run.format}"


def certified_path(run: ReportRun) -> Path:
    return reports_folder() / f"{run.pk.hex}{CERTIFIED}.{run.format}"


@contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """Open a new file that gets its final name only when it is complete and on disk."""
    unfinished = path.with_name(path.name + UNFINISHED)
    try:
        with unfinished.open("w+b") as file:
            unfinished.chmod(0o600)
            yield file
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_remove(run: ReportRun) -> None:
    """Remove every file of a report, finished or not."""
    for path in reports_folder().glob(f"{run.pk.hex}*"):
        path.unlink(missing_ok=True)
