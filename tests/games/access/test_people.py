"""People, their passwords and their duties."""

import datetime as dt
from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.utils import timezone

from games.access.models.acting_appointment import ALL_PITS
from games.access.services.acting_appointments import duty_end, duty_grant
from games.access.services.people import local_password_set, own_password_set, staff_create, staff_update
from games.models import Duty, Staff
from tests.conftest import OPERATOR, House
from tests.games.appointments import duty_copy
from tests.games.logins import PASSWORD, logged_in

HOUR = dt.timedelta(hours=1)


def grant(house: House, actor: str = "shift-manager", staff: str = "dealer", **changes: Any) -> Duty:
    now = timezone.now()
    values: dict[str, Any] = {
        "post": "pit-supervisor", "casino": house.casino, "pit": ALL_PITS,
        "starts_at": now, "ends_at": now + HOUR, "reason": "Stands in",
    } | changes  # fmt: skip
    return duty_grant(actor=house[actor], staff=house[staff], **values)


# --- People ---


def test_a_new_person_cannot_log_in_before_a_password_is_set(house: House) -> None:
    person = house.hire("S9", "pit-supervisor")
    assert not person.has_usable_password()
    local_password_set(actor=OPERATOR, staff=person, password=PASSWORD, reason="First day")
    assert authenticate(username="s9", password=PASSWORD) == person  # the number in any case
    assert authenticate(username="S9", password="wrong") is None
    assert authenticate(username="S99", password=PASSWORD) is None


def test_who_has_left_cannot_log_in(house: House) -> None:
    person = house["surveillance"]
    local_password_set(actor=OPERATOR, staff=person, password=PASSWORD, reason="First day")
    staff_update(actor=house["administrator"], staff=person, changes={"is_active": False}, reason="Left")
    assert authenticate(username=person.number, password=PASSWORD) is None


def test_an_address_for_notices_is_changed_on_the_page_and_stands_in_the_history(house: House) -> None:
    person = house["pit-manager"]
    client = logged_in(house["administrator"])
    sent = {
        "number": person.number, "name": person.name, "department": "pit", "post": person.post,
        "casino": str(person.casino_id), "pit": str(person.pit_id), "is_active": "on", "email": "pm@house.example",
        "reason": "Asked for notices",
    }  # fmt: skip
    assert client.post(f"/admin/games/staff/{person.pk}/change/", sent).status_code == 302
    assert house["pit-manager"].email == "pm@house.example"
    assert person.history.first().email == "pm@house.example"


@pytest.mark.parametrize(
    "password",
    [
        "short",
        "123456789012345",
        "password1234",
        "Sunshine2026!",
        "2026-P@ssw0rd!!",
        "welcomewelcome",
        "PIT-SUPERVISOR",
        "RWS-casino-P1-2026",
        "T4i5ai!C4sin0",
        "p1p2p1p2p1p2",
    ],
)
def test_a_poor_password_is_refused(house: House, password: str) -> None:
    with pytest.raises(ValidationError):
        local_password_set(actor=OPERATOR, staff=house["pit-supervisor"], password=password, reason="First day")


def test_a_password_given_by_another_is_changed_at_the_first_login(house: House) -> None:
    person = house["compliance"]
    local_password_set(actor=OPERATOR, staff=person, password=PASSWORD, reason="First day", must_change=True)
    client = logged_in(house["compliance"])
    assert client.get("/admin/games/casino/").headers["location"] == "/admin/password_change/"
    assert client.get("/admin/password_change/").status_code == 200
    answer = client.post(
        "/admin/password_change/",
        {"old_password": PASSWORD, "new_password1": "my very own words", "new_password2": "my very own words"},
    )
    assert answer.headers["location"] == "/admin/password_change/done/"
    assert client.get("/admin/games/casino/").status_code == 200  # still logged in, and free to go on
    assert house["compliance"].check_password("my very own words")
    assert house["compliance"].history.first().history_change_reason == "Own password changed"


def test_passwords_are_kept_by_argon2(house: House) -> None:
    local_password_set(actor=OPERATOR, staff=house["auditor"], password="a first password", reason="First day")
    own_password_set(staff=house["auditor"], old_password="a first password", password=PASSWORD)
    assert house["auditor"].password.startswith("argon2$argon2id$")


