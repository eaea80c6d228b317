"""The web server against slow, broken and oversized bodies: real connections to a real granian."""

import asyncio
import json
import os
import socket
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from types import SimpleNamespace

import psutil
import pytest

from taisai_backoffice.embedded.machine import free_port
from taisai_backoffice.run import ProcessPart, web_command
from taisai_backoffice.server import FAILED_LOGIN_SECONDS, HttpAnswer, Server, is_failed_login
from taisai_backoffice.web.bodies import BODY_SECONDS, LARGEST_BODY, SILENT_SECONDS, SLOWEST_UPLOAD, UploadPace
from tests.patience import wait_for

SLOW_CONNECTIONS = 50
LOGIN = "/admin/login/"


@pytest.fixture(scope="module")
def part(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ProcessPart, int]]:
    """One process with four threads: fewer than there are slow connections."""
    port = free_port()
    log = tmp_path_factory.mktemp("server") / "web.log"
    part = ProcessPart("Web server", web_command("127.0.0.1", port, workers=1), dict(os.environ), log)
    try:
        wait_for(lambda: is_alive(port), "the site does not answer")
        yield part, port
    finally:
        part.stop()


@pytest.fixture
def port(part: tuple[ProcessPart, int]) -> int:
    return part[1]


def is_alive(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=10) as answer:
            return bool(json.load(answer)["status"] == "alive")
    except OSError:
        return False


def send(port: int, *lines: str, body: bytes = b"") -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=30)
    head = "\r\n".join((*lines, "Host: localhost", "", ""))
    connection.sendall(head.encode() + body)
    return connection


def received(connection: socket.socket) -> tuple[int, str]:
    """All that comes until the server closes, or the answer is whole."""
    with closing(connection), connection.makefile("rb") as stream:
        status = int(stream.readline().split()[1])
        headers = {}
        while line := stream.readline().strip():
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        return status, stream.read(int(headers.get("content-length", "0"))).decode()


def slow_body(port: int, length: int = 1000) -> socket.socket:
    """Begins a form, as the check of its token reads it, and does not go on."""
    cookie = f"Cookie: taisai_csrf={'c' * 32}"
    kind = "Content-Type: application/x-www-form-urlencoded"
    return send(port, f"POST {LOGIN} HTTP/1.1", cookie, kind, f"Content-Length: {length}", body=b"number=")


def test_slow_bodies_hold_no_thread(port: int) -> None:
    """Far more of them than there are threads, and a page that needs one is answered."""
    with ExitStack() as stack:
        for _ in range(SLOW_CONNECTIONS):
            stack.enter_context(slow_body(port))
        assert is_alive(port)
        assert received(send(port, f"GET {LOGIN} HTTP/1.1"))[0] == 200


def test_a_slow_body_is_answered_408_and_its_connection_closed(port: int) -> None:
    connection = slow_body(port)
    status, text = received(connection)
    assert (status, f"within {BODY_SECONDS} seconds" in text) == (408, True)


def test_a_body_that_breaks_off_is_not_taken_for_a_whole_one(port: int, part: tuple[ProcessPart, int]) -> None:
    connection = send(port, "POST /api/v1/rounds/ HTTP/1.1", "Content-Length: 100", body=b"{}")
    connection.shutdown(socket.SHUT_WR)
    assert received(connection)[0] == 400


@pytest.mark.parametrize("path", [LOGIN, "/api/v1/rounds/", "/api/v1/incidents/", "/nowhere"])
def test_more_than_a_megabyte_is_refused_unread(port: int, path: str) -> None:
    status, _ = received(send(port, f"POST {path} HTTP/1.1", f"Content-Length: {LARGEST_BODY + 1}"))
    assert status == 413


def test_a_body_of_unknown_length_is_taken_up_to_a_megabyte(port: int) -> None:
    small = b"2\r\n{}\r\n0\r\n\r\n"
    assert received(send(port, "POST /api/v1/rounds/ HTTP/1.1", "Transfer-Encoding: chunked", body=small))[0] == 401
    block = bytes(LARGEST_BODY)
    large = b"%x\r\n%b\r\n" % (len(block), block) + b"2\r\n{}\r\n0\r\n\r\n"
    assert received(send(port, "POST /api/v1/rounds/ HTTP/1.1", "Transfer-Encoding: chunked", body=large))[0] == 411


