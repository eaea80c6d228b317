"""Passkeys: added, used at the login and for decisions, removed, reset; and every answer that is not accepted."""

import datetime as dt
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest
import time_machine
from django.core.exceptions import ValidationError
from django.db import IntegrityError, ProgrammingError, connection, transaction
from django.test import Client
from django.utils import timezone
from django_otp.plugins.otp_static.models import StaticDevice

from games.accounts.services.passkeys import MOST_PASSKEYS, passkey_remove, passkeys_of
from games.accounts.services.second_factors import (
    RECOVERY_CODES,
    factor_reset_confirm,
    factor_reset_propose,
    has_factor,
)
from games.engine.signs.edits import Edits
from games.limits.services.proposals import limits_edit
from games.models import FailedLogin, LimitProposal, LoginSession, Passkey, Staff
from tests.conftest import House
from tests.games.authenticator import PRESENT, Authenticator
from tests.games.floor_setup import open_table
from tests.games.logins import code_of, is_in, log_in, logged_in, passed, with_factor, with_password

ADD, CHECK, CONFIRM = "/admin/second-factor/passkeys/add/", "/admin/second-factor/check/", "/admin/confirm/"
PAGE = "/admin/second-factor/"
OPTIONS = "/admin/second-factor/passkeys/options/{}/"


@pytest.fixture(autouse=True)
def _as_in_production(settings: Any) -> None:
    settings.REQUIRE_SECOND_FACTOR = True


def options(client: Client, ceremony: str, **more: str) -> dict[str, Any]:
    answer = client.post(OPTIONS.format(ceremony), more)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json"), answer.content
    read: dict[str, Any] = answer.json()
    return read


def add(client: Client, key: Authenticator, name: str = "Blue key") -> Any:
    return client.post(ADD, {"name": name, "passkey": key.make(options(client, "enrol", name=name))})


def with_passkey(house: House, role: str, key: Authenticator | None = None) -> tuple[Staff, Authenticator]:
    """A person whose only second factor is a passkey, with recovery codes; logged out again."""
    staff, key, client = with_password(house, role), key or Authenticator(), Client()
    log_in(client, staff.number)
    assert add(client, key).content.decode().count("<li><code>") == RECOVERY_CODES
    client.post("/admin/logout/")
    return staff, key


def at_the_check(staff: Staff) -> Client:
    client = Client()
    log_in(client, staff.number)
    return client


def use(client: Client, key: Authenticator, ceremony: str = "login", address: str = CHECK) -> Any:
    return client.post(address, {"passkey": key.use(options(client, ceremony))})


def logged_in_by_passkey(house: House, role: str, key: Authenticator | None = None) -> tuple[Client, Authenticator]:
    staff, key = with_passkey(house, role, key)
    client = at_the_check(staff)
    assert use(client, key).status_code == 302
    assert is_in(client)
    return client, key


def kinds() -> list[str]:
    return list(FailedLogin.objects.order_by("id").values_list("kind", flat=True))


# --- Adding ---


def test_the_first_login_sets_up_a_passkey_in_place_of_an_app(house: House) -> None:
    staff, client = with_password(house, "compliance"), Client()
    log_in(client, staff.number)
    assert "Use a passkey instead" in client.get("/admin/second-factor/enrol/").content.decode()
    shown = add(client, Authenticator(count=7))
    assert shown.content.decode().count("<li><code>") == RECOVERY_CODES
    assert "no-store" in shown.headers["cache-control"]
    assert is_in(client)
    passkey = passkeys_of(staff).get()
    assert (passkey.name, passkey.sign_count, passkey.transports) == ("Blue key", 7, ["usb"])
    assert has_factor(staff)


