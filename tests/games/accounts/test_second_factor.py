"""The second factor: who is asked, what is closed before it, codes used once, recovery codes, resets by two people."""

import datetime as dt
from typing import Any

import pytest
import time_machine
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django_otp.plugins.otp_static.models import StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from games.access.roles import CONFIDENTIAL, access_policy
from games.access.services.people import staff_update
from games.accounts.services.second_factors import (
    RECOVERY_CODES,
    factor_reset_confirm,
    factor_reset_propose,
    has_factor,
    needs_factor,
)
from games.models import FactorReset, FailedLogin, LoginSession, Staff
from tests.conftest import OPERATOR, House
from tests.games.access.test_people import grant
from tests.games.logins import code_of, is_in, log_in, passed, with_factor, with_password

CHECK, ENROL = "/admin/second-factor/check/", "/admin/second-factor/enrol/"


@pytest.fixture(autouse=True)
def _as_in_production(settings: Any) -> None:
    settings.REQUIRE_SECOND_FACTOR = True


def test_managers_surveillance_compliance_auditors_and_administrators_need_one() -> None:
    needing = {code for code, role in access_policy().roles.items() if role.second_factor}
    assert needing == {
        "pit-manager", "shift-manager", "casino-manager", "surveillance", "compliance", "auditor", "administrator",
    }  # fmt: skip
    assert {code for code, role in access_policy().roles.items() if CONFIDENTIAL in role.may} <= needing


def test_whoever_needs_none_logs_in_with_the_password(house: House) -> None:
    client = Client()
    log_in(client, with_password(house, "pit-supervisor").number)
    assert is_in(client)


def test_without_the_setting_nobody_is_asked_and_the_page_says_so(house: House, settings: Any) -> None:
    settings.REQUIRE_SECOND_FACTOR = False
    staff, _, _ = with_factor(house, "shift-manager")
    client = Client()
    assert "Production requires one of managers" in client.get("/admin/login/").content.decode()
    log_in(client, staff.number)
    assert "In production your post needs a second factor" in client.get("/admin/").content.decode()


# --- Before it is passed ---


@pytest.mark.parametrize(
    "path", ["/admin/", "/admin/games/table/", "/admin/password_change/", "/admin/sessions/", "/admin/nowhere/",
             "/admin/second-factor/", ENROL, "/admin/confirm/", "/api/v1/docs/"],
)  # fmt: skip
def test_before_the_code_no_page_opens(house: House, path: str) -> None:
    staff, _, _ = with_factor(house, "compliance")
    client = Client()
    log_in(client, staff.number)
    answer = client.get(path)
    if path.startswith("/api/"):
        assert answer.status_code == 403
    else:
        assert answer.headers["location"].startswith(CHECK)
    assert client.post(path).status_code in (302, 403)
    with_a_key = client.get(path, HTTP_AUTHORIZATION="Bearer tsk_x")  # of a terminal: no way past the code
    assert with_a_key.status_code in (302, 403)


def test_before_the_code_the_api_answers_403_with_a_problem(house: House) -> None:
    staff, device, _ = with_factor(house, "compliance")
    client = Client()
    log_in(client, staff.number)
    answer = client.get("/api/v1/tables/")
    assert (answer.status_code, answer.headers["content-type"]) == (403, "application/problem+json")
    assert answer.json()["title"] == "Second factor needed"
    client.post(CHECK, {"code": code_of(device)})
    assert client.get("/api/v1/tables/").status_code == 200


def test_a_session_with_the_password_only_does_not_wait_for_ever(house: House) -> None:
    staff, device, _ = with_factor(house, "compliance")
    client = Client()
    log_in(client, staff.number)
    with time_machine.travel(timezone.now() + dt.timedelta(minutes=11), tick=True):
        assert client.post(CHECK, {"code": code_of(device)}).headers["location"].startswith("/admin/login/")
    assert LoginSession.objects.get().end == "absolute"


# --- Codes ---


def test_the_right_code_lets_in_and_leads_on(house: House) -> None:
    staff, device, _ = with_factor(house, "compliance")
    client = Client()
    log_in(client, staff.number)
    asked = client.get("/admin/games/table/?q=1").headers["location"]
    before = client.session.session_key
    text = code_of(device)
    assert client.post(asked, {"code": f" {text[:3]} {text[3:]} "}).headers["location"] == "/admin/games/table/?q=1"
    assert client.session.session_key != before
    assert is_in(client)
    assert LoginSession.objects.get().passed_at is not None


def test_no_code_leads_to_another_site(house: House) -> None:
    staff, device, _ = with_factor(house, "compliance")
    client = Client()
    log_in(client, staff.number)
    answer = client.post(f"{CHECK}?next=https://evil.example/", {"code": code_of(device)})
    assert answer.headers["location"] == "/admin/"


