"""Rounds on pages: a list that is found by index and never counted, a round with its bets, a history that stays."""

import datetime as dt
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from games.models import Table
from games.rounds.services.recording import RoundConflictError, round_record
from tests.conftest import OPERATOR, House
from tests.games.floor_setup import NOON
from tests.games.logins import logged_in
from tests.games.rounds.samples import EXAMPLE, bet, event, example, floor, line


@pytest.fixture
def table(house: House, clock: Any) -> Table:
    clock.move_to(NOON - dt.timedelta(hours=8))
    found = floor(house)
    clock.move_to(NOON)
    return found


def record(document: Any) -> int:
    return round_record(actor=OPERATOR, line=line(document), channel="api")[0]


def page(house: House, path: str = "", role: str = "surveillance", **query: str) -> str:
    client = logged_in(house[role])
    answer = client.get(f"/admin/games/round/{path}", query)
    assert answer.status_code == 200
    return answer.content.decode()


def test_an_empty_list_says_how_rounds_come(house: House, table: Table) -> None:
    assert "No rounds on record yet" in page(house)


def test_rounds_are_found_by_table_day_dealer_player_and_status(house: House, table: Table) -> None:
    record(EXAMPLE)
    record(example(ref="VOID-1", dealer="D7", events=[event("place-bets", 0), event("void", 5, rule="5.6")],
                   bets=[bet("vip-1")]))  # fmt: skip
    for query, found in [
        ({"table": "TS-01"}, True), ({"table": "TS-02"}, False), ({"day": "2026-11-15"}, True),
        ({"day": "2026-11-14"}, False), ({"dealer": "D7"}, True), ({"dealer": "D8"}, False),
        ({"player": "vip-1"}, True), ({"player": "seat-3"}, False), ({"status": "void"}, True),
        ({"status": "settled"}, False),
    ]:  # fmt: skip
        assert ("VOID-1" in page(house, **query)) is found, query


def test_what_makes_no_sense_is_told_and_finds_nothing(house: House, table: Table) -> None:
    record(EXAMPLE)
    assert "Enter a valid date, written as 2026-11-15." in page(house, day="yesterday")
    assert EXAMPLE["ref"] in page(house, after="nonsense,x")


def test_a_long_list_goes_on_where_the_last_page_ended(house: House, table: Table) -> None:
    for number in range(60):
        record(example(ref=f"R-{number:02d}"))
    with CaptureQueriesContext(
        connection,
    ) as queries:
        first = page(house)
    assert not [
        query for query in queries.captured_queries if "COUNT(" in query["sql"] and "games_round" in query["sql"]
    ]
    assert "R-59" in first
    assert "R-09" not in first
    address = (
        first.partition('href="?after=')[2]
        .partition('"')[0]
        .replace("%3A", ":")
        .replace("%2B", "+")
        .replace("%2C", ",")
    )
    second = page(house, after=address)
    assert "R-09" in second
    assert "R-10" not in second


def test_a_round_shows_its_events_bets_and_what_it_is_pinned_to(house: House, table: Table) -> None:
    shown = page(house, f"{record(EXAMPLE)}/change/")
    for words in ("no-more-bets", "19:07:31", "seat-4", "-50.00", "version 6, layout C", "D-TS-01", "15 Nov 2026"):
        assert words in shown, words


def test_a_round_says_which_bets_were_withdrawn_or_called_and_what_the_tumbler_did(house: House, table: Table) -> None:
    events = [event("place-bets", 0), event("no-more-bets", 31), event("tumbler", 33, tumbles=0, activated=True),
              event("interruption", 35, known_dice="2,?,?"), event("void", 40, rule="5.5.1", by="S11")]  # fmt: skip
    bets = [bet(withdrawn="2026-11-15T19:07:20+08:00"), bet(withdrawn="2026-11-15T19:07:32+08:00"),
            bet("seat-2", call=True, house_placed=True)]  # fmt: skip
    key = record(example(events=events, bets=bets))
    shown = " ".join(page(house, f"{key}/change/").split())
    for words in ("withdrawn in time (19:07:20)", "withdrawal refused, too late (19:07:32)", "known: 2,?,?",
                  "placed by the house, call bet", "activated, did not tumble", "rule 5.5.1 by S11"):  # fmt: skip
        assert words in shown, words
    client = logged_in(house["surveillance"])
    answer = client.get(f"/api/v1/rounds/{key}/").json()
    assert [(one.get("withdrawn"), one.get("withdrawn_late"), one.get("call")) for one in answer["bets"]] == [
        ("2026-11-15T19:07:20+08:00", None, None), ("2026-11-15T19:07:32+08:00", True, None), (None, None, True),
    ]  # fmt: skip


def test_no_bet_that_never_lay_on_the_felt_is_shown_as_withdrawn_too_late(house: House, table: Table) -> None:
    events = [event("place-bets", 0), event("no-more-bets", 31), event("void", 40, rule="5.5.1")]
    late, withdrawn = "2026-11-15T19:07:33+08:00", "2026-11-15T19:07:35+08:00"
    bets = [bet("seat-1", refused=True, withdrawn=withdrawn), bet("seat-2", at=late, withdrawn=withdrawn)]
    key = record(example(events=events, bets=bets))
    assert "too late" not in page(house, f"{key}/change/")
    client = logged_in(house["surveillance"])
    answer = client.get(f"/api/v1/rounds/{key}/").json()
    assert [one.get("withdrawn_late") for one in answer["bets"]] == [None, None]


def test_its_history_shows_the_leaf_and_who_sent_it_differently(house: House, table: Table) -> None:
    key = record(EXAMPLE)
    assert "Never." in page(house, f"{key}/history/", "auditor")
    with pytest.raises(RoundConflictError):
        record(example(dealer="D9"))
    shown = page(house, f"{key}/history/", "auditor")
    assert f"table:{table.pk}, leaf" in shown
    assert "Never." not in shown


def test_a_pit_sees_the_rounds_of_its_own_tables(house: House, table: Table) -> None:
    record(EXAMPLE)
    other = house.hire("M-P2", "pit-manager", pit=house.pits["P2"])
    house.people["elsewhere"] = other
    assert EXAMPLE["ref"] in page(house, role="pit-manager")
    assert EXAMPLE["ref"] not in page(house, role="elsewhere")
