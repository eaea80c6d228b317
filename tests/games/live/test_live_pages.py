"""Rounds in play on pages: a list, a round's felt and steps, and the line on its table's page."""

from typing import Any

import pytest

from games.models import LiveRound, Round, Table
from tests.conftest import House
from tests.games.floor_setup import MINUTE, SECOND, open_table
from tests.games.live.playing import Player, person, see
from tests.games.logins import logged_in


def test_the_list_has_those_in_play_first_and_marks_what_was_left_open(
    house: House, table: Table, player: Player, clock: Any
) -> None:
    player.end([1, 2, 3], {("seat-1", "small"): "100", ("seat-2", "single-3"): "10"})
    other = Player(open_table(house, "TS-02"), name="Second")
    other.open("OLD-1")
    client = person(house)
    page = see(client, "liveround/")
    assert page.index("OLD-1") < page.index("R-1")
    assert "left open" not in page
    clock.shift(10 * MINUTE + SECOND)
    assert "left open" in see(client, "liveround/")
    assert "R-1" not in see(client, "liveround/?state=in-play")
    assert "OLD-1" not in see(client, "liveround/?state=over")
    assert "R-1" in see(client, "liveround/?state=x&before=nonsense")


def test_a_long_list_goes_on_where_the_last_page_ended(
    house: House, player: Player, monkeypatch: pytest.MonkeyPatch
) -> None:
    player.do("void", rule="5.5.1")
    for number in range(2, 5):
        player.open(f"R-{number}")
        player.do("place-bets")
        player.do("void", rule="5.5.1")
    monkeypatch.setattr("games.live.admin.live_rounds.ROWS", 2)
    client = person(house)
    first = see(client, "liveround/")
    assert [f"R-{number}" in first for number in (4, 3, 2, 1)] == [True, True, False, False]
    address = first.partition("&amp;before=")[2].partition('"')[0]
    second = see(client, f"liveround/?before={address}")
    assert [f"R-{number}" in second for number in (4, 3, 2, 1)] == [False, False, True, True]


def test_a_round_that_the_rules_void_does_not_show_as_settled(house: House, player: Player) -> None:
    player.do("no-more-bets")
    player.do("tumbler", tumbles=0, activated=True)
    player.do("result", dice=[1, 2, 3])
    nets = [{"player": who, "box": box, "net": "0"} for who, box in (("seat-1", "small"), ("seat-2", "single-3"))]
    player.do("settled", nets=nets)
    live = LiveRound.objects.get()
    assert (live.state, Round.objects.get().status) == ("settled", "void")
    for address in ("liveround/", f"liveround/{live.pk}/change/"):
        page = see(person(house), address)
        assert "ts-state-void" in page
        assert "ts-state-settled" not in page


def test_a_pit_supervisor_sees_the_rounds_of_his_own_pit(house: House, player: Player) -> None:
    live = LiveRound.objects.get()
    client = logged_in(house.hire("S2", "pit-supervisor", pit=house.pits["P2"]))
    assert "R-1" not in see(client, "liveround/")
    assert client.get(f"/admin/games/liveround/{live.pk}/change/").status_code == 403
    assert client.get("/admin/games/liveround/999999/change/").status_code == 404
    assert person(house).post(f"/admin/games/liveround/{live.pk}/change/").status_code == 403


def test_a_round_s_page_shows_the_felt_the_steps_and_what_to_watch(house: House, player: Player, clock: Any) -> None:
    live = LiveRound.objects.get()
    page = see(person(house), f"liveround/{live.pk}/change/")
    assert 'http-equiv="refresh"' in page
    assert "seat-2 is below the minimum of 25.00" in page
    assert "double-1" not in page
    assert "Finish" in page
    clock.shift(SECOND)
    player.do("no-more-bets")
    player.do("bet", player="seat-3", box="big", stake="60")
    player.do("tumbler", tumbles=1)
    page = see(person(house, "surveillance"), f"liveround/{live.pk}/change/")
    assert "refused by rws-tai-sai-v6#5.7" in page
    assert "The tumbler turned 1 times." in page
    assert "To watch" not in page
    assert "Finish" not in page
    player.do("void", rule="5.5.1")
    page = see(person(house), f"liveround/{live.pk}/history/")
    assert f"/admin/games/round/{Round.objects.get().pk}/change/" in page
    assert 'http-equiv="refresh"' not in page


def test_the_table_s_page_leads_to_the_round_and_warns_when_it_was_left_open(
    house: House, table: Table, player: Player, clock: Any
) -> None:
    address = f"/admin/games/liveround/{LiveRound.objects.get().pk}/change/"
    page = see(person(house), f"table/{table.pk}/change/")
    assert (address in page, "was left open" in page) == (True, False)
    clock.shift(10 * MINUTE + SECOND)
    assert "was left open" in see(person(house), f"table/{table.pk}/change/")
