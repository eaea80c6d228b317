"""Thresholds: changed by two compliance people, in force from the next gaming day on, by every door."""

import datetime as dt
import re
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.utils import timezone

from audits.models import policy_of, ruling_setting_of
from games.access.models.acting_appointment import acting_limits_of
from games.access.services.people import staff_create
from games.history.audited_save import OvertakenError
from games.models import LedgerLeaf, Staff, ThresholdChange, ThresholdDecision
from games.thresholds.services import (
    threshold_approve,
    threshold_propose,
    threshold_reject,
    threshold_withdraw,
    who_decides,
)
from tests.conftest import OPERATOR, PEOPLE, House
from tests.games.floor_setup import HOUR, NOON
from tests.games.logins import logged_in
from tests.thresholds import approved, compliance_person

PAGE = "/admin/games/thresholdchange/"
#: Noon is 20:00 in Singapore, where the gaming day begins at 06:00.
NEXT_DAY = dt.datetime(2026, 11, 15, 22, tzinfo=dt.UTC)
pytestmark = pytest.mark.usefixtures("clock")


@pytest.fixture
def second(house: House) -> Staff:
    return compliance_person(house, "COMPLIANCE-2")


def proposed(house: House, kind: str = "rulings", **values: Any) -> ThresholdChange:
    given = values or {"second_person_from": 100_000}
    return threshold_propose(
        actor=house["compliance"], casino=house.casino, kind=kind, values=given, reason="A larger floor"
    )


# --- Two people, from the next gaming day on ---


def test_a_change_takes_effect_at_the_next_gaming_day_and_not_before(house: House, second: Staff, clock: Any) -> None:
    decision = threshold_approve(actor=second, change=proposed(house), reason="Agreed")
    assert decision.effective_from == NEXT_DAY
    assert ruling_setting_of(house.casino).second_person_from == 0
    clock.move_to(NEXT_DAY - dt.timedelta(seconds=1))
    assert ruling_setting_of(house.casino).second_person_from == 0
    clock.move_to(NEXT_DAY)
    assert ruling_setting_of(house.casino).second_person_from == 100_000
    assert ruling_setting_of(house.casino).is_reporter_party  # what was not changed stays
    assert ruling_setting_of(house.casino, NOON).second_person_from == 0
    assert ruling_setting_of(house.other).second_person_from == 0
    assert LedgerLeaf.objects.filter(kind__startswith="threshold-").count() == 2


def test_nobody_approves_or_rejects_their_own_proposal(house: House, second: Staff) -> None:
    change = proposed(house)
    for decide in (threshold_approve, threshold_reject):
        with pytest.raises(ValidationError, match=rf"You proposed this\. It can be decided by {second}"):
            decide(actor=house["compliance"], change=change, reason="Quick")
    with pytest.raises(ValidationError, match=r"Only .* can withdraw this proposal"):
        threshold_withdraw(actor=second, change=change, reason="x")
    assert change.state == "pending"
    threshold_withdraw(actor=house["compliance"], change=change, reason="A slip")
    with pytest.raises(OvertakenError, match="was withdrawn by"):
        threshold_approve(actor=second, change=change, reason="Late")


def test_where_a_casino_has_one_compliance_person_one_of_no_single_casino_decides(house: House) -> None:
    change = proposed(house)
    assert "No other compliance person can decide it. Ask an administrator" in who_decides(change)
    stranger = compliance_person(house, "C-ELSE", house.other)
    with pytest.raises(PermissionDenied):
        threshold_approve(actor=stranger, change=change, reason="x")
    group = staff_create(
        actor=OPERATOR, number="C-GROUP", name="Group", department="compliance", post="", casino=None, pit=None,
        reason="Hired",
    )  # fmt: skip
    assert who_decides(change) == f"It can be decided by {group}."
    assert threshold_approve(actor=group, change=change, reason="Agreed").outcome == "approved"


@pytest.mark.parametrize("role", sorted(set(PEOPLE) - {"compliance"}))
def test_only_compliance_proposes_and_decides(house: House, role: str) -> None:
    with pytest.raises(PermissionDenied):
        threshold_propose(
            actor=house[role], casino=house.casino, kind="findings", values={"high_from": 1}, reason="Quieter"
        )
    change = proposed(house)
    for decide in (threshold_approve, threshold_reject, threshold_withdraw):
        with pytest.raises(PermissionDenied):
            decide(actor=house[role], change=change, reason="x")
    assert not ThresholdDecision.objects.exists()


