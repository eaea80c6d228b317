"""The report of access: roles and acting appointments as they were, last logins, leavers, denials."""

import datetime as dt
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audits.reports.kinds.access import Access
from audits.reports.kinds.accounts import KEYS, LEFT, NEVER, OPEN_SESSION, OUTLIVED, UNUSED
from audits.reports.reach import is_read_by
from audits.reports.registry import REPORTS
from games.access.gate import Denied, authorize, capacities
from games.access.models.acting_appointment import ALL_PITS
from games.access.services.acting_appointments import duty_grant
from games.access.services.people import staff_update
from games.floor.moments import gaming_day
from games.models import Denial, LoginSession, Staff, Table
from games.terminals.services import terminal_create, terminal_revoke
from tests.audits.playing import BORDER, DAY, DAY_BEFORE, table_for
from tests.audits.reports.asking import asked_by
from tests.audits.reports.columns import named
from tests.conftest import OPERATOR, House
from tests.games.floor_setup import HOUR, MICROSECOND, MINUTE, NOON

ONE_DAY = dt.timedelta(days=1)
ENDS = BORDER + ONE_DAY
HIRED = NOON - 100 * ONE_DAY
BY = "Operator of the machine"


def at(moment: dt.datetime) -> Any:
    return time_machine.travel(moment, tick=False)


def hired(house: House, number: str, role: str = "pit-supervisor", moment: dt.datetime = HIRED, **place: Any) -> Staff:
    with at(moment):
        return house.hire(number, role, **place)


def updated(staff: Staff, moment: dt.datetime, actor: Any = OPERATOR, **changes: Any) -> None:
    with at(moment):
        staff_update(actor=actor, staff=staff, changes=changes, reason="As agreed")


def logged_in(staff: Staff, moment: dt.datetime) -> Client:
    client = Client()
    with at(moment):
        client.force_login(Staff.objects.get(pk=staff.pk))
    return client


def acting(house: House, staff: Staff, starts_at: dt.datetime, ends_at: dt.datetime, **more: Any) -> None:
    values: dict[str, Any] = {"post": "pit-manager", "pit": house.pits["P1"]} | more
    with at(starts_at):
        duty_grant(
            actor=house["casino-manager"], staff=staff, casino=house.casino, starts_at=starts_at, ends_at=ends_at,
            reason="Stands in", **values,
        )  # fmt: skip


def report(house: House, first: dt.date = DAY, last: dt.date = DAY, actor: Staff | None = None) -> Access:
    return Access(asked_by(actor or house["compliance"], first, last))


def lines(found: Access, *names: str) -> list[tuple[Any, ...]]:
    """Rows of the people whom a test hired; their numbers begin with X."""
    return [row[1:] for row in named(found, "number", *names) if row[0].startswith("X-")]


def test_a_person_with_one_role_to_the_cell(house: House) -> None:
    staff = hired(house, "X-1", pit=house.pits["P1"])
    logged_in(staff, NOON - 2 * ONE_DAY)
    logged_in(staff, NOON - HOUR)
    logged_in(staff, ENDS)  # after the period
    for moment in (BORDER - MICROSECOND, NOON - HOUR, NOON, ENDS):
        with at(moment):
            Denial.objects.create(staff=staff, casino=house.casino, who="x", action="x", thing="", door="")
    with at(ENDS + HOUR):
        row = next(row for row in named(report(house)) if row[0] == "X-1")
    assert row == (
        "X-1", "Person X-1", "Permanent", "Pit supervisor", "RWS P1", HIRED, None, BY, True, None, NOON - HOUR, None, 2,
        NOON,
    )  # fmt: skip


def test_a_person_who_changed_roles_has_a_row_for_each_of_the_period_in_order(house: House) -> None:
    staff = hired(house, "X-1", "dealer", pit=house.pits["P1"])
    updated(staff, NOON - 50 * ONE_DAY, post="pit-supervisor")
    updated(staff, NOON - ONE_DAY, name="Another Name")  # no other role
    updated(staff, NOON - HOUR, post="pit-manager")
    updated(staff, NOON, pit=house.pits["P2"])
    updated(staff, ENDS, pit=None, post="shift-manager")
    hired(house, "X-0", moment=ENDS, pit=house.pits["P1"])  # after the period
    with at(ENDS + HOUR):
        found = lines(report(house), "name", "role", "place", "from", "to")
    assert found == [
        ("Another Name", "Pit supervisor", "RWS P1", NOON - 50 * ONE_DAY, NOON - HOUR),
        ("Another Name", "Pit manager", "RWS P1", NOON - HOUR, NOON),
        ("Another Name", "Pit manager", "RWS P2", NOON, ENDS),
    ]


