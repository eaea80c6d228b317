"""Acting appointments (1.5): which pits, how long, how many steps, by whom, and people of other departments."""

import datetime as dt
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError, ProgrammingError, connection, transaction
from django.utils import timezone

from games.access.gate import actor_name, can, capacities
from games.access.models.acting_appointment import ALL_PITS
from games.access.services.acting_appointments import duty_end, duty_grant
from games.access.services.people import staff_update
from games.floor.services.casinos import casino_update
from games.models import Casino, Duty, Staff, ThresholdChange
from tests.conftest import OPERATOR, House
from tests.games.appointments import duty_copy
from tests.games.logins import logged_in
from tests.thresholds import in_force

DAY = dt.timedelta(days=1)
HOUR = dt.timedelta(hours=1)
MINUTE = dt.timedelta(minutes=1)
ADD = "/admin/games/duty/add/"


def grant(house: House, actor: str = "shift-manager", staff: str = "dealer", **changes: Any) -> Duty:
    now = timezone.now()
    values: dict[str, Any] = {
        "post": "pit-supervisor", "casino": house.casino, "pit": house.pits["P1"], "starts_at": now,
        "ends_at": now + HOUR, "reason": "Stands in",
    } | changes  # fmt: skip
    return duty_grant(actor=house[actor], staff=house[staff], **values)


def setting(house: House, **changes: Any) -> None:
    in_force(house, "acting", **changes)


def sent(house: House, **changes: str) -> dict[str, str]:
    now = timezone.localtime(timezone=ZoneInfo(house.casino.timezone))
    return {
        "staff": str(house["dealer"].pk), "post": "pit-supervisor", "casino": str(house.casino.pk),
        "where": str(house.pits["P1"].pk), "starts_at_0": f"{now:%Y-%m-%d}", "starts_at_1": f"{now:%H:%M:%S}",
        "ends_at_0": f"{now + DAY:%Y-%m-%d}", "ends_at_1": f"{now:%H:%M:%S}", "reason": "Stands in",
    } | changes  # fmt: skip


# --- Which pits ---


def test_an_appointment_names_one_pit_or_all_of_them(house: House) -> None:
    one, every = grant(house), grant(house, post="pit-supervisor", staff="dealer", pit=ALL_PITS)
    assert (one.scope, one.pit, str(one)) == (
        "pit", house.pits["P1"], "DEALER Person DEALER as pit supervisor, RWS P1"
    )  # fmt: skip
    assert (every.scope, every.pit, every.place) == ("all-pits", None, "RWS, all pits")


@pytest.mark.parametrize("pit", [None, "", 0, "all-pits"])
def test_no_pit_is_not_taken_for_all_pits(house: House, pit: Any) -> None:
    with pytest.raises(ValidationError, match="Choose one pit, or all pits"):
        grant(house, pit=pit)
    now = timezone.now()
    unsaid: dict[str, Any] = {"post": "pit-supervisor", "starts_at": now, "ends_at": now + HOUR, "reason": "x"}
    with pytest.raises(TypeError, match="pit"):
        duty_grant(actor=house["shift-manager"], staff=house["dealer"], casino=house.casino, **unsaid)
    assert not Duty.objects.exists()


@pytest.mark.parametrize("change", ["scope = ''", "scope = 'all-pits'", "pit_id = NULL"])
def test_the_database_refuses_a_place_that_says_neither(house: House, change: str) -> None:
    grant(house)
    with pytest.raises(IntegrityError, match="duty_names_a_pit_or_all"), transaction.atomic():
        duty_copy(change)


def test_the_form_chooses_nothing_and_asks_for_it(house: House) -> None:
    client = logged_in(house["shift-manager"])
    shown = client.get(ADD).content.decode()
    where = shown[shown.index('name="where"') :].partition("</select>")[0]
    assert "Choose one pit, or all pits" in where
    assert "All pits of the casino" in where
    assert where.index('<option value="" selected') < where.index("RWS P1")
    answer = client.post(ADD, sent(house, where=""))
    assert "Choose one pit, or all pits: an acting appointment says where it is for." in answer.content.decode()
    assert not Duty.objects.exists()
    assert client.post(ADD, sent(house, where="all-pits")).status_code == 302
    assert Duty.objects.get().scope == "all-pits"
    assert client.post(ADD, sent(house)).status_code == 302
    assert set(Duty.objects.values_list("scope", "pit__code")) == {("all-pits", None), ("pit", "P1")}
    assert "RWS, all pits" in client.get("/admin/games/duty/").content.decode()


