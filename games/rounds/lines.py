"""The lines of a file of rounds, plain or gzipped, in constant memory and within bounds."""

import gzip
import io
import zlib
from collections.abc import Iterator
from hashlib import sha256
from typing import BinaryIO

from games.engine.errors import InputError

GZIP = b"\x1f\x8b"
LONGEST_LINE = 10 * 1024 * 1024
LARGEST_FILE = 4 * 1024 * 1024 * 1024  # unpacked
BLOCK = 256 * 1024
MEGABYTE = 1024 * 1024


class Lines:
    """Reads a stream once; knows how far it has come, and the digest of what it read."""

    def __init__(self, stream: BinaryIO) -> None:
        self._raw = _Counted(stream)
        self.size = 0  # unpacked

    @property
    def read_bytes(self) -> int:
        """Of the stream itself, for a progress bar."""
        return self._raw.count

    @property
    def digest(self) -> bytes:
        return self._raw.sha.digest()

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Line by line, with its number; blank ones are left out."""
        buffered = io.BufferedReader(self._raw, BLOCK)
        packed = buffered.peek(len(GZIP))[: len(GZIP)] == GZIP
        source: BinaryIO = gzip.GzipFile(fileobj=buffered) if packed else buffered  # type: ignore[assignment]
        try:
            yield from self._lines(io.BufferedReader(source, BLOCK) if packed else buffered)  # type: ignore[arg-type]
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise InputError("The file is not whole gzip data; pack it again, or send it once more.") from None

    def _lines(self, source: io.BufferedReader) -> Iterator[tuple[int, bytes]]:
        number = 0
        while line := source.readline(LONGEST_LINE + 1):
            number += 1
            self.size += len(line)
            if len(line) > LONGEST_LINE:
                raise InputError(
                    f"line {number}: is longer than {LONGEST_LINE // MEGABYTE} MB; a round is far smaller."
                )
            if self.size > LARGEST_FILE:
                raise InputError(f"The file holds more than {LARGEST_FILE // MEGABYTE} MB; send it in parts.")
            if line.strip():
                yield number, line.rstrip(b"\r\n")


class _Counted(io.RawIOBase):
    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.count = 0
        self.sha = sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview | bytearray") -> int:  # type: ignore[override]
        data = self.stream.read(len(buffer))
        buffer[: len(data)] = data
        self.count += len(data)
        self.sha.update(data)
        return len(data)
