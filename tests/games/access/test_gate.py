"""The gate: who may do what, where, and until when (rule 1.5; games/access/roles.toml)."""

import datetime as dt

import pytest
import time_machine
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from games.access.gate import Operator, actor_name, authorize, can, capacities, entry_point, visible
from games.access.models.acting_appointment import ALL_PITS
from games.access.services.acting_appointments import duty_end, duty_grant
from games.floor.services.casinos import pit_update
from games.models import Denial, Duty, Pit, Staff
from tests.conftest import House

HOUR = dt.timedelta(hours=1)
MICROSECOND = dt.timedelta(microseconds=1)


def grant(house: House, role: str = "pit-manager", post: str = "shift-manager", **changes: object) -> Duty:
    now = timezone.now()
    place = {"casino": house.casino, "pit": ALL_PITS}
    values = {"starts_at": now, "ends_at": now + HOUR, "reason": "Stands in"} | place | changes
    return duty_grant(actor=house["casino-manager"], staff=house[role], post=post, **values)  # type: ignore[arg-type]


def test_a_person_is_what_department_and_post_say(house: House) -> None:
    assert [str(capacity) for capacity in capacities(house["pit-manager"])] == ["pit manager"]
    assert [str(capacity) for capacity in capacities(house["auditor"])] == ["auditor"]


def test_who_has_left_is_nothing(house: House) -> None:
    manager = house["shift-manager"]
    manager.is_active = False
    assert capacities(manager) == []
    assert not manager.is_staff


def test_a_dealer_cannot_log_in_and_an_acting_one_can(house: House) -> None:
    assert not house["dealer"].is_staff
    grant(house, "dealer", "pit-supervisor", pit=house.pits["P1"])
    assert house["dealer"].is_staff


def test_1_5_acting_in_a_post_gives_its_rights_from_to_and_not_a_moment_longer(house: House) -> None:
    start = timezone.now() + HOUR
    grant(house, starts_at=start, ends_at=start + HOUR)
    actor = house["pit-manager"]
    for moment, may in [
        (start - MICROSECOND, False),
        (start, True),
        (start + HOUR - MICROSECOND, True),
        (start + HOUR, False),
    ]:
        with time_machine.travel(moment, tick=False):
            assert can(actor, "duty.add") is may, moment


def test_1_5_an_acting_post_counts_where_it_was_given(house: House) -> None:
    supervisor = house.hire("S2", "pit-supervisor", pit=house.pits["P2"])
    assert {str(pit) for pit in visible(supervisor, Pit.objects.all())} == {"RWS P2"}
    now = timezone.now()
    duty_grant(
        actor=house["shift-manager"], staff=supervisor, post="pit-manager", casino=house.casino, pit=house.pits["P1"],
        starts_at=now, ends_at=now + HOUR, reason="Stands in",
    )  # fmt: skip
    assert {str(pit) for pit in visible(Staff.objects.get(pk=supervisor.pk), Pit.objects.all())} == {"RWS P1", "RWS P2"}


def test_a_duty_that_was_ended_gives_nothing_more(house: House) -> None:
    duty = grant(house)
    actor = house["pit-manager"]
    assert can(actor, "staff.view")
    duty_end(actor=house["casino-manager"], duty=duty, reason="Back early")
    with pytest.raises(PermissionDenied):
        authorize(actor, "staff.view")  # read anew, although this object had seen the duty


def test_people_of_one_pit_see_their_own(house: House) -> None:
    supervisor = house["pit-supervisor"]
    assert can(supervisor, "pit.view", house.pits["P1"])
    assert not can(supervisor, "pit.view", house.pits["P2"])
    assert list(visible(supervisor, Pit.objects.all())) == [house.pits["P1"]]


def test_a_shift_manager_sees_the_whole_casino_and_no_other(house: House) -> None:
    manager = house["shift-manager"]
    assert set(visible(manager, Pit.objects.all())) == set(house.pits.values())
    assert not can(manager, "pit.view", house.other_pit)


def test_who_belongs_to_no_casino_sees_all(house: House) -> None:
    roaming = house["compliance"]
    roaming.casino = None
    assert visible(roaming, Pit.objects.all()).count() == 3


def test_what_belongs_to_the_casino_is_seen_but_not_changed_from_a_pit(house: House) -> None:
    now = timezone.now()
    duty_grant(
        actor=house["casino-manager"], staff=house["pit-manager"], post="shift-manager", casino=house.casino,
        pit=house.pits["P1"], starts_at=now, ends_at=now + HOUR, reason="Stands in",
    )  # fmt: skip
    actor = house["pit-manager"]
    of_the_casino = grant(house, "dealer", "pit-supervisor")
    assert can(actor, "duty.view", of_the_casino)
    assert not can(actor, "duty.end", of_the_casino)


def test_every_denial_is_on_record_even_when_the_transaction_is_rolled_back(house: House) -> None:
    actor = house["pit-manager"]
    token = entry_point.set("POST /somewhere/")
    try:
        with pytest.raises(PermissionDenied), transaction.atomic():
            pit_update(actor=actor, pit=house.pits["P1"], changes={"name": "Mine"}, reason="Because")
    finally:
        entry_point.reset(token)
    denial = Denial.objects.get(staff_id=actor.pk)
    assert denial.who == "PIT-MANAGER Person PIT-MANAGER, pit manager"
    assert (denial.action, denial.thing, denial.door) == ("pit.change", "pit RWS P1", "POST /somewhere/")
    assert denial.casino_id == house.casino.pk


def test_the_record_says_when_somebody_was_acting(house: House) -> None:
    grant(house)
    assert actor_name(house["pit-manager"]) == "PIT-MANAGER Person PIT-MANAGER, acting shift manager"


def test_the_operator_sets_up_the_house_and_decides_nothing_in_it(house: House) -> None:
    assert can(Operator(), "staff.add")
    assert not can(Operator(), "duty.add")


def test_django_asks_the_same_gate(house: House) -> None:
    assert house["administrator"].has_perm("games.change_staff")
    assert not house["auditor"].has_perm("games.change_staff")
    assert not house["administrator"].has_perm("games.delete_staff")
    assert not house["pit-supervisor"].has_perm("games.view_pit", house.pits["P2"])
