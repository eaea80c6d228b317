"""One-time sign-in links: nobody knows another's password, and a link is good once, for a day, for its person."""

import datetime as dt
import threading
from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.core import mail
from django.core.cache import cache
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.utils import timezone

from games.access import roles
from games.access.services import people
from games.access.services.people import account_reset, local_password_set, own_password_set, staff_update
from games.accounts.services.sign_in_links import IssuedLink, LinkError, hash_of, link_use
from games.models import AccountLink, AccountLinkEnd, AccountProposal, Staff
from tests.conftest import OPERATOR, House
from tests.games.logins import PASSWORD, logged_in

SITE = "https://office.example"
PAGE = "/account/password/"


def issue(house: House, staff: Staff, actor: str = "administrator") -> str:
    """The token of a new link."""
    issued = account_reset(actor=house[actor], staff=staff, site=SITE, reason="Forgotten")
    assert isinstance(issued, IssuedLink)
    return issued.address.partition("#")[2]


def send(token: str, password: str = PASSWORD, again: str | None = None) -> Any:
    return Client().post(PAGE, {"token": token, "password": password, "again": again or password})


@pytest.fixture(autouse=True)
def fresh_throttle() -> None:
    cache.clear()


def test_a_person_chooses_the_password_by_a_link_that_works_once(house: House) -> None:
    person = house["pit-manager"]
    token = issue(house, person)
    assert b"Your password is set" in send(token).content
    assert authenticate(username=person.number, password=PASSWORD) == person
    answer = send(token, "another good password")
    assert (answer.status_code, b"is not valid" in answer.content) == (400, True)
    assert authenticate(username=person.number, password=PASSWORD) == person
    assert AccountLink.objects.get().end.how == "used"
    assert "sign-in link" in person.history.first().history_change_reason


def test_only_the_hash_of_a_token_is_kept(house: House) -> None:
    token = issue(house, house["pit-manager"])
    link = AccountLink.objects.get()
    assert link.token_hash == hash_of(token) != token
    assert token not in str({field.name: getattr(link, field.name) for field in link._meta.fields})
    assert link.expires_at - link.made_at == dt.timedelta(hours=24)


def test_a_link_is_dead_after_a_day(house: House) -> None:
    token, made = "A" * 43, timezone.now() - dt.timedelta(hours=24, seconds=1)
    AccountLink.objects.create(
        staff=house["pit-manager"], token_hash=hash_of(token), who="x", made_at=made,
        expires_at=made + dt.timedelta(hours=24),
    )  # fmt: skip
    with pytest.raises(LinkError):
        link_use(token=token, password=PASSWORD)


def test_a_new_link_ends_the_earlier_one_the_password_and_the_sessions(house: House) -> None:
    person = house["pit-manager"]
    local_password_set(actor=OPERATOR, staff=person, password=PASSWORD, reason="First day")
    client = logged_in(person)
    first = issue(house, person)
    second = issue(house, person)
    assert client.get("/admin/").status_code == 302  # to the login page
    assert authenticate(username=person.number, password=PASSWORD) is None
    with pytest.raises(LinkError):
        link_use(token=first, password=PASSWORD)
    assert link_use(token=second, password=PASSWORD) == person


def test_a_link_goes_to_the_persons_address_and_is_then_shown_to_nobody(house: House) -> None:
    person = house["pit-manager"]
    staff_update(actor=house["administrator"], staff=person, changes={"email": "pm@house.example"}, reason="New")
    client = logged_in(house["administrator"])
    answer = client.post(f"/admin/games/staff/{person.pk}/new_link/", {"reason": "Forgotten"}, follow=True)
    (letter,) = mail.outbox
    token = letter.body.partition("#")[2].split()[0]
    assert letter.to == ["pm@house.example"]
    assert token not in answer.content.decode()
    assert link_use(token=token, password=PASSWORD) == person


def test_a_link_that_cannot_be_sent_changes_nothing(house: House, settings: Any) -> None:
    person = house["pit-manager"]
    local_password_set(actor=OPERATOR, staff=person, password=PASSWORD, reason="First day")
    staff_update(actor=house["administrator"], staff=person, changes={"email": "pm@house.example"}, reason="New")
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    with pytest.raises(ValidationError, match="could not be sent"):
        account_reset(actor=house["administrator"], staff=person, site=SITE, reason="Forgotten")
    assert authenticate(username=person.number, password=PASSWORD) == person
    assert not AccountLink.objects.exists()


