"""The client of a request: its address, its browser, and the cookie of a browser that logged in before."""

import secrets
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import salted_hmac

from taisai_backoffice.web.addresses import client_address

DEVICE_SALT = "games.device"
DEVICE_SECONDS = 90 * 24 * 60 * 60
#: How many people sharing one browser are remembered; the one who used it longest ago is forgotten first.
MOST_ACCOUNTS = 40
BROWSER_LENGTH = 200


@dataclass(frozen=True)
class Client:
    """Where a login attempt comes from. `accounts` are the accounts that used this browser before, as hashes."""

    address: str | None = None
    browser: str = ""
    device: str = ""
    accounts: tuple[str, ...] = field(default=())

    def knows(self, number: str) -> bool:
        """Return whether this account logged in with this browser before."""
        return bool(self.device) and account_mark(number) in self.accounts


def client_of(request: HttpRequest) -> Client:
    device, accounts = _read_cookie(request)
    browser = request.META.get("HTTP_USER_AGENT", "")[:BROWSER_LENGTH].replace("\x00", "")
    return Client(client_address(request), browser, device, accounts)


def remember_device(request: HttpRequest, response: HttpResponse, number: str) -> None:
    """Set the cookie that marks this browser as known for this account."""
    client = client_of(request)
    mark = account_mark(number)
    accounts = [mark, *(other for other in client.accounts if other != mark)][:MOST_ACCOUNTS]
    value = signing.dumps([client.device or secrets.token_urlsafe(16), accounts], salt=DEVICE_SALT)
    response.set_cookie(
        settings.DEVICE_COOKIE_NAME, value, max_age=DEVICE_SECONDS, secure=settings.PRODUCTION, httponly=True,
        samesite="Lax", path="/",
    )  # fmt: skip


def account_mark(number: str) -> str:
    """Return the hash of an account for the cookie, so that the cookie does not reveal the staff number."""
    return salted_hmac(DEVICE_SALT, number.upper(), algorithm="sha256").hexdigest()[:16]


def browser_name(text: str) -> str:
    """Name the browser and system that a user agent describes."""
    browsers = {"Edg/": "Edge", "Firefox/": "Firefox", "Chrome/": "Chrome", "Safari/": "Safari"}
    systems = {
        "Windows": "Windows", "Android": "Android", "iPhone": "iPhone", "iPad": "iPad", "Mac OS X": "macOS",
        "Linux": "Linux",
    }  # fmt: skip
    browser = next((name for mark, name in browsers.items() if mark in text), "")
    system = next((name for mark, name in systems.items() if mark in text), "")
    return " on ".join(filter(None, (browser, system))) or text[:40] or "Unknown browser"


def _read_cookie(request: HttpRequest) -> tuple[str, tuple[str, ...]]:
    text = request.COOKIES.get(settings.DEVICE_COOKIE_NAME, "")
    try:
        read: Any = signing.loads(text, salt=DEVICE_SALT, max_age=DEVICE_SECONDS) if text else ["", []]
    except signing.BadSignature:
        return "", ()
    device, accounts = read
    return str(device), tuple(accounts)