def test_a_pit_of_another_casino_is_no_choice(house: House) -> None:
    answer = logged_in(house["shift-manager"]).post(ADD, sent(house, where=str(house.other_pit.pk)))
    assert "Choose one pit, or all pits" in answer.content.decode()
    assert not Duty.objects.exists()


# --- How long ---


def test_an_appointment_lasts_31_days_at_most_unless_the_casino_says_otherwise(house: House) -> None:
    now = timezone.now()
    exact = grant(house, starts_at=now, ends_at=now + 31 * DAY)
    assert not exact.is_too_long
    with pytest.raises(ValidationError, match="Longer than 31 days, the most that RWS allows") as refusal:
        grant(house, staff="pit-supervisor", post="pit-manager", ends_at=now + 31 * DAY + HOUR)
    assert list(refusal.value.message_dict) == ["ends_at"]
    setting(house, acting_days=60)
    grant(house, staff="pit-supervisor", post="pit-manager", ends_at=now + 60 * DAY)


@pytest.mark.parametrize("days", [0, 367])
def test_the_setting_lies_between_a_day_and_a_leap_year(house: House, days: int) -> None:
    with pytest.raises(ValidationError):
        setting(house, acting_days=days)
    with (
        pytest.raises(IntegrityError, match="threshold_acting_sound"),
        transaction.atomic(),
    ):
        ThresholdChange.objects.create(
            casino=house.casino, kind="acting", proposed={"acting_days": days, "acting_other_departments": False},
            reason="x", proposed_by=house["compliance"], who="x",
        )  # fmt: skip


def test_the_database_refuses_a_longer_one_by_insert_and_by_update(house: House) -> None:
    duty = grant(house)
    columns = (
        "staff_id, post, casino_id, scope, pit_id, department, own_post, granted_by_id, granted_as, granted_at, reason"
    )
    for statement in (
        "UPDATE games_duty SET ends_at = starts_at + interval '32 days'",
        f"INSERT INTO games_duty ({columns}, starts_at, ends_at) SELECT {columns}, ends_at, ends_at + interval '32 days' FROM games_duty",  # noqa: E501
    ):
        with pytest.raises(IntegrityError, match="lasts at most 31 days"), transaction.atomic():
            connection.cursor().execute(statement)
    duty.refresh_from_db()
    assert duty.lasts == HOUR


def long_one(house: House, **changes: Any) -> Duty:
    """One from before the bound: granted while the casino allowed a year, which it no longer does."""
    setting(house, acting_days=366)
    now = timezone.now()
    duty = grant(house, starts_at=now, ends_at=now + 90 * DAY, **changes)
    setting(house, acting_days=31)
    return Duty.objects.select_related("casino").get(pk=duty.pk)


def test_one_from_before_the_bound_counts_to_its_end_and_is_marked_as_too_long(house: House) -> None:
    duty = long_one(house)
    assert duty.is_too_long
    assert [str(capacity) for capacity in capacities(house["dealer"])] == ["acting pit supervisor", "dealer"]
    client = logged_in(house["shift-manager"])
    assert "longer than 31 days" in client.get(f"/admin/games/duty/{duty.pk}/change/").content.decode()
    assert "longer than 31 days" in client.get("/admin/").content.decode()
    ended = duty_end(actor=house["shift-manager"], duty=duty, reason="The bound")
    assert ended.ends_at <= timezone.now()
    assert duty.history.count() == 2


def test_one_from_before_cannot_be_lengthened(house: House) -> None:
    long_one(house)
    with pytest.raises(IntegrityError, match="lasts at most 31 days"), transaction.atomic():
        connection.cursor().execute("UPDATE games_duty SET ends_at = ends_at + interval '1 second'")


