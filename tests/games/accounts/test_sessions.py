"""Sessions end by time, by their owner, by an administrator, by a new password; polling keeps none alive."""

import datetime as dt

import pytest
import time_machine
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from games.access.services.people import own_password_set
from games.accounts.services.sessions import session_end
from games.floor.services.casinos import casino_update
from games.models import LoginSession
from tests.conftest import House
from tests.games.logins import PASSWORD, is_in, log_in, logged_in, with_password

CHROME = "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36"


def minutes(count: float) -> dt.timedelta:
    return dt.timedelta(minutes=count)


@pytest.mark.parametrize(("role", "idle"), [("pit-supervisor", 15), ("shift-manager", 15), ("compliance", 60)])
def test_a_session_ends_when_it_is_not_used(house: House, role: str, idle: int) -> None:
    client = logged_in(house[role])
    start = timezone.now()
    with time_machine.travel(start + minutes(idle - 1), tick=True):
        assert is_in(client)  # and is good for as long again
    with time_machine.travel(start + minutes(2 * idle - 2), tick=True):
        assert is_in(client)
    with time_machine.travel(start + minutes(3 * idle - 1), tick=True):
        answer = client.get("/admin/games/casino/")
        assert answer.headers["location"].startswith("/admin/login/?next=")
        assert f"was not used for {idle} minutes" in client.get(answer.headers["location"]).content.decode()
        assert client.get("/api/v1/tables/").status_code == 401
    assert LoginSession.objects.get(staff=house[role]).end == "idle"


def test_the_casino_sets_how_long(house: House) -> None:
    changes = {"idle_minutes": 3}
    casino_update(actor=house["casino-manager"], casino=house.casino, changes=changes, reason="Terminals on the floor")
    client = logged_in(house["pit-supervisor"])
    with time_machine.travel(timezone.now() + minutes(4), tick=True):
        assert not is_in(client)
    for wrong in (0, 241):
        with pytest.raises(ValidationError):
            casino_update(
                actor=house["casino-manager"], casino=house.casino, changes={"idle_minutes": wrong}, reason="x"
            )


def test_a_page_that_reloads_itself_keeps_no_session_alive(house: House) -> None:
    client = logged_in(house["pit-supervisor"])
    start = timezone.now()
    for minute in range(1, 15):
        with time_machine.travel(start + minutes(minute), tick=True):
            assert client.get("/admin/games/liveround/?poll").status_code in (200, 302)
    with time_machine.travel(start + minutes(16), tick=True):
        assert not is_in(client)


def test_no_session_lasts_longer_than_twelve_hours(house: House) -> None:
    client = logged_in(house["pit-supervisor"])
    start = timezone.now()
    for minute in range(0, 12 * 60, 10):
        with time_machine.travel(start + minutes(minute), tick=True):
            assert is_in(client)
    with time_machine.travel(start + minutes(12 * 60 + 1), tick=True):
        assert not is_in(client)


def test_ones_own_sessions_are_listed_and_ended(house: House) -> None:
    staff = house["auditor"]
    here, there = logged_in(staff, headers={"user-agent": CHROME}), logged_in(staff)
    page = here.get("/admin/sessions/").content.decode()
    assert page.count("/end/") == 2
    assert "this session" in page
    other = LoginSession.objects.get(pk=there.session["login"])
    assert here.get(f"/admin/sessions/{other.pk}/end/").status_code == 302  # a link ends nothing
    assert is_in(there)
    here.post(f"/admin/sessions/{other.pk}/end/")
    assert (is_in(here), is_in(there)) == (True, False)
    other.refresh_from_db()
    assert (other.end, other.ended_by) == ("ended", staff)


def test_nobody_ends_a_session_of_others_but_an_administrator_with_a_reason(house: House) -> None:
    victim = logged_in(house["compliance"])
    login = LoginSession.objects.get()
    insider = logged_in(house["casino-manager"])
    assert insider.post(f"/admin/sessions/{login.pk}/end/").status_code == 404
    page = reverse("admin:games_loginsession_end_session", args=[login.pk])
    assert insider.post(page, {"reason": "x"}).status_code == 403
    with pytest.raises(PermissionDenied):
        session_end(actor=house["auditor"], login=login, reason="x")
    stranger = house.hire("IT9", "administrator", casino=house.other)
    with pytest.raises(PermissionDenied):
        session_end(actor=stranger, login=login, reason="Another casino")
    administrator = logged_in(house["administrator"])
    assert "required" in administrator.post(page, {"reason": ""}).content.decode()
    assert is_in(victim)
    administrator.post(page, {"reason": "Terminal left open"})
    assert not is_in(victim)
    login.refresh_from_db()
    assert (login.ended_by, login.reason) == (house["administrator"], "Terminal left open")


def test_a_change_of_password_ends_the_other_sessions_and_not_this_one(house: House) -> None:
    staff = with_password(house, "auditor")
    here, there = Client(), Client()
    log_in(here, staff.number)
    log_in(there, staff.number)
    changed = {"old_password": PASSWORD, "new_password1": "my very own words", "new_password2": "my very own words"}
    assert here.post("/admin/password_change/", changed).status_code == 302
    assert (is_in(here), is_in(there)) == (True, False)
    assert sorted(LoginSession.objects.values_list("end", flat=True)) == ["", "password"]
    own_password_set(staff=house["auditor"], old_password="my very own words", password="chosen somewhere else")
    assert not is_in(here)


def test_guessing_the_old_password_in_a_stolen_session_is_throttled(house: House) -> None:
    client = logged_in(with_password(house, "auditor"))
    wrong = {"old_password": "wrong", "new_password1": "my very own words", "new_password2": "my very own words"}
    answers = [client.post("/admin/password_change/", wrong).content.decode() for _ in range(8)]
    assert "Too many failed attempts" in answers[-1]


@pytest.mark.parametrize(
    "statement", ["DELETE FROM games_loginsession", "UPDATE games_loginsession SET address = '10.0.0.1'"]
)
def test_a_session_that_is_over_stays_on_record(house: House, statement: str) -> None:
    logged_in(house["auditor"]).post("/admin/logout/")
    assert LoginSession.objects.get().end == "logout"
    with connection.cursor() as cursor, pytest.raises(Exception, match="permission denied"):
        cursor.execute(statement)


def test_a_session_from_before_this_list_is_closed(house: House) -> None:
    client = logged_in(house["auditor"])
    session = client.session
    del session["login"]
    session.save()
    assert not is_in(client)
