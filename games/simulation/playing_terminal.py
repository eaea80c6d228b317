"""A terminal that sends rounds through the API while they are played, in real time or faster."""

import http
import http.client
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event
from typing import Any
from urllib.parse import urlsplit

TIMEOUT = 30
PAUSE = 0.5
BUSY = (429, 500, 502, 503, 504)


class Stopped(Exception):  # noqa: N818  nothing went wrong
    """The player was asked to stop."""


class Refused(Exception):  # noqa: N818  the name says it
    """The API refused a call."""

    def __init__(self, code: int, document: dict[str, Any]) -> None:
        super().__init__(f"{code}: {document.get('detail', document)}")
        self.code = code


@dataclass
class Caller:
    """Calls that are repeated until they are answered; repeating a call is harmless."""

    address: str
    key: str
    host: str = "localhost"
    stopped: Event = field(default_factory=Event)
    heard: Callable[[float], None] = lambda seconds: None  # how long each answer took
    troubled: Callable[[str], None] = lambda why: None  # a call has to be repeated
    _line: http.client.HTTPConnection | None = None

    def post(self, path: str, document: dict[str, Any]) -> dict[str, Any]:
        return self._call("POST", path, json.dumps(document).encode())

    def get(self, path: str) -> dict[str, Any]:
        return self._call("GET", path, None)

    def _call(self, method: str, path: str, body: bytes | None) -> dict[str, Any]:
        while True:
            if self.stopped.is_set():
                raise Stopped
            try:
                code, document = self._once(method, path, body)
                if code < http.HTTPStatus.BAD_REQUEST:
                    return document
                if code not in BUSY:
                    raise Refused(code, document)
                self.troubled(f"{code} at {path}")
            except (OSError, http.client.HTTPException, ValueError) as error:  # unreachable, or no JSON
                self.troubled(repr(error))
            self.close()
            self.stopped.wait(PAUSE)

    def close(self) -> None:
        """Close the connection; the next call opens a new one."""
        line, self._line = self._line, None
        if line is not None:
            line.close()

    def _once(self, method: str, path: str, body: bytes | None) -> tuple[int, dict[str, Any]]:
        if self._line is None:
            place = urlsplit(self.address)
            self._line = http.client.HTTPConnection(place.hostname or "", place.port, timeout=TIMEOUT)
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json", "Host": self.host}
        started = time.perf_counter()
        self._line.request(method, f"/api/v1/{path}", body, headers)
        answer = self._line.getresponse()
        document = json.loads(answer.read())
        self.heard(time.perf_counter() - started)
        return answer.status, document