def test_acting_appointments_of_the_period_and_those_that_outlived_the_post(house: House) -> None:
    staff = hired(house, "X-1", pit=house.pits["P1"])
    logged_in(staff, NOON - 3 * ONE_DAY)
    acting(house, staff, NOON - 3 * ONE_DAY, NOON - 2 * ONE_DAY)  # before the period
    acting(house, staff, NOON - HOUR, NOON + 3 * ONE_DAY, pit=ALL_PITS)
    updated(staff, NOON, post="dealer")
    granted = "CASINO-MANAGER Person CASINO-MANAGER, casino manager"
    with at(ENDS + HOUR):
        found = lines(report(house), "appointment", "role", "place", "from", "to", "granted_by", "remarks")
    assert found == [
        ("Permanent", "Pit supervisor", "RWS P1", HIRED, NOON, BY, None),
        ("Acting", "Pit manager", "RWS, all pits", NOON - HOUR, NOON + 3 * ONE_DAY, granted, OUTLIVED),
        ("Permanent", "Dealer", "RWS P1", NOON, None, BY, None),
    ]
    with at(ENDS + HOUR):
        earlier = lines(report(house, DAY_BEFORE, DAY_BEFORE), "appointment")
    assert earlier == [("Permanent",)]


def test_a_leaver_who_is_still_active_and_an_account_that_nobody_uses(house: House) -> None:
    left = hired(house, "X-1", pit=house.pits["P1"])
    updated(left, NOON - ONE_DAY, leaves_on=DAY_BEFORE)
    logged_in(left, NOON - 2 * ONE_DAY)
    unused, used = hired(house, "X-2", pit=house.pits["P1"]), hired(house, "X-3", pit=house.pits["P1"])
    logged_in(unused, ENDS - 90 * ONE_DAY - HOUR)
    logged_in(used, ENDS - 90 * ONE_DAY)
    hired(house, "X-4", pit=house.pits["P1"])
    with at(ENDS + HOUR):
        found = lines(report(house), "last_day", "last_login", "active", "remarks")
        earlier = lines(report(house, DAY_BEFORE, DAY_BEFORE), "remarks")
    assert found == [
        (DAY_BEFORE, NOON - 2 * ONE_DAY, True, LEFT),
        (None, ENDS - 90 * ONE_DAY - HOUR, True, UNUSED),
        (None, ENDS - 90 * ONE_DAY, True, None),
        (None, None, True, NEVER),
    ]
    assert earlier == [(None,), (None,), (None,), (NEVER,)]  # the last day lasts until 06:00


def test_an_inactive_account_is_listed_while_it_had_a_role_and_where_something_of_it_is_open(house: House) -> None:
    gone, open_, keys = (hired(house, f"X-{n}", "administrator") for n in (1, 2, 3))
    with at(HIRED):
        table = table_for(house)
    with at(NOON - 2 * ONE_DAY):
        terminal, _ = terminal_create(actor=keys, name="Terminal 1", tables=[table], reason="New")
        revoked, _ = terminal_create(actor=gone, name="Terminal 2", tables=[table], reason="New")
        terminal_revoke(actor=OPERATOR, terminal=revoked, reason="Replaced")
    for staff in (gone, open_, keys):
        logged_in(staff, NOON - 2 * ONE_DAY)
        updated(staff, NOON - ONE_DAY, is_active=False)
    moment = ENDS - HOUR
    LoginSession.objects.create(staff=open_, browser="x", started_at=moment, passed_at=moment, seen_at=moment)
    with at(ENDS + HOUR):
        found = lines(report(house), "name", "appointment", "from", "to", "active", "remarks")
        before = lines(report(house, DAY_BEFORE, DAY_BEFORE), "name", "appointment", "to", "active", "remarks")
    assert found == [
        ("Person X-2", "None (inactive)", NOON - ONE_DAY, None, False, OPEN_SESSION),
        ("Person X-3", "None (inactive)", NOON - ONE_DAY, None, False, KEYS),
    ]
    ended = NOON - ONE_DAY
    assert before == [
        ("Person X-1", "Permanent", ended, False, None), ("Person X-2", "Permanent", ended, False, None),
        ("Person X-3", "Permanent", ended, False, None), ("Person X-3", "None (inactive)", None, False, KEYS),
    ]  # fmt: skip
    assert Table.objects.get(terminals=terminal) == table


