"""Evidence: what is taken and what is not, who touched it, and that what is handed out is what came in."""

import io
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from audits.incidents.evidence.file_types import BY_ENDING, LONGEST_NAME, plain_name, type_of
from audits.incidents.services.evidence import camera_add, evidence_add, evidence_folder, evidence_open
from audits.models import CustodyStep, Evidence, Incident
from games.access.gate import Denied
from games.history.audited_save import LONGEST_TEXT
from taisai_backoffice.embedded.home import Home
from tests.audits.files import PNG, leaves, opened, seen
from tests.conftest import House

SCRIPT = b"<script>fetch('/admin/')</script>"
BOMB = io.BytesIO()
with zipfile.ZipFile(BOMB, "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("felt.jpg", bytes(8 * 1024 * 1024))

#: The beginning of a file of each type that is taken, by an ending that it has.
SOUND: dict[str, bytes] = {
    "jpg": b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01" + bytes(40),
    "jpeg": b"\xff\xd8\xff\xe1\x00\x10Exif\x00\x00" + bytes(40),
    "png": PNG,
    "gif": b"GIF89a" + bytes(40),
    "webp": b"RIFF\x24\x00\x00\x00WEBPVP8 " + bytes(40),
    "pdf": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n" + bytes(40),
    "mp4": b"\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isomiso2" + bytes(40),
    "mov": b"\x00\x00\x00\x14ftypqt  \x20\x05\x03\x00qt  " + bytes(40),
    "webm": b"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\xf7\x81\x01\x42\xf2\x81\x04\x42\x82\x84webm" + bytes(40),
    "avi": b"RIFF\x24\x00\x00\x00AVI LIST" + bytes(40),
    "mp3": b"ID3\x03\x00\x00\x00\x00\x00\x21TSSE" + bytes(40),
    "wav": b"RIFF\x24\x00\x00\x00WAVEfmt " + bytes(40),
    "ogg": b"OggS\x00\x02" + bytes(20) + b"\x01vorbis" + bytes(40),
    "m4a": b"\x00\x00\x00\x1cftypM4A \x00\x00\x00\x00M4A mp42isom" + bytes(40),
}  # fmt: skip
#: What is never taken, whatever it is called.
ATTACKS: dict[str, bytes] = {
    "svg": b'<svg xmlns="http://www.w3.org/2000/svg">' + SCRIPT + b"</svg>",
    "svg-with-xml": b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>',
    "html": b"<!DOCTYPE html><html>" + SCRIPT,
    "zip": BOMB.getvalue(),
    "gzip": b"\x1f\x8b\x08\x00" + bytes(40),
    "exe": b"MZ\x90\x00\x03" + bytes(40),
    "elf": b"\x7fELF\x02\x01\x01" + bytes(40),
    "shell": b"#!/bin/sh\nrm -r /\n",
    "php": b"<?php system($_GET[0]); ?>",
    "text": b"The felt at seat 3",
}


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    """A store of the test's own."""
    settings.HOME = Home(tmp_path / "home")
    return evidence_folder()


@pytest.fixture
def incident(house: House) -> Incident:
    return opened(house, "surveillance")


def added(house: House, about: Any, name: str = "felt.png", content: bytes = PNG, **more: Any) -> Evidence:
    actor = house[more.pop("role", "surveillance")]
    values: dict[str, Any] = {"description": "The felt"} | more
    return evidence_add(actor=actor, about=about, name=name, content=io.BytesIO(content), **values)


def nothing_is_kept(folder: Path) -> bool:
    return not list(folder.iterdir()) and not Evidence.objects.exists() and not CustodyStep.objects.exists()


def test_a_file_is_hashed_and_kept_apart_under_a_name_of_its_own(
    house: House, incident: Incident, folder: Path
) -> None:
    evidence = added(house, incident, content=PNG + bytes(3 * 1024 * 1024))
    (stored,) = folder.iterdir()
    whole = PNG + bytes(3 * 1024 * 1024)
    assert (stored.name, stored.read_bytes(), stored.stat().st_mode & 0o777) == (evidence.stored, whole, 0o600)
    assert (bytes(evidence.sha256 or b""), evidence.size) == (sha256(whole).digest(), len(whole))
    assert (evidence.name, evidence.content_type, evidence.pit) == ("felt.png", "image/png", house.pits["P1"])
    (leaf,) = leaves("evidence", evidence.pk)
    assert leaf[:8] == [
        incident.pk, None, "The felt", False, "felt.png", "image/png", len(whole), sha256(whole).hexdigest(),
    ]  # fmt: skip


@pytest.mark.parametrize("ending", SOUND)
def test_every_type_on_the_list_is_taken(house: House, incident: Incident, ending: str) -> None:
    assert added(house, incident, f"FELT.{ending.upper()}", SOUND[ending]).content_type == BY_ENDING[ending]


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_is_something_else_is_refused_under_every_name(
    house: House, incident: Incident, folder: Path, attack: str
) -> None:
    for ending in (*SOUND, "svg", "html", "zip", "exe", "", "png.svg"):
        with pytest.raises(ValidationError, match=r"not accepted as evidence|content looks like"):
            type_of(f"felt.{ending}", ATTACKS[attack])
    for name in (f"felt.{attack}", "felt.jpg", "felt.png"):
        with pytest.raises(ValidationError, match=rf"{name}: (this type is not accepted|the name says image)"):
            added(house, incident, name, ATTACKS[attack])
    assert nothing_is_kept(folder)


def test_a_file_whose_type_lies_is_refused_also_within_a_family(house: House, incident: Incident, folder: Path) -> None:
    kin = {"m4a": {"mp4"}, "jpg": {"jpeg"}, "jpeg": {"jpg"}}  # sound alone in a film's container; the same type
    for ending, content in SOUND.items():
        for other in SOUND.keys() - {ending} - kin.get(ending, set()):
            with pytest.raises(ValidationError, match=f"the name says {BY_ENDING[other]}, the content looks like"):
                type_of(f"felt.{other}", content)
    with pytest.raises(ValidationError, match="the name says application/pdf, the content looks like image/png"):
        added(house, incident, "felt.pdf", PNG)
    assert nothing_is_kept(folder)


def test_a_file_that_is_too_large_is_refused_and_not_read_to_its_end(
    house: House, incident: Incident, folder: Path, settings: Any
) -> None:
    settings.LARGEST_EVIDENCE = 2 * 1024 * 1024

    class Endless(io.RawIOBase):
        given = 0

        def read(self, size: int = -1) -> bytes:
            self.given += size
            return PNG.ljust(size, b"\0")

    content = Endless()
    with pytest.raises(ValidationError, match=r"felt\.png: larger than 2 MB"):
        evidence_add(
            actor=house["surveillance"], about=incident, description="x", name="felt.png",
            content=content,  # type: ignore[arg-type]
        )  # fmt: skip
    assert content.given <= settings.LARGEST_EVIDENCE + 1024 * 1024
    assert nothing_is_kept(folder)
    just = PNG.ljust(settings.LARGEST_EVIDENCE, b"\0")
    assert added(house, incident, content=just).size == settings.LARGEST_EVIDENCE


def test_an_empty_file_and_a_broken_stream_leave_nothing(house: House, incident: Incident, folder: Path) -> None:
    with pytest.raises(ValidationError, match="the file is empty"):
        added(house, incident, content=b"")

    class Broken(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        evidence_add(actor=house["surveillance"], about=incident, description="x", name="felt.png", content=Broken(PNG))
    assert nothing_is_kept(folder)


def test_a_slow_stream_is_the_same_file(house: House, incident: Incident) -> None:
    class Slow(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(1)

    evidence = evidence_add(
        actor=house["surveillance"], about=incident, description="x", name="felt.png", content=Slow(PNG)
    )
    assert bytes(evidence.sha256 or b"") == sha256(PNG).digest()


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../etc/felt.png", "felt.png"),
        ("..\\..\\windows\\felt.png", "felt.png"),
        ("/root/felt.png", "felt.png"),
        ("C:\\felt.png", "felt.png"),
        ("C:felt.png", "felt.png"),
        ("\\\\server\\share\\felt.png", "felt.png"),
        ("fe\x00lt.png", "felt.png"),
        ("felt\r\nSet-Cookie: x.png", "feltSet-Cookie: x.png"),
        ("felt\u202egnp.png", "feltgnp.png"),
        ("felt\udcff.png", "felt.png"),
        ("骰子.png", "骰子.png"),
    ],
)
def test_of_a_name_only_the_name_is_kept(house: House, incident: Incident, folder: Path, name: str, kept: str) -> None:
    evidence = added(house, incident, name)
    assert evidence.name == kept
    assert [one.name for one in folder.iterdir()] == [evidence.stored]


def test_a_long_name_keeps_its_ending(house: House, incident: Incident) -> None:
    assert added(house, incident, "f" * 300 + ".png").name == "f" * (LONGEST_NAME - 4) + ".png"


@pytest.mark.parametrize("name", ["", ".", "..", "/", "C:\\", "\x00", ".png", "png"])
def test_a_name_that_is_none_is_refused(house: House, incident: Incident, folder: Path, name: str) -> None:
    assert "/" not in plain_name(name)
    with pytest.raises(ValidationError, match="not accepted as evidence"):
        added(house, incident, name)
    assert nothing_is_kept(folder)


@pytest.mark.parametrize("description", ["", "  ", "a\x00b", "a\ud800b", "x" * (LONGEST_TEXT + 1)])
def test_a_description_that_cannot_be_kept_is_refused_before_anything_is_set_down(
    house: House, incident: Incident, folder: Path, description: str
) -> None:
    with pytest.raises(ValidationError):
        added(house, incident, description=description)
    assert nothing_is_kept(folder)


def test_the_same_file_twice_is_two_pieces_of_evidence(house: House, incident: Incident, folder: Path) -> None:
    first, second = added(house, incident), added(house, incident)
    assert bytes(first.sha256 or b"") == bytes(second.sha256 or b"")
    assert first.stored != second.stored
    assert len(list(folder.iterdir())) == 2


# --- Who touched it ---


def test_every_touch_is_on_record(house: House, incident: Incident) -> None:
    evidence = added(house, incident)
    evidence_open(actor=house["pit-supervisor"], evidence=evidence)
    evidence_open(actor=house["compliance"], evidence=evidence, what="copied")
    assert [(step.what, step.by.number) for step in evidence.custody.all()] == [
        ("added", "SURVEILLANCE"), ("opened", "PIT-SUPERVISOR"), ("copied", "COMPLIANCE"),
    ]  # fmt: skip
    with pytest.raises(ValidationError, match="choose opened or copied"):
        evidence_open(actor=house["compliance"], evidence=evidence, what="added")


def test_who_may_not_see_it_does_not_get_it_and_did_not_touch_it(house: House, incident: Incident) -> None:
    evidence = added(house, incident, is_confidential=True)
    stranger = house.hire("C-ELSE", "compliance", house.other)
    for actor in (house["shift-manager"], house["administrator"], stranger):
        with pytest.raises(Denied):
            evidence_open(actor=actor, evidence=evidence)
    assert evidence.custody.count() == 1
    with pytest.raises(Denied):
        added(house, opened(house, "shift-manager", pit=house.pits["P2"]), role="pit-supervisor")


def test_a_file_that_was_changed_or_taken_away_is_not_handed_out(
    house: House, incident: Incident, folder: Path
) -> None:
    evidence = added(house, incident)
    stored = folder / evidence.stored
    stored.write_bytes(PNG[:-1] + b"\x01")
    with pytest.raises(ValidationError, match=r"its hash differs\. Inform compliance"):
        evidence_open(actor=house["compliance"], evidence=evidence)
    stored.unlink()
    with pytest.raises(ValidationError, match=r"missing from the evidence folder\. Inform compliance"):
        evidence_open(actor=house["compliance"], evidence=evidence)
    assert evidence.custody.count() == 1


def test_a_camera_is_evidence_without_a_file(house: House, incident: Incident, folder: Path) -> None:
    actor = house["surveillance"]
    evidence = camera_add(
        actor=actor, about=incident, description="The felt", camera=" C-17 ", time_code="20:00:07", recording="NVR 4"
    )
    assert (evidence.camera, evidence.is_file, list(folder.iterdir())) == ("C-17", False, [])
    with pytest.raises(ValidationError, match="its record says where the recording is kept"):
        evidence_open(actor=actor, evidence=evidence)
    for camera in (" ", "\x00", "C" * 61):
        with pytest.raises(ValidationError):
            camera_add(actor=actor, about=incident, description="The felt", camera=camera)
    assert Evidence.objects.count() == 1


def test_evidence_of_an_entry_is_as_confidential_as_the_entry(house: House) -> None:
    entry = seen(house, is_confidential=True)
    evidence = added(house, entry)
    assert (evidence.is_confidential, evidence.entry, evidence.incident) == (True, entry, None)