def test_a_code_is_good_once(house: House) -> None:
    staff, device, _ = with_factor(house, "compliance")
    text = code_of(device)
    first, second = Client(), Client()
    for client in (first, second):
        log_in(client, staff.number)
        client.post(CHECK, {"code": text})
    assert (is_in(first), is_in(second)) == (True, False)


def test_a_recovery_code_is_good_once_and_kept_as_a_hash(house: House) -> None:
    staff, _, codes = with_factor(house, "compliance")
    kept = set(StaticToken.objects.values_list("token", flat=True))
    assert len(kept) == len(codes) == RECOVERY_CODES
    assert not kept & {code.replace("-", "") for code in codes}
    first, second = Client(), Client()
    for client in (first, second):
        log_in(client, staff.number)
        client.post(CHECK, {"code": codes[0].upper()})
    assert (is_in(first), is_in(second)) == (True, False)


def test_the_code_of_somebody_else_opens_nothing(house: House) -> None:
    staff, _, _ = with_factor(house, "compliance")
    _, foreign, codes = with_factor(house, "surveillance")
    client = Client()
    log_in(client, staff.number)
    for code in (code_of(foreign), codes[0]):
        client.post(CHECK, {"code": code})
    assert not is_in(client)


def test_guessing_codes_is_throttled_and_on_record_and_locks_no_owner_out(house: House) -> None:
    staff, device, _ = with_factor(house, "compliance")
    own = Client()
    log_in(own, staff.number)
    own.post(CHECK, {"code": code_of(device)}, REMOTE_ADDR="10.0.0.1")
    own.post("/admin/logout/")
    attacker = Client()
    log_in(attacker, staff.number, address="203.0.113.9")
    answers = [
        attacker.post(CHECK, {"code": f"{turn:06d}"}, REMOTE_ADDR="203.0.113.9").status_code for turn in range(100)
    ]
    assert answers.count(200) <= 10
    assert answers[-1] == 429
    assert attacker.post(CHECK, {"code": code_of(device, 1)}, REMOTE_ADDR="203.0.113.9").status_code == 429
    assert FailedLogin.objects.filter(staff=staff, kind="code", address="203.0.113.9").exists()
    log_in(own, staff.number)
    assert own.post(CHECK, {"code": code_of(device, 1)}, REMOTE_ADDR="10.0.0.1").status_code == 302
    assert is_in(own)


# --- Enrolment ---


def test_the_first_login_sets_one_up_and_shows_recovery_codes_once(house: House) -> None:
    staff = with_password(house, "pit-manager")
    client = Client()
    log_in(client, staff.number)
    assert client.get("/admin/").headers["location"].startswith(ENROL)
    assert client.get(CHECK).headers["location"].startswith(ENROL)
    page = client.get(ENROL)
    assert "<svg" in page.content.decode()
    assert "no-store" in page.headers["cache-control"]
    assert "is wrong" in client.post(ENROL, {"code": "000000"}).content.decode()
    device = TOTPDevice.objects.get(user=staff, confirmed=False)
    shown = client.post(ENROL, {"code": code_of(device)})
    assert shown.content.decode().count("<li><code>") == RECOVERY_CODES
    assert is_in(client)
    assert has_factor(staff)
    again = Client()
    log_in(again, staff.number)
    assert again.get("/admin/").headers["location"].startswith(CHECK)


def test_whoever_has_one_cannot_replace_it_before_passing_it(house: House) -> None:
    staff, device, _ = with_factor(house, "compliance")
    client = Client()
    log_in(client, staff.number)
    client.post(ENROL, {"code": "000000"})
    assert list(TOTPDevice.objects.filter(user=staff)) == [device]


def test_an_acting_appointment_to_pit_manager_asks_for_one_at_once(house: House) -> None:
    staff = with_password(house, "pit-supervisor")
    client = Client()
    log_in(client, staff.number)
    assert is_in(client)
    grant(house, staff="pit-supervisor", post="pit-manager")
    assert needs_factor(house["pit-supervisor"])
    assert client.get("/admin/").headers["location"].startswith(ENROL)


# --- Resets ---


def second_administrator(house: House) -> Staff:
    return house.hire("IT2", "administrator")


def test_a_reset_takes_two_administrators_and_ends_the_sessions(house: House) -> None:
    client = passed(house, "compliance")
    staff, first, second = house["compliance"], house["administrator"], second_administrator(house)
    reset = factor_reset_propose(actor=first, staff=staff, reason="Lost the phone")
    assert is_in(client)
    with pytest.raises(ValidationError, match="Another administrator"):
        factor_reset_confirm(actor=first, reset=reset)
    factor_reset_confirm(actor=second, reset=reset)
    assert not has_factor(staff)
    assert not is_in(client)
    with pytest.raises(ValidationError, match="already confirmed"):
        factor_reset_confirm(actor=second, reset=reset)


