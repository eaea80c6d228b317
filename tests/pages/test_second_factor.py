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

from games.models import Duty, LoginSession, Staff
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
    page.get_by_role("link", name="I have kept them").click()
    expect(page.locator("#you")).to_be_visible()
    page.goto("/admin/sessions/")
    expect(page.get_by_text("this one")).to_be_visible()
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
    expect(page.get_by_text("This code is not right")).to_be_visible()
    picture(page, "check")
    page.get_by_role("textbox", name="Code").fill(code_of(key, 1))
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("1 failed login to your account")).to_be_visible()
    picture(page, "told")
    a_grant_keeps_its_form(guarded, page)
    context.close()


def a_grant_keeps_its_form(guarded: Site, page: Page) -> None:
    """Six minutes after the login an appointment asks for the password, and is then made as it was typed."""
    guarded.house.hire("D-PAGES", "dealer", pit=guarded.house.pits["P1"])
    cookie = next(cookie for cookie in page.context.cookies() if cookie.get("name") == "taisai_session")
    session = SessionStore(cookie["value"])
    session["confirmed_at"] -= 360
    session.save()
    page.goto("/admin/games/duty/add/")
    page.locator(".field-staff .select2-selection").click()
    page.keyboard.type("D-PAGES")
    page.get_by_role("option", name="D-PAGES").click()
    page.get_by_label("Acts as").select_option("pit-supervisor")
    page.get_by_label("Pits").select_option("RWS P1")
    page.get_by_label("Reason").fill("Supervisor on leave")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_label("Password or code")).to_be_visible()
    picture(page, "confirm")
    page.get_by_label("Password or code").fill(PASSWORD)
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_text("was added successfully")).to_be_visible()
    assert Duty.objects.get(staff__number="D-PAGES").reason == "Supervisor on leave"