def test_one_proposal_of_a_kind_waits_at_a_time(house: House, second: Staff) -> None:
    first = proposed(house)
    with pytest.raises(ValidationError, match=r"waits for a decision\. It must be decided or withdrawn first"):
        proposed(house, notify_from=5)
    assert proposed(house, "acting", acting_days=7)
    threshold_approve(actor=second, change=first, reason="Agreed")
    with pytest.raises(ValidationError, match=r"already approved\. Change at least one value"):
        proposed(house)
    later = proposed(house, notify_from=5)
    assert later.proposed == {"is_reporter_party": True, "second_person_from": 100_000, "notify_from": 5}


@pytest.mark.parametrize(
    ("kind", "values", "fault"),
    [
        ("findings", {"high_from": 1}, "High begins at or above medium"),
        ("findings", {"procedural": {"poker": 1}}, "is not a kind of procedural finding"),
        ("findings", {"escalate_high_after": 0}, "greater than or equal to 1"),
        ("rulings", {"second_person_from": -1}, "greater than or equal to 0"),
        ("rulings", {"second_person_from": "a lot"}, "must be an integer"),
        ("acting", {"acting_days": 367}, "less than or equal to 366"),
        ("acting", {"code": "X"}, "no such threshold"),
        ("weather", {"rain": 1}, "is not a kind of thresholds"),
    ],
)
def test_what_makes_no_sense_is_not_proposed(house: House, kind: str, values: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValidationError, match=fault):
        proposed(house, kind, **values)
    assert not ThresholdChange.objects.exists()


def test_acting_limits_are_thresholds_too(house: House, clock: Any) -> None:
    approved(house, "acting", acting_days=7, acting_other_departments=True)
    assert (acting_limits_of(house.casino).days, acting_limits_of(house.casino).other_departments) == (31, False)
    clock.move_to(NEXT_DAY)
    assert (acting_limits_of(house.casino).days, acting_limits_of(house.casino).other_departments) == (7, True)


# --- By SQL ---


def refused(statement: str, *values: Any, match: str) -> None:
    with pytest.raises(DatabaseError, match=match), transaction.atomic():
        connection.cursor().execute(statement, values)


def test_the_stored_rows_are_not_changed_by_sql(house: House) -> None:
    for statement in (
        "UPDATE audits_findingpolicy SET high_from = 1",
        "DELETE FROM audits_rulingsetting",
        "INSERT INTO audits_rulingsetting (casino_id, is_reporter_party, second_person_from, notify_from) "
        f"VALUES ({house.casino.pk}, false, 1000000, 1000000)",
        "UPDATE games_casino SET acting_other_departments = true",
        "UPDATE games_thresholdchange SET proposed = '{}'",
        "UPDATE games_thresholddecision SET effective_from = now()",
    ):
        refused(statement, match="permission denied")


DECIDE = """
INSERT INTO games_thresholddecision (change_id, proposed_by_id, outcome, decided_by_id, who, at, reason, effective_from)
VALUES (%s, %s, 'approved', %s, 'x', %s, 'x', %s)
"""


def test_the_database_wants_two_compliance_people_and_the_next_gaming_day(house: House, second: Staff) -> None:
    change, proposer, now = proposed(house), house["compliance"], timezone.now()
    other, manager = second, house["casino-manager"]
    refused(DECIDE, change.pk, proposer.pk, proposer.pk, now, NEXT_DAY, match="threshold_decided_by_another")
    refused(DECIDE, change.pk, proposer.pk, manager.pk, now, NEXT_DAY, match="is not a compliance person")
    refused(DECIDE, change.pk, proposer.pk, other.pk, now, now, match="threshold_from_the_next_gaming_day")
    refused(DECIDE, change.pk, proposer.pk, other.pk, now, NEXT_DAY - HOUR, match="threshold_from_the_next_gaming_day")
    refused(
        DECIDE, change.pk, proposer.pk, other.pk, now - 9 * HOUR, NEXT_DAY, match="threshold_from_the_next_gaming_day"
    )
    refused(DECIDE, change.pk, proposer.pk, other.pk, now, None, match="threshold_in_force_later")
    with transaction.atomic():
        connection.cursor().execute(DECIDE, [change.pk, other.pk, proposer.pk, now, NEXT_DAY])
        with pytest.raises(IntegrityError, match="threshold_decision_of_proposer"), transaction.atomic():
            connection.cursor().execute("SET CONSTRAINTS ALL IMMEDIATE")
        transaction.set_rollback(True)
    with connection.cursor() as cursor:
        cursor.execute(DECIDE, [change.pk, proposer.pk, other.pk, now, NEXT_DAY])


PROPOSE = """
INSERT INTO games_thresholdchange (casino_id, kind, proposed, reason, proposed_by_id, who, at)
VALUES (%s, %s, %s::jsonb, 'x', %s, 'x', now())
"""


