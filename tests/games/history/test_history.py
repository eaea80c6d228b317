"""History: who, when, why, old and new; and no way around it."""

import pytest

from games.access.services.people import staff_update
from games.floor.services.casinos import casino_update, pit_update
from games.models import Pit, Staff
from tests.conftest import OPERATOR, House
from tests.games.logins import logged_in


def test_a_change_tells_who_when_why_old_and_new(house: House) -> None:
    pit_update(actor=house["casino-manager"], pit=house.pits["P1"], changes={"name": "East"}, reason="Renamed")
    now, before = house.pits["P1"].history.all()
    assert now.history_author == "CASINO-MANAGER Person CASINO-MANAGER, casino manager"
    assert now.history_user == house["casino-manager"]
    assert now.history_change_reason == "Renamed"
    assert [(change.field, change.old, change.new) for change in now.diff_against(before).changes] == [
        ("name", "", "East")
    ]


def test_the_operator_is_named_as_such(house: House) -> None:
    created = house.casino.history.get()
    assert (created.history_user, created.history_author) == (None, "Operator of the machine")


def test_what_does_not_change_writes_nothing(house: House) -> None:
    assert not casino_update(actor=OPERATOR, casino=house.casino, changes={"name": house.casino.name}, reason="Again")
    assert house.casino.history.count() == 1


def test_an_audited_record_cannot_be_saved_past_its_service(house: House) -> None:
    pit = Pit.objects.get(pk=house.pits["P1"].pk)
    pit.name = "Quietly"
    with pytest.raises(RuntimeError, match="through its service"):
        pit.save(update_fields=["name"])


def test_history_keeps_no_password(house: House) -> None:
    fields = {field.name for field in Staff.history.model._meta.get_fields()}
    assert not {"password", "last_login"} & fields


def test_the_history_tab_shows_it(house: House) -> None:
    person = house["pit-supervisor"]
    staff_update(actor=house["administrator"], staff=person, changes={"post": "pit-manager"}, reason="Promoted in May")
    client = logged_in(house["auditor"])
    page = client.get(f"/admin/games/staff/{person.pk}/history/").content.decode()
    for word in (
        "ADMINISTRATOR Person ADMINISTRATOR, administrator",
        "Promoted in May",
        "pit-supervisor",
        "pit-manager",
    ):
        assert word in page


def test_an_old_version_can_be_looked_at_and_not_put_back(house: House) -> None:
    person = house["pit-supervisor"]
    version = person.history.get()
    staff_update(actor=house["administrator"], staff=person, changes={"name": "Newer"}, reason="Married")
    client = logged_in(house["administrator"])
    path = f"/admin/games/staff/{person.pk}/history/{version.pk}/"
    assert client.get(path).status_code == 200
    values = {"number": person.number, "name": "Older", "department": "pit", "post": "dealer", "reason": "Revert"}
    assert client.post(path, values).status_code == 403
    assert house["pit-supervisor"].name == "Newer"