def test_appointments_without_a_break_count_together(house: House) -> None:
    """Four times 31 days one after the other were granted before."""
    now = timezone.now()
    first = grant(house, starts_at=now, ends_at=now + 20 * DAY)
    for later in (0 * HOUR, HOUR / 2, -DAY):  # one after the other, a short pause, another pit meanwhile
        starts_at = first.ends_at + later
        with pytest.raises(ValidationError, match=r"without a break from .* longer than 31 days") as refusal:
            grant(house, pit=house.pits["P2"], starts_at=starts_at, ends_at=starts_at + 20 * DAY)
        assert list(refusal.value.message_dict) == ["ends_at"]
    grant(house, starts_at=first.ends_at, ends_at=now + 31 * DAY)
    grant(house, starts_at=now + 32 * DAY, ends_at=now + 60 * DAY)
    with pytest.raises(ValidationError, match="without a break"):  # it would join the two
        grant(house, starts_at=now + 31 * DAY, ends_at=now + 32 * DAY)
    grant(house, "casino-manager", post="pit-manager", starts_at=now + 31 * DAY, ends_at=now + 32 * DAY)


# --- Not for the past ---


def test_an_appointment_is_not_backdated(house: House) -> None:
    """Else somebody clears a finding afterwards."""
    now = timezone.now()
    with pytest.raises(ValidationError, match="starts now or later") as refusal:
        grant(house, starts_at=now - 6 * MINUTE)
    assert list(refusal.value.message_dict) == ["starts_at"]
    assert grant(house, starts_at=now - 4 * MINUTE).starts_at == now - 4 * MINUTE


def test_the_database_refuses_a_backdated_one(house: House) -> None:
    grant(house)
    with pytest.raises(IntegrityError, match="starts when it is granted"), transaction.atomic():
        duty_copy("starts_at = granted_at - interval '1 day'")
    with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
        connection.cursor().execute("UPDATE games_duty SET starts_at = starts_at - interval '1 second'")


# --- Below the own post ---


@pytest.mark.parametrize(
    ("staff", "post"),
    [("pit-supervisor", "dealer"), ("pit-manager", "pit-supervisor"), ("pit-manager", "dealer")],
)
def test_1_5_a_lower_post_is_assigned_by_a_shift_manager_and_gives_no_rights(
    house: House, staff: str, post: str
) -> None:
    before = [str(capacity) for capacity in capacities(house[staff])]
    duty = grant(house, staff=staff, post=post, pit=house.pits["P2"])
    assert (duty.own_post, duty.post) == (staff, post)
    assert [str(capacity) for capacity in capacities(house[staff])] == before
    assert not can(house[staff], "incident.open", house.pits["P2"])


def test_nobody_is_assigned_to_their_own_post(house: House) -> None:
    with pytest.raises(ValidationError, match="already; choose another post than their own"):
        grant(house, staff="pit-supervisor", post="pit-supervisor")
    grant(house, "casino-manager", staff="pit-supervisor", post="dealer")
    with pytest.raises(IntegrityError, match="duty_to_another_post"), transaction.atomic():
        duty_copy("post = 'pit-supervisor'")


# --- How many steps, and by whom ---


def test_1_5_a_shift_manager_appoints_one_step_up(house: House) -> None:
    assert grant(house).own_post == "dealer"
    assert grant(house, staff="pit-supervisor", post="pit-manager").own_post == "pit-supervisor"


def test_1_5_more_than_one_step_takes_the_casino_manager(house: House) -> None:
    with pytest.raises(ValidationError, match=r"Acting pit manager is 2 steps above dealer; .* takes a casino manager"):
        grant(house, post="pit-manager")
    assert not Duty.objects.exists()
    duty = grant(house, "casino-manager", post="pit-manager")
    assert (duty.granted_as, duty.own_post, duty.post) == ("casino-manager", "dealer", "pit-manager")


def test_1_5_an_acting_shift_manager_appoints_no_further_than_a_shift_manager(house: House) -> None:
    grant(house, "casino-manager", "pit-manager", post="shift-manager", pit=ALL_PITS)
    assert grant(house, "pit-manager", "pit-supervisor", post="pit-manager").granted_as == "shift-manager"
    with pytest.raises(ValidationError, match="2 steps above dealer"):
        grant(house, "pit-manager", post="pit-manager")


def test_the_database_refuses_two_steps_without_the_casino_manager(house: House) -> None:
    grant(house)
    with pytest.raises(IntegrityError, match="duty_one_step_or_casino_manager"), transaction.atomic():
        duty_copy("post = 'pit-manager'")


def test_acting_as_shift_manager_is_said_to_be_our_reading(house: House) -> None:
    said = "Acting as shift manager rests on our reading of rule 1.5."
    client = logged_in(house["casino-manager"])
    assert said in client.get(ADD).content.decode()
    shift = grant(house, "casino-manager", "pit-manager", post="shift-manager")
    assert said in client.get(f"/admin/games/duty/{shift.pk}/change/").content.decode()
    supervisor = grant(house)
    assert said not in client.get(f"/admin/games/duty/{supervisor.pk}/change/").content.decode()


