"""A finding is weighed by the stricter of the policy when it was found and the one in force now."""

import datetime as dt
from typing import Any

import pytest
from django.core import mail
from django.db import DatabaseError, connection, transaction

from audits.findings.selectors import FindingFilter, alerts, findings_list
from audits.findings.services.escalation import findings_escalate
from audits.findings.services.findings import finding_resolve
from audits.findings.services.weighing import findings_weigh
from audits.models import Finding, FindingWeighing, Notice, Severity
from audits.notifications.services.proposers import proposers_notify
from audits.tasks import escalate
from games.access.services.people import staff_update
from games.models import Table
from games.thresholds.services import threshold_propose, threshold_reject
from tests.audits.playing import UNDERPAID, drain, played, record
from tests.conftest import OPERATOR, House
from tests.thresholds import approved, compliance_person, in_force

NEXT_DAY = dt.datetime(2026, 11, 15, 22, tzinfo=dt.UTC)
DAY = dt.timedelta(days=1)


@pytest.fixture
def finding(table: Table) -> Finding:
    """Of 10.00: low by the usual policy."""
    record(played("R-1", UNDERPAID))
    drain()
    return Finding.objects.get(category="discrepancy")


def weighed(finding: Finding) -> tuple[int, int | None]:
    findings_weigh()
    finding.refresh_from_db()
    return finding.severity, finding.severity_found


def test_a_stricter_policy_raises_what_is_on_record_once_it_is_in_force(
    house: House, finding: Finding, clock: Any
) -> None:
    assert (finding.severity, finding.amount) == (Severity.LOW, 1000)
    approved(house, "findings", medium_from=500, high_from=1000)
    assert weighed(finding) == (Severity.LOW, None)
    assert list(alerts(house["compliance"])) == []
    clock.move_to(NEXT_DAY)
    assert weighed(finding) == (Severity.HIGH, Severity.LOW)
    assert list(alerts(house["compliance"])) == [finding]
    assert list(findings_list(house["compliance"], FindingFilter(severity=3))) == [finding]
    assert not FindingWeighing.objects.exists()  # what was under way is weighed for another hour
    clock.move_to(NEXT_DAY + DAY)
    assert weighed(finding) == (Severity.HIGH, Severity.LOW)
    assert FindingWeighing.objects.count() == 1


def test_a_laxer_policy_lowers_nothing_below_what_it_was_found_with(house: House, table: Table, clock: Any) -> None:
    in_force(house, "findings", medium_from=500, high_from=1000, confirm_from=1000)
    record(played("R-1", UNDERPAID))
    drain()
    finding = Finding.objects.get(category="discrepancy")
    approved(house, "findings", medium_from=10_000_000, high_from=10_000_000, confirm_from=10_000_000)
    clock.move_to(NEXT_DAY)
    assert weighed(finding) == (Severity.HIGH, None)
    resolved = finding_resolve(actor=house["pit-manager"], finding=finding, outcome="no-loss", reason="Looked at")
    assert resolved.needs_confirmation  # by the lower of both amounts


def test_the_amount_for_compliance_is_the_one_in_force_where_that_is_lower(
    house: House, finding: Finding, clock: Any
) -> None:
    approved(house, "findings", confirm_from=1000)
    clock.move_to(NEXT_DAY)
    assert finding_resolve(
        actor=house["pit-manager"], finding=finding, outcome="no-loss", reason="Looked at"
    ).needs_confirmation


def test_a_policy_that_was_strict_for_a_while_leaves_the_finding_as_it_was_found(
    house: House, finding: Finding, clock: Any
) -> None:
    approved(house, "findings", medium_from=0, high_from=0)
    clock.move_to(NEXT_DAY + DAY / 2)
    assert weighed(finding)[0] == Severity.HIGH
    approved(house, "findings", medium_from=50_000, high_from=500_000)
    clock.move_to(NEXT_DAY + 2 * DAY)
    assert weighed(finding) == (Severity.LOW, Severity.LOW)


def test_procedural_findings_are_weighed_by_their_kind(house: House, table: Table, clock: Any) -> None:
    in_force(house, "findings", procedural={"no-valid-tumble": 1})
    events: Any = [
        ("place-bets", 0, {}), ("no-more-bets", 30, {}), ("result", 40, {"dice": [1, 3, 6]}), ("settled", 60, {}),
    ]  # fmt: skip
    record(played("R-1", events=events))
    drain()
    finding = Finding.objects.get(kind="no-valid-tumble")
    assert finding.severity == Severity.LOW
    approved(house, "findings", procedural={})
    clock.move_to(NEXT_DAY)
    assert weighed(finding) == (Severity.HIGH, Severity.LOW)


def test_what_was_raised_is_escalated_as_what_it_weighs_now(house: House, finding: Finding, clock: Any) -> None:
    approved(house, "findings", medium_from=500, high_from=1000, escalate_low_after=100_000)
    clock.move_to(NEXT_DAY)
    assert findings_escalate() == []
    escalate()
    assert [notice.role for notice in Notice.objects.filter(escalations__finding=finding)] == ["pit-manager"]


def test_what_is_done_with_is_weighed_no_more(house: House, finding: Finding, clock: Any) -> None:
    finding_resolve(actor=house["pit-manager"], finding=finding, outcome="no-loss", reason="Looked at")
    approved(house, "findings", medium_from=0, high_from=0, confirm_from=0)
    clock.move_to(NEXT_DAY)
    assert weighed(finding) == (Severity.LOW, None)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audits_finding SET severity = 1, severity_found = 3",
        "UPDATE audits_finding SET severity = 1",
        "UPDATE audits_finding SET severity_found = 1",
        "UPDATE audits_finding SET severity = 2, severity_found = 2",
    ],
)
def test_the_database_lowers_no_finding(house: House, table: Table, statement: str) -> None:
    in_force(house, "findings", medium_from=500, high_from=1000)
    record(played("R-1", UNDERPAID))
    drain()
    with pytest.raises(DatabaseError, match="does not weigh less"), transaction.atomic():
        connection.cursor().execute(statement)


def test_the_proposer_is_notified_of_the_decision_once_also_by_mail(house: House, clock: None) -> None:
    one, two = compliance_person(house, "RWS-C1"), compliance_person(house, "RWS-C2")
    staff_update(actor=OPERATOR, staff=one, changes={"email": "one@example.com"}, reason="For notices")
    approved(house, "acting", acting_days=7)
    change = threshold_propose(actor=one, casino=house.casino, kind="rulings", values={"notify_from": 5}, reason="x")
    assert proposers_notify()[0].text.splitlines() == [
        f"Your threshold proposal {change.casino.threshold_changes.get(kind='acting')} for RWS (acting "
        "appointments) was approved by RWS-C2 Person RWS-C2, compliance at 15 Nov 2026, 20:00:00.",
        "Reason: Agreed",
        "In force from 16 Nov 2026, 06:00:00",
    ]
    threshold_reject(actor=two, change=change, reason="Too low")
    escalate()
    assert proposers_notify() == []
    assert [notice.recipients for notice in Notice.objects.order_by("pk")] == [[one.pk], [one.pk]]
    assert {sent.subject for sent in mail.outbox} >= {f"Threshold proposal {change}: rejected"}
