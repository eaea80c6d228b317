"""Rulings in a real browser: ruled on with a precedent in sight, a void ordered by one and executed by another."""

from django.utils import timezone
from playwright.sync_api import Page, expect

from audits.models import Consequence, Incident, Ruling
from audits.rulings.services.rulings import ruling_make
from games.models import Round, Table
from tests.audits.decided import incident_about, ruled, settled_as, standing
from tests.audits.files import played
from tests.games.floor_setup import MINUTE, open_table
from tests.games.rounds.samples import bet
from tests.pages.conftest import Site, log_in
from tests.pages.test_incidents import again_as

ADMIN = "/admin/audits"
BETS = [bet("seat-1", "small", "100", net="100"), bet("seat-2", "big", "60", net="-60")]


READINGS = {"tumbler-fault": "tumbler-fault-not-covered", "late-bet": "late-counts-as-never-placed"}


def ruled_before(site: Site, table: Table, situation: str, *rounds: Round) -> Ruling:
    """On a situation, and it stands."""
    before = incident_about(site.house, table, *rounds, situation=situation)
    decided = standing(
        question="Do moved chips count where they lie?", decision="They count where they were placed.",
        readings=[READINGS[situation]],
    )  # fmt: skip
    return ruling_make(actor=site.house["casino-manager"], incident=before, draft=decided)


def report_by_page(page: Page, table: Table) -> Incident:
    log_in(page, "PIT-SUPERVISOR")
    page.goto(f"{ADMIN}/incident/add/")
    page.get_by_label("Table").select_option(label=table.code)
    page.get_by_label("Situation").select_option(label="Tumbler did not run correctly")
    page.get_by_label("Rounds").fill(f"{table.code}-1")
    page.get_by_label("What happened").fill("The dealer pushed a stack with the sleeve.")
    page.get_by_role("button", name="Open incident").click()
    expect(page.locator("#rulings")).to_be_visible()
    expect(page.get_by_role("link", name="Rule", exact=True)).to_have_count(0)
    return Incident.objects.get(table=table, account__startswith="The dealer pushed")


def fields_come_and_go(page: Page) -> None:
    """Those of a standing one, and those about what stands already: as the form is filled in."""
    expect(page.get_by_label("In force from")).to_be_hidden()
    page.get_by_label("Standing, from a moment on").check()
    expect(page.get_by_label("In force from")).to_be_visible()
    page.get_by_label("This case").check()
    expect(page.get_by_label("Reason for departing")).to_be_hidden()
    page.get_by_label("Kind").select_option(label="Confirmation of what a rule itself demands")
    expect(page.get_by_label("This ruling follows it")).to_be_hidden()
    page.get_by_label("Kind").select_option(label="Interpretation of a rule")
    expect(page.get_by_label("This ruling departs from it")).to_be_visible()


def rule_by_page(page: Page, incident: Incident) -> Ruling:
    page.goto(f"{ADMIN}/incident/{incident.pk}/change/")
    page.get_by_role("link", name="Rule", exact=True).click()
    expect(page.locator("#precedents")).to_contain_text("They count where they were placed.")
    fields_come_and_go(page)
    page.get_by_label("Question").fill("Whose stack is it, and where does it count?")
    page.get_by_label("Decision").fill("The round is void.")
    page.get_by_label("Reasoning").fill("Nobody can say where the stack lay.")
    page.get_by_role("button", name="Rule", exact=True).click()
    expect(page.get_by_text("follow it, or depart from it with a reason").first).to_be_visible()
    page.get_by_label("This ruling departs from it").check()
    page.get_by_label("Reason for departing").fill("Here the camera was dark.")
    page.get_by_role("button", name="Rule", exact=True).click()
    expect(page.get_by_text("was recorded.")).to_be_visible()
    return Ruling.objects.get(incident=incident)


def test_5_14_a_file_is_ruled_on_and_a_void_takes_two_people(site: Site, page: Page) -> None:
    table = open_table(site.house, "PG-91", layout="C")
    first = ruled_before(site, table, "tumbler-fault")
    played(table, timezone.now() - 5 * MINUTE, "PG-91-1", BETS)
    incident = report_by_page(page, table)
    again_as(page, "SHIFT-MANAGER")
    ruling = rule_by_page(page, incident)
    assert ruling.departs_from == first
    expect(page.get_by_text("Here the camera was dark.")).to_be_visible()

    page.get_by_role("link", name="Void rounds").click()
    expect(page.get_by_label("Rounds")).to_have_value("PG-91-1")
    page.get_by_label("Reason").fill("As ruled")
    page.get_by_role("button", name="Void rounds").click()
    expect(page.get_by_text("waiting for a second person.")).to_be_visible()
    expect(page.get_by_role("link", name="Execute")).to_have_count(0)
    order = Consequence.objects.get(ruling=ruling)

    again_as(page, "CASINO-MANAGER")
    page.get_by_role("link", name=str(order)).click()
    expect(page.locator("#preview")).to_be_visible()
    expect(page.get_by_role("region", name="Bets of PG-91-1")).to_contain_text("2 · seat-2")
    page.get_by_role("link", name="Execute").click()
    expect(page.get_by_role("region", name="Bets of PG-91-1")).to_contain_text("−60.00")
    page.get_by_label("Reason").fill("Agreed")
    page.get_by_role("button", name="Execute").click()
    player = page.locator(".in-repaid", has_text="seat-2")
    expect(player).to_contain_text("refund 60.00")
    player.get_by_label("Note on seat-2").fill("At the table")
    player.get_by_role("button", name="Patron informed").click()
    expect(page.get_by_text("seat-2: patron informed.")).to_be_visible()
    expect(player).to_contain_text("At the table")
    expect(player.get_by_role("button", name="Patron informed")).to_have_count(0)
    expect(player.get_by_role("button", name="Paid")).to_have_count(0)  # who executed does not mark as paid
    again_as(page, "PIT-MANAGER")
    page.goto(f"{ADMIN}/consequence/{order.pk}/change/")
    player.get_by_role("button", name="Paid").click()
    expect(page.get_by_text("seat-2: paid.")).to_be_visible()


def test_the_pages_of_rulings_fit_a_narrow_screen(site: Site, page: Page) -> None:
    table = open_table(site.house, "PG-92", layout="C")
    one = played(table, timezone.now() - 5 * MINUTE, "PG-92-1", BETS)
    ruling = ruled_before(site, table, "late-bet", one)
    incident = incident_about(site.house, table, one)
    waits = settled_as(site.house, ruled(site.house, incident), one, second=None, dice=[6, 6, 5])
    page.set_viewport_size({"width": 390, "height": 800})
    log_in(page, "CASINO-MANAGER")
    for path in (
        f"consequence/{waits.pk}/change/", f"consequence/{waits.pk}/execute/",
        "ruling/", "ruling/standing/", f"ruling/{ruling.pk}/change/", f"ruling/{ruling.pk}/supersede/",
        f"incident/{incident.pk}/change/", f"incident/{incident.pk}/rule/", f"incident/{incident.pk}/void/",
        f"incident/{ruling.incident_id}/settle/", "consequence/", "discretion/",
    ):  # fmt: skip
        page.goto(f"{ADMIN}/{path}")
        expect(page.locator("#content")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), path
