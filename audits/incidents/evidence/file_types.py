"""The types of files accepted as evidence, checked by content and not only by name."""

from pathlib import PurePosixPath, PureWindowsPath

import puremagic
from django.core.exceptions import ValidationError

HEAD = 64 * 1024  # bytes from which the type is recognised
LONGEST_NAME = 200
#: The accepted types with their file name endings: none of these is executable.
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
    """Return a file name without folder, drive and unprintable characters; a long name is cut and keeps its ending."""
    printed = "".join(letter for letter in PureWindowsPath(name).name if letter.isprintable()) or "file"
    path = PurePosixPath(printed)
    ending = path.suffix[:20]
    return printed if len(printed) <= LONGEST_NAME else path.stem[: LONGEST_NAME - len(ending)] + ending


def type_of(name: str, head: bytes) -> str:
    """Return the accepted type on which name and content agree; refuse any other file."""
    claimed = BY_ENDING.get(PurePosixPath(name).suffix.lstrip(".").lower())
    if claimed is None:
        raise ValidationError({"file": f"{name}: this type is not accepted as evidence; send {LISTED}."})
    found = {BY_ENDING.get(match.lstrip(".").lower()) for match in _endings(head)}
    if claimed not in found:
        looks = ", ".join(sorted(kind for kind in found if kind)) or "none of the accepted types"
        raise ValidationError(
            {"file": f"{name}: the name says {claimed}, the content looks like {looks}; send the original file."}
        )
    return claimed


def _endings(head: bytes) -> list[str]:
    """Return the endings of the most likely type only: many kinds of files begin alike."""
    try:
        matches = puremagic.magic_string(head)
    except (puremagic.PureError, ValueError):
        return []
    best = max((match.confidence for match in matches), default=0)
    return [match.extension for match in matches if match.confidence == best]
