"""The practice page: a round played by clicks, by the same engine as a terminal's, and nothing of it on record."""

from typing import Any

import pytest
from django.test import Client

from games.engine.dice import Throw, all_throws
from games.engine.loader import rulebook
from games.engine.settlement import winning
from games.live import practice as practising
from games.live.practice import Practice, chips_of, press
from games.models import LedgerLeaf, LiveRound, LiveStep, Outbox, Round, Table
from tests.conftest import House
from tests.games.engine.oracle import DIVISION_9
from tests.games.floor import HOUR, NOON, bare_table, put_sign, ready_table, sign


class Clicker:
    """A person on the practice page, without JavaScript."""

    def __init__(self, house: House, table: Table, role: str = "pit-supervisor") -> None:
        self.client = Client()
        self.client.force_login(house[role])
        self.address = f"/admin/games/table/{table.pk}/practise/"

    def see(self) -> Any:
        answer = self.client.get(self.address)
        assert answer.status_code == 200
        return answer

    def click(self, **fields: str) -> Any:
        answer = self.client.post(self.address, fields)
        assert (answer.status_code, answer["Location"]) == (302, self.address)
        return self.see()

    def throw(self, dice: str) -> Any:
        for number in dice:
            self.click(press=number)
        return self.click(enter="1")


@pytest.fixture
def clicker(house: House, table: Table) -> Clicker:
    return Clicker(house, table)


def on_record() -> list[int]:
    return [model.objects.count() for model in (Round, LiveRound, LiveStep, LedgerLeaf, Outbox)]


def text(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def test_a_whole_round_is_practised_and_nothing_is_recorded(clicker: Clicker) -> None:
    before = on_record()
    assert "nothing is recorded" in text(clicker.see())
    clicker.click(step="place-bets")
    clicker.click(box="small", player="seat-2", chip="100.00", hand="bet")
    page = clicker.click(box="small")  # player and chip stay; the second chip is an increase
    assert page.context["answer"]["bets"] == [{"player": "seat-2", "box": "small", "stake": "200.00"}]
    clicker.click(box="big", player="seat-3", chip="50.00")
    clicker.click(step="no-more-bets")
    clicker.click(tumbles="3")
    page = clicker.throw("123")
    assert "1, 2, 3, total 6" in text(page)
    page = clicker.click(step="settled")
    assert page.context["answer"]["state"] == "settled"
    assert [(player, net) for player, net, _ in page.context["results"]] == [("seat-2", "200.00"), ("seat-3", "-50.00")]
    assert all(bet["rules"] for _, _, bets in page.context["results"] for bet in bets)
    assert on_record() == before


def test_5_7_a_late_bet_is_refused_with_its_rule(clicker: Clicker) -> None:
    clicker.click(step="place-bets")
    clicker.click(step="no-more-bets")
    page = clicker.click(box="small")
    assert page.context["answer"]["refused"]["rules"] == ["rws-tai-sai-v6#5.7"]
    assert "Refused by rws-tai-sai-v6#5.7" in text(page)
    assert page.context["answer"]["bets"] == []


def test_3_8_what_is_out_of_order_is_told_with_its_rule_and_not_kept(clicker: Clicker) -> None:
    page = clicker.throw("123")
    assert "out of order in a round that is new" in text(page)
    assert "By rws-tai-sai-v6#3.8" in text(page)
    assert page.context["answer"]["steps"] == 0


def test_5_1_a_box_that_is_too_full_is_watched_and_a_chip_put_back(clicker: Clicker) -> None:
    clicker.click(step="place-bets")
    clicker.click(box="single-3", player="seat-1", chip="500.00")
    clicker.click(box="single-3", player="seat-2", chip="500.00")
    page = clicker.click(box="single-3", player="seat-2", chip="50.00")
    assert "50.00 of seat-2 goes back" in text(page)
    page = clicker.click(box="single-3", hand="refuse")
    assert page.context["watched"][0]["excess"] == []
    page = clicker.click(box="single-3", hand="withdraw")
    assert [bet["player"] for bet in page.context["answer"]["bets"]] == ["seat-1"]


def test_5_5_a_round_with_too_few_tumbles_is_void_and_every_stake_goes_back(clicker: Clicker) -> None:
    clicker.click(step="place-bets")
    clicker.click(box="small")
    clicker.click(step="no-more-bets")
    page = clicker.click(tumbles="1")
    assert page.context["answer"]["void"]
    page = clicker.click(void="5.5.1")
    assert [(net, bets[0]["result"]) for _, net, bets in page.context["results"]] == [("0.00", "void")]


def test_start_again_clears(clicker: Clicker) -> None:
    clicker.click(step="place-bets")
    clicker.click(press="4")
    page = clicker.click(again="1")
    assert (page.context["answer"]["state"], page.context["display"]) == ("new", ["–", "–", "–"])


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"box": "nowhere"}, "is not a box of layout A"),
        ({"box": "small", "hand": "withdraw"}, "has no bet on small"),
        ({"tumbles": "many"}, "is not a count"),
        ({"void": "99"}, "is not a rule of"),
        ({"press": "7"}, "is not on a button"),
        ({"step": "dance"}, "is not a kind of step"),
        ({}, "is not a kind of step"),
        ({"step": "bet"}, "player: is missing"),
    ],
)
def test_what_makes_no_sense_is_told(clicker: Clicker, fields: dict[str, str], fault: str) -> None:
    clicker.click(step="place-bets")
    page = clicker.click(**fields)
    assert fault in " ".join(page.context["practice"].faults)
    assert page.context["answer"]["steps"] == 1