def test_people_without_rights_password_and_appointment_have_no_account(house: House) -> None:
    hired(house, "X-1", "dealer", pit=house.pits["P1"])
    stands_in = hired(house, "X-2", "dealer", pit=house.pits["P1"])
    acting(house, stands_in, NOON, NOON + HOUR, post="pit-supervisor")
    with at(ENDS + HOUR):
        assert lines(report(house), "name", "appointment") == [("Person X-2", "Permanent"), ("Person X-2", "Acting")]


def test_people_of_every_casino_are_listed_and_those_of_another_one_are_not(house: House) -> None:
    group, foreign = hired(house, "X-1", "auditor"), hired(house, "X-2", "auditor", casino=house.other)
    updated(group, HIRED + HOUR, casino=None)
    moved = hired(house, "X-3", "auditor")
    updated(moved, NOON, casino=house.other)
    logged_in(moved, NOON + HOUR)
    with at(ENDS + HOUR):
        here = lines(report(house), "name", "place", "from", "to", "active", "last_login", "denials")
        there = lines(report(house, actor=foreign), "name", "place")
        everywhere = lines(report(house, actor=Staff.objects.get(pk=group.pk)), "name", "place", "denials")
    assert here == [
        ("Person X-1", "Every casino", HIRED + HOUR, None, True, None, None),
        ("Person X-3", "RWS", HIRED, NOON, None, None, None),  # what became of the account is the other casino's
    ]
    assert there == [("Person X-1", "Every casino"), ("Person X-2", "ELSE"), ("Person X-3", "ELSE")]
    assert everywhere == [
        ("Person X-1", "Every casino", 0), ("Person X-2", "ELSE", 0), ("Person X-3", "RWS", 0),
        ("Person X-3", "ELSE", 0),
    ]  # fmt: skip


def test_a_day_on_which_the_clocks_change_has_its_own_length(house: House) -> None:
    """In London the clocks go back on 25 October 2026: the gaming day of the 24th ends at 06:00 UTC, not at 05:00."""
    six = dt.datetime(2026, 10, 25, 6, tzinfo=dt.UTC)
    reader = hired(house, "LONDON", "auditor", casino=house.other)
    hired(house, "X-1", "auditor", moment=six - MINUTE, casino=house.other)
    hired(house, "X-2", "auditor", moment=six, casino=house.other)
    saturday = dt.date(2026, 10, 24)
    with at(ENDS):
        assert lines(report(house, saturday, saturday, reader), "name") == [("Person X-1",)]


def test_a_denial_of_the_gate_is_counted(house: House) -> None:
    today = gaming_day(house.casino, timezone.now())
    with pytest.raises(Denied):
        authorize(house["pit-supervisor"], "report.export")
    found = report(house, today - ONE_DAY, today + ONE_DAY)
    counted = {row[0]: row[1:] for row in named(found, "number", "denials", "last_denial")}
    assert counted["PIT-SUPERVISOR"][0] == 1
    assert counted["PIT-SUPERVISOR"][1] is not None
    assert counted["AUDITOR"] == (0, None)


def test_denials_of_callers_who_are_nobody_are_in_the_notes(house: House) -> None:
    with at(ENDS + HOUR):
        assert len(report(house).notes()) == 1
    with at(NOON):
        Denial.objects.create(casino=house.casino, who="Terminal 7", action="x", thing="", door="")
    with at(ENDS + HOUR):
        as_of, unknown = report(house).notes()
    with at(NOON):
        assert "as of 2026-11-15 20:00 (Asia/Singapore)" in report(house).notes()[0]
    assert "as of 2026-11-16 05:59 (Asia/Singapore)" in as_of
    assert unknown == "Access denials of callers who were not logged in: 1."


def test_nil_and_who_may_read_it(house: House) -> None:
    nil = report(house, dt.date(2001, 1, 1), dt.date(2001, 1, 2))
    assert named(nil) == []
    assert nil.nil() == "No account had a role or an acting appointment in the period."
    assert nil.totals() is None
    readers = {role for role in house.people if is_read_by(REPORTS["access"], capacities(house[role])[0])}
    assert readers == {"compliance", "auditor"}


def test_the_number_of_queries_does_not_depend_on_the_people(house: House) -> None:
    def queries() -> int:
        with at(ENDS + HOUR), CaptureQueriesContext(connection) as seen:
            asked = report(house)
            before = len(seen)
            assert list(asked.rows())
        return len(seen) - before

    first = hired(house, "X-1", pit=house.pits["P1"])
    acting(house, first, NOON, NOON + HOUR)
    few = queries()
    for number in range(2, 7):
        staff = hired(house, f"X-{number}", pit=house.pits["P1"])
        logged_in(staff, NOON)
        acting(house, staff, NOON, NOON + HOUR)
        updated(staff, NOON + HOUR, pit=house.pits["P2"])
    assert queries() == few
