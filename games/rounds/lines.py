"""Read the lines of a file of rounds, plain or gzipped, in constant memory and within limits."""

import gzip
import io
import time
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
#: Blank lines count too.
MOST_LINES = 5_000_000
#: The highest compression ratio of a file. Rounds pack to about a tenth; JSON hardly below a fiftieth.
MOST_EXPANSION = 100
#: Smaller files may have any compression ratio.
ALWAYS_ALLOWED = MEGABYTE
#: How long one file may be read for; a worker ends a task soon after.
LONGEST_SECONDS = 600
CLOCK_LINES = 1000  # lines between two looks at the clock


class Lines:
    """Reads a stream once; knows its progress and the digest of what it read."""

    def __init__(self, stream: BinaryIO) -> None:
        self._raw = _Counted(stream)
        self._until = time.monotonic() + LONGEST_SECONDS
        self.size = 0  # unpacked

    @property
    def read_bytes(self) -> int:
        """Return the bytes read of the stream itself, for a progress bar."""
        return self._raw.count

    @property
    def digest(self) -> bytes:
        return self._raw.sha.digest()

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines with their numbers; blank lines are left out."""
        buffered = io.BufferedReader(self._raw, BLOCK)
        packed = buffered.peek(len(GZIP))[: len(GZIP)] == GZIP
        source: BinaryIO = gzip.GzipFile(fileobj=buffered) if packed else buffered  # type: ignore[assignment]
        try:
            yield from self._lines(io.BufferedReader(source, BLOCK) if packed else buffered)  # type: ignore[arg-type]
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise InputError("The file is not complete gzip data; compress or send it again.") from None

    def _lines(self, source: io.BufferedReader) -> Iterator[tuple[int, bytes]]:
        number = 0
        while line := source.readline(LONGEST_LINE + 1):
            number += 1
            self.size += len(line)
            self._verify(number, line)
            if line.strip():
                yield number, line.rstrip(b"\r\n")

    def _verify(self, number: int, line: bytes) -> None:
        """Check the limits of the file as far as it was read, blank lines included."""
        if len(line) > LONGEST_LINE:
            raise InputError(f"line {number}: is longer than {LONGEST_LINE // MEGABYTE} MB; a round is far smaller.")
        if self.size > LARGEST_FILE:
            raise InputError(f"The file holds more than {LARGEST_FILE // MEGABYTE} MB; send it in parts.")
        if number > MOST_LINES:
            raise InputError(f"The file has more than {MOST_LINES:,} lines; send it in parts.")
        if self.size > max(ALWAYS_ALLOWED, MOST_EXPANSION * self._raw.count):
            raise InputError(
                f"The file unpacks to more than {MOST_EXPANSION} times its size, which rounds never do; pack it again."
            )
        if number % CLOCK_LINES == 0 and time.monotonic() > self._until:
            raise InputError(f"The file takes longer than {LONGEST_SECONDS // 60} minutes to read; send it in parts.")


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
