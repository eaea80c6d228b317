"""Each role logs in with a real browser, sees its own sidebar, and opens everything in it."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.pages.conftest import PASSWORD, Site, log_in, sidebar

HOUSE = ["Casinos", "Pits"]
FLOOR = ["Tables", "Limit proposals", "Limit presets", "Table signs", "Dice sets", "Tumblers", *HOUSE]
ROUNDS = ["Rounds", "Rounds in play"]
UPLOADS = [*ROUNDS, "Uploads"]
TERMINALS = ["Terminals"]
SYSTEM = [*TERMINALS, "Schedule", "Task results"]
REPORTS = ["Reports", "Report schedules", "Access denials", "Failed logins", "Access records", "Access reviews"]
PEOPLE = ["Staff", "Acting appointments", "Sessions", "Second factor resets", "Account proposals"]
INCIDENTS = ["Incidents", "Daily log", "Handovers", "Disputes", "Evidence", "Search"]
INCIDENTS_AND_RULES = [*INCIDENTS, "Shifts", "Dispute rules"]
RULINGS = ["Rulings", "Standing interpretations", "Corrective actions", "Discretion"]
RULINGS_AND_POLICIES = [*RULINGS, "Settlement policies"]
FINDINGS = ["Findings", "Daily results", "Reconciliation runs"]
THRESHOLDS = [*FINDINGS, "Thresholds"]
NOTICES = [*THRESHOLDS, "Notifications"]
SIDEBARS = {
    "pit-supervisor": {
        "Floor": FLOOR,
        "Rounds": ROUNDS,
        "Incidents": INCIDENTS,
        "Rulings": RULINGS,
        "Findings": FINDINGS,
        "People": ["Acting appointments"],
    },
    "pit-manager": {
        "Floor": FLOOR,
        "Rounds": ROUNDS,
        "Incidents": INCIDENTS,
        "Rulings": RULINGS,
        "Findings": FINDINGS,
        "Reports": ["Reports"],
        "People": ["Acting appointments"],
    },
    "shift-manager": {
        "Floor": FLOOR,
        "Rounds": UPLOADS,
        "Incidents": INCIDENTS,
        "Rulings": RULINGS_AND_POLICIES,
        "Findings": THRESHOLDS,
        "Reports": ["Reports"],
        "People": ["Staff", "Acting appointments"],
        "System": TERMINALS,
    },
    "casino-manager": {
        "Floor": FLOOR,
        "Rounds": UPLOADS,
        "Incidents": INCIDENTS_AND_RULES,
        "Rulings": RULINGS_AND_POLICIES,
        "Findings": THRESHOLDS,
        "Reports": ["Reports"],
        "People": ["Staff", "Acting appointments"],
        "System": TERMINALS,
    },
    "surveillance": {
        "Floor": FLOOR,
        "Rounds": ROUNDS,
        "Incidents": INCIDENTS,
        "Rulings": RULINGS_AND_POLICIES,
        "Findings": FINDINGS,
        "People": ["Staff", "Acting appointments"],
        "System": TERMINALS,
    },
    "compliance": {
        "Floor": FLOOR,
        "Rounds": UPLOADS,
        "Incidents": INCIDENTS_AND_RULES,
        "Rulings": RULINGS_AND_POLICIES,
        "Findings": NOTICES,
        "Reports": REPORTS,
        "People": PEOPLE,
        "System": TERMINALS,
    },
    "auditor": {
        "Floor": FLOOR,
        "Rounds": UPLOADS,
        "Incidents": INCIDENTS_AND_RULES,
        "Rulings": RULINGS_AND_POLICIES,
        "Findings": NOTICES,
        "Reports": REPORTS,
        "People": PEOPLE,
        "System": SYSTEM,
    },
    "administrator": {
        "Floor": HOUSE,
        "Reports": ["Access denials", "Failed logins", "Access reviews"],
        "People": PEOPLE,
        "System": SYSTEM,
    },
}


@pytest.mark.parametrize("role", SIDEBARS)
def test_each_role_logs_in_and_sees_what_is_its_own(role: str, site: Site, page: Page) -> None:
    log_in(page, role.upper())
    expect(page.locator("#you")).to_contain_text(f"Person {role.upper()}")
    assert sidebar(page) == SIDEBARS[role]


def test_every_entry_of_the_sidebar_leads_somewhere(site: Site, page: Page) -> None:
    """An auditor has all of them; who else may open what, tests/test_routes.py walks."""
    log_in(page, "AUDITOR")
    for entries in SIDEBARS["auditor"].values():
        for entry in entries:
            page.locator("#nav-sidebar-apps li a", has=page.get_by_text(entry, exact=True)).click()
            expect(page).to_have_title(re.compile("Tai Sai back office"))
            expect(page.locator("#thresholds" if entry == "Thresholds" else "#changelist")).to_be_visible()


def test_a_dealer_is_not_let_in(site: Site, page: Page) -> None:
    log_in(page, "DEALER")
    expect(page.get_by_text("Please enter the correct staff number and password")).to_be_visible()


def test_a_wrong_password_is_told_and_the_next_try_counts(site: Site, page: Page) -> None:
    log_in(page, "AUDITOR", "wrong")
    expect(page.get_by_text("Please enter the correct staff number and password")).to_be_visible()
    page.get_by_label("Staff number").fill("auditor")  # the number in any case, and Enter does it
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator("#you")).to_be_visible()


def test_a_page_of_others_says_so_and_leads_back(site: Site, page: Page) -> None:
    log_in(page, "PIT-SUPERVISOR")
    page.goto("/admin/games/staff/")
    expect(page).to_have_title(re.compile("Not open to you"))
    page.get_by_role("link", name="Back to the overview").click()
    expect(page.locator("#you")).to_be_visible()


def test_logging_out_closes_the_door(site: Site, page: Page) -> None:
    log_in(page, "AUDITOR")
    page.get_by_text("Person AUDITOR").first.click()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_text("logged out", exact=False).first).to_be_visible()
    page.goto("/admin/games/casino/")
    expect(page.get_by_label("Staff number")).to_be_visible()


def test_a_forgotten_address_is_told_kindly(site: Site, page: Page) -> None:
    log_in(page, "AUDITOR")
    page.goto("/admin/nowhere/")
    expect(page).to_have_title(re.compile("No such page"))
