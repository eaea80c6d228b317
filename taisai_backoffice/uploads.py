"""How large a file that somebody uploads may be: asked before its first byte is read, and counted while it comes.

For every form of the site and the API alike, since the check of the CSRF token reads a form before its page does.
"""

from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadhandler import TemporaryFileUploadHandler

from games.services.uploads import LARGEST_UPLOAD

MEGABYTE = 1024 * 1024
AROUND = MEGABYTE  # what a form has beside its file


class UploadTooLargeError(RequestDataTooBig):
    """The words are for who sent it."""


def largest_upload() -> int:
    return max(settings.LARGEST_EVIDENCE, LARGEST_UPLOAD)


class BoundedUploadHandler(TemporaryFileUploadHandler):
    """Sets a file down in a temporary place, and never more of it than is taken anywhere."""

    def __init__(self, request: Any = None) -> None:
        super().__init__(request)
        self.received = 0

    def handle_raw_input(self, input_data: Any, meta: Any, content_length: int, *rest: Any) -> None:
        if content_length > largest_upload() + AROUND:
            raise too_large()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self.received += len(raw_data)
        if self.received > largest_upload():
            self.upload_interrupted()
            raise too_large()
        super().receive_data_chunk(raw_data, start)


def too_large() -> UploadTooLargeError:
    megabytes = largest_upload() // MEGABYTE
    return UploadTooLargeError(
        f"The file is larger than {megabytes} MB, and nothing of it was kept; send a part of it."
    )
