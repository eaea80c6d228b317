"""Evidence: stored outside the web root, hashed while it is stored, with a record of every access."""

import datetime as dt
import hashlib
import os
import uuid
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Sum

from audits.incidents.evidence.file_types import HEAD, plain_name, type_of
from audits.models import CustodyStep, Evidence, Incident, LogEntry
from games.access.gate import actor_name, authorize, entry_point
from games.access.services.access_records import evidence_read
from games.history.audited_save import verify_texts
from games.ledger.services import LedgerEntry, ledger_append
from games.models import Staff

BLOCK = 1024 * 1024
MEGABYTE = 1024 * 1024


def evidence_folder() -> Path:
    """Return the folder of the evidence files."""
    folder: Path = settings.HOME.folder("evidence")
    return folder


def evidence_add(
    *, actor: Staff, about: Incident | LogEntry, description: str, name: str, content: BinaryIO,
    is_confidential: bool = False,
) -> Evidence:  # fmt: skip
    """Add a file as evidence; refuse it and keep nothing if it is too large or not the type that its name says."""
    evidence = _new(actor, about, description, is_confidential)
    evidence.name = plain_name(name)
    _verify_quota(about)
    evidence.stored = uuid.uuid4().hex
    path = evidence_folder() / evidence.stored
    try:
        evidence.size, digest, head = _store(content, path, evidence.name)
        evidence.sha256 = digest
        evidence.content_type = type_of(evidence.name, head)
        return _record(evidence, actor)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _verify_quota(about: Incident | LogEntry) -> None:
    """Refuse evidence of a casino that has used up its share of the disk.

    Evidence is kept forever, so one casino must not fill the disk for the others.
    """
    kept = Evidence.objects.filter(casino=about.casino_id).aggregate(size=Sum("size"))["size"] or 0
    if kept >= settings.EVIDENCE_QUOTA:
        gigabytes = settings.EVIDENCE_QUOTA // (1024 * MEGABYTE)
        raise ValidationError(
            {"file": f"The evidence of {about.casino} has reached its {gigabytes} GB; name the camera instead."}
        )


def camera_add(
    *, actor: Staff, about: Incident | LogEntry, description: str, camera: str, time_code: str = "",
    recording: str = "", keep_until: dt.date | None = None, is_confidential: bool = False,
) -> Evidence:  # fmt: skip
    """Add a reference to a recording that stays in its recorder."""
    evidence = _new(actor, about, description, is_confidential)
    evidence.camera, evidence.time_code = camera.strip(), time_code.strip()
    evidence.recording, evidence.keep_until = recording.strip(), keep_until
    if not evidence.camera:
        raise ValidationError({"camera": "Name the camera, or send a file."})
    return _record(evidence, actor)


def _new(actor: Staff, about: Incident | LogEntry, description: str, is_confidential: bool) -> Evidence:
    incident, entry = (None, about) if isinstance(about, LogEntry) else (about, None)
    evidence = Evidence(
        casino=about.casino, pit=about.pit, incident=incident, entry=entry,
        description=description.strip(), is_confidential=is_confidential or getattr(about, "is_confidential", False),
        by=actor, who=actor_name(actor),
    )  # fmt: skip
    authorize(actor, "evidence.add", evidence)
    authorize(actor, f"{about._meta.model_name}.view", about)
    if not evidence.description:
        raise ValidationError({"description": "Describe what it shows."})
    verify_texts(evidence)  # before anything is stored
    return evidence


def _store(content: BinaryIO, path: Path, name: str) -> tuple[int, bytes, bytes]:
    """Store a file up to the allowed size; return its size, hash and first bytes."""
    size, digest, head = 0, hashlib.sha256(), b""
    with path.open("xb") as file:
        path.chmod(0o600)
        while block := content.read(BLOCK):
            size += len(block)
            if size > settings.LARGEST_EVIDENCE:
                megabytes = settings.LARGEST_EVIDENCE // MEGABYTE
                raise ValidationError({"file": f"{name}: larger than {megabytes} MB; send a part, or name the camera."})
            head += block[: HEAD - len(head)]
            digest.update(block)
            file.write(block)
        file.flush()
        os.fsync(file.fileno())  # the file is on the disk before its record is written
    if size == 0:
        raise ValidationError({"file": f"{name}: the file is empty; send it again."})
    return size, digest.digest(), head


@transaction.atomic
def _record(evidence: Evidence, actor: Staff) -> Evidence:
    verify_texts(evidence)
    evidence.full_clean()
    evidence.save(force_insert=True)
    _record_access(evidence, actor, CustodyStep.What.ADDED)
    values = (
        evidence.incident_id, evidence.entry_id, evidence.description, evidence.is_confidential, evidence.name,
        evidence.content_type, evidence.size, bytes(evidence.sha256 or b"").hex(), evidence.camera,
        evidence.time_code, evidence.recording, evidence.keep_until, evidence.who, evidence.at.astimezone(dt.UTC),
    )  # fmt: skip
    table = evidence.incident.table if evidence.incident else evidence.entry.table if evidence.entry else None
    place = evidence.casino if evidence.is_confidential else table or evidence.casino  # no gap in a table's chain
    ledger_append(place, LedgerEntry("evidence", evidence.pk, values))
    return evidence


@transaction.atomic
def evidence_open(*, actor: Staff, evidence: Evidence, what: str = CustodyStep.What.OPENED) -> Path:
    """Return the path of the file for a person who may see it, after recording the access."""
    authorize(actor, "evidence.view", evidence)
    if what not in (CustodyStep.What.OPENED, CustodyStep.What.COPIED):
        raise ValidationError({"what": f"{what!r:.40} is not valid; choose opened or copied."})
    if not evidence.is_file:
        raise ValidationError("This evidence has no file; its record says where the recording is kept.")
    path = evidence_folder() / evidence.stored
    if not path.is_file():
        raise ValidationError("The file is on record, but missing from the evidence folder. Inform compliance.")
    verify_untouched(evidence, path)
    _record_access(evidence, actor, what)
    evidence_read(actor, evidence, str(what))
    return path


def verify_untouched(evidence: Evidence, path: Path) -> None:
    """Refuse a file whose hash differs from the one recorded when it was added."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").digest()
    if digest != bytes(evidence.sha256 or b""):
        raise ValidationError("The file is not the one that was added: its hash differs. Inform compliance.")


def _record_access(evidence: Evidence, actor: Staff, what: Any) -> None:
    CustodyStep.objects.create(evidence=evidence, what=what, by=actor, who=actor_name(actor), door=entry_point.get())
