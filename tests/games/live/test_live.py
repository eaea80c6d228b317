"""Rounds in play: the same record as if sent whole, harmless repeats, the order of play, and who may play."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from games.access.gate import Denied
from games.live.services import live_finish
from games.models import Denial, LedgerLeaf, LiveRound, LiveStep, Outbox, RecordingConflict, Round, Table
from games.rounds.services.recording import read_round, round_record
from games.rounds.terms import TermsCache
from tests.conftest import OPERATOR, House, build_house
from tests.games.floor_setup import HOUR, NOON, bare_table, open_table, ready_table, sign
from tests.games.live.playing import Player
from tests.games.logins import logged_in
from tests.games.rounds.samples import line
from tests.ledgers import ask_django, verify_tables

WHOLE: dict[str, Any] = {
    "source": "floor", "ref": "R-1", "table": "TS-01", "dealer": "D102", "supervisor": "S11",
    "events": [
        {"kind": "place-bets", "at": "2026-11-15T19:07:02+08:00"},
        {"kind": "no-more-bets", "at": "2026-11-15T19:07:31.5+08:00"},
        {"kind": "tumbler", "at": "2026-11-15T19:07:33+08:00", "tumbles": 3},
        {"kind": "result", "at": "2026-11-15T19:07:41+08:00", "dice": [1, 3, 6]},
        {"kind": "result-amended", "at": "2026-11-15T19:07:50+08:00", "dice": [1, 3, 5], "by": "S11"},
        {"kind": "settled", "at": "2026-11-15T19:08:20+08:00"},
    ],
    "bets": [
        {"player": "seat-3", "box": "small", "stake": "100.00", "net": "100.00", "at": "2026-11-15T19:07:10+08:00"},
        {"player": "seat-4", "box": "big", "stake": "150", "net": "-150.00", "house_placed": True},
        {"player": "seat-4", "box": "big", "stake": "25", "refused": True, "at": "2026-11-15T19:07:20+08:00"},
        {"player": "seat-5", "box": "single-3", "stake": "30", "refused": True, "at": "2026-11-15T19:07:32+08:00"},
        {"player": "seat-6", "box": "big", "stake": "60", "withdrawn": "2026-11-15T19:07:25+08:00"},
    ],
}  # fmt: skip


@pytest.fixture
def table(house: House, clock: Any) -> Table:
    clock.move_to(NOON - 8 * HOUR)
    found = open_table(house, "TS-01", layout="C", limits=sign())
    clock.move_to(NOON)
    return found


@pytest.fixture
def player(table: Table) -> Player:
    player = Player(table)
    player.open(dealer="D102", supervisor="S11")
    return player


def play_whole(player: Player) -> None:
    """The steps of WHOLE, as a terminal sends them."""
    opened, closed, tumbled, shown, amended, settled = (dict(one) for one in WHOLE["events"])
    player.do(**opened)
    player.bet("seat-3", "small", "100", at="2026-11-15T19:07:10+08:00")
    player.bet("seat-4", "big", "100", house_placed=True)
    player.do("increase", player="seat-4", box="big", stake="75")
    player.do("refuse", player="seat-4", box="big", stake="25", at="2026-11-15T19:07:20+08:00")
    player.bet("seat-6", "big", "60")
    player.do("withdraw", player="seat-6", box="big", at="2026-11-15T19:07:25+08:00")
    player.do(**closed)
    player.bet("seat-5", "single-3", "30", at="2026-11-15T19:07:32+08:00")
    for event in (tumbled, shown, amended):
        player.do(**event)
    nets = [{key: bet[key] for key in ("player", "box", "net")} for bet in WHOLE["bets"][:2]]
    player.do(**settled, nets=nets)


def test_a_round_in_play_and_the_same_round_sent_whole_are_one_record(player: Player) -> None:
    play_whole(player)
    recorded = Round.objects.get()
    whole = read_round(line(WHOLE), TermsCache(), now=NOON)
    assert bytes(recorded.fingerprint) == whole.fingerprint
    key, is_new = round_record(actor=OPERATOR, line=line(WHOLE), channel="api")
    assert (key, is_new) == (recorded.pk, False)
    assert verify_tables(ask_django, [recorded.table_id]) == {("floor", "R-1"): whole.fingerprint}
    assert (recorded.who, recorded.channel, Outbox.objects.count()) == ("Terminal Terminal", "api", 1)


def test_every_call_may_be_repeated_and_has_the_same_answer(player: Player) -> None:
    first = [player.send("place-bets", "1"), player.send("bet", "2", player="a", box="small", stake="100")]
    rest = [player.send("no-more-bets", "3"), player.send("bet", "4", player="b", box="big", stake="100")]
    again = [player.send("place-bets", "1"), player.send("bet", "2", player="a", box="small", stake="100"),
             player.send("no-more-bets", "3"), player.send("bet", "4", player="b", box="big", stake="100")]  # fmt: skip
    assert [code for code, _ in first + rest] == [201] * 4
    assert again == [(200, body) for _, body in first + rest]
    assert player.open(dealer="D102", supervisor="S11")[0] == 200
    assert LiveStep.objects.count() == 4
    player.do("void", call="5", rule="5.5.2")
    assert player.send("void", "5", rule="5.5.2")[0] == 200
    assert player.send("bet", "2", player="a", box="small", stake="100") == again[1]
    assert Round.objects.get().status == "void"


def test_a_call_with_another_content_is_a_conflict(player: Player) -> None:
    player.do("place-bets", call="1")
    code, body = player.send("no-more-bets", "1")
    assert (code, "name every call anew" in body["detail"]) == (409, True)
    assert player.open(dealer="D103")[0] == 409
    assert LiveStep.objects.count() == 1


@pytest.mark.parametrize(
    ("before", "step", "rule"),
    [
        ([], {"kind": "bet", "player": "a", "box": "small", "stake": "100"}, "3.2"),
        ([], {"kind": "no-more-bets"}, "3.6"),
        (["place-bets"], {"kind": "place-bets"}, "3.2"),
        (["place-bets"], {"kind": "result", "dice": [1, 2, 3]}, "3.8"),
        (["place-bets", "no-more-bets"], {"kind": "result", "dice": [1, 2, 3]}, "3.8"),
        (["place-bets", "no-more-bets"], {"kind": "settled", "nets": []}, "3.9"),
        (["place-bets", "no-more-bets"], {"kind": "refuse", "player": "a", "box": "small", "stake": "1"}, "5.1.1"),
    ],
)
def test_a_step_out_of_order_is_answered_with_the_rule_and_changes_nothing(
    player: Player, before: list[str], step: dict[str, Any], rule: str
) -> None:
    for kind in before:
        player.do(kind)
    code, body = player.send(**step)
    assert (code, body["title"]) == (409, "Out of order")
    assert f"rws-tai-sai-v6#{rule}" in body["rules"]
    assert LiveStep.objects.count() == len(before)


def test_what_happens_out_of_turn_is_kept_and_the_rule_told(house: House, clock: Any) -> None:
    clock.move_to(NOON - HOUR)
    player = Player(ready_table(house, "TS-05", rulebook="rws-tai-sai-open-cover-v5"))
    clock.move_to(NOON)
    player.open()
    player.do("place-bets")
    body = player.do("tumbler", tumbles=3)
    assert (body["state"], body["void"]) == ("open", True)
    assert body["irregularities"] == [
        {"rule": "rws-tai-sai-open-cover-v5#5.5.3", "action": "void",
         "detail": "The tumbler ran before betting was closed."}
    ]  # fmt: skip
    player.do("void", rule="5.5.3", by="S11")
    assert [event["kind"] for event in Round.objects.get().events] == ["place-bets", "tumbler", "void"]


@pytest.mark.parametrize(
    ("step", "field"),
    [
        ({"kind": "bet"}, "player"),
        ({"kind": "bet", "player": "a", "box": "four-5321", "stake": "100"}, "box"),
        ({"kind": "bet", "player": "a", "box": "small", "stake": 100}, "stake"),
        ({"kind": "bet", "player": "a", "box": "small", "stake": "0"}, "stake"),
        ({"kind": "bet", "player": "a", "box": "small", "stake": "1", "dice": [1, 2, 3]}, "dice"),
        ({"kind": "bet", "player": "\x00", "box": "small", "stake": "1"}, "player"),
        ({"kind": "increase", "player": "b", "box": "small", "stake": "1"}, "box"),
        ({"kind": "withdraw", "player": "a", "box": "small", "stake": "101"}, "stake"),
        ({"kind": "bet", "player": "a", "box": "small", "stake": "1"}, "box"),
        ({"kind": "jump"}, "kind"),
        ({"kind": "bet", "player": "b", "box": "small", "stake": "1", "call_bet": "yes"}, "call_bet"),
        ({"kind": "withdraw", "player": "a", "box": "small", "call_bet": True}, "call_bet"),
        ({"kind": "tumbler", "tumbles": 0, "activated": 1}, "activated"),
        ({"kind": "tumbler", "tumbles": 3, "activated": False}, "activated"),
        ({"kind": "no-more-bets", "activated": True}, "activated"),
        ({"kind": "interruption", "known_dice": "2,?"}, "known_dice"),
        ({"kind": "no-more-bets", "at": "2026-11-15T19:00:00+08:00"}, "at"),
        ({"kind": "no-more-bets", "at": "2027-11-15T19:00:00+08:00"}, "at"),
        ({"kind": "void", "rule": "7.1(a)"}, "rule"),
        ({"kind": "no-more-bets", "colour": "red"}, "colour"),
        ({"kind": "no-more-bets", "call": "x" * 101}, "call"),
    ],
)
def test_a_faulty_step_is_told_with_its_field_and_changes_nothing(
    player: Player, step: dict[str, Any], field: str
) -> None:
    player.do("place-bets")
    player.bet("a", "small", "100")
    code, body = player.send(**step)
    assert code == 400, body
    assert field in [error["field"] for error in body["errors"]]
    assert LiveStep.objects.count() == 2


def test_a_settlement_names_every_bet_on_the_felt_and_no_other(player: Player) -> None:
    player.do("place-bets")
    player.bet("a", "small", "100")
    player.do("no-more-bets")
    player.do("tumbler", tumbles=3)
    player.do("result", dice=[1, 2, 3])
    code, body = player.send("settled", nets=[{"player": "b", "box": "big", "net": "5"}])
    assert (code, body["detail"]) == (
        400, "nets: a small is missing; it is needed. nets: b has no bet on big; leave it out.",
    )  # fmt: skip
    assert not Round.objects.exists()


def test_a_name_that_is_on_record_is_not_opened_and_one_taken_meanwhile_is_a_conflict(player: Player) -> None:
    player.do("place-bets")
    round_record(actor=OPERATOR, line=line(WHOLE), channel="api")
    code, body = player.send("void", "v", rule="5.5.2")
    assert (code, body["title"]) == (409, "Conflict")
    assert player.send("void", "v", rule="5.5.2")[0] == 409
    live = LiveRound.objects.get()
    assert (live.state, live.recorded, RecordingConflict.objects.count()) == ("conflict", None, 1)
    code, body = player.open("R-1", dealer="x")
    assert code == 409
    LiveRound.objects.update(ended_at=None)
    assert player.open("R-2")[0] == 409


def test_a_key_plays_at_its_own_tables_only(house: House, player: Player, table: Table) -> None:
    other = Player(bare_table(house, "TS-02", pit="P2"), name="Other")
    other.key = player.key
    assert other.send("place-bets")[0] == 403
    assert other.client.get(f"/api/v1/live-rounds/{player.key}/").status_code == 403
    assert other.client.get("/api/v1/live-rounds/").json()["results"] == []
    assert other.post("live-rounds/", {"source": "floor", "ref": "X", "table": "TS-01"})[0] == 403
    assert Denial.objects.filter(action="liveround.play", casino=house.casino).count() == 2


@pytest.mark.parametrize("role", ["surveillance", "compliance", "auditor", "administrator"])
def test_only_the_pit_finishes_a_round(house: House, player: Player, role: str) -> None:
    player.do("place-bets")
    before = Denial.objects.count()
    steps = [{"call": "h", "kind": "void", "rule": "5.5.2"}]
    with pytest.raises(Denied):
        live_finish(actor=house[role], key=player.key, documents=steps, reason="Broken")
    elsewhere = house.hire("S9", "pit-supervisor", pit=house.pits["P2"])
    with pytest.raises(Denied):
        live_finish(actor=elsewhere, key=player.key, documents=steps, reason="Broken")
    client = logged_in(house["pit-supervisor"])
    answer = client.post(f"/api/v1/live-rounds/{player.key}/steps/", steps[0], "application/json")
    assert answer.status_code == 403  # people finish on the page, and say why
    assert Denial.objects.count() == before + 3


@pytest.mark.parametrize(
    "statement",
    ["UPDATE games_livestep SET kind = 'x'", "DELETE FROM games_livestep", "UPDATE games_liveround SET ref = 'x'",
     "DELETE FROM games_liveround"],
)  # fmt: skip
def test_no_step_is_changed_or_taken_away(player: Player, statement: str) -> None:
    player.do("place-bets")
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.mark.usefixtures("clone")
def test_steps_at_once_are_taken_one_after_another_and_none_is_lost() -> None:
    house = build_house()
    player = Player(open_table(house, "TS-01", layout="C", limits=sign({})))
    player.open()
    player.do("place-bets")

    def bet(number: int) -> int:
        return player.send("bet", f"b-{number % 20}", player=f"seat-{number % 20}", box="small", stake="5")[0]

    def begin(number: int) -> int:
        return player.post("live-rounds/", {"source": "floor", "ref": f"N-{number}", "table": "TS-01"})[0]

    with ThreadPoolExecutor(8) as pool:
        codes = list(pool.map(closing(bet), range(40)))
    assert (codes.count(201), codes.count(200)) == (20, 20)
    live = LiveRound.objects.get()
    assert live.steps_taken == 21
    with ThreadPoolExecutor(5) as pool:
        assert list(pool.map(closing(begin), range(5))) == [409] * 5
        player.do("void", rule="5.5.2")
        assert sorted(pool.map(closing(begin), range(5))) == [201, 409, 409, 409, 409]
    assert LedgerLeaf.objects.filter(kind="round").count() == 1


def closing(call: Callable[[int], int]) -> Callable[[int], int]:
    """Each thread has a connection of its own, and gives it back."""

    def called(number: int) -> int:
        try:
            return call(number)
        finally:
            connection.close()

    return called
