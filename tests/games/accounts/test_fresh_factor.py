"""A fresh confirmation for decisions: by page and API, not on the command line, and without losing what was typed."""

import datetime as dt
from typing import Any
from urllib.parse import urlencode

import pytest
import time_machine
from django.conf import settings
from django.core.management import call_command
from django.http import HttpResponse
from django.test import Client
from django.test.client import RequestFactory
from django.utils import timezone
from django_otp.plugins.otp_totp.models import TOTPDevice

from audits.models import Ruling
from games.access.gate import authorize, freshness
from games.access.roles import access_policy
from games.accounts.middleware import FreshFactorMiddleware
from games.accounts.services.fresh_factor import FreshFactorNeededError, verify_fresh
from games.engine.signs.edits import Edits
from games.floor.moments import zone_of
from games.limits.services.proposals import limits_edit
from games.models import Duty, FailedLogin, LimitProposal, LoginSession
from tests.audits.decided import incident_about
from tests.conftest import House
from tests.games.floor_setup import open_table
from tests.games.logins import PASSWORD, code_of, is_in, logged_in, passed

FIVE = dt.timedelta(minutes=5)


@pytest.fixture(autouse=True)
def _as_in_production(settings: Any) -> None:
    settings.REQUIRE_SECOND_FACTOR = True


@pytest.fixture
def proposal(house: House) -> LimitProposal:
    table = open_table(house)
    edits = {table: Edits({("big-small", "min"): 500})}
    return limits_edit(actor=house["pit-manager"], edits=edits, reason="Quiet evening")


def grown_stale(client: Client) -> None:
    session = client.session
    session["confirmed_at"] -= FIVE.total_seconds() + 1
    session.save()


def send(client: Client, address: str, values: dict[str, str]) -> Any:
    """As a browser sends a form without files; the test client's own way is another one."""
    return client.post(address, urlencode(values), content_type="application/x-www-form-urlencoded")


def approve(client: Client, proposal: LimitProposal, **more: str) -> Any:
    return send(client, f"/admin/games/limitproposal/{proposal.pk}/approve/", {"reason": "As agreed <b>", **more})


def is_pending(proposal: LimitProposal) -> bool:
    return LimitProposal.objects.get(pk=proposal.pk).state == "pending"


def test_the_list_names_rulings_voids_approvals_exports_and_grants() -> None:
    assert {
        "ruling.make",
        "consequence.void",
        "consequence.order",
        "limits.approve",
        "duty.add",
    } <= access_policy().fresh
    approvals = {"ruling.consent", "finding.confirm", "thresholdchange.approve", "accountproposal.decide"}
    grants = {"terminal.add", "terminal.change", "reportschedule.add", "reportschedule.change", "staff.link"}
    assert approvals | grants <= access_policy().fresh
    assert {"report.export"} == access_policy().fresh_reads


def test_within_five_minutes_of_the_login_nothing_is_asked(house: House, proposal: LimitProposal) -> None:
    client = passed(house, "shift-manager")
    assert approve(client, proposal).status_code == 302
    assert not is_pending(proposal)


def test_an_approval_asks_keeps_what_was_typed_and_goes_on_by_itself(house: House, proposal: LimitProposal) -> None:
    client = passed(house, "shift-manager")
    grown_stale(client)
    asked = approve(client, proposal)
    page = asked.content.decode()
    assert "Confirm that it is you" in page
    assert 'name="reason" value="As agreed &lt;b&gt;"' in page
    assert is_pending(proposal)
    wrong = approve(client, proposal, _confirm="not my password")
    assert wrong.status_code == 403
    assert "neither your password nor a code" in wrong.content.decode()
    assert 'value="As agreed &lt;b&gt;"' in wrong.content.decode()
    assert "not my password" not in wrong.content.decode()
    assert is_pending(proposal)
    assert approve(client, proposal, _confirm=PASSWORD).status_code == 302
    assert not is_pending(proposal)
    assert FailedLogin.objects.get().kind == "confirm"


def test_a_code_confirms_as_well_and_only_once(house: House, proposal: LimitProposal) -> None:
    client = passed(house, "shift-manager")
    device = TOTPDevice.objects.get(user=house["shift-manager"])
    grown_stale(client)
    assert approve(client, proposal, _confirm=code_of(device)).status_code == 403  # used at the login
    assert approve(client, proposal, _confirm=code_of(device, 1)).status_code == 302


def test_guessing_in_a_stolen_session_is_throttled(house: House, proposal: LimitProposal) -> None:
    client = passed(house, "shift-manager")
    grown_stale(client)
    answers = [approve(client, proposal, _confirm=f"guess {turn}").content.decode() for turn in range(8)]
    assert "Too many failed attempts" in answers[-1]
    assert is_pending(proposal)


def test_by_the_api_it_is_a_problem_that_says_what_to_do(house: House, proposal: LimitProposal) -> None:
    client = passed(house, "shift-manager")
    grown_stale(client)
    address = f"/api/v1/limit-proposals/{proposal.pk}/approve/"
    answer = client.post(address, {"reason": "As agreed"}, content_type="application/json")
    assert (answer.status_code, answer.json()["title"]) == (403, "Confirmation needed")
    assert "/admin/confirm/" in answer.json()["detail"]
    assert is_pending(proposal)
    assert client.post("/admin/confirm/", {"secret": PASSWORD}).status_code == 302
    assert client.post(address, {"reason": "As agreed"}, content_type="application/json").status_code == 200


