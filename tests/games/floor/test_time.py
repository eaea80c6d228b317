"""UTC in the database, the casino's own time on pages."""

import datetime as dt

import time_machine
from django.db import connection

from games.access.models.acting_appointment import ALL_PITS
from games.access.services.acting_appointments import duty_grant
from tests.conftest import House
from tests.games.logins import logged_in

NOON = dt.datetime(2026, 11, 15, 12, tzinfo=dt.UTC)


def page_of(house: House, role: str) -> str:
    client = logged_in(house[role])
    return client.get("/admin/games/duty/").content.decode()


def test_a_page_shows_the_time_of_the_casino(house: House) -> None:
    with time_machine.travel(NOON):
        duty_grant(
            actor=house["shift-manager"], staff=house["dealer"], post="pit-supervisor", casino=house.casino,
            pit=ALL_PITS, starts_at=NOON, ends_at=NOON + dt.timedelta(hours=1), reason="Stands in",
        )  # fmt: skip
        assert "15 Nov 2026, 20:00:00" in page_of(house, "shift-manager")
        assert "Singapore time" in page_of(house, "shift-manager")


def test_the_next_request_is_back_in_its_own_time(house: House) -> None:
    elsewhere = house.hire("X1", "shift-manager", casino=house.other)
    house.people["elsewhere"] = elsewhere
    assert "Singapore time" in page_of(house, "shift-manager")
    assert "London time" in page_of(house, "elsewhere")


def test_the_database_keeps_utc(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SHOW timezone")
        assert cursor.fetchone() == ("UTC",)
