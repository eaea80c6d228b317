"""Thresholds in a browser: proposed by one compliance person, approved by another, also on a narrow screen."""

import os

from playwright.sync_api import Page, expect

from games.access.services.people import local_password_set
from games.thresholds.services import threshold_propose
from tests.conftest import OPERATOR
from tests.pages.conftest import PASSWORD, Site, log_in
from tests.thresholds import approved, compliance_person

PAGE = "/admin/games/thresholdchange/"


def test_a_second_person_sees_the_difference_and_approves(site: Site, page: Page) -> None:
    house = site.house
    second = compliance_person(house, "COMPLIANCE-2")
    local_password_set(actor=OPERATOR, staff=second, password=PASSWORD, must_change=False, reason="First password")
    approved(house, "acting", acting_days=14)
    change = threshold_propose(
        actor=house["compliance"], casino=house.casino, kind="rulings", values={"second_person_from": 50_000},
        reason="Small changes hold up the floor",
    )  # fmt: skip
    log_in(page, "COMPLIANCE-2")
    page.goto(PAGE)
    expect(page.get_by_text("waits for a second person")).to_be_visible()
    for folder in filter(None, [os.environ.get("SCREENSHOTS")]):
        page.screenshot(path=f"{folder}/thresholds.png", full_page=True)
    page.get_by_role("link", name=f"proposal {change}").first.click()
    expect(page.get_by_role("row", name="Second person from")).to_contain_text("500.00")
    page.get_by_role("link", name="Approve").click()
    page.get_by_label("Reason").fill("Agreed")
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text(f"Proposal {change} is approved.")).to_be_visible()
    for folder in filter(None, [os.environ.get("SCREENSHOTS")]):
        page.screenshot(path=f"{folder}/threshold_change.png", full_page=True)
    page.set_viewport_size({"width": 390, "height": 800})
    for path in (PAGE, f"{PAGE}{change.pk}/change/", f"{PAGE}add/?kind=findings", f"{PAGE}add/?kind=acting"):
        page.goto(path)
        expect(page.locator("#content")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), path
