"""Reports by the clock: every period once, what was missed is made up for, a failure is raised, e-mails link."""

import datetime as dt
from typing import Any

import pytest
import time_machine
from django.core import mail
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.mail import EmailMessage
from django.utils import timezone

from audits.incidents.shifts import shift_windows
from audits.models import Notice, ReportRun, ReportSchedule
from audits.reports.services.production import report_take
from audits.reports.services.schedules import (
    failures_raise,
    periods_due,
    schedule_create,
    schedule_update,
    scheduled_reports_send,
    schedules_take,
)
from games.floor.services.casinos import casino_update
from games.models import AccessRecord, Staff
from tests.conftest import House

#: A Thursday, 12:00 in Singapore: gaming days begin at 06:00, and books are open for six hours more.
NOON = dt.datetime(2026, 11, 12, 4, 0, tzinfo=dt.UTC)


def day(number: int) -> dt.date:
    return dt.date(2026, 11, number)


def at(days: float) -> dt.datetime:
    return NOON + dt.timedelta(days=days)


def schedule(house: House, **values: Any) -> ReportSchedule:
    wanted = {"casino": house.casino, "kind": "discrepancies", "format": "csv", "every": "day", "from_at": NOON}
    return schedule_create(actor=house["compliance"], values={**wanted, **values}, reason="For the morning meeting")


def take_all(*runs: ReportRun) -> None:
    for run in runs:
        report_take(key=run.pk)


def test_a_day_is_made_at_its_close_once_and_days_missed_are_made_up_for(house: House) -> None:
    schedule(house)
    assert schedules_take(now=at(0)) == []
    assert schedules_take(now=at(0.9)) == []
    made = schedules_take(now=at(3))
    assert [(run.first_day, run.last_day) for run in made] == [
        (day(12), day(12)),
        (day(13), day(13)),
        (day(14), day(14)),
    ]
    assert schedules_take(now=at(3)) == []
    assert {run.who.split(",")[0] for run in made} == {str(house["compliance"])}


def test_weeks_months_and_shifts_end_when_they_end(house: House) -> None:
    def due(every: str, days: float) -> list[tuple[dt.date, dt.date, str]]:
        one = ReportSchedule(casino=house.casino, kind="log", every=every, from_at=NOON)
        return [(period.first, period.last, period.shift) for period in periods_due(one, at(days))]

    assert due("week", 3) == []
    assert due("week", 4) == [(day(9), day(15), "")]
    assert due("month", 18) == []
    assert due("month", 19) == [(day(1), day(30), "")]
    assert due("shift", 1) == [(day(12), day(12), "Day"), (day(12), day(12), "Swing"), (day(12), day(12), "Night")]


def test_a_shift_lasts_until_the_next_also_over_a_clock_change(house: House) -> None:
    windows = shift_windows(house.other, dt.date(2026, 10, 24))  # the clocks go back in the night
    assert [(name, (ends - begins) / dt.timedelta(hours=1)) for name, begins, ends in windows] == [
        ("Day", 8.0), ("Swing", 8.0), ("Night", 9.0),
    ]  # fmt: skip


def test_a_schedule_that_was_paused_starts_again_from_now(house: House) -> None:
    one = schedule(house)
    schedule_update(actor=house["compliance"], schedule=one, changes={"is_active": False}, reason="Holidays")
    assert schedules_take(now=at(3)) == []
    with time_machine.travel(at(5), tick=False):
        schedule_update(actor=house["compliance"], schedule=one, changes={"is_active": True}, reason="Back")
        assert schedules_take(now=at(5)) == []
    assert [run.first_day for run in schedules_take(now=at(6))] == [day(17)]


def test_its_report_is_mailed_as_a_link_once(house: House) -> None:
    schedule(house, recipients=["regulator@example.org"])
    take_all(*schedules_take(now=at(1)))
    assert (scheduled_reports_send(), scheduled_reports_send()) == (1, 0)
    (message,) = mail.outbox
    assert message.to == ["regulator@example.org"]
    assert "/admin/audits/reportrun/" in message.body
    assert message.attachments == []


