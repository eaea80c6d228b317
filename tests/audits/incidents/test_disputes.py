"""Patrons' disputes: what the law asks for, by when, and who is told when the time has run out."""

import datetime as dt
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import transaction

from audits.findings.services.escalation import notices_mail
from audits.incidents.services.disputes import (
    dispute_mark,
    dispute_raise,
    dispute_resolve,
    dispute_rule_set,
    overdue,
    overdue_tell,
    running,
)
from audits.models import Dispute, DisputeRule, Notice, NoticeMail
from games.access.gate import Denied
from games.models import Staff, Table
from tests.audits.files import opened
from tests.conftest import House, build_house
from tests.games.floor_setup import HOUR, MINUTE, NOON, SECOND, bare_table
from tests.threads import at_once

DAY = dt.timedelta(days=1)
pytestmark = pytest.mark.usefixtures("clock")


def raised(house: House, account: str = "A quarrel.", **more: Any) -> Dispute:
    values: dict[str, Any] = {"patron": "P-77", "raised_at": NOON - HOUR, "reason": "Does not accept it"} | more
    return dispute_raise(actor=house["pit-supervisor"], incident=opened(house, account=account), **values)


def test_seven_days_run_from_when_the_dispute_was_raised(house: House) -> None:
    dispute = raised(house)
    assert (dispute.due_at, dispute.law) == (NOON - HOUR + 7 * DAY, "Casino Control Act (Singapore), section 111")
    assert dispute.left == 7 * DAY - HOUR
    assert list(running()) == [dispute]
    assert list(overdue(dispute.due_at - SECOND)) == []
    assert list(overdue(dispute.due_at)) == [dispute]


