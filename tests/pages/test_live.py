"""Rounds in play in a real browser: a round practised by clicks, a round that was left open finished by hand."""

from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from games.live.services import live_open, live_step
from games.models import LiveRound, Round
from tests.conftest import OPERATOR
from tests.games.engine.oracle import DIVISION_9
from tests.games.floor_setup import HOUR, open_table, ready_table
from tests.pages.conftest import Site, log_in


def press(page: Page, name: str, value: str) -> None:
    """A button of the practice page, and its answer."""
    with page.expect_response(lambda answer: answer.request.method == "GET" and "practise" in answer.url):
        page.locator(f'button[name="{name}"][value="{value}"]').locator("visible=true").first.click()


def choose_chip(page: Page, name: str) -> None:
    page.locator("fieldset", has_text="Chip").get_by_text(name, exact=True).click()


def test_3_3_a_round_is_practised_by_clicks(site: Site, page: Page) -> None:
    table = ready_table(site.house, "PG-51", rulebook=DIVISION_9, layout="2")
    rounds = Round.objects.count()
    log_in(page, "PIT-SUPERVISOR")
    page.goto(f"/admin/games/table/{table.pk}/change/")
    page.get_by_role("link", name="Practise").click()
    expect(page.get_by_text("Practice: nothing is recorded.")).to_be_visible()
    status = page.locator(".tp-status")
    press(page, "step", "place-bets")
    expect(status).to_contain_text("out of order in a round that is new")
    press(page, "tumbles", "3")
    press(page, "step", "place-bets")
    page.locator("label", has_text="seat-4").click()
    choose_chip(page, "25")
    press(page, "box", "small")
    expect(page.get_by_role("button", name="Small, pays 1 to 1, holds 25")).to_be_visible()
    page.keyboard.press("Enter")  # the focus stays on the box
    expect(page.get_by_role("button", name="Small, pays 1 to 1, holds 50")).to_be_visible()
    press(page, "step", "no-more-bets")
    press(page, "box", "big")
    expect(status).to_contain_text("Refused by Division 9 (2008) · Rule 4.7")
    for number in "1243":
        press(page, "press", number)
    expect(page.get_by_label("Last three numbers")).to_have_text("243")
    press(page, "enter", "1")
    expect(page.get_by_role("button", name="Small, pays 1 to 1, holds 50, wins")).to_be_visible()
    press(page, "step", "settled")
    expect(page.get_by_role("row", name="seat-4: total")).to_contain_text("50.00")
    page.set_viewport_size({"width": 390, "height": 800})
    expect(page.locator(".tp-list")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    press(page, "again", "1")
    expect(status).to_contain_text("Not started")
    assert (Round.objects.count(), LiveRound.objects.filter(table=table).count()) == (rounds, 0)


def test_5_4_1_play_is_interrupted_with_the_dice_known_and_settled_by_them(site: Site, page: Page) -> None:
    table = ready_table(site.house, "PG-53")
    log_in(page, "PIT-SUPERVISOR")
    page.goto(f"/admin/games/table/{table.pk}/practise/")
    status = page.locator(".tp-status")
    press(page, "step", "place-bets")
    choose_chip(page, "25")
    press(page, "box", "small")
    press(page, "step", "no-more-bets")
    page.locator("label", has_text="Withdraw the bet").click()
    press(page, "box", "small")
    expect(status).to_contain_text("Refused by Tai Sai v6 · Rule 5.7")
    press(page, "tumbles", "3")
    page.get_by_text("Interruption…").click()
    for die, face in (("Die 1", "6"), ("Die 2", "1"), ("Die 3", "6")):
        page.get_by_label(die).select_option(face)
    press(page, "interrupt", "1")
    expect(status).to_contain_text("1, double 6, total 13")
    irregular = page.locator("section", has_text="Irregularities")
    expect(irregular).to_contain_text("Interrupted with dice known: 6, 1, 6.")
    expect(irregular).to_contain_text("seat-1 Small withdrawn after No more bets")
    press(page, "step", "settled")
    expect(page.get_by_role("row", name="seat-1: total")).to_contain_text("−25.00")


def test_what_is_clicked_while_an_answer_is_under_way_is_neither_lost_nor_undone(site: Site, page: Page) -> None:
    table = ready_table(site.house, "PG-54")
    log_in(page, "PIT-SUPERVISOR")
    page.goto(f"/admin/games/table/{table.pk}/practise/")

    def answer_late(route: Route) -> None:
        page.wait_for_timeout(300)
        route.continue_()

    page.route("**/practise/", answer_late)
    page.locator('button[name="step"][value="place-bets"]').click()
    choose_chip(page, "25")
    page.get_by_text("Interruption…").click()
    for _ in range(2):
        page.locator('button[name="box"][value="small"]').locator("visible=true").click()
    expect(page.get_by_role("button", name="Small, pays 1 to 1, holds 50")).to_be_visible()
    expect(page.get_by_label("Die 1")).to_be_visible()


def test_a_round_that_was_left_open_is_finished_from_the_table_s_page(site: Site, page: Page) -> None:
    table = open_table(site.house, "PG-52")
    answer, _ = live_open(actor=OPERATOR, document={"source": "pages", "ref": "PG-52-1", "table": "PG-52"})
    for call, step in enumerate(
        ({"kind": "place-bets"}, {"kind": "bet", "player": "seat-1", "box": "small", "stake": "100"})
    ):
        live_step(actor=OPERATOR, key=answer["id"], document={"call": str(call), **step})
    LiveRound.objects.filter(pk=answer["id"]).update(last_step_at=timezone.now() - HOUR)

    log_in(page, "PIT-SUPERVISOR")
    page.goto(f"/admin/games/table/{table.pk}/change/")
    page.get_by_role("link", name="Look at it, and finish it").click()
    expect(page.get_by_text("Left open: no step for 1 hour")).to_be_visible()
    expect(page.locator("section", has_text="Box totals")).to_contain_text("2,900.00")
    page.get_by_role("link", name="Finish").click()
    page.get_by_label("Tumbles").fill("3")
    page.get_by_label("Dice").fill("1 2 3")
    page.get_by_role("button", name="Next: what was paid").click()
    expect(page.get_by_label("What was paid or taken")).to_have_value("seat-1 small 100.00")
    page.get_by_label("Reason").fill("The terminal lost power")
    page.get_by_role("button", name="Finish").click()
    expect(page.get_by_text("is settled and on record, finished by hand")).to_be_visible()
    page.get_by_role("link", name="recorded round").click()
    expect(page.get_by_role("row", name="seat-1 Small")).to_contain_text("100.00")
    assert Round.objects.get(source="pages", ref="PG-52-1").note == "The terminal lost power"