def test_several_passkeys_beside_an_app_keep_the_recovery_codes(house: House) -> None:
    client = passed(house, "compliance")
    codes = StaticDevice.objects.get(user=house["compliance"])
    for name in ("Laptop", "Blue key"):
        assert add(client, Authenticator(), name).headers["location"] == PAGE
    page = client.get(PAGE).content.decode()
    assert "Laptop" in page
    assert "Blue key" in page
    assert StaticDevice.objects.get(user=house["compliance"]) == codes


def test_the_browser_is_asked_for_what_the_standard_names(house: House) -> None:
    client, _ = logged_in_by_passkey(house, "compliance")
    made = options(client, "enrol", name="Another")
    assert made["rp"] == {"id": "testserver", "name": "Tai Sai back office"}
    assert made["authenticatorSelection"]["userVerification"] == "preferred"
    assert made["attestation"] == "none"
    assert len(made["excludeCredentials"]) == 1
    assert house["compliance"].number not in made["user"]["id"]
    used = options(client, "confirm")
    assert (used["rpId"], used["userVerification"], len(used["allowCredentials"])) == ("testserver", "preferred", 1)
    assert made["challenge"] != used["challenge"] != options(client, "confirm")["challenge"]


def test_a_key_that_does_not_know_the_person_is_accepted_beside_the_password(house: House) -> None:
    client, _ = logged_in_by_passkey(house, "compliance", Authenticator(flags=PRESENT))
    assert is_in(client)


def test_the_name_is_checked_before_the_browser_makes_a_passkey(house: House) -> None:
    client, _ = logged_in_by_passkey(house, "compliance")
    for name, reason in [("", "Enter a name"), ("x" * 65, "up to 64"), (" Blue key ", "with this name")]:
        answer = client.post(OPTIONS.format("enrol"), {"name": name})
        assert answer.status_code == 400
        assert reason in answer.json()["detail"]
    for number in range(MOST_PASSKEYS - 1):
        add(client, Authenticator(), f"Key {number}")
    assert "Remove one first" in client.post(OPTIONS.format("enrol"), {"name": "More"}).json()["detail"]


def test_a_passkey_that_is_registered_already_is_not_added_again(house: House) -> None:
    _, key = with_passkey(house, "surveillance")
    client, _ = logged_in_by_passkey(house, "compliance")
    assert "was not accepted" in add(client, key, "Stolen").content.decode()
    assert passkeys_of(house["compliance"]).count() == 1
    assert kinds() == ["passkey"]


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "x", '{"id": 1}', "[" * 9000, "1" * 30_000, "\ufffd"])
def test_what_is_no_passkey_is_refused_and_on_record(house: House, text: str) -> None:
    client = passed(house, "compliance")
    options(client, "enrol", name="Blue key")
    answer = client.post(ADD, {"name": "Blue key", "passkey": text})
    assert "was not accepted" in answer.content.decode()
    assert not Passkey.objects.exists()
    assert kinds() == ["passkey"]


@pytest.mark.parametrize(
    "key", [Authenticator(origin="https://evil.example"), Authenticator(host="evil.example"), Authenticator(flags=0)],
    ids=["of another site", "for another host", "without the person"],
)  # fmt: skip
def test_a_passkey_made_elsewhere_is_not_added(house: House, key: Authenticator) -> None:
    client = passed(house, "compliance")
    assert "was not accepted" in add(client, key).content.decode()
    assert not Passkey.objects.exists()


def test_adding_needs_a_fresh_confirmation_and_the_factor_that_is_there(house: House) -> None:
    staff, key = with_passkey(house, "compliance")
    client = at_the_check(staff)
    for address in (ADD, OPTIONS.format("enrol"), OPTIONS.format("confirm")):
        assert client.post(address, {"name": "Mine"}).headers["location"].startswith(CHECK)
    use(client, key)
    grown_stale(client)
    assert client.get(ADD).headers["location"].startswith(CONFIRM)
    answer = client.post(OPTIONS.format("enrol"), {"name": "Mine"})
    assert (answer.status_code, "has expired" in answer.json()["detail"]) == (403, True)
    assert passkeys_of(staff).count() == 1