@pytest.mark.parametrize(
    "changes",
    [
        {"patron": " "}, {"patron": "P\x00"}, {"patron": "P" * 201}, {"raised_at": NOON + HOUR}, {"reason": " "},
        {"raised_at": dt.datetime(1900, 1, 1, tzinfo=dt.UTC)},
    ],
)  # fmt: skip
def test_a_dispute_that_makes_no_sense_is_refused(house: House, changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        raised(house, **changes)
    assert not Dispute.objects.exists()


def test_an_incident_has_one_dispute_also_after_a_second_click(clone: str) -> None:
    house = build_house()
    incident = opened(house, table=bare_table(house))
    actor = house["pit-supervisor"]

    def click() -> Dispute:
        return dispute_raise(actor=actor, incident=incident, patron="P-77", raised_at=NOON - HOUR, reason="Unhappy")

    def waiting_click() -> Dispute:
        with transaction.atomic():  # both come to the table first
            Table.objects.select_for_update().get()
        return click()

    answers = at_once(waiting_click, waiting_click)
    assert sorted(type(one).__name__ for one in answers) == ["Dispute", "ValidationError"]


def test_both_marks_stop_the_clock_and_one_does_not(house: House, clock: Any) -> None:
    dispute = raised(house)
    actor = house["compliance"]
    first = dispute_mark(actor=actor, dispute=dispute, mark="notified_at", at=NOON - MINUTE, reason="By letter")
    assert (first.is_settled, list(overdue(dispute.due_at))) == (False, [dispute])
    second = dispute_mark(actor=actor, dispute=dispute, mark="patron_told_at", at=NOON, reason="By letter")
    assert (second.is_settled, list(running())) == (True, [])
    assert second.history.count() == 3
    with pytest.raises(ValidationError, match=r"already done at 2026-11-15T19:59:00\+08:00"):
        dispute_mark(actor=actor, dispute=dispute, mark="notified_at", at=NOON, reason="Again")


@pytest.mark.parametrize(
    ("mark", "at"),
    [
        ("notified_at", NOON - HOUR - SECOND), ("notified_at", NOON + SECOND), ("due_at", NOON), ("told", NOON),
        ("notified_at", NOON.replace(tzinfo=None)),
    ],
)  # fmt: skip
def test_a_mark_is_one_of_two_and_lies_between_then_and_now(house: House, mark: str, at: dt.datetime) -> None:
    dispute = raised(house)
    with pytest.raises(ValidationError):
        dispute_mark(actor=house["compliance"], dispute=dispute, mark=mark, at=at, reason="Because")


def test_a_dispute_is_resolved_once_and_with_words(house: House) -> None:
    dispute = raised(house)
    with pytest.raises(ValidationError):
        dispute_resolve(actor=house["compliance"], dispute=dispute, reason=" ")
    found = dispute_resolve(actor=house["compliance"], dispute=dispute, reason="Paid as a gesture")
    assert (found.resolution, found.resolved_at, list(running())) == ("Paid as a gesture", NOON, [])
    with pytest.raises(ValidationError, match="already resolved"):
        dispute_resolve(actor=house["compliance"], dispute=dispute, reason="Paid again")


@pytest.mark.parametrize("role", ["dealer", "surveillance", "auditor", "administrator"])
def test_others_touch_no_dispute(house: House, role: str) -> None:
    dispute = raised(house)
    with pytest.raises(Denied):
        dispute_mark(actor=house[role], dispute=dispute, mark="notified_at", at=NOON, reason="Because")
    with pytest.raises(Denied):
        dispute_resolve(actor=house[role], dispute=dispute, reason="Because")
    with pytest.raises(Denied):
        dispute_raise(
            actor=house[role], incident=opened(house, account="Two."), patron="P-1", raised_at=NOON, reason="Because"
        )


def test_a_casinos_own_rule_sets_the_deadline_and_moves_none_that_runs(house: House) -> None:
    before = raised(house)
    actor = house["compliance"]
    dispute_rule_set(actor=actor, casino=house.casino, changes={"days": 3, "law": "Our law"}, reason="New law")
    after = raised(house, "Another quarrel.")
    before.refresh_from_db()
    assert (before.due_at, after.due_at) == (NOON - HOUR + 7 * DAY, NOON - HOUR + 3 * DAY)
    assert (before.law, after.law) == ("Casino Control Act (Singapore), section 111", "Our law")
    dispute_rule_set(actor=actor, casino=house.casino, changes={"days": 5}, reason="Newer law")
    rule = DisputeRule.objects.get()
    assert (rule.days, rule.law, rule.history.count()) == (5, "Our law", 2)


def test_a_rule_that_makes_no_sense_is_refused(house: House) -> None:
    for changes in ({"days": 0}, {"days": -1}, {"law": "\x00"}, {"casino": house.other}, {"zebra": 1}):
        with pytest.raises(ValidationError):
            dispute_rule_set(actor=house["compliance"], casino=house.casino, changes=changes, reason="Because")
    for actor, casino in ((house["casino-manager"], house.casino), (house["compliance"], house.other)):
        with pytest.raises(Denied):
            dispute_rule_set(actor=actor, casino=casino, changes={"days": 3}, reason="Because")
    assert not DisputeRule.objects.exists()


def test_compliance_is_told_once_in_the_app_and_by_mail(house: House, clock: Any, mailoutbox: list[Any]) -> None:
    Staff.objects.filter(pk=house["compliance"].pk).update(email="compliance@casino.example")
    first, second = raised(house), raised(house, "Another quarrel.")
    clock.move_to(first.due_at - SECOND)
    assert overdue_tell() == []
    clock.move_to(first.due_at)
    (notice,) = overdue_tell()
    assert (notice.role, notice.people) == ("compliance", [str(house["compliance"])])
    assert [one.incident.number in notice.text for one in (first, second)] == [True, True]
    assert "P-77" not in notice.text  # a patron's reference goes into no mail
    clock.shift(HOUR)
    assert overdue_tell() == []
    assert Notice.objects.count() == 1
    assert (notices_mail(), notices_mail()) == (1, 0)
    (mail,) = mailoutbox
    assert (mail.subject, mail.to) == ("Disputes at RWS are overdue", ["compliance@casino.example"])
    assert first.incident.number in mail.body
    assert NoticeMail.objects.get().fault == ""


def test_each_casino_is_told_of_its_own(house: House, clock: Any) -> None:
    there = house.hire("SM-ELSE", "shift-manager", house.other)
    house.people["there"] = there
    incident = opened(house, "there", casino=house.other, pit=None)
    dispute_raise(actor=there, incident=incident, patron="P-1", raised_at=NOON, reason="Unhappy")
    raised(house)
    clock.move_to(NOON + 8 * DAY)
    assert {notice.casino: notice.people for notice in overdue_tell()} == {
        house.casino: [str(house["compliance"])], house.other: [],
    }  # fmt: skip