# --- People of other departments ---


OTHERS = ["surveillance", "compliance", "auditor", "administrator"]


@pytest.mark.parametrize("role", OTHERS)
def test_people_of_other_departments_act_only_where_the_casino_allows_it(house: House, role: str) -> None:
    with pytest.raises(ValidationError, match="RWS does not allow people of other departments to act"):
        grant(house, "casino-manager", role)
    setting(house, acting_other_departments=True)
    with pytest.raises(ValidationError, match="without a post in the pit; more than one step takes a casino manager"):
        grant(house, "shift-manager", role)
    duty = grant(house, "casino-manager", role)
    assert (duty.department, duty.own_post) == (house[role].department, "")
    assert can(house[role], "incident.open", house.pits["P1"])


@pytest.mark.parametrize("role", OTHERS)
def test_the_rights_of_the_own_department_rest_meanwhile(house: House, role: str) -> None:
    setting(house, acting_other_departments=True)
    before = [str(capacity) for capacity in capacities(house[role])]
    duty = grant(house, "casino-manager", role)
    assert [str(capacity) for capacity in capacities(house[role])] == ["acting pit supervisor"]
    assert actor_name(house[role]).endswith(", acting pit supervisor")
    for action in ("finding.confirm", "incident.close", "confidential.view", "staff.change", "report.export"):
        assert not can(house[role], action), action
    duty_end(actor=house["casino-manager"], duty=duty, reason="Back")
    assert [str(capacity) for capacity in capacities(house[role])] == before


def test_where_the_casino_no_longer_allows_it_the_appointment_counts_for_nothing(house: House) -> None:
    setting(house, acting_other_departments=True)
    grant(house, "casino-manager", "compliance")
    setting(house, acting_other_departments=False)
    assert [str(capacity) for capacity in capacities(house["compliance"])] == ["compliance"]


def test_an_appointment_does_not_follow_somebody_to_another_department(house: House) -> None:
    grant(house)
    setting(house, acting_other_departments=True)
    moved = {"department": "surveillance", "post": "", "pit": None}
    staff_update(actor=OPERATOR, staff=house["dealer"], changes=moved, reason="New job")
    assert [str(capacity) for capacity in capacities(house["dealer"])] == ["surveillance"]


def test_the_database_refuses_other_departments_and_a_false_department(house: House) -> None:
    grant(house)
    columns = "post, casino_id, scope, pit_id, granted_by_id, granted_as, granted_at, reason, starts_at, ends_at"
    into = f"INSERT INTO games_duty ({columns}, staff_id, department, own_post)"
    copy = f"{into} SELECT {columns}, %s, %s, %s FROM games_duty"
    person: Staff = house["compliance"]
    for department, fault in (
        ("compliance", "does not allow people of other departments"),
        ("", "names another"),
        ("pit", "names another"),
    ):
        with pytest.raises(IntegrityError, match=fault), transaction.atomic():
            connection.cursor().execute(copy, [person.pk, department, ""])
    assert Duty.objects.count() == 1


def test_people_who_look_after_every_casino_act_in_none(house: House) -> None:
    setting(house, acting_other_departments=True)
    staff_update(actor=OPERATOR, staff=house["compliance"], changes={"casino": None}, reason="All houses")
    with pytest.raises(ValidationError, match="belongs to another casino"):
        grant(house, "casino-manager", "compliance")


def test_no_one_changes_the_bounds_with_the_casino(house: House) -> None:
    for role in ("shift-manager", "compliance", "administrator"):
        with pytest.raises(PermissionDenied):
            casino_update(actor=house[role], casino=house.casino, changes={"acting_days": 60}, reason="x")
    for actor in (house["casino-manager"], OPERATOR):
        with pytest.raises(ValidationError, match="compliance changes this under Thresholds"):
            casino_update(actor=actor, casino=house.casino, changes={"acting_days": 60}, reason="x")
    with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
        connection.cursor().execute("UPDATE games_casino SET acting_days = 60")
    with pytest.raises(IntegrityError, match="casino_begins_with_usual_limits"), transaction.atomic():
        Casino.objects.create(
            code="NEW", name="x", timezone="UTC", currency="SGD", gaming_day_starts=dt.time(6), acting_days=366
        )
