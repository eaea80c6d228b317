"""Which files are taken as evidence: by what their content is, and not by what they call themselves."""

from pathlib import PurePosixPath, PureWindowsPath

import puremagic
from django.core.exceptions import ValidationError

HEAD = 64 * 1024  # bytes that tell the type
LONGEST_NAME = 200
#: What is taken, by the endings of its names: none of these runs anything by itself.
TYPES = {
    "image/jpeg": ("jpg", "jpeg", "jfif", "jpe"),
    "image/png": ("png",),
    "image/gif": ("gif",),
    "image/webp": ("webp",),
    "application/pdf": ("pdf",),
    "video/mp4": ("mp4", "m4v"),
    "video/quicktime": ("mov",),
    "video/webm": ("webm",),
    "video/x-msvideo": ("avi",),
    "audio/mpeg": ("mp3", "mpga"),
    "audio/wav": ("wav",),
    "audio/ogg": ("ogg", "oga"),
    "audio/mp4": ("m4a",),
}
BY_ENDING = {ending: kind for kind, endings in TYPES.items() for ending in endings}
LISTED = "images (JPEG, PNG, GIF, WebP), video (MP4, MOV, WebM, AVI), sound (MP3, WAV, OGG, M4A) and PDF"


def plain_name(name: str) -> str:
    """The name alone: no folder, whichever way its slashes lean, no drive, and nothing that is not printed. One that is
    too long keeps its ending."""
    printed = "".join(letter for letter in PureWindowsPath(name).name if letter.isprintable()) or "file"
    path = PurePosixPath(printed)
    ending = path.suffix[:20]
    return printed if len(printed) <= LONGEST_NAME else path.stem[: LONGEST_NAME - len(ending)] + ending


def type_of(name: str, head: bytes) -> str:
    """The type, where name and content agree on one that is taken."""
    claimed = BY_ENDING.get(PurePosixPath(name).suffix.lstrip(".").lower())
    if claimed is None:
        raise ValidationError({"file": f"{name}: this type is not taken as evidence; send {LISTED}."})
    found = {BY_ENDING.get(match.lstrip(".").lower()) for match in _endings(head)}
    if claimed not in found:
        looks = ", ".join(sorted(kind for kind in found if kind)) or "none of the types that are taken"
        raise ValidationError(
            {"file": f"{name}: the name says {claimed}, the content looks like {looks}; send the file as it was made."}
        )
    return claimed


def _endings(head: bytes) -> list[str]:
    """Of the likeliest type alone: what many kinds of files begin with says little."""
    try:
        matches = puremagic.magic_string(head)
    except (puremagic.PureError, ValueError):
        return []
    best = max((match.confidence for match in matches), default=0)
    return [match.extension for match in matches if match.confidence == best]
