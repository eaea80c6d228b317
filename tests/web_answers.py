"""What a site answers over a real connection, read to its end so that no socket is left open."""

import urllib.error
import urllib.request
from dataclasses import dataclass
from email.message import Message


@dataclass(frozen=True)
class WebAnswer:
    status: int
    headers: Message
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


def answer_to(request: urllib.request.Request, *handlers: type[urllib.request.BaseHandler]) -> WebAnswer:
    """Ask, and return the answer; a refusal is an answer too."""
    try:
        with urllib.request.build_opener(*handlers).open(request, timeout=10) as answer:
            return WebAnswer(answer.status, answer.headers, answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return WebAnswer(error.code, error.headers, error.read())
