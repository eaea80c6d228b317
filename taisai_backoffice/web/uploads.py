"""Receive uploaded files: limited before the first byte is read, and counted while they arrive.

Arriving files are stored in a folder of their casino below the home, within its quota: never in the system's
temporary folder, which other programs need.
"""

from tempfile import NamedTemporaryFile
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, TemporaryFileUploadHandler

from games.rounds.services.uploads import LARGEST_UPLOAD, UploadRefusedError, incoming, space_verify

MEGABYTE = 1024 * 1024
AROUND = MEGABYTE  # allowance for the form around the file


class UploadTooLargeError(UploadRefusedError):
    """The file is larger than any that is accepted."""


def largest_upload() -> int:
    return max(settings.LARGEST_EVIDENCE, LARGEST_UPLOAD)


class BoundedUploadHandler(TemporaryFileUploadHandler):
    """Receive a file into its casino's folder, up to the largest size accepted anywhere."""

    def __init__(self, request: Any = None) -> None:
        super().__init__(request)
        self.received = 0
        self.casino_id: int | None = getattr(getattr(request, "user", None), "casino_id", None)

    def handle_raw_input(self, input_data: Any, meta: Any, content_length: int, *rest: Any) -> None:
        if content_length > largest_upload() + AROUND:
            raise too_large()
        space_verify(self.casino_id, content_length)

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        FileUploadHandler.new_file(self, *args, **kwargs)
        self.file = IncomingFile(self)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self.received += len(raw_data)
        if self.received > largest_upload():
            self.upload_interrupted()
            raise too_large()
        super().receive_data_chunk(raw_data, start)


class IncomingFile(TemporaryUploadedFile):
    """A temporary file in the folder of its casino."""

    def __init__(self, handler: BoundedUploadHandler) -> None:
        file: Any = NamedTemporaryFile(dir=incoming(handler.casino_id), suffix=".upload")  # noqa: SIM115  closed by Django
        UploadedFile.__init__(
            self, file, handler.file_name, handler.content_type, 0, handler.charset, handler.content_type_extra
        )


def too_large() -> UploadTooLargeError:
    megabytes = largest_upload() // MEGABYTE
    return UploadTooLargeError(
        f"The file is larger than {megabytes} MB, and nothing of it was kept; split it and send the parts."
    )
