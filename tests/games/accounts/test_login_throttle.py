"""Guessing passwords: the attacker is slowed down, the owner is not; every failure is on record; hashes are bounded."""

import os
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import time_machine
from django.contrib.auth.hashers import check_password
from django.db import connection
from django.test import Client, RequestFactory
from django.utils import timezone

from games.accounts.clients import Client as Place
from games.accounts.services import login_throttle
from games.accounts.services.logins import password_login
from games.models import FailedLogin, LoginSession, LoginThrottle
from taisai_backoffice.web import hashing
from taisai_backoffice.web.addresses import client_address, network_of
from tests.conftest import House
from tests.games.logins import LOGIN, PASSWORD, is_in, log_in, logged_in, with_password

OWN, ATTACKER = "10.0.0.1", "203.0.113.9"
GUESSES = 1000


@pytest.fixture
def hashes_quickly(settings: Any) -> Iterator[None]:
    """A thousand guesses at one moment: what is tried is the throttle, not Argon2."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    with time_machine.travel(timezone.now(), tick=False):
        yield


def guess(client: Client, number: str, times: int, address: str = ATTACKER) -> list[int]:
    return [log_in(client, number, f"guess {turn}", address).status_code for turn in range(times)]


def guess_at_service(number: str, address: str) -> str:
    try:
        password_login(client=Place(address=address), number=number, password="guess")
    except login_throttle.ThrottledError:
        return "refused"
    return "checked"


def scattered(turn: int) -> str:
    return f"198.18.{turn // 250}.{turn % 250 + 1}"


@pytest.mark.usefixtures("hashes_quickly")
def test_1000_wrong_passwords_from_one_address_stop_the_attacker_and_not_the_owner(house: House) -> None:
    owner = with_password(house, "auditor")
    answers = guess(Client(), owner.number, GUESSES)
    assert answers.count(200) == login_throttle.PLACE.free + 1
    assert answers[-1] == 429
    attacker = Client()
    assert log_in(attacker, owner.number, address=ATTACKER).status_code == 429  # even with the right one
    assert not is_in(attacker)
    new_place = Client()
    assert log_in(new_place, owner.number, address="10.0.0.77").status_code == 302  # never seen before
    assert is_in(new_place)


@pytest.mark.usefixtures("hashes_quickly")
def test_1000_wrong_passwords_from_as_many_addresses_leave_the_owners_browser_and_place_open(house: House) -> None:
    owner = with_password(house, "auditor")
    known = Client()
    log_in(known, owner.number, address=OWN)
    known.post("/admin/logout/")
    answers = [guess_at_service(owner.number, scattered(turn)) for turn in range(GUESSES)]
    assert answers.count("checked") == login_throttle.ACCOUNT.free + 1
    attacker = Client()
    assert log_in(attacker, owner.number, address="198.51.100.200").status_code == 429
    assert not is_in(attacker)
    assert log_in(known, owner.number, address="192.0.2.50").status_code == 302  # the browser, from anywhere
    assert log_in(Client(), owner.number, address=OWN).status_code == 302  # the place, with a new browser
    with time_machine.travel(timezone.now() + login_throttle.ACCOUNT.wait(10**6), tick=True):  # and half a minute later
        assert log_in(Client(), owner.number, address="192.0.2.99").status_code == 302


@pytest.mark.usefixtures("hashes_quickly")
def test_an_attacker_at_the_owners_own_address_does_not_stop_the_owners_browser(house: House) -> None:
    owner = with_password(house, "auditor")
    known = Client()
    log_in(known, owner.number, address=OWN)
    known.post("/admin/logout/")
    assert guess(Client(), owner.number, 50, OWN)[-1] == 429
    assert log_in(known, owner.number, address=OWN).status_code == 302


@pytest.mark.usefixtures("hashes_quickly")
def test_many_accounts_tried_from_one_address_are_one_attack(house: House) -> None:
    client = Client()
    answers = [log_in(client, f"X{turn}", "wrong", ATTACKER).status_code for turn in range(200)]
    assert answers.count(200) == login_throttle.ADDRESS.free + 1
    assert answers[-1] == 429


@pytest.mark.usefixtures("hashes_quickly")
def test_a_cookie_of_another_account_or_a_forged_one_opens_no_lane(house: House, settings: Any) -> None:
    owner, other = with_password(house, "auditor"), with_password(house, "surveillance")
    attacker = Client()
    log_in(attacker, other.number, address=ATTACKER)
    attacker.post("/admin/logout/")
    assert guess(attacker, owner.number, 30)[-1] == 429
    forged = Client()
    forged.cookies[settings.DEVICE_COOKIE_NAME] = "WyJ4IixbXV0:1wXyZ:forged"
    assert log_in(forged, owner.number, address=ATTACKER).status_code == 429


@pytest.mark.usefixtures("hashes_quickly")
def test_the_wait_is_told_and_grows_and_a_right_password_ends_it(house: House) -> None:
    owner = with_password(house, "auditor")
    client = Client()
    guess(client, owner.number, login_throttle.PLACE.free + 1)
    refused = log_in(client, owner.number, address=ATTACKER)
    assert refused.status_code == 429
    assert 1 <= int(refused.headers["Retry-After"]) <= login_throttle.PLACE.first
    assert "Too many failed attempts" in refused.content.decode()
    with time_machine.travel(timezone.now() + login_throttle.PLACE.wait(login_throttle.PLACE.free + 2), tick=True):
        assert log_in(client, owner.number, address=ATTACKER).status_code == 302
    waits = [login_throttle.PLACE.wait(failures).total_seconds() for failures in (5, 6, 7, 8, 100)]
    assert waits == [0, 2, 4, 8, 900]


@pytest.mark.usefixtures("hashes_quickly")
def test_attempts_that_are_not_checked_do_not_fill_the_disk(house: House) -> None:
    guess(Client(), "AUDITOR", 300)
    kinds = list(FailedLogin.objects.values_list("kind", flat=True))
    assert (kinds.count("throttled"), kinds.count("password")) == (1, login_throttle.PLACE.free + 1)
    assert LoginThrottle.objects.count() == 3
    LoginThrottle.objects.update(last_at=timezone.now() - 2 * login_throttle.FORGET)
    login_throttle.throttle_tidy()
    assert not LoginThrottle.objects.exists()


@pytest.mark.usefixtures("hashes_quickly")
def test_attempts_at_the_same_time_all_count(clone: str) -> None:
    answers: list[int] = []

    def one(turn: int) -> None:
        """Guess once, and again where other passwords were being checked: that was no attempt."""
        while (status := log_in(Client(), "AUDITOR", f"guess {turn}", ATTACKER).status_code) == 503:
            pass
        answers.append(status)
        connection.close()

    threads = [threading.Thread(target=one, args=(turn,)) for turn in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    checked = FailedLogin.objects.filter(kind="password").count()
    assert checked == login_throttle.PLACE.free + 1
    assert (answers.count(200), answers.count(429)) == (checked, 24 - checked)


# --- On record ---


def test_a_failed_login_is_on_record_and_told_at_the_next_login(house: House) -> None:
    owner = with_password(house, "auditor")
    for turn in range(3):
        log_in(Client(), owner.number.lower(), f"guess {turn}", ATTACKER)
    log_in(Client(), "NOBODY-AT-ALL\x00", "x", ATTACKER)
    failed = FailedLogin.objects.filter(staff=owner)
    assert {(one.number, one.address, one.kind, one.casino) for one in failed} == {
        (owner.number.lower(), ATTACKER, "password", house.casino)
    }
    client = Client()
    log_in(client, owner.number, address=OWN)
    page = client.get("/admin/").content.decode()
    assert "3 failed logins to your account since your last login" in page
    assert f"from {ATTACKER}" in page
    client.post("/admin/logout/")
    log_in(client, owner.number, address=OWN)
    assert "failed logins to your account" not in client.get("/admin/").content.decode()  # told once


@pytest.mark.parametrize("role", ["compliance", "auditor", "administrator"])
def test_failed_logins_are_a_page_for_those_who_watch(house: House, role: str) -> None:
    owner = with_password(house, "pit-manager")
    log_in(Client(), owner.number, "wrong", ATTACKER)
    client = logged_in(house[role])
    page = client.get("/admin/games/failedlogin/").content.decode()
    assert owner.number in page
    assert ATTACKER in page


@pytest.mark.parametrize("statement", ["UPDATE games_failedlogin SET number = 'x'", "DELETE FROM games_failedlogin"])
def test_the_record_of_failed_logins_is_written_once(house: House, statement: str) -> None:
    log_in(Client(), "AUDITOR", "wrong")
    with connection.cursor() as cursor, pytest.raises(Exception, match="permission denied"):
        cursor.execute(statement)


def test_a_dealer_with_the_right_password_is_on_record_as_without_access(house: House) -> None:
    dealer = with_password(house, "dealer")
    assert log_in(Client(), dealer.number).status_code == 200
    assert FailedLogin.objects.get().kind == "access"
    assert not LoginSession.objects.exists()


# --- Parallel hashes ---


def test_beyond_the_bound_on_parallel_hashes_the_answer_is_503_at_once(house: House, settings: Any) -> None:
    owner = with_password(house, "auditor")
    held = [hashing._slots.acquire(blocking=False) for _ in range(settings.PASSWORD_HASHES_AT_ONCE)]
    try:
        busy = log_in(Client(), owner.number)
        changed = logged_in(owner).post(
            "/admin/password_change/", {"old_password": PASSWORD, "new_password1": "x", "new_password2": "x"}
        )
    finally:
        for _ in filter(None, held):
            hashing._slots.release()
    assert (busy.status_code, busy.headers["Retry-After"]) == (503, "2")
    assert (changed.status_code, changed.headers["Retry-After"]) == (503, "2")
    assert not LoginThrottle.objects.filter(failures__gt=0).exists()  # it does not count as a failure
    assert log_in(Client(), owner.number).status_code == 302


def test_a_machine_that_keeps_the_priority_of_threads_still_lets_people_in(house: House, monkeypatch: Any) -> None:
    owner = with_password(house, "auditor")

    def refused(*arguments: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "setpriority", refused)
    hashing._threads.cache_clear()
    try:
        assert log_in(Client(), owner.number).status_code == 302
    finally:
        hashing._threads.cache_clear()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # newer Pythons warn of every fork beside threads
def test_a_forked_process_hashes_with_threads_of_its_own(house: House) -> None:
    owner = with_password(house, "auditor")
    assert check_password(PASSWORD, owner.password)  # the threads of this process are there now
    child = os.fork()
    if child == 0:
        os._exit(0 if check_password(PASSWORD, owner.password) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


# --- The client's address ---


@pytest.mark.parametrize(
    ("proxies", "forwarded", "address"),
    [
        (0, "1.1.1.1", "10.9.9.9"),  # anybody can send the header
        (1, "1.1.1.1", "1.1.1.1"),
        (1, "6.6.6.6, 1.1.1.1", "1.1.1.1"),  # what the client made up stands to the left
        (2, "6.6.6.6, 1.1.1.1, 10.0.0.2", "1.1.1.1"),
        (2, "1.1.1.1", "10.9.9.9"),  # came past a proxy
        (1, "not an address", "10.9.9.9"),
        (1, "::ffff:1.1.1.1", "1.1.1.1"),
        (1, "", "10.9.9.9"),
    ],
)
def test_the_address_behind_a_stated_number_of_proxies(
    settings: Any, proxies: int, forwarded: str, address: str
) -> None:
    settings.TRUSTED_PROXIES = proxies
    request = RequestFactory().get("/", REMOTE_ADDR="10.9.9.9", HTTP_X_FORWARDED_FOR=forwarded)
    assert client_address(request) == address


def test_an_ipv6_household_is_one_place() -> None:
    assert network_of("2001:db8:1:2:3::4") == network_of("2001:db8:1:2:ffff::1") == "2001:db8:1:2::/64"
    assert network_of("10.0.0.1") == "10.0.0.1"


@pytest.mark.usefixtures("hashes_quickly")
def test_a_made_up_header_is_no_new_place(house: House) -> None:
    answers = [
        Client().post(LOGIN, {"username": "AUDITOR", "password": "x"}, REMOTE_ADDR=ATTACKER,
                      HTTP_X_FORWARDED_FOR=scattered(turn)).status_code
        for turn in range(30)
    ]  # fmt: skip
    assert answers[-1] == 429
