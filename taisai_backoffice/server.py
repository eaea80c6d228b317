"""The web server's entry: granian receives requests on an event loop, Django answers them in threads.

A body is received before a thread is used for it, within limits of size and time: a slow connection costs a few
hundred bytes of memory, no thread and no database connection. Only uploads, which are larger than a call or form, are
processed while they arrive; they have their own threads, and every read has a deadline. /readyz has its own thread,
and /healthz, which uses no other server, is answered on the event loop: both answer while all other threads are busy.
"""

import asyncio
import io
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from taisai_backoffice import environment
from taisai_backoffice.web.bodies import BODY_SECONDS, LARGEST_BODY, IncompleteBodyError, SlowBodyError, UploadPace
from taisai_backoffice.wsgi import application as django

#: Requests that one process answers at the same time, not counting uploads and probes.
THREADS = environment.number("WEB_THREADS", 4)
UPLOADS_AT_ONCE = 2
#: How long a client may take to receive one block of an answer.
SEND_SECONDS = 60
#: The answer to a failed login is delayed this long: a client that guesses passwords spends most of its time waiting,
#: and uses neither a thread nor a core meanwhile.
FAILED_LOGIN_SECONDS = 1
FAILED_LOGIN_STATUSES = (200, 429, 503)  # wrong password (the form again), too soon, too many checks at once
LOGIN_PATH = "/admin/login/"
HEALTH_PATH = "/healthz"
#: How long a busy thread may hold the interpreter. With Python's default of 5 ms, probes waited behind pages.
SWITCH_SECONDS = 0.001
#: Headers of answers that do not come from Django; Django sets more.
BARE_HEADERS = [
    ("content-type", "text/plain; charset=utf-8"),
    ("x-content-type-options", "nosniff"),
    ("content-security-policy", "default-src 'none'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'"),
    ("cache-control", "no-store"),
    ("connection", "close"),
]

Headers = list[tuple[str, str]]


@dataclass(frozen=True)
class HttpAnswer:
    """A complete answer, to be sent at once."""

    status: int
    headers: Headers
    body: bytes

    @classmethod
    def refusal(cls, status: int, text: str) -> "HttpAnswer":
        """Make the answer to a body that was not received; the connection is closed after it."""
        return cls(status, BARE_HEADERS, text.encode())


class RefusedError(Exception):
    """The request is answered without Django."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.answer = HttpAnswer.refusal(status, text)


SLOW = f"The body did not arrive within {BODY_SECONDS} seconds; send it again."
INCOMPLETE = "The connection ended before the whole body was there; send it again."
NO_LENGTH = "A body of more than 1 MB has to state its length (Content-Length)."
BAD_LENGTH = "Content-Length is not a number."


class Server:
    """Django behind granian's RSGI interface."""

    def __init__(self, application: Callable[..., Any], threads: int) -> None:
        self.application = application
        self.pages = ThreadPoolExecutor(threads, "page")
        self.uploads = ThreadPoolExecutor(UPLOADS_AT_ONCE, "upload")
        self.readiness = ThreadPoolExecutor(1, "readyz")
        sys.setswitchinterval(SWITCH_SECONDS)

    async def __rsgi__(self, scope: Any, proto: Any) -> None:
        if scope.proto != "http":
            proto.close(403)
            return
        try:
            body = await received(scope, proto)
        except RefusedError as error:
            _send(proto, error.answer)
            return
        exchange = Exchange(self.application, environ_of(scope, body), proto)
        if scope.path == HEALTH_PATH and isinstance(body, io.BytesIO):  # a stream is read through the loop itself
            answer = exchange.run()
        else:
            answer = await asyncio.get_running_loop().run_in_executor(self.threads_for(scope, body), exchange.run)
        if answer is not None:
            if is_failed_login(scope, answer):
                await asyncio.sleep(FAILED_LOGIN_SECONDS)
            _send(proto, answer)

    def __rsgi_del__(self, loop: Any) -> None:
        for threads in (self.pages, self.uploads, self.readiness):
            threads.shutdown(wait=False)

    def threads_for(self, scope: Any, body: Any) -> Executor:
        if isinstance(body, StreamedBody):
            return self.uploads
        return self.readiness if scope.path == "/readyz" else self.pages


def is_failed_login(scope: Any, answer: HttpAnswer) -> bool:
    """Return whether a login had a wrong password, or was refused before the check."""
    return scope.method == "POST" and scope.path == LOGIN_PATH and answer.status in FAILED_LOGIN_STATUSES


def _send(proto: Any, answer: HttpAnswer) -> None:
    proto.response_bytes(answer.status, answer.headers, answer.body)


# --- Bodies ----------------------------------------------------------------------------------------


