"""The second factor in a real browser: set up at the first login, asked at the next, confirmed again for a decision."""

import base64
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django_otp.oath import totp
from playwright.sync_api import Browser, Page, expect
from pytest_django import DjangoDbBlocker

from games.models import Duty, FailedLogin, LoginSession, Passkey, Staff
from tests.conftest import connected_to
from tests.pages.conftest import PASSWORD, Site, log_in, started_site

PICTURES = os.environ.get("PICTURES")


@pytest.fixture(scope="module")
def guarded(django_db_blocker: DjangoDbBlocker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site that asks, as production does."""
    log = tmp_path_factory.mktemp("guarded") / "web.log"
    with (
        started_site(django_db_blocker, log, REQUIRE_SECOND_FACTOR="1") as site,
        django_db_blocker.unblock(),
        connected_to(site.database),
    ):
        yield site


def picture(page: Page, name: str) -> None:
    """Kept where PICTURES names a folder."""
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{name}.png")


def code_of(key: str, steps: int = 0) -> str:
    return f"{totp(base64.b32decode(key.replace(' ', '')), t0=-30 * steps):06d}"


def test_set_up_asked_and_confirmed(guarded: Site, browser: Browser) -> None:
    context = browser.new_context(base_url=guarded.address, viewport={"width": 1280, "height": 900})
    context.set_default_timeout(30_000)
    page = context.new_page()
    log_in(page, "SHIFT-MANAGER")
    expect(page.get_by_text("Set up your second factor")).to_be_visible()
    picture(page, "enrol")
    key = page.locator("#key").inner_text()
    page.get_by_role("textbox", name="Code").fill(code_of(key))
    page.get_by_role("button", name="Set up").click()
    expect(page.locator("#codes li")).to_have_count(10)
    picture(page, "recovery-codes")
    page.get_by_role("link", name="I have saved them").click()
    expect(page.locator("#you")).to_be_visible()
    page.goto("/admin/sessions/")
    expect(page.get_by_text("this session")).to_be_visible()
    picture(page, "sessions")

    page.goto("/admin/second-factor/")
    picture(page, "second-factor")
    staff = Staff.objects.get(number="SHIFT-MANAGER")
    assert LoginSession.objects.get(staff=staff).passed_at is not None

    context.clear_cookies()
    log_in(page, "SHIFT-MANAGER")
    expect(page.get_by_text("recovery codes", exact=False).first).to_be_visible()
    page.get_by_role("textbox", name="Code").fill("000000")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("This code is wrong")).to_be_visible()
    picture(page, "check")
    page.get_by_role("textbox", name="Code").fill(code_of(key, 1))
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("1 failed login to your account")).to_be_visible()
    picture(page, "told")
    a_grant_asks_again(guarded, page, "D-PAGES")
    picture(page, "confirm")
    page.get_by_label("Password or code").fill(PASSWORD)
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_text("was added successfully")).to_be_visible()
    assert Duty.objects.get(staff__number="D-PAGES").reason == "Supervisor on leave"
    context.close()


def grow_stale(page: Page) -> None:
    """Six minutes after the login."""
    cookie = next(cookie for cookie in page.context.cookies() if cookie.get("name") == "taisai_session")
    session = SessionStore(cookie["value"])
    session["confirmed_at"] -= 360
    session.save()


def a_grant_asks_again(guarded: Site, page: Page, number: str) -> None:
    """An appointment asks for a confirmation; with it, it is made as it was typed."""
    guarded.house.hire(number, "dealer", pit=guarded.house.pits["P1"])
    grow_stale(page)
    page.goto("/admin/games/duty/add/")
    page.locator(".field-staff .select2-selection").click()
    page.keyboard.type(number)
    page.get_by_role("option", name=number).click()
    page.get_by_label("Acts as").select_option("pit-supervisor")
    page.get_by_label("Pits").select_option("RWS P1")
    page.get_by_label("Reason").fill("Supervisor on leave")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_label("Password or code")).to_be_visible()


# --- Passkeys, with Chromium's own authenticator in software ---


def on_localhost(site: Site) -> str:
    """A passkey needs a name; the address of the site is a number."""
    return site.address.replace("127.0.0.1", "localhost")


def with_authenticator(page: Page) -> None:
    tools = page.context.new_cdp_session(page)
    tools.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
        "isUserVerified": True, "automaticPresenceSimulation": True,
    }  # fmt: skip
    tools.send("WebAuthn.addVirtualAuthenticator", {"options": options})


def test_a_passkey_is_added_lets_in_confirms_and_is_removed(guarded: Site, browser: Browser) -> None:
    context = browser.new_context(base_url=on_localhost(guarded), viewport={"width": 1280, "height": 900})
    context.set_default_timeout(30_000)
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda entry: faults.append(entry.text) if "Content Security Policy" in entry.text else None)
    with_authenticator(page)
    log_in(page, "CASINO-MANAGER")
    page.get_by_role("link", name="Use a passkey instead").click()
    page.get_by_role("textbox", name="Name").fill("Office laptop")
    picture(page, "passkey-add")
    page.get_by_role("button", name="Add passkey").click()
    expect(page.locator("#codes li")).to_have_count(10)
    page.get_by_role("link", name="I have saved them").click()
    expect(page.locator("#you")).to_be_visible()
    staff = Staff.objects.get(number="CASINO-MANAGER")
    assert Passkey.objects.get(user=staff).name == "Office laptop"

    context.clear_cookies()
    log_in(page, "CASINO-MANAGER")
    picture(page, "passkey-check")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.locator("#you")).to_be_visible()
    assert LoginSession.objects.filter(staff=staff, passed_at__isnull=False).count() == 2

    a_grant_asks_again(guarded, page, "D-PASSKEY")
    picture(page, "passkey-confirm")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_text("was added successfully")).to_be_visible()
    assert Duty.objects.get(staff__number="D-PASSKEY").reason == "Supervisor on leave"

    own_passkeys(page)
    assert not FailedLogin.objects.filter(staff=staff).exists()
    assert faults == []
    context.close()


def own_passkeys(page: Page) -> None:
    """The same device again is refused by the browser; the only one of whoever must have one stays."""
    page.goto("/admin/second-factor/")
    expect(page.get_by_role("cell", name="Office laptop")).to_be_visible()
    picture(page, "passkeys")
    page.get_by_role("link", name="Add a passkey").click()
    page.get_by_role("textbox", name="Name").fill("Office laptop")
    page.get_by_role("button", name="Add passkey").click()
    expect(page.get_by_role("alert")).to_contain_text("already have a passkey with this name")
    page.get_by_role("textbox", name="Name").fill("Again")
    page.get_by_role("button", name="Add passkey").click()
    expect(page.get_by_role("alert")).to_contain_text("already has one of your passkeys")
    page.get_by_role("link", name="Cancel").click()
    grow_stale(page)
    page.get_by_role("button", name="Remove").click()
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_text("This is your only second factor")).to_be_visible()


@pytest.mark.parametrize("case", ["no passkeys", "an address without a name"])
def test_without_passkeys_the_pages_are_as_they_were(guarded: Site, browser: Browser, case: str) -> None:
    address = guarded.address if case == "an address without a name" else on_localhost(guarded)
    context = browser.new_context(base_url=address)
    context.set_default_timeout(30_000)
    if case == "no passkeys":
        context.add_init_script("delete window.PublicKeyCredential")
    page = context.new_page()
    log_in(page, "PIT-SUPERVISOR")
    page.goto("/admin/second-factor/")
    expect(page.get_by_role("heading", name="Authenticator app")).to_be_visible()
    expect(page.get_by_text("Passkeys")).to_be_hidden()
    page.goto("/admin/second-factor/passkeys/add/")
    expect(page.get_by_text("This browser does not support passkeys here")).to_be_visible()
    expect(page.get_by_role("button", name="Add passkey")).to_be_hidden()
    context.close()
