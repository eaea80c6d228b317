"""Findings that nobody acknowledges go up post by post; whoever holds the post at that moment is told, once."""

from typing import Any

import pytest
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.db import transaction

from audits.findings.services.escalation import findings_escalate, notices_mail
from audits.findings.services.findings import finding_acknowledge
from audits.models import Escalation, Finding, Notice, NoticeMail
from audits.tasks import escalate
from games.access.roles import access_policy
from games.access.services.acting_appointments import duty_grant
from games.models import Staff, Table
from tests.audits.playing import TWO_HUNDRED, UNDERPAID, correct, drain, played, record, table_for
from tests.conftest import House, build_house
from tests.games.floor_setup import HOUR, MINUTE, NOON
from tests.games.rounds.samples import bet
from tests.threads import at_once, elsewhere
from tests.thresholds import in_force

HIGH = bet(stake="3000.00", net="-9000.00")  # 12,000 short


@pytest.fixture
def high(table: Table) -> Finding:
    record(played("R-1", HIGH))
    drain()
    return Finding.objects.get()


def told() -> list[tuple[str, list[int]]]:
    """Roles and people, the first told first."""
    return [(notice.role, notice.recipients) for notice in Notice.objects.order_by("pk")]


def test_a_high_finding_climbs_the_ladder_step_by_step(house: House, high: Finding, clock: Any) -> None:
    clock.shift(29 * MINUTE)
    assert findings_escalate() == []
    clock.shift(MINUTE)
    for level, role in enumerate(access_policy().escalation, 1):
        assert len(findings_escalate()) == 1
        assert told()[-1] == (role, [house[role].pk])
        assert (Escalation.objects.get(level=level).finding, Escalation.objects.count()) == (high, level)
        assert findings_escalate() == []  # once a level
        clock.shift(30 * MINUTE)
    assert findings_escalate() == []  # nobody is higher
    assert [notice.pit for notice in Notice.objects.order_by("pk")] == [house.pits["P1"], None, None, None]


def test_one_that_lay_for_hours_goes_up_one_post_at_a_time(house: House, high: Finding, clock: Any) -> None:
    clock.shift(5 * HOUR)
    findings_escalate()
    assert [role for role, _ in told()] == ["pit-manager"]


def test_how_long_one_may_lie_follows_its_severity(house: House, table: Table, clock: Any) -> None:
    record(played("R-1", UNDERPAID), played("R-2", bet(stake="1000.00", net="1.00")), played("R-3", HIGH))
    drain()
    for moment, refs in ((30 * MINUTE, {"R-3"}), (4 * HOUR, {"R-2", "R-3"}), (24 * HOUR, {"R-1", "R-2", "R-3"})):
        clock.move_to(NOON + moment)
        findings_escalate()
        assert set(Escalation.objects.filter(level=1).values_list("finding__round__ref", flat=True)) == refs


def test_a_casino_may_be_more_patient(house: House, high: Finding, clock: Any) -> None:
    in_force(house, "findings", escalate_high_after=90)
    clock.shift(89 * MINUTE)
    assert findings_escalate() == []
    clock.shift(MINUTE)
    assert len(findings_escalate()) == 1