async def received(scope: Any, proto: Any) -> "io.BytesIO | StreamedBody":
    """Return the whole body or, if it is larger than a call or form may be, a stream of it."""
    length = _length(scope)
    if length == 0:
        return io.BytesIO()
    if length is not None and length > LARGEST_BODY:
        return StreamedBody(proto, length)
    data = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for block in proto:
                data += block
                if len(data) > LARGEST_BODY:
                    raise RefusedError(411, NO_LENGTH)
    except TimeoutError:
        raise RefusedError(408, SLOW) from None
    if length is not None and len(data) < length:
        raise RefusedError(400, INCOMPLETE)
    return io.BytesIO(data)


def _length(scope: Any) -> int | None:
    """Return the length of the body; None if only its end will tell."""
    if "transfer-encoding" in scope.headers:
        return None
    text = scope.headers.get("content-length", "0")
    if not (text.isascii() and text.isdecimal()):
        raise RefusedError(400, BAD_LENGTH)
    return int(text)


class StreamedBody:
    """An upload, read by a thread while it arrives on the loop. Raises if it is too slow or incomplete."""

    def __init__(self, proto: Any, length: int) -> None:
        self._blocks = aiter(proto)
        self._loop = asyncio.get_running_loop()
        self._left = bytearray()
        self._pace = UploadPace()
        self._missing = length

    def read(self, size: int = -1) -> bytes:
        wanted = self._missing + len(self._left) if size < 0 else size
        while len(self._left) < wanted and self._missing:
            self._left += self._next()
        data = bytes(self._left[:wanted])
        del self._left[:wanted]
        return data

    def readline(self, size: int = -1) -> bytes:
        raise NotImplementedError("An upload is read in blocks.")

    def _next(self) -> bytes:
        block = asyncio.run_coroutine_threadsafe(self._receive(), self._loop).result()
        self._missing -= len(block)
        self._pace.received(len(block))
        return block

    async def _receive(self) -> bytes:
        try:
            async with asyncio.timeout(self._pace.seconds_left()):
                block: bytes = await anext(self._blocks, b"")
        except TimeoutError:
            raise SlowBodyError from None
        if not block:
            raise IncompleteBodyError
        return block


# --- WSGI ------------------------------------------------------------------------------------------


def environ_of(scope: Any, body: Any) -> dict[str, Any]:
    """Describe the request as WSGI (PEP 3333)."""
    host, _, port = scope.server.rpartition(":")
    environ: dict[str, Any] = {
        "REQUEST_METHOD": scope.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": scope.path.encode().decode("latin-1"),
        "QUERY_STRING": scope.query_string,
        "SERVER_PROTOCOL": f"HTTP/{scope.http_version}",
        "SERVER_NAME": host,
        "SERVER_PORT": port,
        "REMOTE_ADDR": scope.client.rpartition(":")[0].strip("[]"),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.scheme,
        "wsgi.input": body,
        "wsgi.errors": io.StringIO(),
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    for name, value in scope.headers.items():
        _add_header(environ, name, value)
    environ.pop("HTTP_TRANSFER_ENCODING", None)
    if isinstance(body, io.BytesIO):
        environ["CONTENT_LENGTH"] = str(body.getbuffer().nbytes)
    return environ


def _add_header(environ: dict[str, Any], name: str, value: str) -> None:
    """Add a header. Names with an underscore are dropped: they would pass for the proxy's name with a hyphen."""
    if "_" in name:
        return
    key = name.upper().replace("-", "_")
    if key not in ("CONTENT_TYPE", "CONTENT_LENGTH"):
        key = f"HTTP_{key}"
    if key in environ:
        value = f"{environ[key]}{'; ' if key == 'HTTP_COOKIE' else ','}{value}"
    environ[key] = value


class Exchange:
    """One request answered by Django in one thread, as its database connection requires."""

    def __init__(self, application: Callable[..., Any], environ: dict[str, Any], proto: Any) -> None:
        self.application, self.environ, self.proto = application, environ, proto
        self.loop = asyncio.get_running_loop()
        self.status, self.headers = 500, Headers()

    def run(self) -> HttpAnswer | None:
        """Return the answer; None if it was streamed."""
        response = self.application(self.environ, self._start)
        try:
            if getattr(response, "streaming", True):
                self._stream(response)
                return None
            return HttpAnswer(self.status, self.headers, b"".join(response))
        finally:
            if hasattr(response, "close"):
                response.close()

    def _start(self, status: str, headers: Headers, exc_info: Any = None) -> None:
        self.status, self.headers = int(status.partition(" ")[0]), headers

    def _stream(self, blocks: Iterable[bytes]) -> None:
        """Send the answer until it is complete, the client is gone, or it takes too long."""
        transport = self._on_the_loop(self._begin())
        with suppress(OSError, RuntimeError):  # granian raises RuntimeError for a closed connection
            for block in blocks:
                self._on_the_loop(transport.send_bytes(block))

    async def _begin(self) -> Any:
        return self.proto.response_stream(self.status, self.headers)

    def _on_the_loop(self, coming: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(_awaited(coming), self.loop).result()


async def _awaited(coming: Any) -> Any:
    async with asyncio.timeout(SEND_SECONDS):
        return await coming


application = Server(django, THREADS)
