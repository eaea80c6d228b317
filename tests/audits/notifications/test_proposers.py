"""Who proposed limits is told of the decision: once, in the app and by e-mail."""

from typing import Any

import pytest
from django.core import mail
from django.db import IntegrityError, transaction

from audits.findings.services.escalation import notices_mail
from audits.models import Notice, NoticeMail, ProposerNotice
from audits.notifications.services.proposers import proposers_notify
from audits.tasks import escalate
from games.access.services.people import staff_update
from games.engine.signs.edits import Edits
from games.limits.services.proposals import limits_approve, limits_edit, limits_reject, limits_withdraw
from games.models import LimitProposal, Table
from tests.conftest import OPERATOR, House, build_house
from tests.games.floor_setup import HOUR, NOON, bare_table, put_sign
from tests.games.logins import logged_in
from tests.threads import elsewhere


@pytest.fixture
def table(house: House, clock: Any) -> Table:
    table = bare_table(house)
    put_sign(table)
    return table


def proposed(house: House, table: Table, **values: Any) -> LimitProposal:
    edits = {table: Edits({("big-small", "min"): 2500})}
    return limits_edit(actor=house["pit-manager"], edits=edits, **({"reason": "Quiet night"} | values))


def test_an_approval_is_told_once_with_who_why_and_from_when(house: House, table: Table) -> None:
    proposal = proposed(house, table)
    assert proposers_notify() == []
    limits_approve(actor=house["shift-manager"], proposal=proposal, reason="Agreed")
    (notice,) = proposers_notify()
    assert (notice.recipients, notice.role, notice.pit) == ([house["pit-manager"].pk], "pit-manager", proposal.pit)
    assert notice.text.splitlines() == [
        f"Your limit proposal no. {proposal.pk} for TS-01 was approved by SHIFT-MANAGER Person SHIFT-MANAGER, "
        "shift manager at 15 Nov 2026, 20:00:00.",
        "Reason: Agreed",
        "TS-01: in force from 15 Nov 2026, 20:00:00",
    ]
    assert proposers_notify() == []
    assert Notice.objects.count() == 1


def test_a_rejection_and_a_proposal_that_another_one_superseded_are_told(house: House, table: Table) -> None:
    first, second = (proposed(house, table, starts_at=NOON + HOUR) for _ in "12")
    third = proposed(house, table)
    limits_approve(actor=house["shift-manager"], proposal=second, reason="Agreed")
    limits_reject(actor=house["shift-manager"], proposal=third, reason="Too low")
    told = {one.proposer_notice.decision.proposal_id: one.text for one in proposers_notify()}
    assert told.keys() == {first.pk, second.pk, third.pk}
    assert f"was superseded by {house['shift-manager']}" in told[first.pk]
    assert "Reason: Too low" in told[third.pk]


def test_who_withdrew_a_proposal_is_not_told_of_it(house: House, table: Table) -> None:
    limits_withdraw(actor=house["pit-manager"], proposal=proposed(house, table), reason="A slip")
    assert proposers_notify() == []


def test_the_clock_tells_and_mails_it_once(house: House, table: Table) -> None:
    manager = house["pit-manager"]
    staff_update(actor=OPERATOR, staff=manager, changes={"email": "m21@example.com"}, reason="New address")
    proposal = proposed(house, table)
    limits_reject(actor=house["shift-manager"], proposal=proposal, reason="Too low")
    for _ in "123":
        escalate()
    (sent,) = mail.outbox
    assert (sent.to, sent.subject) == (["m21@example.com"], f"Limit proposal no. {proposal.pk}: rejected")
    assert "Reason: Too low" in sent.body
    assert NoticeMail.objects.get().fault == ""
    assert notices_mail() == 0


def test_a_decision_is_told_once_in_the_database_too(house: House, table: Table) -> None:
    limits_reject(actor=house["shift-manager"], proposal=proposed(house, table), reason="Too low")
    (notice,) = proposers_notify()
    told = ProposerNotice.objects.get()
    other = Notice.objects.create(casino=house.casino, role="pit-manager", text="x")
    for values in ({"decision": told.decision, "notice": other}, {"decision": told.decision, "notice": notice}):
        with pytest.raises(IntegrityError), transaction.atomic():
            ProposerNotice.objects.create(**values)


def test_two_workers_at_once_tell_it_once(clone: str) -> None:
    house = build_house()
    table = bare_table(house)
    put_sign(table)
    limits_reject(actor=house["shift-manager"], proposal=proposed(house, table), reason="Too low")
    with transaction.atomic():
        assert len(proposers_notify()) == 1
        assert elsewhere(proposers_notify) == []
    assert proposers_notify() == []
    assert Notice.objects.count() == 1


def test_the_first_page_shows_the_decision_to_who_proposed_and_to_nobody_else(house: House, table: Table) -> None:
    limits_reject(actor=house["shift-manager"], proposal=proposed(house, table), reason="Too low for tonight")
    (notice,) = proposers_notify()
    path = f"/admin/audits/notice/{notice.pk}/change/"
    for role, seen, code in (("pit-manager", True, 200), ("shift-manager", False, 403), ("compliance", False, 200)):
        client = logged_in(house[role])
        assert ("Too low for tonight" in client.get("/admin/").text) is seen, role
        answer = client.get(path)
        assert answer.status_code == code, role
        assert code != 200 or "Limit proposal" in answer.text