def test_the_page_shows_the_link_once_and_keeps_it_nowhere(house: House) -> None:
    person = house["pit-manager"]
    client = logged_in(house["administrator"])
    answer = client.post(f"/admin/games/staff/{person.pk}/new_link/", {"reason": "Forgotten"})
    token = answer.content.decode().partition(f"{PAGE}#")[2][:43]
    assert "no-store" in answer.headers["Cache-Control"]
    for address in (f"/admin/games/staff/{person.pk}/change/", f"/admin/games/staff/{person.pk}/history/", "/admin/"):
        assert token not in client.get(address).content.decode()
    assert token not in str(answer.cookies)
    assert link_use(token=token, password=PASSWORD) == person


def test_a_new_account_gets_its_link_with_the_form_that_adds_it(house: House) -> None:
    client = logged_in(house["administrator"])
    sent = {
        "number": "S77", "name": "New Person", "department": "pit", "post": "pit-supervisor",
        "casino": str(house.casino.pk), "pit": str(house.pits["P1"].pk), "is_active": "on", "reason": "Hired",
    }  # fmt: skip
    answer = client.post("/admin/games/staff/add/", sent)
    token = answer.content.decode().partition(f"{PAGE}#")[2][:43]
    assert link_use(token=token, password=PASSWORD).number == "S77"


# --- The page tells nothing ---


def test_the_page_is_the_same_for_everybody_and_leaks_no_referrer(house: House) -> None:
    issue(house, house["pit-manager"])
    answer = Client().get(PAGE)
    assert answer.status_code == 200
    assert answer.headers["Referrer-Policy"] == "same-origin"
    assert "no-store" in answer.headers["Cache-Control"]
    assert "PIT-MANAGER" not in answer.content.decode()


def test_wrong_used_and_expired_tokens_of_any_account_get_the_same_answer(house: House) -> None:
    used, left = issue(house, house["pit-manager"]), issue(house, house["pit-supervisor"])
    send(used)
    staff_update(
        actor=house["administrator"], staff=house["pit-supervisor"], changes={"is_active": False}, reason="Left"
    )
    tokens = [used, left, "B" * 43, "short", "é" * 43, "x\x00y"]
    errors = {str(send(token).context["form"].non_field_errors()) for token in tokens[:-1]}
    assert len(errors) == 1
    assert send(tokens[-1]).status_code == 200  # the form itself refuses it


def test_a_poor_password_is_refused_and_the_link_stays_good(house: House) -> None:
    person = house["pit-manager"]
    token = issue(house, person)
    for poor in ("short", "password1234", "RWS-casino-P1-2026", person.number.lower() + "1"):
        assert send(token, poor).context["form"].errors["password"]
    assert send(token, PASSWORD, again="something else").context["form"].errors["again"]
    assert b"Your password is set" in send(token).content


def test_guessing_is_throttled_and_keeps_nobody_out(house: House) -> None:
    token = issue(house, house["pit-manager"])
    answers = [send("B" * 43) for _ in range(12)]
    assert [answer.status_code for answer in answers] == [400] * 10 + [429] * 2
    assert answers[-1].headers["Retry-After"] == "60"
    assert b"Your password is set" in send(token).content  # from the same address


def test_behind_a_proxy_tries_are_counted_by_the_client(house: House, settings: Any) -> None:
    settings.TRUSTED_PROXIES = 1
    wrong = {"token": "B" * 43, "password": PASSWORD, "again": PASSWORD}
    codes = [
        Client(headers={"x-forwarded-for": address}).post(PAGE, wrong).status_code
        for address in ("198.51.100.1",) * 12 + ("198.51.100.2",)
    ]
    assert codes == [400] * 10 + [429] * 2 + [400]


def test_the_form_needs_its_token_against_forgery(house: House) -> None:
    client = Client(enforce_csrf_checks=True)
    token = issue(house, house["pit-manager"])
    assert client.post(PAGE, {"token": token, "password": PASSWORD, "again": PASSWORD}).status_code == 403


