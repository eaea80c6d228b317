"""People who log in for tests: at once, with a password, with codes, from an address."""

from typing import Any

from django.test import Client
from django_otp.oath import totp
from django_otp.plugins.otp_totp.models import TOTPDevice

from games.access.services.people import local_password_set
from games.accounts.services.second_factors import recovery_codes_make
from games.models import Staff
from tests.conftest import OPERATOR, House

PASSWORD = "correct horse battery"
LOGIN = "/admin/login/"


def logged_in(person: Staff, **options: Any) -> Client:
    """Return a browser in which a person is logged in; `options` are the test client's own."""
    client = Client(**options)
    client.force_login(person)
    return client


def with_password(house: House, role: str) -> Staff:
    local_password_set(
        actor=OPERATOR, staff=house.people[role], password=PASSWORD, must_change=False, reason="First password"
    )
    return house[role]


def with_factor(house: House, role: str) -> tuple[Staff, TOTPDevice, list[str]]:
    """A person with a password, an authenticator app and recovery codes."""
    staff = with_password(house, role)
    device = TOTPDevice.objects.create(user=staff, name="Authenticator app")
    return staff, device, recovery_codes_make(staff=staff)


def code_of(device: TOTPDevice, steps: int = 0) -> str:
    """The code that the app shows now, or some steps later."""
    return f"{totp(device.bin_key, t0=-30 * steps):06d}"


def log_in(client: Client, number: str, password: str = PASSWORD, address: str = "10.0.0.1") -> Any:
    return client.post(LOGIN, {"username": number, "password": password}, REMOTE_ADDR=address)


def is_in(client: Client) -> bool:
    """Whether the overview opens."""
    return client.get("/admin/").status_code == 200


def passed(house: House, role: str) -> Client:
    """A client who has logged in with both factors."""
    staff, device, _ = with_factor(house, role)
    client = Client()
    log_in(client, staff.number)
    client.post("/admin/second-factor/check/", {"code": code_of(device)})
    assert is_in(client)
    return client
