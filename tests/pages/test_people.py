"""People at work in the admin: a duty granted and ended, a person changed, a password chosen by a link."""

import pytest
from playwright.sync_api import Page, expect

from games.models import Duty, Staff
from tests.pages.conftest import Site, log_in


def test_a_shift_manager_grants_a_duty_and_ends_it(site: Site, page: Page) -> None:
    dealer = site.house.hire("D-PAGES", "dealer", pit=site.house.pits["P1"])
    log_in(page, "SHIFT-MANAGER")
    page.goto("/admin/games/duty/add/")
    page.locator(".field-staff .select2-selection").click()
    page.keyboard.type("D-PAGES")
    page.get_by_role("option", name="D-PAGES").click()
    page.get_by_label("Acts as").select_option("pit-supervisor")
    expect(page.get_by_label("Pits")).to_have_value("")  # nothing is chosen for anybody
    page.get_by_label("Pits").select_option("RWS P1")
    page.get_by_label("Reason").fill("Supervisor on leave")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("was added successfully")).to_be_visible()
    duty = Duty.objects.get(staff=dealer)
    assert (duty.granted_by.number, duty.casino, duty.reason) == (
        "SHIFT-MANAGER",
        site.house.casino,
        "Supervisor on leave",
    )

    page.goto(f"/admin/games/duty/{duty.pk}/change/")
    page.get_by_role("link", name="End now").click()
    page.get_by_label("Reason").fill("Back early")
    page.get_by_role("button", name="End now").click()
    expect(page.get_by_text("Ended: D-PAGES")).to_be_visible()
    expect(page.get_by_role("link", name="End now")).to_have_count(0)
    page.get_by_role("link", name="History").click()
    expect(page.locator("#change-history")).to_contain_text("Back early")
    expect(page.locator("#change-history")).to_contain_text("SHIFT-MANAGER Person SHIFT-MANAGER, shift manager")


def test_what_the_service_refuses_stands_at_its_field(site: Site, page: Page) -> None:
    log_in(page, "SHIFT-MANAGER")
    page.goto("/admin/games/duty/add/")
    page.locator(".field-staff .select2-selection").click()
    page.keyboard.type("PIT-MANAGER")
    page.get_by_role("option", name="PIT-MANAGER").click()
    page.get_by_label("Acts as").select_option("shift-manager")
    page.get_by_label("Pits").select_option("All pits of the casino")
    page.get_by_label("Reason").fill("Ambition")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("appoints to lower posts only")).to_be_visible()
    assert not Duty.objects.filter(reason="Ambition").exists()


def test_an_administrator_changes_a_person_and_the_history_tells(site: Site, page: Page) -> None:
    person = site.house.hire("S-PAGES", "pit-supervisor", pit=site.house.pits["P1"])
    log_in(page, "ADMINISTRATOR")
    page.goto(f"/admin/games/staff/{person.pk}/change/")
    page.get_by_label("Name").fill("Somebody Else")
    page.get_by_role("button", name="Save and continue editing").click()
    expect(page.get_by_text("This field is required")).to_be_visible()  # why?
    page.get_by_label("Reason").fill("Married")
    page.get_by_role("button", name="Save and continue editing").click()
    expect(page.get_by_text("was changed successfully")).to_be_visible()
    page.get_by_role("link", name="History").click()
    row = page.locator("#change-history tbody tr").first
    for text in ("ADMINISTRATOR Person ADMINISTRATOR, administrator", "Married", "Person S-PAGES", "Somebody Else"):
        expect(row).to_contain_text(text)


def test_a_person_chooses_the_password_by_a_link_that_an_administrator_made(site: Site, page: Page) -> None:
    person = site.house.hire("S-NEW", "pit-supervisor", pit=site.house.pits["P1"])
    log_in(page, "ADMINISTRATOR")
    page.goto(f"/admin/games/staff/{person.pk}/change/")
    page.get_by_role("link", name="New sign-in link").click()
    page.get_by_label("Reason").fill("First day")
    page.get_by_role("button", name="New sign-in link").click()
    link = page.locator(".ts-key").inner_text()

    page.context.clear_cookies()
    page.goto(link)
    expect(page.get_by_label("Code of the link")).to_be_hidden()
    assert "#" not in page.url  # taken out of the address and the history
    page.locator("#id_password").fill("words of my own choice")
    page.locator("#id_again").fill("words of another choice")
    page.get_by_role("button", name="Set password").click()
    expect(page.get_by_text("The two passwords differ")).to_be_visible()
    page.locator("#id_password").fill("words of my own choice")
    page.locator("#id_again").fill("words of my own choice")
    page.get_by_role("button", name="Set password").click()
    expect(page.get_by_text("Your password is set.")).to_be_visible()
    page.get_by_role("link", name="Sign in").click()
    log_in(page, "S-NEW", "words of my own choice")
    expect(page.locator("#you")).to_contain_text("Person S-NEW")
    assert Staff.objects.get(number="S-NEW").check_password("words of my own choice")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_narrow_screen_shows_all_of_a_page(site: Site, page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": 380, "height": 800})
    log_in(page, "COMPLIANCE")
    for path in ("/admin/", "/admin/games/staff/", "/admin/games/duty/", "/admin/games/casino/"):
        page.goto(path)
        expect(page.locator("#content")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), path