def test_many_that_may_lie_for_long_do_not_hide_one_that_may_not(
    house: House, table: Table, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("audits.findings.services.escalation.BATCH", 3)
    record(*(played(f"R-{number}", UNDERPAID) for number in range(1, 6)))
    drain()
    clock.shift(MINUTE)
    record(played("R-6", HIGH))
    drain()
    clock.shift(30 * MINUTE)
    (notice,) = findings_escalate()
    assert [escalation.finding.round_ref for escalation in notice.escalations.all()] == ["R-6"]


def test_what_was_seen_or_has_lapsed_goes_to_nobody(house: House, table: Table, clock: Any) -> None:
    record(played("R-1", HIGH), played("R-2", bet(stake="4000.00", net="3000.00")))
    drain()
    finding_acknowledge(actor=house["pit-supervisor"], finding=Finding.objects.get(category="discrepancy"))
    correct(house, table, TWO_HUNDRED)
    drain()
    assert Finding.objects.get(permitted=300000).is_lapsed
    clock.shift(24 * HOUR)
    findings_escalate()
    escalated = set(Escalation.objects.values_list("finding__round__ref", "finding__permitted", "finding__recorded"))
    assert escalated == {("R-1", 20000, None), ("R-1", None, -900000), ("R-2", 20000, None), ("R-2", None, 300000)}
    assert Finding.objects.filter(state="acknowledged", escalations=None).count() == 1


def test_pits_and_casinos_are_told_of_their_own(house: House, table: Table, clock: Any) -> None:
    table_for(house, "TS-02", pit="P2")
    manager = house.hire("PM-2", "pit-manager", pit=house.pits["P2"])
    house.hire("PM-3", "pit-manager", casino=house.other, pit=house.other_pit)
    record(played("R-1", HIGH), played("R-2", HIGH, table="TS-02"))
    drain()
    clock.shift(30 * MINUTE)
    findings_escalate()
    assert sorted(told()) == sorted([("pit-manager", [house["pit-manager"].pk]), ("pit-manager", [manager.pk])])
    clock.shift(30 * MINUTE)
    findings_escalate()
    assert told()[-1] == ("shift-manager", [house["shift-manager"].pk])  # one notice for both pits
    assert Notice.objects.latest("pk").text.startswith("2 findings were not acknowledged in time.")


def test_whoever_acts_in_the_post_is_told_and_only_while_he_does(house: House, high: Finding, clock: Any) -> None:
    supervisor = house["pit-supervisor"]
    duty_grant(
        actor=house["shift-manager"], staff=supervisor, post="pit-manager", casino=house.casino,
        pit=house.pits["P1"], starts_at=NOON, ends_at=NOON + 40 * MINUTE, reason="Leave",
    )  # fmt: skip
    record(played("R-2", HIGH))
    clock.shift(30 * MINUTE)
    findings_escalate()
    assert sorted(told()[0][1]) == sorted([supervisor.pk, house["pit-manager"].pk])
    drain()
    clock.shift(31 * MINUTE)
    findings_escalate()
    assert ("pit-manager", [house["pit-manager"].pk]) in told()


def test_who_has_left_is_told_nothing_and_an_empty_post_is_on_record(house: House, high: Finding, clock: Any) -> None:
    Staff.objects.filter(pk=house["pit-manager"].pk).update(is_active=False)
    clock.shift(30 * MINUTE)
    findings_escalate()
    assert told() == [("pit-manager", [])]
    assert notices_mail() == 0


def test_two_escalators_at_once_tell_nobody_twice(clone: str, clock: Any) -> None:
    house = build_house()
    table_for(house)
    record(played("R-1", HIGH), played("R-2", HIGH))
    drain()
    clock.shift(30 * MINUTE)

    def behind_the_lock() -> None:
        """In one transaction: the second looks before it can see what the first has told."""
        with transaction.atomic():
            list(Table.objects.select_for_update())
            findings_escalate()

    at_once(behind_the_lock, behind_the_lock)
    assert (Notice.objects.count(), Escalation.objects.count()) == (1, 2)


def test_an_escalator_leaves_all_to_one_who_is_at_work(clone: str, clock: Any) -> None:
    table_for(build_house())
    record(played("R-1", HIGH))
    drain()
    clock.shift(30 * MINUTE)
    with transaction.atomic():
        assert len(findings_escalate()) == 1
        assert elsewhere(findings_escalate) == []
    assert Notice.objects.count() == 1


# --- By e-mail ---


def with_address(person: Staff, address: str) -> None:
    Staff.objects.filter(pk=person.pk).update(email=address)


def test_those_with_an_address_get_an_e_mail_once(house: House, high: Finding, clock: Any) -> None:
    with_address(house["pit-manager"], "manager@example.com")
    house.hire("PM-2", "pit-manager", pit=house.pits["P1"])  # has none
    clock.shift(30 * MINUTE)
    escalate()
    (sent,) = mail.outbox
    assert (sent.to, sent.subject) == (["manager@example.com"], "Findings at RWS not acknowledged in time")
    said = "Winner not paid, seat-1 on Small: collected 9,000.00, due 3,000.00"
    assert f"no. {high.pk}, high severity: {said}" in sent.body
    escalate()
    assert len(mail.outbox) == 1
    record_ = NoticeMail.objects.get()
    assert (record_.staff, record_.address, record_.fault) == (house["pit-manager"], "manager@example.com", "")


def test_a_mail_server_that_fails_is_on_record_and_the_notice_stands(
    house: House, high: Finding, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: EmailBackend, messages: Any) -> int:
        raise ConnectionRefusedError("Nobody answers")

    monkeypatch.setattr(EmailBackend, "send_messages", refuse)
    with_address(house["pit-manager"], "manager@example.com")
    clock.shift(30 * MINUTE)
    escalate()
    assert NoticeMail.objects.get().fault == "Nobody answers"
    assert told() == [("pit-manager", [house["pit-manager"].pk])]


def test_a_notice_names_the_gravest_and_counts_the_rest(house: House, table: Table, clock: Any) -> None:
    record(*(played(f"R-{number}", bet(stake="100.00", net=f"-{number}0000.00")) for number in range(1, 13)))
    drain()
    clock.shift(30 * MINUTE)
    (notice,) = findings_escalate()
    lines = notice.text.splitlines()
    assert lines[0] == "12 findings were not acknowledged in time."
    assert lines[1].endswith("high severity: Winner not paid, seat-1 on Small: collected 120,000.00, due 100.00")
    assert (lines[-1], len(lines)) == ("and 2 more.", 12)
