"""Files of rounds that people upload: set down, taken in by a worker, and shown on their way."""

import uuid
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.utils import timezone

from games.engine.errors import InputError
from games.models import ImportJob, Staff
from games.services.gate import Denied, authorize
from games.services.imports import rounds_import

LARGEST_UPLOAD = 512 * 1024 * 1024
PROGRESS = "UPDATE games_importjob SET read = %s, rounds = %s WHERE id = %s"


def uploads() -> Path:
    folder: Path = settings.HOME.folder("uploads")
    return folder


def upload_accept(*, actor: Staff, name: str, content: Any) -> ImportJob:
    """Set the file down and leave it to a worker. `content` is a file that somebody uploaded."""
    authorize(actor, "importjob.add")
    if content.size > LARGEST_UPLOAD:
        megabytes = LARGEST_UPLOAD // 1024 // 1024
        raise ValidationError({"file": f"The file is larger than {megabytes} MB; use import_rounds, or send parts."})
    stored = uuid.uuid4().hex
    with (uploads() / stored).open("wb") as file:
        for block in content.chunks():
            file.write(block)
    job = ImportJob.objects.create(
        casino=actor.casino, by=actor, name=Path(name).name[:200] or "upload", stored=stored, size=content.size
    )
    from games.tasks import take_upload  # here, since that module is made of these services

    transaction.on_commit(lambda: take_upload.delay(job.pk))
    return job


def upload_take(*, key: int) -> None:
    """The worker's part. Done twice it changes nothing twice: what is on record is on record."""
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
    """What the page says; what else went wrong is for the log, and not for the page."""
    match error:
        case InputError():
            return list(error.faults)
        case Denied():
            return [str(error)]
        case FileNotFoundError():
            return ["The file is no longer there; upload it again."]
    return ["The file could not be taken in, and nothing of it was recorded; tell the administrator, then try again."]


def _finish(job: ImportJob, **values: Any) -> None:
    """The file goes last: what could not be told of it can still be tried again."""
    ImportJob.objects.filter(pk=job.pk).update(finished_at=timezone.now(), **values)
    (uploads() / job.stored).unlink(missing_ok=True)


class Progress:
    """Told in a connection of its own: the import's transaction is seen by nobody until it is over."""

    def __init__(self, key: int) -> None:
        self.key = key

    def __call__(self, read: int, rounds: int) -> None:
        own = connection.copy()
        try:
            with own.cursor() as cursor:
                cursor.execute(PROGRESS, [read, rounds, self.key])
        finally:
            own.close()
