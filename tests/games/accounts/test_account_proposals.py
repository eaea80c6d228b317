"""Privileged accounts need a second administrator; leavers lose everything at once."""

import datetime as dt
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from games.access.models.acting_appointment import ALL_PITS
from games.access.roles import access_policy
from games.access.services.acting_appointments import duty_grant
from games.access.services.people import account_reset, local_password_set, staff_create, staff_update
from games.accounts.services.account_changes import keys_made_by
from games.accounts.services.account_proposals import proposal_confirm, proposal_reject, proposal_withdraw
from games.accounts.services.sign_in_links import IssuedLink, LinkError, link_use
from games.models import AccountDecision, AccountLink, AccountProposal, Duty, Staff
from games.terminals.services import terminal_create
from tests.conftest import OPERATOR, House
from tests.games.floor_setup import bare_table
from tests.games.logins import PASSWORD, logged_in

SITE = "https://office.example"


@pytest.fixture
def second(house: House) -> Staff:
    return house.hire("IT2", "administrator")


def hired(house: House, role: str = "surveillance", actor: Any = None) -> Staff:
    given = access_policy().roles[role]
    department, post = given.department or "", given.post or ""
    return staff_create(
        actor=actor or house["administrator"], number="N1", name="New", department=department, post=post,
        casino=house.casino, reason="Hired",
    )  # fmt: skip


def confirm(actor: Staff, proposal: AccountProposal) -> IssuedLink | None:
    return proposal_confirm(actor=actor, proposal=proposal, reason="Checked", site=SITE)


def act(duty_of: Staff, house: House, post: str) -> Duty:
    now = timezone.now()
    return duty_grant(
        actor=house["casino-manager"], staff=duty_of, post=post, casino=house.casino, pit=ALL_PITS, starts_at=now,
        ends_at=now + dt.timedelta(hours=8), reason="Stands in",
    )  # fmt: skip


def test_privileged_roles_follow_from_what_they_may_do() -> None:
    assert {code for code, role in access_policy().roles.items() if role.is_privileged and role.department} == {
        "shift-manager", "casino-manager", "surveillance", "compliance", "auditor", "administrator",
    }  # fmt: skip


# --- Created, moved, reactivated, reset ---


@pytest.mark.parametrize("role", ["shift-manager", "surveillance", "compliance", "auditor", "administrator"])
def test_a_new_privileged_account_waits_for_a_second_administrator(house: House, second: Staff, role: str) -> None:
    person = hired(house, role)
    assert not person.is_active
    proposal = AccountProposal.objects.get()
    assert (proposal.kind, proposal.state) == ("create", "pending")
    issued = confirm(second, proposal)
    assert issued is not None
    assert link_use(token=issued.address.partition("#")[2], password=PASSWORD).is_active


@pytest.mark.parametrize("role", ["dealer", "pit-supervisor", "pit-manager"])
def test_other_accounts_need_one_administrator(house: House, role: str) -> None:
    assert hired(house, role).is_active
    assert not AccountProposal.objects.exists()


def test_a_move_into_a_privileged_role_waits_and_nothing_of_it_is_written(house: House, second: Staff) -> None:
    person, changes = house["pit-manager"], {"post": "shift-manager", "pit": None, "name": "New Name"}
    done = staff_update(actor=house["administrator"], staff=person, changes=changes, reason="Promoted")
    assert done.proposal is not None
    assert (house["pit-manager"].post, house["pit-manager"].name) == ("pit-manager", "Person PIT-MANAGER")
    assert confirm(second, done.proposal) is None
    assert (house["pit-manager"].post, house["pit-manager"].pit, house["pit-manager"].name) == (
        "shift-manager", None, "New Name",
    )  # fmt: skip
    assert "proposal no." in person.history.first().history_change_reason


def test_a_wider_reach_or_another_address_of_a_privileged_account_waits(house: House) -> None:
    for changes in ({"email": "mine@elsewhere.example"}, {"department": "audit"}):
        done = staff_update(actor=house["administrator"], staff=house["compliance"], changes=changes, reason="x")
        assert done.proposal is not None
        proposal_withdraw(actor=house["administrator"], proposal=done.proposal, reason="x")
    assert house["compliance"].email == ""


def test_rights_are_taken_away_by_one_administrator_and_come_back_by_two(house: House, second: Staff) -> None:
    administrator, person = house["administrator"], house["compliance"]
    staff_update(actor=administrator, staff=person, changes={"is_active": False}, reason="Left")
    assert not house["compliance"].is_active
    back = staff_update(actor=administrator, staff=house["compliance"], changes={"is_active": True}, reason="Back")
    assert back.proposal is not None
    assert back.proposal.kind == "reactivate"
    assert not house["compliance"].is_active
    assert confirm(second, back.proposal) is not None  # with a link: the old password is gone
    assert house["compliance"].is_active


