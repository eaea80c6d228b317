"""The practice page: a round played by clicks, by the same engine as a terminal's, and nothing of it on record."""

import re
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client

from games.engine.rules.loader import rulebook
from games.live import practice as practising
from games.live.admin.practice import page_of
from games.live.practice import Practice, as_steps, chips_of, practice_state, press
from games.models import LedgerLeaf, LiveRound, LiveStep, Outbox, Round, SettlementPolicy, Table
from tests.conftest import House
from tests.games.engine import oracle
from tests.games.engine.oracle import DIVISION_9, V6
from tests.games.floor_setup import HOUR, NOON, bare_table, put_sign, ready_table, sign


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


def test_5_7_a_withdrawal_after_the_close_is_refused_and_the_bet_is_settled(clicker: Clicker) -> None:
    clicker.click(step="place-bets")
    clicker.click(box="small", chip="100.00")
    clicker.click(step="no-more-bets")
    page = clicker.click(box="small", hand="withdraw")
    assert "Refused by rws-tai-sai-v6#5.7. Once betting is closed no bet is withdrawn" in text(page)
    assert page.context["answer"]["irregularities"] == [
        {"rule": "rws-tai-sai-v6#5.7", "action": "refuse", "detail": "seat-1 small withdrawn after no-more-bets"}
    ]
    clicker.click(tumbles="3")
    clicker.throw("661")
    page = clicker.click(step="settled")
    assert [(player, net) for player, net, _ in page.context["results"]] == [("seat-1", "-100.00")]
    assert "1, double 6, total 13" in text(page)


def test_a_late_withdrawal_of_a_bet_that_is_not_there_is_a_fault_and_is_not_kept(clicker: Clicker) -> None:
    for fields in ({"step": "place-bets"}, {"box": "small", "chip": "100.00"}, {"step": "no-more-bets"}):
        clicker.click(**fields)
    page = clicker.click(box="big", hand="withdraw")
    assert "seat-1 has no bet on big, so there is none to withdraw" in text(page)
    assert (page.context["refusal"], page.context["answer"]["irregularities"]) == (None, [])
    assert [line.kind for line in page.context["lines"]] == ["no-more-bets", "bet", "place-bets"]


@pytest.mark.parametrize(
    ("dice", "rule", "is_void", "following"),
    [
        ("? ? ?", "5.4.2", True, "result"),
        ("? 4 ?", "5.4.1", False, "result"),
        ("6 1 6", "5.4.1", False, "settled"),
    ],
)
def test_5_4_an_interruption_ends_or_goes_on_by_the_dice_that_are_known(
    clicker: Clicker, dice: str, rule: str, is_void: bool, following: str
) -> None:
    for fields in ({"step": "place-bets"}, {"box": "small"}, {"step": "no-more-bets"}, {"tumbles": "3"}):
        clicker.click(**fields)
    chosen = {f"known{number}": face.strip("?") for number, face in enumerate(dice.split(), 1)}
    page = clicker.click(interrupt="1", **chosen)
    answer = page.context["answer"]
    assert f"known: {dice.replace(' ', ',')}" in text(page)
    assert ([one["rule"] for one in answer["irregularities"]], answer["void"]) == ([f"rws-tai-sai-v6#{rule}"], is_void)
    assert following in answer["next"]
    assert ("ts-state-void" in text(page)) is is_void


def test_5_4_1_with_all_dice_known_the_round_is_settled_by_them(clicker: Clicker) -> None:
    for fields in ({"step": "place-bets"}, {"box": "big", "chip": "100.00"}, {"step": "no-more-bets"}):
        clicker.click(**fields)
    page = clicker.click(interrupt="1", known1="6", known2="1", known3="6")
    assert "1, double 6, total 13" in text(page)
    page = clicker.click(step="settled")
    assert [(player, net) for player, net, _ in page.context["results"]] == [("seat-1", "100.00")]


def test_5_5_1_a_jammed_tumbler_voids_the_round(clicker: Clicker) -> None:
    clicker.click(step="place-bets")
    clicker.click(step="no-more-bets")
    page = clicker.click(tumbles="jammed")
    assert "activated, did not tumble" in text(page)
    assert [one["rule"] for one in page.context["answer"]["irregularities"]] == ["rws-tai-sai-v6#5.5.1"]


def test_4_5_a_bet_on_a_call_is_placed_by_the_house(clicker: Clicker) -> None:
    clicker.click(step="place-bets")
    clicker.click(box="small", hand="call-bet", chip="50.00")
    page = clicker.click(box="small")
    assert "seat-1 small 50.00 placed by the house call bet" in text(page)
    assert [line.kind for line in page.context["lines"]] == ["increase", "bet", "place-bets"]


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
        ({"interrupt": "1", "known1": "7"}, "does not name three dice"),
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
    assert (page.context["answer"]["state"], "another game, sign or settlement policy" in text(page)) == ("new", True)


