"""The description of the API as a page: it works under our Content-Security-Policy, and asks nobody but us."""

from playwright.sync_api import Page, expect

from games.models import LimitProposal
from tests.games.floor_setup import open_table
from tests.pages.conftest import Site, log_in


def complaints(page: Page) -> list[str]:
    """What the browser refuses to load stands in its console."""
    found: list[str] = []
    page.on("console", lambda message: found.append(message.text) if message.type == "error" else None)
    return found


def test_calls_are_described_and_can_be_tried(site: Site, page: Page) -> None:
    open_table(site.house, "PG-31")
    found = complaints(page)
    log_in(page, "AUDITOR")
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    page.goto("/api/v1/docs/")
    expect(page.get_by_role("heading", name="Tai Sai back office")).to_be_visible()
    call = page.locator("#operations-tables-table_read")
    call.get_by_role("button", name="GET").first.click()
    expect(call.get_by_text("The table's code, in any case.")).to_be_visible()
    call.get_by_role("button", name="Try it out").click()
    call.get_by_placeholder("code").fill("PG-31")
    call.get_by_role("button", name="Execute").click()
    expect(call.locator(".live-responses-table")).to_contain_text('"state": "open"')
    assert found == []


def test_a_change_tried_there_carries_its_token(site: Site, page: Page) -> None:
    open_table(site.house, "PG-32")
    log_in(page, "PIT-MANAGER")
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    page.goto("/api/v1/docs/")
    call = page.locator("#operations-limit-proposals-proposal_add")
    call.get_by_role("button", name="POST").first.click()
    call.get_by_role("button", name="Try it out").click()
    body = '{"changes": {"PG-32": {"boxes": {"big-small": {"min": "25"}}}}, "reason": "Tried on the page"}'
    call.locator("textarea").fill(body)
    call.get_by_role("button", name="Execute").click()
    expect(call.locator(".live-responses-table")).to_contain_text('"state": "pending"')
    assert LimitProposal.objects.filter(tables__code="PG-32", reason="Tried on the page").exists()


def test_whoever_is_not_logged_in_is_led_to_the_login(site: Site, page: Page) -> None:
    page.goto("/api/v1/docs/")
    expect(page.get_by_label("Staff number")).to_be_visible()
