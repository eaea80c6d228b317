"""The floor in a real browser: a sign changed by two people, a table opened after its checks, dice, prints."""

from django.utils import timezone
from playwright.sync_api import Page, expect

from games.engine.signs.limits import Range
from games.limits.selectors import limits_at
from games.models import DiceInspection, LimitDecision, SignPrint, Table
from tests.games.engine.oracle import DIVISION_9
from tests.games.floor_setup import bare_table, dice_of, open_table, put_sign, ready_table
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
    page.get_by_label("Minimum, Big/Small").fill("100")
    page.get_by_label("Maximum, Big/Small").fill("50")
    page.get_by_label("Reason").fill("A busy night")
    page.get_by_role("button", name="Propose").click()
    expect(page.get_by_text("The maximum is below the minimum")).to_be_visible()
    expect(page.get_by_text("2 values edited")).to_be_visible()
    page.get_by_label("Maximum, Big/Small").fill("6,000")
    page.get_by_role("button", name="Propose").click()
    expect(page.get_by_text("waits for approval by another person")).to_be_visible()
    expect(page.get_by_text("You proposed this. Another person decides.")).to_be_visible()
    expect(page.get_by_role("link", name="Approve")).to_have_count(0)
    row = page.get_by_role("row", name="Big/Small Minimum")
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
    expect(page.get_by_text("Scheduled:")).to_be_visible()


def test_a_pit_s_limits_are_edited_in_a_grid_by_keyboard(site: Site, page: Page) -> None:
    first, second = open_table(site.house, "PG-07", "P2"), open_table(site.house, "PG-08", "P2", layout="E")
    before = limits_at(table=second, at=timezone.now()).limits
    page.set_viewport_size({"width": 390, "height": 800})
    log_in(page, "SHIFT-MANAGER")
    page.goto(f"/admin/games/pit/{site.house.pits['P2'].pk}/propose/")
    page.get_by_label("Minimum, Single, all tables").fill("30")
    page.get_by_role("button", name="Apply to all tables: Single").press("Enter")
    for table in (first, second):
        expect(page.get_by_label(f"Minimum, Single, {table}")).to_have_value("30")
    page.get_by_label("Minimum, Single, PG-07").press("ArrowDown")
    expect(page.get_by_label("Minimum, Total, PG-07")).to_be_focused()
    expect(page.get_by_text("Double is not on this layout")).to_have_count(1)
    page.get_by_label("Maximum, Any triple, PG-07").fill("")
    page.get_by_label("Reason").fill("A busy night")
    page.get_by_label("Reason").press("Enter")
    expect(page.get_by_text("1 limit would be removed")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert not first.limit_proposals.exists()
    page.get_by_label("PG-07: Any triple maximum").check()
    page.get_by_role("button", name="Propose").last.click()
    expect(page.get_by_text("waits for approval by another person")).to_be_visible()
    address = page.url
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")

    again_as(page, "CASINO-MANAGER")
    page.goto(address.replace("change", "approve"))
    page.get_by_label("Reason").fill("Agreed")
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("Tick every limit to be removed")).to_be_visible()
    page.get_by_label("PG-07: Any triple maximum").check()
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("is approved.")).to_be_visible()
    after = second.limit_sets.order_by("pk")[1].sheet.limits()
    assert after.by_key == {**before.by_key, "single": Range(3000, before.by_key["single"].maximum)}
    assert after.differential == before.differential


def test_a_proposer_who_types_the_address_is_refused_on_record(site: Site, page: Page) -> None:
    table = open_table(site.house, "PG-02")
    log_in(page, "SHIFT-MANAGER")
    page.goto(f"/admin/games/table/{table.pk}/propose/")
    page.get_by_label("Minimum, Big/Small").fill("25")
    page.get_by_label("Reason").fill("Quiet")
    page.get_by_role("button", name="Propose").click()
    expect(page.get_by_text("waits for approval by another person")).to_be_visible()
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
    expect(page.get_by_text("Division 9 (2008) · Rule 5.0(d)")).to_be_visible()
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
    expect(page.get_by_text("Suspended (Division 9 (2008) · Rule 7.4)")).to_be_visible()
    page.get_by_role("link", name="Resume").click()
    page.get_by_label("Reason").fill("Mended")
    page.get_by_label("Rectified by").fill("Technician of the maker")
    page.get_by_label("Checked by").fill("NOBODY")
    page.get_by_label("What was rectified").fill("A fuse was replaced")
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_text("There is no staff number NOBODY at this casino")).to_be_visible()
    page.get_by_label("Checked by").fill("PIT-SUPERVISOR")
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_text("PG-03 is open again.")).to_be_visible()
    expect(page.get_by_text("A fuse was replaced").first).to_be_visible()
    page.get_by_role("link", name="Close", exact=True).click()
    page.get_by_label("Players notified at").fill("quarter past")
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
    expect(page.get_by_text("PG-D4 was fitted to PG-04.")).to_be_visible()
    page.goto(f"/admin/games/diceset/{dice.pk}/change/")
    page.get_by_role("link", name="Inspect").click()
    page.get_by_label("Damaged or worn").check()
    page.get_by_label("Seal found").fill(dice.seal)
    page.get_by_role("button", name="Inspect").click()
    expect(page.get_by_text("Enter what was found.")).to_be_visible()
    page.get_by_label("Remarks").fill("A corner is chipped")
    page.get_by_role("button", name="Inspect").click()
    expect(page.get_by_text("inspected: damaged or worn")).to_be_visible()
    assert DiceInspection.objects.get(dice_set=dice).table == table
    page.goto(f"/admin/games/table/{table.pk}/change/")
    expect(page.get_by_text("These dice failed their inspection")).to_be_visible()


def test_3_4_e_a_tumbler_is_registered_fitted_and_inspected(site: Site, page: Page) -> None:
    table = bare_table(site.house, "PG-06")
    log_in(page, "PIT-MANAGER")
    page.goto("/admin/games/tumbler/add/")
    page.get_by_label("Pit").select_option(label="RWS P1")
    page.get_by_label("Code").fill("PG-T6")
    page.get_by_label("Activation").select_option(label="Electronic")
    page.get_by_label("Lock or seal").fill("L-6")
    page.get_by_label("Reason").fill("Delivered")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("This field is required.")).to_be_visible()
    page.get_by_label("Serial number").fill("TB-6")
    page.get_by_role("button", name="Save", exact=True).click()
    page.goto(f"/admin/games/table/{table.pk}/change/")
    page.get_by_role("link", name="Fit tumbler").click()
    page.get_by_label("Tumbler").select_option(label="PG-T6")
    page.get_by_label("Reason").fill("Serviced")
    page.get_by_role("button", name="Fit tumbler").click()
    expect(page.get_by_text("Tumbler PG-T6 was fitted to PG-06.")).to_be_visible()
    page.get_by_role("link", name="PG-T6").click()
    page.get_by_role("link", name="Inspect").click()
    page.get_by_label("Does not work correctly").check()
    page.get_by_label("Lock or seal found").fill("L-6")
    page.get_by_label("Remarks").fill("It sticks")
    page.get_by_role("button", name="Inspect").click()
    expect(page.get_by_text("inspected: does not work correctly")).to_be_visible()
    page.goto(f"/admin/games/table/{table.pk}/change/")
    expect(page.get_by_text("This tumbler failed its inspection")).to_be_visible()


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
