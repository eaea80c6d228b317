"""Reports in a browser: compliance goes from login to a certified PDF; others read what is theirs; narrow screens."""

import os

import pytest
from playwright.sync_api import Page, expect

from audits.models import ReportRun
from audits.reports.services.production import report_take
from audits.reports.services.reports import report_ask
from games.models import Table
from tests.audits.playing import DAY, UNDERPAID, played, record, table_for
from tests.pages.conftest import Site, log_in

SHELF = "/admin/audits/reportrun/"
D = DAY.isoformat()


def picture(page: Page, name: str) -> None:
    for folder in filter(None, [os.environ.get("SCREENSHOTS")]):
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)


def made(site: Site) -> ReportRun:
    """Do what the worker does, which does not run beside this site."""
    run = ReportRun.objects.filter(state="waiting").latest("asked_at")
    report_take(key=run.pk)
    return run


@pytest.fixture
def played_day(site: Site) -> None:
    if not Table.objects.filter(code="TS-61").exists():
        table_for(site.house, "TS-61")
        record(played("RP-1", UNDERPAID, table="TS-61"))


def test_compliance_goes_from_login_to_a_certified_pdf(site: Site, page: Page, played_day: None) -> None:
    log_in(page, "COMPLIANCE")
    page.locator(f'a[href="{SHELF}"]').first.click()
    expect(page.get_by_role("heading", name="For the regulator")).to_be_visible()
    picture(page, "reports")
    page.get_by_role("link", name="Discrepancies", exact=True).click()
    page.locator("[name=first]").fill(D)
    page.locator("[name=last]").fill(D)
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("heading", name="rows").or_(page.get_by_role("heading", name="Nil report"))).to_be_visible()
    picture(page, "report_form")
    page.get_by_role("button", name="Make report").click()
    expect(page.get_by_text("Waiting for a worker")).to_be_visible()
    run = made(site)
    expect(page.get_by_text("RP-1").first).to_be_visible()  # the page looks again by itself
    picture(page, "report")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download PDF").click()
    assert download.value.suggested_filename == f"RWS-discrepancies-{D}.pdf"
    page.get_by_role("link", name="Certify").click()
    page.get_by_role("button", name="Certify").click()
    expect(page.get_by_text("The report is certified.")).to_be_visible()
    with page.expect_download() as certified:
        page.get_by_role("link", name="Download certified copy").click()
    assert certified.value.path().read_bytes().startswith(b"%PDF")
    picture(page, "report_certified")
    page.set_viewport_size({"width": 390, "height": 800})
    for path in (SHELF, f"{SHELF}add/?kind=daily", f"{SHELF}{run.pk}/change/", "/admin/audits/reportschedule/"):
        page.goto(path)
        expect(page.locator("#content")).to_be_visible()
        picture(page, f"narrow_{path.strip('/').replace('/', '_')[:30]}")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), path


def test_an_auditor_exports_and_does_not_certify(site: Site, page: Page, played_day: None) -> None:
    log_in(page, "AUDITOR")
    page.goto(f"{SHELF}add/?kind=discrepancies&first={D}&last={D}&format=pdf")
    page.get_by_role("button", name="Make report").click()
    expect(page.get_by_text("Waiting for a worker")).to_be_visible()
    run = made(site)
    page.goto(f"{SHELF}{run.pk}/change/")
    expect(page.get_by_role("link", name="Download PDF")).to_be_visible()
    expect(page.get_by_role("link", name="Certify")).to_have_count(0)


def test_a_pit_manager_sees_only_the_reports_of_the_pit(site: Site, page: Page, played_day: None) -> None:
    whole = report_ask(actor=site.house["compliance"], kind="breaches", format="csv", first=DAY, last=DAY)
    report_take(key=whole.pk)
    log_in(page, "PIT-MANAGER")
    page.goto(SHELF)
    expect(page.get_by_role("link", name="Daily results", exact=True)).to_be_visible()
    for title in ("Access", "Exports"):
        expect(page.get_by_role("link", name=title, exact=True)).to_have_count(0)
    expect(page.locator(f'a[href*="{whole.pk}"]')).to_have_count(0)
    assert page.request.get(f"{SHELF}{whole.pk}/change/").status == 404
    page.goto(f"{SHELF}add/?kind=daily&first={D}&last={D}&format=pdf")
    page.get_by_role("button", name="Make report").click()
    expect(page.get_by_text("Waiting for a worker")).to_be_visible()
    run = made(site)
    page.goto(f"{SHELF}{run.pk}/change/")
    expect(page.locator(".ts-facts").first).to_contain_text("P1")
    expect(page.locator(".ts-chart svg").first).to_be_visible()
    picture(page, "report_daily")


@pytest.mark.parametrize("number", ["PIT-SUPERVISOR", "SURVEILLANCE", "ADMINISTRATOR"])
def test_who_has_no_reports_sees_no_way_to_them(site: Site, page: Page, number: str) -> None:
    log_in(page, number)
    expect(page.locator(f'a[href="{SHELF}"]')).to_have_count(0)
    assert page.request.get(SHELF).status == 403