@pytest.mark.parametrize("role", ["shift-manager", "compliance"])
def test_a_reset_of_a_privileged_account_waits(house: House, second: Staff, role: str) -> None:
    local_password_set(actor=OPERATOR, staff=house[role], password=PASSWORD, reason="First day")
    proposal = account_reset(actor=house["administrator"], staff=house[role], site=SITE, reason="Forgotten")
    assert isinstance(proposal, AccountProposal)
    assert house[role].check_password(PASSWORD)
    assert not AccountLink.objects.exists()
    assert confirm(second, proposal) is not None
    assert not house[role].has_usable_password()


def test_a_reset_of_a_dealer_who_acts_as_shift_manager_waits_too(house: House) -> None:
    act(house["pit-manager"], house, "shift-manager")
    done = account_reset(actor=house["administrator"], staff=house["pit-manager"], site=SITE, reason="Forgotten")
    assert isinstance(done, AccountProposal)


# --- Who decides ---


def test_nobody_confirms_what_they_proposed_by_service_page_or_sql(house: House, second: Staff) -> None:
    hired(house)
    proposal = AccountProposal.objects.get()
    with pytest.raises(ValidationError, match="another administrator decides"):
        confirm(house["administrator"], proposal)
    client = logged_in(house["administrator"])
    answer = client.post(f"/admin/games/accountproposal/{proposal.pk}/confirm/", {"reason": "Mine"})
    assert b"another administrator decides" in answer.content
    row = {"proposal": proposal, "staff": proposal.staff, "outcome": "confirmed", "who": "x", "reason": "x"}
    own, other = house["administrator"], second
    for fault, values in (
        ("account_decision_by_another", {"proposed_by": own, "decided_by": own}),
        ("account_decision_as_proposed", {"proposed_by": None, "decided_by": own}),
        ("account_decision_as_proposed", {"proposed_by": other, "decided_by": own}),
        ("account_decision_not_on_oneself", {"proposed_by": own, "decided_by": proposal.staff}),
        ("account_decision_withdrawn_by_proposer", {"proposed_by": own, "decided_by": other, "outcome": "withdrawn"}),
    ):
        with pytest.raises(IntegrityError, match=fault), transaction.atomic():
            AccountDecision.objects.create(**row | values)
    assert not Staff.objects.get(number="N1").is_active


def test_nobody_confirms_a_change_of_their_own_account(house: House, second: Staff) -> None:
    third = house.hire("IT3", "administrator")
    proposal = account_reset(actor=third, staff=second, site=SITE, reason="x")
    assert isinstance(proposal, AccountProposal)
    with pytest.raises(ValidationError, match="your own account"):
        confirm(second, proposal)
    with pytest.raises(IntegrityError, match="account_proposal_not_on_oneself"), transaction.atomic():
        AccountProposal.objects.create(staff=third, kind="reset", reason="x", proposed_by=third, who="x")


@pytest.mark.parametrize("role", ["casino-manager", "surveillance", "compliance", "auditor"])
def test_no_other_role_confirms(house: House, role: str) -> None:
    hired(house)
    with pytest.raises(PermissionDenied):
        confirm(house[role], AccountProposal.objects.get())


def test_an_administrator_of_another_casino_neither_sees_nor_confirms_it(house: House) -> None:
    stranger = house.hire("IT9", "administrator", casino=house.other)
    hired(house)
    proposal = AccountProposal.objects.get()
    with pytest.raises(PermissionDenied):
        confirm(stranger, proposal)
    client = logged_in(stranger)
    assert client.get(f"/admin/games/accountproposal/{proposal.pk}/change/").status_code == 403
    assert b"N1" not in client.get("/admin/games/accountproposal/").content


def test_a_proposal_is_decided_once_and_the_rejected_account_stays_inactive(house: House, second: Staff) -> None:
    hired(house)
    proposal = AccountProposal.objects.get()
    proposal_reject(actor=second, proposal=proposal, reason="Not known here")
    for decide in (
        lambda: confirm(second, proposal),
        lambda: proposal_reject(actor=second, proposal=proposal, reason="x"),
    ):
        with pytest.raises(ValidationError, match="Already rejected"):
            decide()
    assert not Staff.objects.get(number="N1").is_active


def test_a_proposal_whose_account_has_changed_or_whose_proposer_has_left_is_not_confirmed(
    house: House, second: Staff
) -> None:
    done = staff_update(actor=house["administrator"], staff=house["dealer"], reason="x",
                        changes={"department": "surveillance", "post": "", "pit": None})  # fmt: skip
    assert done.proposal is not None
    staff_update(actor=second, staff=house["dealer"], changes={"post": "pit-supervisor"}, reason="x")
    with pytest.raises(ValidationError, match="has changed since"):
        confirm(second, done.proposal)
    proposal_reject(actor=second, proposal=done.proposal, reason="x")
    hired(house)
    waiting = AccountProposal.objects.get(staff__number="N1")
    staff_update(actor=second, staff=house["administrator"], changes={"is_active": False}, reason="Left")
    with pytest.raises(ValidationError, match="no longer an administrator"):
        confirm(second, waiting)


