"""Findings in a real browser: seen by a supervisor, resolved by a manager, confirmed by compliance; by keyboard too."""

from playwright.sync_api import Page, expect

from audits.models import Finding
from tests.audits.sittings import GRAVE, OVERPAID, played
from tests.pages.conftest import Site, log_in

TOLD = "Loser paid, seat-7 on Big: paid 2,500.00, should have collected 2,500.00"


def change_person(page: Page, number: str) -> None:
    page.context.clear_cookies()
    log_in(page, number)


def reach(page: Page, name: str) -> None:
    """By the Tab key alone; it fails where the keyboard never comes to it."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.innerText || document.activeElement.ariaLabel || ''").endswith(name):
            return
    raise AssertionError(f"The keyboard does not reach {name}.")


def test_a_grave_finding_from_the_alert_to_the_word_of_compliance(site: Site, page: Page) -> None:
    _, grave = played(site.house, [OVERPAID, GRAVE], table="PG-71", ref="PG-71-1")

    log_in(page, "PIT-SUPERVISOR")
    alerts = page.locator(".ts-alerts")
    expect(alerts).to_contain_text(TOLD)
    reach(page, "Acknowledge")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Finding acknowledged.")).to_be_visible()
    expect(alerts).to_have_count(0)

    change_person(page, "PIT-MANAGER")
    page.goto("/admin/audits/finding/?table=PG-71&severity=3")
    page.get_by_role("link", name=TOLD).click()
    expect(page.get_by_text("PIT-SUPERVISOR Person PIT-SUPERVISOR, pit supervisor")).to_be_visible()
    page.get_by_role("link", name="Resolve").click()
    page.get_by_label("Recovered from the player").check()
    page.get_by_label("Reason").fill("He gave it back")
    page.get_by_role("button", name="Resolve").click()
    expect(page.get_by_text("Enter the amount that was recovered or paid")).to_be_visible()
    page.get_by_label("Amount").fill("5,000")
    page.get_by_role("button", name="Resolve").click()
    expect(page.get_by_text("Compliance must confirm it")).to_be_visible()
    expect(page.get_by_role("link", name="Confirm")).to_have_count(0)

    change_person(page, "COMPLIANCE")
    page.locator("section", has_text="To be confirmed").get_by_role("link", name=TOLD).click()
    expect(page.get_by_text("Recovered from the player, 5,000.00")).to_be_visible()
    page.get_by_role("link", name="Confirm").click()
    page.get_by_label("Reason").fill("Receipt seen")
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_text("Confirmed: discrepancy")).to_be_visible()
    page.get_by_role("link", name="History").click()
    expect(page.locator("#change-history")).to_contain_text("Receipt seen")
    assert Finding.objects.get(pk=grave.pk).confirmed_by == site.house["compliance"]


def test_several_are_chosen_and_acknowledged_on_a_telephone(site: Site, page: Page) -> None:
    found = played(site.house, [OVERPAID, GRAVE], table="PG-72", ref="PG-72-1")
    page.set_viewport_size({"width": 390, "height": 800})
    log_in(page, "PIT-SUPERVISOR")
    page.goto("/admin/audits/finding/?table=PG-72")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for one in found:
        page.get_by_label(f"Select finding no. {one.pk}").check()
    page.get_by_role("button", name="Acknowledge selected").click()
    expect(page.get_by_text("2 findings acknowledged.")).to_be_visible()
    assert set(Finding.objects.filter(table__code="PG-72").values_list("state", flat=True)) == {"acknowledged"}
    for address in (f"audits/finding/{found[0].pk}/change/", "audits/daysummary/", "audits/run/", ""):
        page.goto(f"/admin/{address}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, address