# --- At the login ---


def test_a_passkey_lets_in_and_leads_on(house: House) -> None:
    staff, key = with_passkey(house, "compliance")
    client = at_the_check(staff)
    asked = client.get("/admin/games/table/?q=1").headers["location"]
    assert "Use a passkey" in client.get(asked).content.decode()
    before = client.session.session_key
    assert use(client, key, address=asked).headers["location"] == "/admin/games/table/?q=1"
    assert client.session.session_key != before
    assert is_in(client)
    passkey = passkeys_of(staff).get()
    assert (passkey.sign_count, passkey.last_used_at is not None) == (1, True)
    assert LoginSession.objects.filter(staff=staff, passed_at__isnull=False).count() == 2
    assert kinds() == []


def test_a_person_without_a_passkey_sees_none_at_the_login(house: House) -> None:
    staff, device, _ = with_factor(house, "compliance")
    client = at_the_check(staff)
    assert "Use a passkey" not in client.get(CHECK).content.decode()
    assert client.post(OPTIONS.format("login")).status_code == 400
    assert client.post(CHECK, {"code": code_of(device)}).status_code == 302


def forged(key: Authenticator) -> Authenticator:
    """The name of a passkey with another private key."""
    return Authenticator(credential=key.credential, count=50)


WRONG: dict[str, Callable[[Authenticator], Authenticator]] = {
    "by another key": forged,
    "on another site": lambda key: Authenticator("https://evil.example", credential=key.credential, key=key.key),
    "for another host": lambda key: Authenticator(host="evil.example", credential=key.credential, key=key.key),
    "without the person": lambda key: Authenticator(flags=0, credential=key.credential, key=key.key),
    "of an unknown passkey": lambda key: Authenticator(),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_answer_opens_nothing_and_is_on_record(house: House, case: str) -> None:
    staff, key = with_passkey(house, "compliance")
    client = at_the_check(staff)
    assert "was not accepted" in use(client, WRONG[case](key)).content.decode()
    assert not is_in(client)
    assert kinds() == ["passkey"]
    assert FailedLogin.objects.get().staff == staff
    assert use(client, key).status_code == 302
    assert "1 failed login to your account" in client.get("/admin/").content.decode()


def test_the_passkey_of_a_colleague_opens_nothing(house: House) -> None:
    staff, _ = with_passkey(house, "compliance")
    _, foreign = with_passkey(house, "surveillance")
    client = at_the_check(staff)
    use(client, foreign)
    assert not is_in(client)
    assert kinds() == ["passkey"]


@pytest.mark.parametrize("counts", [True, False])
def test_an_answer_is_good_once(house: House, counts: bool) -> None:
    staff, key = with_passkey(house, "compliance", Authenticator(counts=counts))
    first, second = at_the_check(staff), at_the_check(staff)
    sent = key.use(options(first, "login"))
    assert first.post(CHECK, {"passkey": sent}).status_code == 302
    for asks_first in (False, True):  # with no challenge open, and with another one open
        if asks_first:
            options(second, "login")
        assert second.post(CHECK, {"passkey": sent}).status_code == 200
    assert not is_in(second)
    assert kinds() == ["passkey", "passkey"]


def test_not_even_a_session_brought_back_makes_an_answer_good_twice(house: House) -> None:
    """Two requests at the same moment read the same session; the passkey itself knows what it answered last."""
    staff, key = with_passkey(house, "compliance", Authenticator(counts=False))
    client = at_the_check(staff)
    sent = key.use(options(client, "login"))
    challenges = client.session["passkey_challenges"]
    assert client.post(CHECK, {"passkey": sent}).status_code == 302
    again = at_the_check(staff)
    session = again.session
    session["passkey_challenges"] = challenges
    session.save()
    assert again.post(CHECK, {"passkey": sent}).status_code == 200
    assert not is_in(again)


def test_a_challenge_is_short_lived(house: House) -> None:
    staff, key = with_passkey(house, "compliance")
    client = at_the_check(staff)
    sent = key.use(options(client, "login"))
    with time_machine.travel(timezone.now() + dt.timedelta(seconds=151), tick=True):
        assert client.post(CHECK, {"passkey": sent}).status_code == 200
    assert kinds() == ["passkey"]


def test_a_challenge_is_good_for_its_own_ceremony_and_the_latest_counts(house: House) -> None:
    client, key = logged_in_by_passkey(house, "compliance")
    asked = options(client, "enrol", name="Other")
    assert "was not accepted" in client.post(CONFIRM, {"passkey": key.use(asked)}).content.decode()
    asked = options(client, "confirm")
    sent = client.post(ADD, {"name": "Other", "passkey": Authenticator().make(asked)})
    assert "was not accepted" in sent.content.decode()
    first = options(client, "confirm")
    options(client, "confirm")
    assert "was not accepted" in client.post(CONFIRM, {"passkey": key.use(first)}).content.decode()
    asked = options(client, "confirm")
    made = key.use(asked, kind="webauthn.create")
    assert "was not accepted" in client.post(CONFIRM, {"passkey": made}).content.decode()
    assert kinds() == ["passkey"] * 4


@pytest.mark.parametrize("step", [0, -1, -5])
def test_a_counter_that_does_not_go_on_is_refused_and_on_record_by_name(house: House, step: int) -> None:
    staff, key = with_passkey(house, "compliance", Authenticator(count=10))
    copy = Authenticator(credential=key.credential, key=key.key, count=10 + step - 1)
    client = at_the_check(staff)
    assert "was not accepted" in use(client, copy).content.decode()
    assert not is_in(client)
    assert kinds() == ["counter"]
    assert FailedLogin.objects.get().get_kind_display() == "Passkey counter went back, it may be a copy"
    assert passkeys_of(staff).get().sign_count == 10
    assert use(client, key).status_code == 302


def test_a_counter_that_stops_counting_is_refused(house: House) -> None:
    staff, key = with_passkey(house, "compliance", Authenticator(count=3))
    key.count, key.counts = 0, False
    use(at_the_check(staff), key)
    assert kinds() == ["counter"]


@time_machine.travel(dt.datetime(2026, 3, 2, 12, tzinfo=dt.UTC), tick=False)
def test_wrong_passkeys_and_codes_share_one_throttle(house: House) -> None:
    staff, key = with_passkey(house, "compliance")
    client = at_the_check(staff)
    for _ in range(6):
        assert "was not accepted" in use(client, forged(key)).content.decode()
    asked = client.post(OPTIONS.format("login"))
    assert (asked.status_code, asked.headers["retry-after"]) == (429, "2")
    assert "Too many failed attempts" in asked.json()["detail"]
    assert client.post(CHECK, {"passkey": "{}"}).status_code == 429
    assert client.post(CHECK, {"code": "000000"}).status_code == 429
    assert kinds() == ["passkey"] * 6 + ["throttled"]


def test_every_step_asks_for_the_csrf_token(house: House) -> None:
    client = logged_in(house["pit-supervisor"], enforce_csrf_checks=True)  # who is asked for no second factor
    ceremonies = [OPTIONS.format(ceremony) for ceremony in ("enrol", "login", "confirm")]
    for address in (*ceremonies, ADD, CHECK, CONFIRM, f"{PAGE}passkeys/1/remove/"):
        assert client.post(address, {"name": "Blue key", "passkey": "{}"}).status_code == 403
    assert not client.session.get("passkey_challenges")


def test_a_passkey_is_bound_to_the_host_of_the_settings(house: House, settings: Any) -> None:
    settings.PASSKEY_HOST = "casino.example"
    settings.ALLOWED_HOSTS = ["*"]
    staff, client = with_password(house, "compliance"), Client(headers={"host": "office.casino.example"})
    log_in(client, staff.number)
    asked = options(client, "enrol", name="Blue key")
    assert asked["rp"]["id"] == "casino.example"
    key = Authenticator(origin="http://office.casino.example", host="casino.example")
    client.post(ADD, {"name": "Blue key", "passkey": key.make(asked)})
    assert passkeys_of(staff).exists()
    client = Client(headers={"host": "evil.example"})
    log_in(client, staff.number)
    evil = Authenticator("http://evil.example", "evil.example", credential=key.credential, key=key.key)
    use(client, evil)
    assert not is_in(client)


# --- For decisions ---


def grown_stale(client: Client) -> None:
    session = client.session
    session["confirmed_at"] -= 301
    session.save()


@pytest.fixture
def proposal(house: House) -> LimitProposal:
    edits = {open_table(house): Edits({("big-small", "min"): 500})}
    return limits_edit(actor=house["pit-manager"], edits=edits, reason="Quiet evening")


def approve(client: Client, proposal: LimitProposal, **more: str) -> Any:
    """As a browser sends a form without files."""
    sent = urlencode({"reason": "As agreed", **more})
    address = f"/admin/games/limitproposal/{proposal.pk}/approve/"
    return client.post(address, sent, content_type="application/x-www-form-urlencoded")


def test_a_passkey_sends_an_interrupted_form_on_its_way(house: House, proposal: LimitProposal) -> None:
    client, key = logged_in_by_passkey(house, "shift-manager")
    grown_stale(client)
    page = approve(client, proposal).content.decode()
    assert 'name="_passkey"' in page
    wrong = approve(client, proposal, _passkey=forged(key).use(options(client, "confirm")))
    assert wrong.status_code == 403
    assert "The passkey was not accepted" in wrong.content.decode()
    assert "webauthn" not in wrong.content.decode()
    assert LimitProposal.objects.get(pk=proposal.pk).state == "pending"
    sent = key.use(options(client, "confirm"))
    assert approve(client, proposal, _passkey=sent).status_code == 302
    assert LimitProposal.objects.get(pk=proposal.pk).state != "pending"
    assert kinds() == ["passkey"]
    grown_stale(client)
    assert client.post(CONFIRM, {"passkey": sent}).status_code == 200
    assert kinds() == ["passkey", "passkey"]


def test_a_passkey_confirms_ahead(house: House) -> None:
    client, key = logged_in_by_passkey(house, "shift-manager")
    grown_stale(client)
    assert client.get(ADD).status_code == 302
    answer = use(client, key, "confirm", f"{CONFIRM}?next={PAGE}")
    assert answer.headers["location"] == PAGE
    assert client.get(ADD).status_code == 200


# --- Removing ---


def remove(client: Client, passkey: Passkey) -> str:
    answer = client.post(f"{PAGE}passkeys/{passkey.pk}/remove/", follow=True)
    return str(answer.content.decode())


def test_the_last_factor_of_a_person_who_must_have_one_stays(house: House) -> None:
    client, _ = logged_in_by_passkey(house, "compliance")
    first = passkeys_of(house["compliance"]).get()
    assert "your only second factor" in remove(client, first)
    add(client, Authenticator(), "Second key")
    second = passkeys_of(house["compliance"]).get(name="Second key")
    assert "was removed" in remove(client, second)
    assert "no such passkey" in remove(client, second)
    assert list(passkeys_of(house["compliance"])) == [first]


def test_beside_an_app_every_passkey_can_go(house: House) -> None:
    client = passed(house, "compliance")
    add(client, Authenticator())
    passkey = passkeys_of(house["compliance"]).get()
    assert "was removed" in remove(client, passkey)
    assert is_in(client)
    passkey.refresh_from_db()
    assert (passkey.confirmed, passkey.removed_by, passkey.removed_at is None) == (False, house["compliance"], False)


def test_a_removal_asks_for_a_fresh_confirmation(house: House) -> None:
    client = passed(house, "compliance")
    add(client, Authenticator())
    grown_stale(client)
    passkey = passkeys_of(house["compliance"]).get()
    assert "Confirm your identity" in remove(client, passkey)
    assert passkeys_of(house["compliance"]).exists()


def test_a_removed_passkey_opens_nothing_and_ends_what_it_opened(house: House) -> None:
    client, key = logged_in_by_passkey(house, "compliance")
    add(client, Authenticator(), "Second key")
    remove(client, passkeys_of(house["compliance"]).get(name="Blue key"))
    assert not is_in(client)
    use(client, key)
    assert not is_in(client)
    assert kinds() == ["passkey"]


def test_the_passkey_of_a_colleague_stays(house: House) -> None:
    staff, _ = with_passkey(house, "surveillance")
    client, _ = logged_in_by_passkey(house, "compliance")
    assert "no such passkey" in remove(client, passkeys_of(staff).get())
    assert passkeys_of(staff).exists()


def test_a_person_who_needs_none_removes_the_last_one_and_is_not_asked_any_more(house: House) -> None:
    staff, client = with_password(house, "pit-supervisor"), Client()
    log_in(client, staff.number)
    add(client, Authenticator())
    again = at_the_check(staff)
    assert not is_in(again)
    passkey_remove(staff=staff, key=passkeys_of(staff).get().pk)
    assert not has_factor(staff)
    assert is_in(again)


# --- Resets, and the database ---


def test_a_reset_by_two_removes_passkeys_as_well(house: House) -> None:
    client, _ = logged_in_by_passkey(house, "compliance")
    staff, first, second = house["compliance"], house["administrator"], house.hire("IT2", "administrator")
    reset = factor_reset_propose(actor=first, staff=staff, reason="Lost the key")
    with pytest.raises(ValidationError, match="Another administrator"):
        factor_reset_confirm(actor=first, reset=reset)
    assert passkeys_of(staff).exists()
    factor_reset_confirm(actor=second, reset=reset)
    assert not has_factor(staff)
    assert not is_in(client)
    assert Passkey.objects.get(user=staff).removed_by == second


@pytest.mark.parametrize(
    "change", ["confirmed = true, removed_at = NULL, removed_by_id = NULL", "sign_count = 99", "last_used_at = now()"]
)
def test_by_sql_a_removed_passkey_does_not_come_back(house: House, change: str) -> None:
    client = passed(house, "compliance")
    add(client, Authenticator())
    remove(client, passkeys_of(house["compliance"]).get())
    with pytest.raises(IntegrityError, match="passkey_only_forward"), transaction.atomic(), connection.cursor() as sql:
        sql.execute(f"UPDATE games_passkey SET {change}")


def test_by_sql_no_counter_goes_back_and_no_key_changes(house: House) -> None:
    add(passed(house, "compliance"), Authenticator(count=5))
    with pytest.raises(IntegrityError, match="passkey_only_forward"), transaction.atomic(), connection.cursor() as sql:
        sql.execute("UPDATE games_passkey SET sign_count = 4")
    for statement in ("UPDATE games_passkey SET public_key = ''", "DELETE FROM games_passkey"):
        with (
            pytest.raises(ProgrammingError, match="permission denied"),
            transaction.atomic(),
            connection.cursor() as sql,
        ):
            sql.execute(statement)


def test_without_the_setting_a_passkey_is_added_and_removed_and_never_asked_for(house: House, settings: Any) -> None:
    settings.REQUIRE_SECOND_FACTOR = False
    staff, client = with_password(house, "compliance"), Client()
    log_in(client, staff.number)
    add(client, Authenticator())
    again = at_the_check(staff)
    assert is_in(again)
    assert "was removed" in remove(again, passkeys_of(staff).get())