@pytest.mark.parametrize(
    ("setting", "nets"),
    [
        ({}, ["1960.00", "50.00"]),  # 2,550 on Small, where the Differential leaves 2,000: 2,500 × 2,000 / 2,550
        ({"rounding": 30_000}, ["1800.00", "50.00"]),
        ({"excess": "filled"}, ["1950.00", "50.00"]),  # what the bet at the minimum leaves
    ],
)
def test_5_1_2_a_standing_interpretation_changes_what_practice_pays(
    clicker: Clicker, house: House, setting: dict[str, Any], nets: list[str]
) -> None:
    if setting:
        SettlementPolicy.objects.create(
            casino=house.casino, rulebook=V6, starts_at=NOON, ruling="R-1", who="Test", **setting
        )
    clicker.click(step="place-bets")
    for seat, chip in (("seat-1", "2500.00"), ("seat-2", "50.00")):
        clicker.click(box="small", player=seat, chip=chip, hand="bet")
    clicker.click(step="no-more-bets")
    clicker.click(tumbles="3")
    clicker.throw("123")
    page = clicker.click(step="settled")
    assert [net for _, net, _ in page.context["results"]] == nets


def test_another_settlement_policy_begins_anew(clicker: Clicker, house: House) -> None:
    clicker.click(step="place-bets")
    SettlementPolicy.objects.create(
        casino=house.casino, rulebook=V6, starts_at=NOON, ruling="R-1", who="Test", excess="filled"
    )
    page = clicker.see()
    assert (page.context["answer"]["state"], "settlement policy now" in text(page)) == ("new", True)
    clicker.click(step="place-bets")
    assert clicker.see().context["answer"]["state"] != "new"


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
    """The areas that are lit in the page itself, in the drawing and in the list."""
    return set(re.findall(r'class="tp-box tp-won[^"]*" name="box" value="([^"]+)"', page.content.decode()))


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


def test_3_3_a_iii_the_display_shows_the_last_three_numbers(division_9: Clicker) -> None:
    for number in "61524":
        page = division_9.click(press=number)
    assert "".join(map(str, page.context["display"])) == "524"


def test_6_4_a_the_buttons_of_the_result_are_pressed_and_displayed(division_9: Clicker) -> None:
    for number in "136":
        page = division_9.click(press=number)
    assert "<span>1</span><span>3</span><span>6</span></output>" in page.content.decode()
    assert page.context["answer"]["dice"] is None  # pressed, and not entered


def test_6_4_b_the_entry_button_enters_the_result(division_9: Clicker) -> None:
    page = division_9.throw("136")
    assert (page.context["answer"]["state"], page.context["answer"]["dice"]) == ("resulted", [1, 3, 6])
    assert "1, 3, 6, total 10" in text(page)


def test_each_number_pushes_the_first_of_three_out_of_the_display() -> None:
    practice = Practice()
    shown = []
    for number in "61524":
        press(practice, number)
        shown.append(practice.pressed)
    assert shown == [[6], [6, 1], [6, 1, 5], [1, 5, 2], [5, 2, 4]]


@pytest.mark.parametrize("layout", ["1", "2"])
def test_3_3_b_exactly_the_winning_boxes_light_up_on_all_216_throws(house: House, clock: Any, layout: str) -> None:
    """What the page is made of, against a count that uses nothing of the engine."""
    clock.move_to(NOON - HOUR)
    table = ready_table(house, "TS-09", rulebook=DIVISION_9, layout=layout)
    at = NOON.isoformat()
    before: list[dict[str, Any]] = [
        {"kind": "tumbler", "at": at, "tumbles": 3}, {"kind": "place-bets", "at": at},
        {"kind": "no-more-bets", "at": at},
    ]  # fmt: skip
    first = practice_state(table, Practice(), NOON)
    for dice in oracle.THROWS:
        steps = as_steps([*before, {"kind": "result", "at": at, "dice": list(dice)}])
        shown = page_of(replace(first, steps=steps), Practice())
        wins = set(oracle.winning(DIVISION_9, layout, dice))
        assert {box["code"] for _, box in shown["areas"] if box["won"]} == wins, dice
        assert {box["code"] for _, boxes in shown["box_list"] for box in boxes if box["won"]} == wins, dice


@pytest.mark.parametrize("dice", ["555", "412", "664"])
def test_3_3_b_the_page_lights_the_winning_boxes_alone(division_9: Clicker, dice: str) -> None:
    assert lit(division_9.see()) == set()
    page = division_9.throw(dice)
    assert lit(page) == set(oracle.winning(DIVISION_9, "1", tuple(map(int, dice))))


@pytest.mark.parametrize(
    ("dice", "call"),
    [("631", "1, 3, 6, total 10"), ("343", "double 3, 4, total 10"), ("555", "triple 5, total 15")],
)
def test_6_3_the_page_shows_the_result_as_it_is_called(division_9: Clicker, dice: str, call: str) -> None:
    assert call not in text(division_9.see())
    assert f"<strong>{call}</strong>" in text(division_9.throw(dice))