def test_an_older_hash_is_renewed_in_passing_and_writes_no_history(house: House, settings: Any) -> None:
    person = house["auditor"]
    settings.PASSWORD_HASHERS = [*settings.PASSWORD_HASHERS, "django.contrib.auth.hashers.PBKDF2PasswordHasher"]
    Staff.objects.filter(pk=person.pk).update(password=PBKDF2PasswordHasher().encode(PASSWORD, "salt" * 8, 1000))
    before = person.history.count()
    assert authenticate(username=person.number, password=PASSWORD) == person
    assert house["auditor"].password.startswith("argon2")
    assert person.history.count() == before


def test_a_login_is_noted_and_writes_no_history(house: House) -> None:
    person = house["auditor"]
    before = person.history.count()
    Client().force_login(person)
    assert house["auditor"].last_login is not None
    assert person.history.count() == before


@pytest.mark.parametrize(
    "path",
    ["staff/?password__startswith=a", "duty/?staff__password__startswith=a", "denial/?staff__password__startswith=a"],
)
def test_no_list_can_be_filtered_by_a_password(house: House, path: str) -> None:
    client = logged_in(house["auditor"])
    assert client.get(f"/admin/games/{path}").status_code == 400


def test_nobody_changes_his_own_rights(house: House) -> None:
    administrator = house["administrator"]
    with pytest.raises(ValidationError, match="your own department"):
        staff_update(
            actor=administrator, staff=administrator, reason="Promotion",
            changes={"department": "pit", "post": "shift-manager"},
        )  # fmt: skip
    staff_update(actor=administrator, staff=administrator, changes={"name": "New Name"}, reason="Married")
    assert house["administrator"].name == "New Name"


def test_an_administrator_of_one_casino_moves_nobody_into_or_out_of_another(house: House) -> None:
    stranger = house.hire("X1", "dealer", casino=house.other)
    with pytest.raises(PermissionDenied):
        staff_update(actor=house["administrator"], staff=stranger, changes={"casino": house.casino}, reason="Moved")
    with pytest.raises(PermissionDenied):
        staff_update(
            actor=house["administrator"], staff=house["dealer"], changes={"casino": house.other}, reason="Moved"
        )
    with pytest.raises(PermissionDenied):
        staff_create(
            actor=house["administrator"], number="X2", name="X", department="pit", post="dealer", casino=house.other,
            reason="Hired",
        )  # fmt: skip


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({"department": "pit", "post": ""}, "have a casino and a post"),
        ({"department": "audit", "post": "dealer"}, "no post"),
        ({"department": "kitchen", "post": ""}, "not a valid choice"),
        ({"department": "pit", "post": "king"}, "not a valid choice"),
        ({"number": "bad number"}, "letters, digits"),
        ({"number": "DEALER"}, "already exists"),
        ({"number": "dealer"}, "somebody with this staff number"),
        ({"name": ""}, "cannot be blank"),
    ],
)
def test_a_person_that_makes_no_sense_is_refused_with_the_reason(
    house: House, values: dict[str, Any], fault: str
) -> None:
    person: dict[str, Any] = {
        "number": "N1",
        "name": "New",
        "department": "pit",
        "post": "dealer",
        "casino": house.casino,
    } | values
    before = Staff.objects.count()
    with pytest.raises(ValidationError, match=fault):
        staff_create(actor=OPERATOR, reason="Hired", **person)
    assert Staff.objects.count() == before


def test_a_change_without_a_reason_is_refused(house: House) -> None:
    with pytest.raises(ValidationError, match="Say why"):
        staff_update(actor=house["administrator"], staff=house["dealer"], changes={"name": "Other"}, reason="  ")
    assert house["dealer"].name != "Other"


def test_the_database_itself_refuses_a_pit_of_another_casino(house: House) -> None:
    grant(house, pit=house.pits["P1"])
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        with pytest.raises(IntegrityError, match="pit_of_same_casino"), transaction.atomic():
            cursor.execute("UPDATE games_staff SET pit_id = %s WHERE post <> ''", [house.other_pit.pk])
        with pytest.raises(IntegrityError, match="pit_of_same_casino"), transaction.atomic():
            duty_copy(f"pit_id = {house.other_pit.pk}")


# --- Duties ---