def test_one_change_of_an_account_waits_at_a_time(house: House) -> None:
    account_reset(actor=house["administrator"], staff=house["compliance"], site=SITE, reason="x")
    with pytest.raises(ValidationError, match="waits for a second administrator already"):
        staff_update(actor=house["administrator"], staff=house["compliance"], changes={"email": "x@y.zz"}, reason="x")


def test_the_second_administrator_gets_the_link_on_the_page(house: House, second: Staff) -> None:
    client = logged_in(house["administrator"])
    sent = {
        "number": "N1", "name": "New", "department": "compliance", "post": "", "casino": str(house.casino.pk),
        "is_active": "on", "reason": "Hired",
    }  # fmt: skip
    answer = client.post("/admin/games/staff/add/", sent)
    proposal = AccountProposal.objects.get()
    assert answer.headers["Location"] == f"/admin/games/accountproposal/{proposal.pk}/change/"
    other = logged_in(second)
    assert b"Accounts to confirm" in other.get("/admin/").content
    page = other.post(f"/admin/games/accountproposal/{proposal.pk}/confirm/", {"reason": "Known"}).content.decode()
    token = page.partition("/account/password/#")[2][:43]
    assert link_use(token=token, password=PASSWORD).number == "N1"


# --- The operator of the machine ---


def test_the_operator_sets_up_accounts_alone_until_two_administrators_can_sign_in(house: House, second: Staff) -> None:
    assert hired(house, actor=OPERATOR).is_active
    for administrator in (house["administrator"], second):
        local_password_set(actor=OPERATOR, staff=administrator, password=PASSWORD, reason="First day")
    call_command("staff_add", "N2", "--name=N", "--department=compliance", "--casino=RWS")
    assert not Staff.objects.get(number="N2").is_active
    proposal = AccountProposal.objects.get()
    assert proposal.who == "Operator of the machine"
    call_command("account_link", "COMPLIANCE")
    assert house["compliance"].account_proposals.get().kind == "reset"
    assert confirm(second, proposal) is not None


# --- Leavers ---


def test_a_leaver_is_out_at_the_next_request_by_page_and_api_and_stays_out(house: House, second: Staff) -> None:
    person = house["shift-manager"]
    local_password_set(actor=OPERATOR, staff=person, password=PASSWORD, reason="First day")
    client = logged_in(house["shift-manager"])
    assert client.get("/admin/games/table/").status_code == client.get("/api/v1/tables/").status_code == 200
    staff_update(actor=house["administrator"], staff=person, changes={"is_active": False}, reason="Left")
    assert client.get("/admin/games/table/").headers["Location"].startswith("/admin/login/")
    assert client.get("/api/v1/tables/").status_code == 401
    back = staff_update(actor=second, staff=house["shift-manager"], changes={"is_active": True}, reason="Back")
    assert back.proposal is not None
    confirm(house["administrator"], back.proposal)
    assert client.get("/api/v1/tables/").status_code == 401  # the old session is not good again


def test_a_leaver_loses_unused_links_and_acting_appointments(house: House) -> None:
    person = house["pit-supervisor"]
    issued = account_reset(actor=house["administrator"], staff=person, site=SITE, reason="Forgotten")
    assert isinstance(issued, IssuedLink)
    duty = act(person, house, "pit-manager")
    staff_update(actor=house["administrator"], staff=person, changes={"is_active": False}, reason="Left")
    duty.refresh_from_db()
    assert duty.ends_at <= timezone.now()
    assert duty.history.first().history_change_reason == "Access ended: Left"
    assert issued.link.end.how == "left"
    staff_update(actor=house["administrator"], staff=person, changes={"is_active": True}, reason="Back")
    with pytest.raises(LinkError):
        link_use(token=issued.address.partition("#")[2], password=PASSWORD)


def test_the_page_names_the_terminal_keys_that_a_leaver_made(house: House, second: Staff) -> None:
    table = bare_table(house)
    terminal_create(actor=house["administrator"], name="Terminal 7", tables=[table], reason="New")
    assert [str(key) for key in keys_made_by(house["administrator"])] == ["Terminal 7"]
    person = house["administrator"]
    client = logged_in(second)
    sent = {
        "number": person.number, "name": person.name, "department": "it", "post": "",
        "casino": str(person.casino_id), "reason": "Left",
    }  # fmt: skip
    page = client.post(f"/admin/games/staff/{person.pk}/change/", sent, follow=True).content.decode()
    assert "Terminal 7 (RWS)" in page
    assert not house["administrator"].is_active


def test_proposals_and_decisions_are_written_once(house: House) -> None:
    hired(house)
    for statement in ("UPDATE games_accountproposal SET changes = '{}'", "DELETE FROM games_accountdecision"):
        with pytest.raises(Exception, match="permission denied"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