# --- By the other doors ---


def test_two_at_once_use_a_link_once(clone: str) -> None:
    from tests.conftest import build_house

    house = build_house()
    token = issue(house, house["pit-manager"])
    done: list[str] = []

    def use(password: str) -> None:
        try:
            link_use(token=token, password=password)
            done.append(password)
        except LinkError:
            pass
        finally:
            connection.close()

    threads = [threading.Thread(target=use, args=(f"{PASSWORD} {number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 1
    assert authenticate(username="PIT-MANAGER", password=done[0]) is not None


def test_sql_uses_no_link_twice_nor_late_nor_longer(house: House) -> None:
    issue(house, house["pit-manager"])
    link = AccountLink.objects.get()
    late = {"at": link.expires_at, "how": "used"}
    for fault, values in (("account_link_used_in_time", late), ("account_link_end_known", {"how": "lent"})):
        with pytest.raises(IntegrityError, match=fault), transaction.atomic():
            AccountLinkEnd.objects.create(link=link, who="x", **values)
    AccountLinkEnd.objects.create(link=link, who="x", how="used")
    with pytest.raises(IntegrityError, match="unique"), transaction.atomic():
        AccountLinkEnd.objects.create(link=link, who="x", how="used")
    with pytest.raises(IntegrityError, match="account_link_lasts_a_day_at_most"), transaction.atomic():
        AccountLink.objects.create(
            staff=link.staff, token_hash="0" * 64, who="x", made_at=link.made_at,
            expires_at=link.expires_at + dt.timedelta(seconds=1),
        )  # fmt: skip
    for statement in ("UPDATE games_accountlink SET expires_at = now()", "DELETE FROM games_accountlinkend"):
        with pytest.raises(Exception, match="permission denied"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)


def test_nobody_but_an_administrator_makes_links(house: House) -> None:
    for role in ("shift-manager", "casino-manager", "surveillance", "compliance", "auditor"):
        with pytest.raises(PermissionDenied):
            account_reset(actor=house[role], staff=house["dealer"], site=SITE, reason="x")


def test_no_door_takes_a_password_for_another(house: House) -> None:
    assert not hasattr(people, "staff_set_password")
    assert [code for code, role in roles.access_policy().roles.items() if "staff.localpassword" in role.may] == [
        "operator"
    ]
    with pytest.raises(PermissionDenied):
        local_password_set(actor=house["administrator"], staff=house["dealer"], password=PASSWORD, reason="x")  # type: ignore[arg-type]
    with pytest.raises((CommandError, TypeError)):
        call_command("staff_add", "N1", "--name=N", "--department=it", "--password-stdin")
    client = logged_in(house["administrator"])
    form = client.get(f"/admin/games/staff/{house['pit-manager'].pk}/change/").content.decode()
    assert 'type="password"' not in form


def test_the_known_passwords_of_the_demonstration_are_refused_in_production(house: House, settings: Any) -> None:
    settings.PRODUCTION = True
    with pytest.raises(ValidationError, match="In production, passwords are not set for others"):
        local_password_set(actor=OPERATOR, staff=house["dealer"], password=PASSWORD, reason="x")


def test_ones_own_password_needs_the_old_one_by_page_and_service(house: House) -> None:
    person = house["auditor"]
    local_password_set(actor=OPERATOR, staff=person, password=PASSWORD, reason="First day")
    with pytest.raises(ValidationError, match="current password"):
        own_password_set(staff=person, old_password="wrong", password="my very own words")
    client = logged_in(house["auditor"])
    sent = {"old_password": "wrong", "new_password1": "my very own words", "new_password2": "my very own words"}
    assert client.post("/admin/password_change/", sent).status_code == 200
    assert house["auditor"].check_password(PASSWORD)


def test_an_administrator_gets_no_link_to_their_own_account(house: House) -> None:
    administrator = house["administrator"]
    local_password_set(actor=OPERATOR, staff=administrator, password=PASSWORD, reason="First day")
    with pytest.raises(ValidationError, match="with the old one"):
        account_reset(actor=house["administrator"], staff=administrator, site=SITE, reason="x")
    assert not AccountProposal.objects.exists()
    assert house["administrator"].check_password(PASSWORD)