def test_an_email_that_cannot_be_sent_is_tried_for_an_hour_and_then_raised(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = {"report_files_by_email": True}
    casino_update(actor=house["casino-manager"], casino=house.casino, changes=changes, reason="Agreed")
    schedule(house, recipients=["regulator@example.org"])
    with time_machine.travel(at(1), tick=False) as clock:
        (run,) = schedules_take()
        take_all(run)

        def refused(self: EmailMessage, fail_silently: bool = False) -> int:
            raise ConnectionRefusedError(111, "Connection refused")

        with monkeypatch.context() as broken:
            broken.setattr(EmailMessage, "send", refused)
            for minutes, notices in ((0, 0), (59, 0), (1, 1), (60, 1)):
                clock.shift(dt.timedelta(minutes=minutes))
                assert scheduled_reports_send() == 0
                assert Notice.objects.filter(role="compliance").count() == notices
        run.refresh_from_db()
        assert (run.mailed_at is not None, "refused" in run.mail_fault) == (True, True)
        assert not AccessRecord.objects.filter(kind="export").exists()  # nothing left
        assert "could not be sent" in Notice.objects.get(role="compliance").text
        assert scheduled_reports_send() == 0


def test_an_email_that_is_sent_at_the_second_attempt_is_sent_once(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    schedule(house, recipients=["regulator@example.org"])
    take_all(*schedules_take(now=at(1)))

    def refused(self: EmailMessage, fail_silently: bool = False) -> int:
        raise ConnectionRefusedError(111, "Connection refused")

    with monkeypatch.context() as broken:
        broken.setattr(EmailMessage, "send", refused)
        assert scheduled_reports_send() == 0
    assert (scheduled_reports_send(), scheduled_reports_send(), len(mail.outbox)) == (1, 0, 1)
    run = ReportRun.objects.get()
    assert (run.mailed_at is not None, run.mail_fault) == (True, "")


def test_the_file_goes_out_only_where_the_casino_allows_it(house: House) -> None:
    changes = {"report_files_by_email": True}
    casino_update(
        actor=house["casino-manager"], casino=house.casino, changes=changes, reason="Agreed with the regulator"
    )
    schedule(house, recipients=["regulator@example.org"])
    take_all(*schedules_take(now=at(1)))
    scheduled_reports_send()
    ((name, content, kind),) = mail.outbox[0].attachments
    assert (name, kind) == ("RWS-discrepancies-2026-11-12.csv", "text/csv; charset=utf-8")
    assert b"round_ref" in bytes(content) if isinstance(content, bytes) else "round_ref" in content


def test_one_that_cannot_be_made_fails_is_raised_to_compliance_once_and_the_next_day_is_tried_again(
    house: House,
) -> None:
    schedule(house)
    Staff.objects.filter(pk=house["compliance"].pk).update(department="it")
    (run,) = schedules_take(now=at(1))
    assert run.state == "failed"
    assert "may not do this" in run.fault
    assert len(failures_raise()) == 1
    assert failures_raise() == []
    assert "failed" in Notice.objects.get(role="compliance").text
    assert [run.first_day for run in schedules_take(now=at(2))] == [day(13)]


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({"recipients": ["nobody"]}, "not an e-mail address"),
        ({"recipients": [f"a{number}@example.org" for number in range(21)]}, "At most 20"),
        ({"kind": "gossip"}, "not a report"),
    ],
)
def test_wrong_schedules_are_refused(house: House, values: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValidationError, match=fault):
        schedule(house, **values)
    assert not ReportSchedule.objects.exists()


@pytest.mark.parametrize("role", ["auditor", "pit-manager", "surveillance", "administrator"])
def test_only_compliance_keeps_schedules(house: House, role: str) -> None:
    values = {"casino": house.casino, "kind": "discrepancies", "format": "csv", "every": "day"}
    with pytest.raises(PermissionDenied):
        schedule_create(actor=house[role], values=values, reason="x")


def test_two_schedulers_at_once_order_a_period_once(house: House) -> None:
    one = schedule(house)
    schedules_take(now=at(1))
    ReportRun.objects.filter(schedule=one).update(state="cancelled", ended_at=timezone.now())
    assert schedules_take(now=at(1)) == []  # somebody cancelled it: that was a decision