def test_nobody_resets_their_own_or_confirms_it(house: House) -> None:
    staff, _, _ = with_factor(house, "administrator")
    second = second_administrator(house)
    with pytest.raises(ValidationError, match="your own"):
        factor_reset_propose(actor=staff, staff=staff, reason="Lost")
    reset = factor_reset_propose(actor=second, staff=staff, reason="Lost")
    with pytest.raises(ValidationError, match="your own"):
        factor_reset_confirm(actor=staff, reset=reset)
    assert has_factor(staff)


def test_what_a_former_administrator_proposed_is_not_confirmed(house: House) -> None:
    staff, _, _ = with_factor(house, "compliance")
    reset = factor_reset_propose(actor=house["administrator"], staff=staff, reason="Lost")
    staff_update(actor=OPERATOR, staff=house["administrator"], changes={"is_active": False}, reason="Left")
    with pytest.raises(ValidationError, match=r"no longer an administrator here\. Propose the reset again"):
        factor_reset_confirm(actor=second_administrator(house), reset=FactorReset.objects.get(pk=reset.pk))
    assert has_factor(staff)


@pytest.mark.parametrize("role", ["shift-manager", "casino-manager", "compliance", "auditor", "surveillance"])
def test_only_administrators_reset(house: House, role: str) -> None:
    staff, _, _ = with_factor(house, "pit-manager")
    with pytest.raises(PermissionDenied):
        factor_reset_propose(actor=house[role], staff=staff, reason="Lost")
    reset = factor_reset_propose(actor=house["administrator"], staff=staff, reason="Lost")
    with pytest.raises(PermissionDenied):
        factor_reset_confirm(actor=house[role], reset=reset)


def test_a_proposal_expires(house: House) -> None:
    staff, _, _ = with_factor(house, "pit-manager")
    reset = factor_reset_propose(actor=house["administrator"], staff=staff, reason="Lost")
    second = second_administrator(house)
    with (
        time_machine.travel(timezone.now() + dt.timedelta(hours=25)),
        pytest.raises(ValidationError, match="Propose the reset again"),
    ):
        factor_reset_confirm(actor=second, reset=reset)


def test_a_reset_by_page(house: House, settings: Any) -> None:
    settings.REQUIRE_SECOND_FACTOR = False
    staff, _, _ = with_factor(house, "compliance")
    second = second_administrator(house)
    first, two = Client(), Client()
    first.force_login(house["administrator"])
    two.force_login(second)
    first.post("/admin/games/factorreset/add/", {"staff": str(staff.pk), "reason": "Lost the phone"})
    reset = FactorReset.objects.get()
    page = reverse("admin:games_factorreset_confirm_reset", args=[reset.pk])
    assert "Another administrator" in first.post(page, {"sure": "on"}).content.decode()
    assert has_factor(staff)
    assert two.post(page, {"sure": "on"}).status_code == 302
    assert not has_factor(staff)
    again = first.post("/admin/games/factorreset/add/", {"staff": str(staff.pk), "reason": "Again"})
    assert "has no second factor" in again.content.decode()


CONFIRM = (
    "INSERT INTO games_factorresetconfirmation (reset_id, staff_id, proposed_by_id, confirmed_by_id, confirmed_at) "
    "VALUES (%s, %s, %s, %s, now())"
)


@pytest.mark.parametrize("attack", ["by the proposer", "by the person", "with another proposer named"])
def test_the_database_itself_refuses_a_reset_by_one_person(house: House, attack: str) -> None:
    staff, _, _ = with_factor(house, "compliance")
    first, second = house["administrator"], second_administrator(house)
    reset = factor_reset_propose(actor=first, staff=staff, reason="Lost")
    values = {
        "by the proposer": [reset.pk, staff.pk, first.pk, first.pk],
        "by the person": [reset.pk, staff.pk, first.pk, staff.pk],
        "with another proposer named": [reset.pk, staff.pk, second.pk, first.pk],
    }
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        with pytest.raises(IntegrityError, match="factor_reset"), transaction.atomic():
            cursor.execute(CONFIRM, values[attack])


def test_a_login_that_has_passed_goes_on_whatever_it_was_going_to(house: House) -> None:
    client = passed(house, "compliance")
    assert client.get(f"{CHECK}?next=2027-01-01").headers["location"] == "/admin/"
    assert client.get(f"{CHECK}?next=/admin/sessions/").headers["location"] == "/admin/sessions/"
