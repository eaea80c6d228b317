"""Rounds as they are played: full boxes, small bets, late hands, dead terminals, two terminals at one table."""

from typing import Any

import pytest

from games.live.services import live_finish
from games.models import LiveRound, LiveStep, Round, Table
from tests.conftest import House
from tests.games.floor_setup import HOUR, MINUTE, NOON, SECOND, open_table, ready_table, sign
from tests.games.live.playing import Player, box
from tests.games.logins import logged_in


@pytest.fixture
def table(house: House, clock: Any) -> Table:
    clock.move_to(NOON - HOUR)
    limits = sign({"big-small": (50, 3000), "single": (25, 1000), "total-4": (10, 300)}, {"big-small": 2000})
    found = open_table(house, "TS-01", layout="C", limits=limits)
    clock.move_to(NOON)
    return found


@pytest.fixture
def player(table: Table) -> Player:
    player = Player(table)
    assert player.open(dealer="D102", supervisor="S11")[0] == 201
    return player


def test_5_1_in_a_full_box_the_last_bet_is_cut_back(player: Player) -> None:
    player.do("place-bets")
    player.bet("seat-1", "total-4", "200")
    body = player.bet("seat-2", "total-4", "150")
    found = box(body, "total-4")
    assert (found["total"], found["max"], found["room"]) == ("350.00", "300.00", "0.00")
    assert found["excess"] == [{"player": "seat-2", "stake": "50.00"}]
    body = player.do("refuse", player="seat-2", box="total-4", stake="50")
    assert (box(body, "total-4")["excess"], box(body, "total-4")["room"]) == ([], "0.00")
    player.end([1, 1, 3], {("seat-1", "total-4"): "-200", ("seat-2", "total-4"): "-100"})
    recorded = Round.objects.get()
    assert list(zip(recorded.players, recorded.stakes, recorded.refused or [], strict=True)) == [
        ("seat-1", 20000, False), ("seat-2", 10000, False), ("seat-2", 5000, True),
    ]  # fmt: skip


def test_3_5_room_is_what_others_may_still_place_also_by_the_differential(player: Player) -> None:
    player.do("place-bets")
    body = player.bet("seat-1", "big", "1500")
    assert (box(body, "big")["room"], box(body, "small")["room"]) == ("500.00", "3000.00")
    assert body["differentials"][:1] == [
        {"type": "big-small", "boxes": ["big", "small"], "difference": "1500.00", "limit": "2000.00"}
    ]
    body = player.bet("seat-2", "big", "900")
    assert box(body, "big")["excess"] == [{"player": "seat-2", "stake": "400.00"}]
    body = player.bet("seat-3", "small", "1000")
    assert (box(body, "big")["excess"], box(body, "big")["room"]) == ([], "600.00")
    assert box(body, "double-1")["room"] == "10000000000.00"  # as wide as the sign of a test has it
    assert body["worst"]["house"] == "-1400.00"


def test_5_2_a_bet_under_the_minimum_is_pointed_out_and_increased(player: Player) -> None:
    player.do("place-bets")
    body = player.bet("seat-1", "single-3", "10")
    assert box(body, "single-3")["below_minimum"] == [{"player": "seat-1", "stake": "10.00"}]
    body = player.do("increase", player="seat-1", box="single-3", stake="15")
    assert box(body, "single-3")["below_minimum"] == []
    assert body["bets"] == [{"player": "seat-1", "box": "single-3", "stake": "25.00"}]
    player.end([3, 3, 1], {("seat-1", "single-3"): "50"})
    assert Round.objects.get().stakes == [2500]


def test_5_7_what_comes_after_no_more_bets_is_refused_and_kept(player: Player, clock: Any) -> None:
    player.do("place-bets")
    player.bet("seat-1", "small", "100")
    clock.shift(30)
    player.do("no-more-bets")
    clock.shift(1)
    late = [
        player.do("withdraw", player="seat-1", box="small"),
        player.do("increase", player="seat-1", box="small", stake="50"),
        player.do("bet", player="seat-2", box="big", stake="100"),
    ]
    assert [body["refused"]["rules"] for body in late] == [["rws-tai-sai-v6#5.7"]] * 3
    assert late[-1]["bets"] == [{"player": "seat-1", "box": "small", "stake": "100.00"}]
    player.do("tumbler", tumbles=3)
    player.do("result", dice=[1, 2, 3])
    player.do("settled", nets=[{"player": "seat-1", "box": "small", "net": "100"}])
    recorded = Round.objects.get()
    assert (recorded.status, recorded.refused, recorded.late) == ("settled", [False, True, True], [False, True, True])
    assert recorded.withdrawn_at == [NOON + 31 * SECOND, None, None]
    assert recorded.withdrawn is None  # not in time
    assert LiveStep.objects.filter(is_refused=True).count() == 3