def test_1_5_a_duty_keeps_who_granted_it_in_which_post(house: House) -> None:
    duty = grant(house)
    assert (duty.granted_by, duty.granted_as) == (house["shift-manager"], "shift-manager")
    assert duty.history.get().history_author == "SHIFT-MANAGER Person SHIFT-MANAGER, shift manager"


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"post": "shift-manager"}, "below their own"),
        ({"post": "dealer"}, "already"),
        ({"staff": "casino-manager"}, "holds a post above"),
        ({"starts_at": "past"}, "starts now or later"),
        ({"staff": "surveillance"}, "does not work in the pit"),
        ({"staff": "shift-manager"}, "appoints themselves"),
        ({"starts_at": "long past", "ends_at": "past"}, "has passed"),
        ({"starts_at": "after the end"}, "ends after it starts"),
        ({"pit": "other"}, "not a pit of this casino"),
    ],
)
def test_a_duty_that_makes_no_sense_is_refused(house: House, changes: dict[str, Any], fault: str) -> None:
    now = timezone.now()
    meant: dict[str, Any] = {
        "past": now - HOUR,
        "long past": now - 2 * HOUR,
        "after the end": now + 2 * HOUR,
        "other": house.other_pit,
    }
    with pytest.raises(ValidationError, match=fault):
        grant(house, **{name: meant.get(value, value) for name, value in changes.items()})
    assert not Duty.objects.exists()


def test_somebody_of_another_casino_gets_no_duty_here(house: House) -> None:
    stranger = house.hire("X1", "dealer", casino=house.other)
    now = timezone.now()
    with pytest.raises(ValidationError, match="another casino"):
        duty_grant(
            actor=house["shift-manager"], staff=stranger, post="pit-supervisor", casino=house.casino, pit=ALL_PITS,
            starts_at=now, ends_at=now + HOUR, reason="Stands in",
        )  # fmt: skip


@pytest.mark.parametrize(
    "actor", ["dealer", "pit-supervisor", "pit-manager", "surveillance", "compliance", "auditor", "administrator"]
)
def test_only_a_shift_manager_or_above_grants_duties(house: House, actor: str) -> None:
    with pytest.raises(PermissionDenied):
        grant(house, actor, "dealer" if actor != "dealer" else "pit-supervisor")


def test_the_same_duty_twice_at_one_time_is_refused_by_service_and_database(house: House) -> None:
    duty = grant(house)
    with pytest.raises(ValidationError, match="already acts"):
        grant(house, starts_at=duty.ends_at - HOUR / 2, ends_at=duty.ends_at + HOUR)
    grant(house, starts_at=duty.ends_at, ends_at=duty.ends_at + HOUR)  # one after the other is fine
    with (
        pytest.raises(IntegrityError, match="duty_once_at_a_time"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute("UPDATE games_duty SET ends_at = ends_at + interval '1 minute' WHERE id = %s", [duty.pk])


@pytest.mark.parametrize(
    ("change", "constraint"),
    [
        ("granted_by_id = staff_id", "duty_granted_by_another"),
        ("ends_at = starts_at", "duty_ends_after_it_starts"),
        ("post = 'king'", "duty_post_known"),
    ],
)
def test_the_database_itself_refuses_a_duty_that_makes_no_sense(house: House, change: str, constraint: str) -> None:
    grant(house, "casino-manager")
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        duty_copy(change)


def test_a_duty_ends_when_somebody_above_says_so_and_only_once(house: House) -> None:
    duty = grant(house)
    ended = duty_end(actor=house["casino-manager"], duty=duty, reason="Back early")
    assert ended.ends_at <= timezone.now()
    again = duty_end(actor=house["casino-manager"], duty=duty, reason="Once more")
    assert again.ends_at == ended.ends_at
    assert [row.history_change_reason for row in duty.history.all()] == ["Back early", "Stands in"]


def test_a_duty_that_has_not_begun_is_called_off(house: House) -> None:
    start = timezone.now() + HOUR
    duty = duty_end(
        actor=house["shift-manager"], duty=grant(house, starts_at=start, ends_at=start + HOUR), reason="Not needed"
    )
    assert duty.ends_at - duty.starts_at == dt.timedelta(microseconds=1)


def test_nobody_ends_a_duty_of_his_own_height(house: House) -> None:
    duty = grant(house, "casino-manager", "pit-manager", post="shift-manager")
    with pytest.raises(PermissionDenied):
        duty_end(actor=house["shift-manager"], duty=duty, reason="Envy")
