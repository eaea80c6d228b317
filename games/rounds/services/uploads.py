"""Uploaded files of rounds: store them, import them in a worker, report the progress."""

import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, ValidationError
from django.db import connection, transaction
from django.db.models import Sum
from django.utils import timezone

from games.access.gate import Denied, authorize
from games.engine.errors import InputError
from games.models import ImportJob, Staff
from games.rounds.services.imports import rounds_import

LARGEST_UPLOAD = 512 * 1024 * 1024
MEGABYTE = 1024 * 1024
#: An older temporary file was left by a process that was killed.
LEFT_SECONDS = 24 * 60 * 60
PROGRESS = "UPDATE games_importjob SET read = %s, rounds = %s WHERE id = %s"


class UploadRefusedError(RequestDataTooBig):
    """A file is refused; the message is shown to its sender."""


def uploads() -> Path:
    folder: Path = settings.HOME.folder("uploads")
    return folder


# --- Space -----------------------------------------------------------------------------------------


def incoming(casino_id: int | None) -> Path:
    """Return the folder of a casino's uploads in progress; people of no single casino share one."""
    folder: Path = settings.HOME.folder("incoming") / str(casino_id or "group")
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def space_verify(casino_id: int | None, size: int) -> None:
    """Refuse a file that exceeds the casino's space, including uploads in progress and those waiting."""
    waiting = ImportJob.objects.filter(
        casino=casino_id, state__in=(ImportJob.State.WAITING, ImportJob.State.RUNNING)
    ).aggregate(size=Sum("size"))["size"]
    if _used(incoming(casino_id)) + (waiting or 0) + size > settings.UPLOAD_QUOTA:
        megabytes = settings.UPLOAD_QUOTA // MEGABYTE
        raise UploadRefusedError(
            f"Other uploads fill the {megabytes} MB of this casino; try again when they are finished."
        )


def _used(folder: Path) -> int:
    """Add up the bytes in a folder. Removes what a killed process left there."""
    used, oldest = 0, time.time() - LEFT_SECONDS
    for path in folder.iterdir():
        with suppress(FileNotFoundError):
            stat = path.stat()
            if stat.st_mtime < oldest:
                path.unlink()
            else:
                used += stat.st_size
    return used


# --- Files of rounds -------------------------------------------------------------------------------


def upload_accept(*, actor: Staff, name: str, content: Any) -> ImportJob:
    """Store an uploaded file and leave it to a worker."""
    authorize(actor, "importjob.add")
    if content.size > LARGEST_UPLOAD:
        megabytes = LARGEST_UPLOAD // MEGABYTE
        raise ValidationError({"file": f"The file is larger than {megabytes} MB; use import_rounds, or send parts."})
    stored = uuid.uuid4().hex
    with (uploads() / stored).open("wb") as file:
        for block in content.chunks():
            file.write(block)
    job = ImportJob.objects.create(
        casino=actor.casino, by=actor, name=Path(name).name[:200] or "upload", stored=stored, size=content.size
    )
    from games.tasks import take_upload  # imported here, since that module imports these services

    transaction.on_commit(lambda: take_upload.delay(job.pk))
    return job


def upload_take(*, key: int) -> None:
    """Import an uploaded file, in a worker. Repeating it changes nothing: rounds on record stay on record."""
    job = ImportJob.objects.select_related("by").get(pk=key)
    path = uploads() / job.stored
    if job.is_over:
        return
    ImportJob.objects.filter(pk=key).update(state=ImportJob.State.RUNNING)
    try:
        with path.open("rb") as stream:
            done = rounds_import(actor=job.by, stream=stream, name=job.name, progress=Progress(key))
    except Exception as error:
        _finish(job, state=ImportJob.State.REFUSED, faults=_faults(error))
        if not isinstance(error, InputError | Denied | FileNotFoundError):
            raise
    else:
        _finish(job, state=ImportJob.State.DONE, rounds=done.rounds, new=done.new, read=job.size)


def _faults(error: Exception) -> list[str]:
    """Return the faults for the page; unexpected errors go to the log only."""
    match error:
        case InputError():
            return list(error.faults)
        case Denied():
            return [str(error)]
        case FileNotFoundError():
            return ["The file is no longer there; upload it again."]
    return ["The file could not be imported, and nothing of it was recorded. Tell the administrator, then try again."]


def _finish(job: ImportJob, **values: Any) -> None:
    """Save the outcome, then delete the file, so that a failure in between can be retried."""
    ImportJob.objects.filter(pk=job.pk).update(finished_at=timezone.now(), **values)
    (uploads() / job.stored).unlink(missing_ok=True)


class Progress:
    """Reports the progress in a separate connection, as the import's transaction is not visible until it ends."""

    def __init__(self, key: int) -> None:
        self.key = key

    def __call__(self, read: int, rounds: int) -> None:
        own = connection.copy()
        try:
            with own.cursor() as cursor:
                cursor.execute(PROGRESS, [read, rounds, self.key])
        finally:
            own.close()