@pytest.mark.parametrize("path", ["/admin/games/importjob/add/", "/admin/audits/incident/1/evidence/"])
def test_an_upload_of_somebody_not_logged_in_is_not_read(port: int, path: str) -> None:
    kind = "Content-Type: multipart/form-data; boundary=x"
    cookie = f"Cookie: taisai_csrf={'c' * 32}"
    status, _ = received(send(port, f"POST {path} HTTP/1.1", kind, cookie, f"Content-Length: {500 * LARGEST_BODY}"))
    assert status == 302


@pytest.mark.parametrize("path", ["/api/v1/rounds/import/", "/api/v1/incidents/IN-2026-000001/evidence/"])
def test_so_it_is_by_the_api(port: int, path: str) -> None:
    kind = "Content-Type: multipart/form-data; boundary=x"
    status, _ = received(send(port, f"POST {path} HTTP/1.1", kind, f"Content-Length: {500 * LARGEST_BODY}"))
    assert status == 401


def test_a_header_with_underscores_does_not_pass_for_the_proxys(port: int) -> None:
    forged = send(port, f"GET {LOGIN} HTTP/1.1", "Content_Length: 5")
    assert received(forged)[0] == 200


def test_a_killed_worker_is_replaced(part: tuple[ProcessPart, int]) -> None:
    process, port = psutil.Process(part[0].process.pid), part[1]
    (worker,) = [child for child in process.children() if "resource_tracker" not in " ".join(child.cmdline())]
    worker.kill()
    wait_for(lambda: is_alive(port), "no worker answers")


def test_an_upload_may_pause_and_may_not_trickle(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    pace = UploadPace()
    assert pace.seconds_left() == SILENT_SECONDS
    clock[0] += 5
    pace.received(SLOWEST_UPLOAD * 60)
    assert pace.seconds_left() == SILENT_SECONDS
    clock[0] += 60
    assert 0 < pace.seconds_left() < SILENT_SECONDS
    clock[0] += 10
    assert pace.seconds_left() == 0


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_large_body_for_the_probe_holds_up_nobody(port: int, method: str) -> None:
    """A stream is read over the event loop, on which the probe is answered: it must not wait for it there."""
    status, _ = received(send(port, f"{method} /healthz HTTP/1.1", f"Content-Length: {LARGEST_BODY * 2}"))
    assert status == (200 if method == "GET" else 405)
    assert is_alive(port)


# --- Refused logins ---


class Whole(list[bytes]):
    """An answer that is there at once, as Django's are."""

    streaming = False


class Sent:
    """Where the server sends its answer."""

    def __init__(self) -> None:
        self.status = 0

    def response_bytes(self, status: int, headers: object, body: bytes) -> None:
        self.status = status


@pytest.mark.parametrize(
    ("method", "path", "status", "waits"),
    [
        ("POST", LOGIN, 200, True), ("POST", LOGIN, 503, True), ("POST", LOGIN, 429, True), ("POST", LOGIN, 302, False),
        ("GET", LOGIN, 503, False),
        ("POST", "/api/v1/rounds/", 503, False),
    ],
)  # fmt: skip
def test_a_failed_login_is_answered_after_a_moment(method: str, path: str, status: int, waits: bool) -> None:
    def site(environ: object, start: Callable[..., None]) -> Whole:
        start(f"{status} x", [])
        return Whole([b"x"])

    scope = SimpleNamespace(
        proto="http", method=method, path=path, headers={}, server="127.0.0.1:80", client="127.0.0.1:1", scheme="http",
        http_version="1.1", query_string="",
    )  # fmt: skip
    sent, started = Sent(), time.monotonic()
    asyncio.run(Server(site, threads=1).__rsgi__(scope, sent))
    assert sent.status == status
    if waits:
        assert time.monotonic() - started >= FAILED_LOGIN_SECONDS
    assert is_failed_login(scope, HttpAnswer(status, [], b"")) is waits