def test_steps_are_bounded(clicker: Clicker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(practising, "MOST_STEPS", 2)
    clicker.click(step="place-bets")
    clicker.click(box="small")
    assert "at most 2 steps" in text(clicker.click(box="small"))


def test_another_sign_begins_anew(clicker: Clicker, table: Table) -> None:
    clicker.click(step="place-bets")
    put_sign(table, sign({"big-small": (100, 500)}), starts_at=NOON)
    page = clicker.see()
    assert (page.context["answer"]["state"], "another game or sign" in text(page)) == ("new", True)


def test_whoever_sees_the_table_may_practise_and_nobody_else(house: House, table: Table) -> None:
    Clicker(house, table, "auditor").click(step="place-bets")
    stranger = Clicker(house, table, "administrator")
    assert stranger.client.get(stranger.address).status_code == 403
    assert stranger.client.post(stranger.address, {"step": "place-bets"}).status_code == 403


def test_each_table_has_its_own_practice_and_only_the_latest_are_kept(house: House, clicker: Clicker) -> None:
    clicker.click(step="place-bets")
    for number in range(2, 7):
        other = bare_table(house, f"TS-0{number}")
        clicker.client.post(f"/admin/games/table/{other.pk}/practise/", {"step": "place-bets"})
    assert len(clicker.client.session["practices"]) == 5
    assert clicker.see().context["answer"]["state"] == "new"


def test_the_table_s_page_leads_to_it(clicker: Clicker) -> None:
    page = clicker.client.get(clicker.address.replace("practise", "change")).content.decode()
    assert clicker.address in page


def test_chips_are_the_minimums_and_more(table: Table) -> None:
    layout = rulebook("rws-tai-sai-v6").layouts["A"]
    assert chips_of(layout, sign({"big-small": (50, 3000), "single": (25, 1000)})) == [
        2500, 5000, 10000, 25000, 50000, 250000,
    ]  # fmt: skip
    assert chips_of(layout, sign({}))[0] == 1000


# --- The entry terminal of Division 9 --------------------------------------------------------------


@pytest.fixture
def division_9(house: House, clock: Any) -> Clicker:
    clock.move_to(NOON - HOUR)
    table = ready_table(house, "TS-09", rulebook=DIVISION_9, layout="1")
    clock.move_to(NOON)
    clicker = Clicker(house, table)
    for fields in ({"tumbles": "3"}, {"step": "place-bets"}, {"box": "small"}, {"step": "no-more-bets"}):
        clicker.click(**fields)
    return clicker


def lit(page: Any) -> set[str]:
    return {box["code"] for _, box in page.context["areas"] if box["won"]}


def test_3_3_a_round_is_entered_on_six_buttons_and_the_winning_boxes_light_up(division_9: Clicker) -> None:
    page = division_9.throw("412")
    assert "division-9-2008#3.3(a)" in text(page)
    assert {"small", "total-7", "single-1", "single-2", "single-4", "domino-12"} <= lit(page)
    assert "big" not in lit(page)
    page = division_9.throw("446")  # entered wrongly before; amended before settlement
    assert (page.context["lines"][0].kind, "big" in lit(page)) == ("result-amended", True)


def test_3_3_a_i_there_are_six_numbered_buttons(division_9: Clicker) -> None:
    page = division_9.see().content.decode()
    assert [f'name="press" value="{number}"' in page for number in range(8)] == [False, *[True] * 6, False]


def test_3_3_a_ii_nothing_counts_before_the_entry_button(division_9: Clicker) -> None:
    assert "press 3 numbers first; the display shows 0" in text(division_9.click(enter="1"))
    for number in "412":
        page = division_9.click(press=number)
    assert (page.context["answer"]["state"], lit(page)) == ("closed", set())
    assert division_9.click(enter="1").context["answer"]["state"] == "resulted"


def test_3_3_a_iii_the_display_shows_the_last_three_numbers() -> None:
    practice = Practice()
    shown = []
    for number in "61524":
        press(practice, number)
        shown.append(practice.pressed)
    assert shown == [[6], [6, 1], [6, 1, 5], [1, 5, 2], [5, 2, 4]]


def test_3_3_b_exactly_the_winning_boxes_light_up_on_all_216_throws(division_9: Clicker) -> None:
    layout = rulebook(DIVISION_9).layouts["1"]
    for throw in all_throws():
        for code, box in layout.boxes.items():
            assert (code in winning(layout, throw)) == bool(box.hits(throw))
    page = division_9.throw("555")
    assert lit(page) == set(winning(layout, Throw((5, 5, 5))))