def test_a_ruling_asks_by_page_and_api(house: House) -> None:
    client = passed(house, "shift-manager")
    incident = incident_about(house, open_table(house))
    grown_stale(client)
    by_page = client.post(f"/admin/audits/incident/{incident.pk}/rule/", {"question": "Who won?"})
    assert "Confirm that it is you" in by_page.content.decode()
    assert 'name="question" value="Who won?"' in by_page.content.decode()
    by_api = client.post("/api/v1/rulings/", {"incident": incident.number}, content_type="application/json")
    assert (by_api.status_code, by_api.json()["title"]) == (403, "Confirmation needed")
    assert not Ruling.objects.exists()


def test_an_acting_appointment_asks(house: House) -> None:
    client = passed(house, "shift-manager")
    grown_stale(client)
    now = timezone.now().astimezone(zone_of(house.casino))
    sent = {
        "staff": str(house["dealer"].pk), "post": "pit-supervisor", "casino": str(house.casino.pk),
        "where": str(house.pits["P1"].pk), "starts_at_0": f"{now:%Y-%m-%d}", "starts_at_1": f"{now:%H:%M}",
        "ends_at_0": f"{now + dt.timedelta(days=1):%Y-%m-%d}", "ends_at_1": "05:00", "reason": "Supervisor on leave",
    }  # fmt: skip
    assert "Confirm that it is you" in send(client, "/admin/games/duty/add/", sent).content.decode()
    assert not Duty.objects.exists()
    assert send(client, "/admin/games/duty/add/", sent | {"_confirm": PASSWORD}).status_code == 302
    assert Duty.objects.get().reason == "Supervisor on leave"


def test_an_export_asks_also_for_reading(house: House) -> None:
    client = passed(house, "compliance")
    grown_stale(client)
    request = RequestFactory().get("/admin/report/?day=1")
    request.session, request.user = client.session, house["compliance"]

    def view(request: Any) -> HttpResponse:
        authorize(request.user, "report.export")
        return HttpResponse("rows")

    middleware = FreshFactorMiddleware(view)
    with pytest.raises(FreshFactorNeededError) as needed:
        middleware(request)
    answer = middleware.process_exception(request, needed.value)
    assert answer is not None
    assert answer.headers["location"] == "/admin/confirm/?next=%2Fadmin%2Freport%2F%3Fday%3D1"
    verify_fresh(request, "ruling.make")  # showing a form is no ruling


def test_looking_at_the_form_asks_nothing(house: House, proposal: LimitProposal) -> None:
    client = passed(house, "shift-manager")
    grown_stale(client)
    assert client.get(f"/admin/games/limitproposal/{proposal.pk}/approve/").status_code == 200


def test_after_five_minutes_it_is_asked_again(house: House, proposal: LimitProposal) -> None:
    client = passed(house, "shift-manager")
    with time_machine.travel(timezone.now() + FIVE, tick=True):
        assert is_in(client)
        assert "Confirm that it is you" in approve(client, proposal).content.decode()


@pytest.mark.parametrize("wanted", ["//evil.example/", "https://evil.example/", "home", "2027-01-01", "../", ""])
def test_a_confirmation_leads_to_no_other_site_nor_to_a_word_that_is_no_path(house: House, wanted: str) -> None:
    client = passed(house, "shift-manager")
    answer = client.post(f"/admin/confirm/?next={wanted}", {"secret": PASSWORD})
    assert answer.headers["location"] == "/admin/"


def test_a_confirmation_leads_back_to_the_page_that_asked_for_it(house: House) -> None:
    client = passed(house, "shift-manager")
    answer = client.post("/admin/confirm/?next=/admin/games/round/%3Fp=2", {"secret": PASSWORD})
    assert answer.headers["location"] == "/admin/games/round/?p=2"


def test_the_command_line_is_not_asked(house: House) -> None:
    now = timezone.now()
    call_command(
        "duty_grant", "DEALER", "pit-supervisor", "--pit", "P1", "--from", now.isoformat(), "--to",
        (now + dt.timedelta(hours=1)).isoformat(), "--reason", "Leave", "--as", "SHIFT-MANAGER",
    )  # fmt: skip
    assert Duty.objects.exists()
    assert freshness.get() is None


def test_without_the_setting_nothing_is_asked(house: House, proposal: LimitProposal, settings: Any) -> None:
    settings.REQUIRE_SECOND_FACTOR = False
    client = logged_in(house["shift-manager"])
    grown_stale(client)
    assert approve(client, proposal).status_code == 302


def test_a_confirmation_gives_the_session_a_new_key_and_ends_the_old_one(house: House) -> None:
    client, stolen = passed(house, "shift-manager"), Client()
    before = str(client.session.session_key)
    stolen.cookies[settings.SESSION_COOKIE_NAME] = before
    grown_stale(client)
    assert client.post("/admin/confirm/", {"secret": PASSWORD}).status_code == 302
    assert client.session.session_key != before
    assert (is_in(client), is_in(stolen)) == (True, False)


def test_ending_another_session_of_ones_own_asks_for_a_confirmation(house: House) -> None:
    client = passed(house, "shift-manager")
    other = logged_in(house["shift-manager"])
    login = other.session["login"]
    grown_stale(client)
    assert "Confirm that it is you" in send(client, f"/admin/sessions/{login}/end/", {}).content.decode()
    assert LoginSession.objects.get(pk=login).ended_at is None
    send(client, f"/admin/sessions/{login}/end/", {"_confirm": PASSWORD})
    assert LoginSession.objects.get(pk=login).ended_at is not None


def test_a_new_authenticator_ends_the_other_sessions(house: House) -> None:
    client = passed(house, "shift-manager")
    other = logged_in(house["shift-manager"])
    client.get("/admin/second-factor/enrol/")
    draft = TOTPDevice.objects.get(user=house["shift-manager"], confirmed=False)
    assert "Recovery codes" in client.post("/admin/second-factor/enrol/", {"code": code_of(draft)}).content.decode()
    assert is_in(client)
    assert LoginSession.objects.get(pk=other.session["login"]).end == "factor"