def test_4_7_division_9_begins_with_the_tumbler_and_refuses_by_its_own_rule(house: House, clock: Any) -> None:
    clock.move_to(NOON - HOUR)
    player = Player(ready_table(house, "TS-09", rulebook="division-9-2008", layout="1"))
    clock.move_to(NOON)
    player.open()
    code, body = player.send("place-bets")
    assert (code, body["rules"]) == (409, ["division-9-2008#6.1"])
    player.do("tumbler", tumbles=3)
    player.do("place-bets")
    player.bet("seat-1", "small", "100")
    player.do("no-more-bets")
    assert player.do("bet", player="seat-1", box="big", stake="100")["refused"]["rules"] == ["division-9-2008#4.7"]
    player.do("result", dice=[1, 2, 3])
    player.do("result-amended", dice=[1, 2, 2], by="S11")
    player.do("settled", nets=[{"player": "seat-1", "box": "small", "net": "100"}])
    assert (Round.objects.get().status, Round.objects.get().dice) == ("settled", [1, 2, 2])


def test_a_game_called_off_before_betting_began_is_no_round_and_the_table_goes_on(house: House, clock: Any) -> None:
    clock.move_to(NOON - HOUR)
    player = Player(ready_table(house, "TS-09", rulebook="division-9-2008", layout="1"))
    clock.move_to(NOON)
    player.open()
    player.do("tumbler", tumbles=0)
    assert player.do("void", rule="7.1(d)", by="S11")["state"] == "void"
    live = LiveRound.objects.get()
    assert (live.ended_at, live.recorded, LiveStep.objects.count()) == (NOON, None, 2)
    assert not Round.objects.exists()
    assert player.open("R-2")[0] == 201


def test_a_terminal_that_dies_after_no_more_bets_is_seen_and_its_round_is_finished(
    house: House, player: Player, clock: Any
) -> None:
    player.do("place-bets")
    player.bet("seat-1", "small", "100")
    player.do("no-more-bets")
    live = LiveRound.objects.get()
    silent = []
    for wait in (10 * MINUTE, SECOND):
        clock.shift(wait)
        silent.append(live.is_left_open)
    assert silent == [False, True]
    client = logged_in(house["pit-supervisor"])
    (shown,) = client.get("/api/v1/live-rounds/?state=in-play").json()["results"]
    assert (shown["left_open"], shown["state"]) == (True, "closed")
    live_finish(
        actor=house["pit-supervisor"], key=live.pk, reason="The terminal died",
        documents=[
            {"call": "h-1", "kind": "tumbler", "tumbles": 3}, {"call": "h-2", "kind": "result", "dice": [1, 2, 3]},
            {"call": "h-3", "kind": "settled", "nets": [{"player": "seat-1", "box": "small", "net": "100"}]},
        ],
    )  # fmt: skip
    recorded = Round.objects.get()
    assert (recorded.channel, recorded.note, recorded.who) == (
        "hand", "The terminal died", "PIT-SUPERVISOR Person PIT-SUPERVISOR, pit supervisor",
    )  # fmt: skip
    assert player.open("R-2")[0] == 201  # the terminal is back


def test_two_terminals_at_one_table_play_one_round_and_not_two(table: Table, player: Player) -> None:
    other = Player(table, name="Second")
    code, body = other.open("R-2")
    assert (code, "TS-01 has a round in play, floor R-1" in body["detail"]) == (409, True)
    assert other.open(dealer="D102", supervisor="S11")[0] == 200
    player.do("place-bets")
    other.bet("seat-1", "small", "100", call="other-1")
    body = player.bet("seat-2", "big", "60")
    assert [(one["player"], one["stake"]) for one in body["bets"]] == [("seat-1", "100.00"), ("seat-2", "60.00")]
    other.do("no-more-bets", call="other-2")
    code, body = player.send("no-more-bets")
    assert (code, body["rules"]) == (409, ["rws-tai-sai-v6#3.6"])