def test_the_database_wants_a_sound_proposal_by_compliance(house: House) -> None:
    proposer, manager = house["compliance"].pk, house["casino-manager"].pk
    sound = '{"is_reporter_party": true, "second_person_from": 1, "notify_from": 1}'
    refused(PROPOSE, house.casino.pk, "rulings", sound, manager, match="is not a compliance person")
    refused(PROPOSE, house.other.pk, "rulings", sound, proposer, match="is not a compliance person")
    refused(PROPOSE, house.casino.pk, "rulings", "{}", proposer, match="threshold_rulings_sound")
    refused(PROPOSE, house.casino.pk, "findings", '{"medium_from": 5}', proposer, match="threshold_findings_sound")
    refused(PROPOSE, house.casino.pk, "acting", '{"acting_days": 400}', proposer, match="threshold_acting_sound")
    with connection.cursor() as cursor:
        cursor.execute(PROPOSE, [house.casino.pk, "rulings", sound, proposer])
    refused(PROPOSE, house.casino.pk, "rulings", sound, proposer, match="threshold_change_one_at_a_time")


@pytest.mark.parametrize("moment", ["2026-03-28 23:00", "2026-03-29 00:30", "2026-10-25 00:30", "2026-10-25 01:30"])
def test_database_and_service_agree_on_the_next_gaming_day_when_clocks_change(
    house: House, clock: Any, moment: str
) -> None:
    """London: at 01:30 the clocks have no such hour in March, and two in October."""
    type(house.other).objects.filter(pk=house.other.pk).update(gaming_day_starts=dt.time(1, 30))
    house.other.refresh_from_db()
    clock.move_to(dt.datetime.fromisoformat(f"{moment}+00:00"))
    decision = approved(house, "acting", house.other, acting_days=7)
    with connection.cursor() as cursor:
        cursor.execute("SELECT next_gaming_day(%s, %s)", [house.other.pk, timezone.now()])
        assert cursor.fetchone() == (decision.effective_from,)


# --- Pages ---


def test_a_change_is_proposed_and_approved_on_its_pages(house: House, second: Staff, clock: Any) -> None:
    proposer, other = logged_in(house["compliance"]), logged_in(second)
    add = f"{PAGE}add/?casino={house.casino.pk}&kind=findings"
    form = proposer.get(add).content.decode()
    assert 'value="5000.00"' in form
    sent = {
        "medium_from": "100", "high_from": "150.50", "confirm_from": "1,000", "escalate_low_after": "60",
        "escalate_medium_after": "30", "escalate_high_after": "5", "reason": "Stricter",
        **{f"procedural_{place}": "3" for place in range(14)},
    }  # fmt: skip
    assert "High begins at or above medium" in proposer.post(add, sent | {"medium_from": "200"}).content.decode()
    answer = proposer.post(add, sent)
    change = ThresholdChange.objects.get()
    assert answer["Location"] == f"{PAGE}{change.pk}/change/"
    page = proposer.get(answer["Location"]).content.decode()
    assert f"It can be decided by {second}" in page
    assert "<del>5,000.00</del></td><td><ins>150.50</ins>" in page
    assert "/withdraw/" in page
    assert "/approve/" not in page
    assert "waits for a second person" in other.get(PAGE).content.decode()
    refusal = proposer.post(f"{PAGE}{change.pk}/approve/", {"reason": "Quick"}).content.decode()
    assert "You proposed this" in refusal
    assert other.post(f"{PAGE}{change.pk}/approve/", {"reason": "Agreed"}).status_code == 302
    page = logged_in(house["auditor"]).get(PAGE).content.decode()
    assert re.search(r"In force from (16 Nov|Nov\. 16|Mon 16)[^<]*06:00", page), re.findall("In force from[^<]*", page)
    assert policy_of(house.casino).high_from == 500_000
    clock.move_to(NEXT_DAY)
    assert policy_of(house.casino).high_from == 15_050
    page = logged_in(house["auditor"]).get(PAGE).content.decode()
    assert "150.50" in page
    assert "Stricter" in page  # the history


@pytest.mark.parametrize("kind", ["findings", "rulings", "acting"])
def test_an_empty_proposal_says_what_is_missing(house: House, kind: str) -> None:
    answer = logged_in(house["compliance"]).post(f"{PAGE}add/?kind={kind}", {})
    assert answer.status_code == 200
    assert "This field is required" in answer.content.decode()


def test_the_casino_s_page_no_longer_offers_the_acting_limits(house: House) -> None:
    page = logged_in(house["casino-manager"]).get(f"/admin/games/casino/{house.casino.pk}/change/").content.decode()
    assert 'name="notice_minutes"' in page
    assert 'name="acting_days"' not in page
    assert logged_in(house["casino-manager"]).get(f"{PAGE}add/").status_code == 403
