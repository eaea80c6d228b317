"""The floor in a real browser: a sign changed by two people, a table opened after its checks, dice, prints."""

from playwright.sync_api import Page, expect

from games.models import DiceInspection, LimitDecision, SignPrint, Table
from tests.games.engine.oracle import DIVISION_9
from tests.games.floor import bare_table, dice_of, open_table, put_sign, ready_table
from tests.pages.conftest import Site, log_in


def again_as(page: Page, number: str) -> None:
    page.context.clear_cookies()
    log_in(page, number)


def test_a_sign_is_changed_by_two_people(site: Site, page: Page) -> None:
    table = open_table(site.house, "PG-01")
    log_in(page, "PIT-MANAGER")
    page.goto(f"/admin/games/table/{table.pk}/change/")
    expect(page.get_by_role("article", name="Sign of PG-01")).to_contain_text("3,000")
    page.get_by_role("link", name="Propose limits").click()
    page.get_by_label("Minimum, Big and Small").fill("100")
    page.get_by_label("Maximum, Big and Small").fill("50")
    page.get_by_label("Reason").fill("A busy night")
    page.get_by_role("button", name="Propose").click()
    expect(page.get_by_text("The maximum is below the minimum")).to_be_visible()
    page.get_by_label("Maximum, Big and Small").fill("6,000")
    page.get_by_role("button", name="Propose").click()
    expect(page.get_by_text("waits for somebody else's approval")).to_be_visible()
    expect(page.get_by_text("You proposed this; somebody else decides.")).to_be_visible()
    expect(page.get_by_role("link", name="Approve")).to_have_count(0)
    row = page.get_by_role("row", name="Big and Small Minimum")
    expect(row).to_contain_text("50")
    expect(row).to_contain_text("100")
    expect(row).to_contain_text("stricter")
    address = page.url

    again_as(page, "SHIFT-MANAGER")
    page.goto(address)
    expect(page.get_by_text("20 minutes' notice")).to_be_visible()
    page.get_by_role("link", name="Approve").click()
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("This field is required")).to_be_visible()
    page.get_by_label("Reason").fill("Agreed")
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("is approved.")).to_be_visible()
    page.get_by_role("link", name="PG-01").click()
    expect(page.get_by_text("The sign changes at")).to_be_visible()
    expect(page.get_by_text("To come:")).to_be_visible()


def test_a_proposer_who_types_the_address_is_refused_on_record(site: Site, page: Page) -> None:
    table = open_table(site.house, "PG-02")
    log_in(page, "SHIFT-MANAGER")
    page.goto(f"/admin/games/table/{table.pk}/propose/")
    page.get_by_label("Minimum, Big and Small").fill("25")
    page.get_by_label("Reason").fill("Quiet")
    page.get_by_role("button", name="Propose").click()
    expect(page.get_by_text("waits for somebody else's approval")).to_be_visible()
    page.goto(page.url.replace("change", "approve"))
    page.get_by_label("Reason").fill("Me too")
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("The attempt is on record")).to_be_visible()
    assert not LimitDecision.objects.filter(proposal__tables=table).exists()


def test_5_0_a_table_opens_after_its_checks_are_signed(site: Site, page: Page) -> None:
    table = ready_table(site.house, "PG-03", rulebook=DIVISION_9, layout="2")
    log_in(page, "PIT-MANAGER")
    page.goto(f"/admin/games/table/{table.pk}/change/")
    page.get_by_role("link", name="Open", exact=True).click()
    page.get_by_label("Reason").fill("Start of the day")
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_text("has not passed its opening checks")).to_be_visible()

    again_as(page, "PIT-SUPERVISOR")
    page.goto(f"/admin/games/table/{table.pk}/change/")
    expect(page.get_by_role("link", name="Open", exact=True)).to_have_count(0)
    page.get_by_role("link", name="Opening checks").click()
    expect(page.get_by_text("division-9-2008#5.0(d)")).to_be_visible()
    for passed in page.get_by_label("Passed", exact=True).all():
        passed.check()
    page.get_by_role("button", name="Opening checks").click()
    expect(page.get_by_text("all checks passed")).to_be_visible()

    again_as(page, "PIT-MANAGER")
    page.goto(f"/admin/games/table/{table.pk}/open/")
    page.get_by_label("Reason").fill("Start of the day")
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_text("PG-03 is open.")).to_be_visible()
    page.get_by_role("link", name="Suspend").click()
    page.get_by_label("Reason").fill("Two areas do not light")
    page.get_by_role("button", name="Suspend").click()
    expect(page.get_by_text("Suspended (division-9-2008#7.4)")).to_be_visible()
    page.get_by_role("link", name="Close", exact=True).click()
    page.get_by_label("Notice given to players at").fill("quarter past")
    page.get_by_label("Reason").fill("Not mended today")
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_text("is not a time")).to_be_visible()


def test_dice_are_fitted_and_inspected(site: Site, page: Page) -> None:
    table = bare_table(site.house, "PG-04")
    put_sign(table)
    dice = dice_of(site.house, "PG-D4")
    log_in(page, "PIT-MANAGER")
    page.goto(f"/admin/games/table/{table.pk}/change/")
    page.get_by_role("link", name="Fit dice").click()
    page.get_by_label("Dice set").select_option(label="PG-D4")
    page.get_by_label("Reason").fill("New dice")
    page.get_by_role("button", name="Fit dice").click()
    expect(page.get_by_text("PG-D4 is under the dome of PG-04.")).to_be_visible()
    page.goto(f"/admin/games/diceset/{dice.pk}/change/")
    page.get_by_role("link", name="Inspect").click()
    page.get_by_label("Damaged or worn").check()
    page.get_by_label("Seal found").fill(dice.seal)
    page.get_by_role("button", name="Inspect").click()
    expect(page.get_by_text("Say what was found.")).to_be_visible()
    page.get_by_label("Remarks").fill("A corner is chipped")
    page.get_by_role("button", name="Inspect").click()
    expect(page.get_by_text("inspected: damaged or worn")).to_be_visible()
    assert DiceInspection.objects.get(dice_set=dice).table == table
    page.goto(f"/admin/games/table/{table.pk}/change/")
    expect(page.get_by_text("These dice failed their inspection")).to_be_visible()


def test_a_sign_is_printed_and_printed_again(site: Site, page: Page) -> None:
    table = open_table(site.house, "PG-05")
    log_in(page, "PIT-SUPERVISOR")
    page.goto(f"/admin/games/table/{table.pk}/sign/")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Print as PDF").click()
    assert waiting.value.suggested_filename.startswith("sign-PG-05-")
    with page.context.expect_page() as opened:
        page.get_by_role("button", name="Print the page").click()
    expect(opened.value.get_by_text("REPRINT no. 2")).to_be_visible()
    assert SignPrint.objects.filter(table=table).count() == 2
    page.get_by_label("At", exact=True).fill("2025-01-01 12:00")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_text("no limits were in force")).to_be_visible()


def test_the_pages_of_the_floor_fit_a_narrow_screen(site: Site, page: Page) -> None:
    table = Table.objects.filter(code__startswith="PG").first() or open_table(site.house, "PG-06")
    page.set_viewport_size({"width": 380, "height": 800})
    log_in(page, "CASINO-MANAGER")
    for path in ("", f"{table.pk}/change/", f"{table.pk}/sign/", f"{table.pk}/propose/", f"{table.pk}/assign/", "add/"):
        page.goto(f"/admin/games/table/{path}")
        expect(page.locator("#content")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), path
