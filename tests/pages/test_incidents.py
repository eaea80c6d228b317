"""Incidents in a real browser: an interruption is logged while the advice keeps up, and the file is closed."""

from playwright.sync_api import Page, expect

from audits.models import Incident, LogEntry
from tests.games.floor_setup import open_table
from tests.pages.conftest import Site, log_in

ADMIN = "/admin/audits"


def again_as(page: Page, number: str) -> None:
    page.context.clear_cookies()
    log_in(page, number)


def test_5_4_1_an_interruption_is_logged_advised_and_closed(site: Site, page: Page) -> None:
    table = open_table(site.house, "PG-81")
    log_in(page, "PIT-SUPERVISOR")
    page.goto(f"{ADMIN}/logentry/")
    page.get_by_label("Table").first.select_option(label="PG-81")
    page.get_by_label("What was seen").fill("Power failure; the dome was half open.")
    page.get_by_role("button", name="Save entry").click()
    expect(page.get_by_text("was saved")).to_be_visible()
    entry = LogEntry.objects.get(table=table)
    page.get_by_role("link", name=f"Entry {entry}").click()
    page.get_by_role("link", name="Open an incident").click()

    expect(page.get_by_label("What happened")).to_have_value("Power failure; the dome was half open.")
    advice = page.locator("#advice")
    expect(page.get_by_label("Dice that could be read")).to_be_hidden()
    page.get_by_label("Situation").select_option(label="Game interrupted")
    expect(advice).to_contain_text("Enter the dice that could be read")
    page.get_by_label("Dice that could be read").press_sequentially("2 ? ?")
    expect(advice).to_contain_text("Conclude the round")
    expect(advice).to_contain_text("Tai Sai v6 · Rule 5.4.1")
    expect(advice.locator(".in-boxes", has_text="Won")).to_contain_text("Single 2")
    expect(advice.locator(".in-boxes", has_text="Open")).to_contain_text("Small")
    expect(advice).to_contain_text("The open boxes need a ruling")
    expect(advice).to_contain_text("Keep the dice as they lie")
    page.get_by_role("button", name="Open incident").click()

    incident = Incident.objects.get(table=table)
    expect(page.get_by_text(f"{incident} was opened.")).to_be_visible()
    expect(page.locator("#advice")).to_contain_text("Conclude the round")
    page.get_by_role("link", name="Add note").click()
    page.get_by_label("Note").fill("Chips counted by two people.")
    page.get_by_role("button", name="Add note").click()
    expect(page.get_by_text("Chips counted by two people.")).to_be_visible()
    expect(page.get_by_role("link", name="Close", exact=True)).to_have_count(0)

    again_as(page, "COMPLIANCE")
    page.goto(f"{ADMIN}/incident/{incident.pk}/change/")
    page.get_by_role("link", name="Close", exact=True).click()
    page.get_by_label("Reason").fill("Settled as advised")
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_text(f"{incident} is closed.")).to_be_visible()
    expect(page.get_by_role("link", name="Reopen")).to_be_visible()


def test_the_pages_of_incidents_fit_a_narrow_screen(site: Site, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    log_in(page, "SURVEILLANCE")
    for path in (
        "logentry/",
        "incident/",
        "incident/add/",
        "incident/search/",
        "handover/",
        "handover/add/",
        "dispute/",
    ):
        page.goto(f"{ADMIN}/{path}")
        expect(page.locator("#content")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), path
