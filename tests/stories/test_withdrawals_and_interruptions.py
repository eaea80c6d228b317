"""Rounds in play that go wrong: bets taken back too late, a jammed tumbler, a power failure when the dice are seen."""

import datetime as dt
from typing import Any

import pytest

from audits.models import Finding
from games.engine.play.order_of_play import can_step
from games.engine.rules.loader import rulebook
from games.models import LiveRound, LiveStep, Round, Table
from tests.audits.playing import drain
from tests.conftest import House
from tests.games.engine.oracle import DIVISION_9, OPEN_COVER, V6
from tests.games.floor_setup import HOUR, NOON, SECOND, open_table, ready_table, sign
from tests.games.live.playing import Player, person, see

LIMITS = {"big-small": (50, 3000), "single": (25, 1000)}


@pytest.fixture
def table(house: House, clock: Any) -> Table:
    clock.move_to(NOON - HOUR)
    found = open_table(house, "TS-01", layout="C", limits=sign(LIMITS, {"big-small": 2000}))
    clock.move_to(NOON)
    return found


@pytest.fixture
def player(table: Table) -> Player:
    player = Player(table)
    player.open(dealer="DEALER", supervisor="PIT-SUPERVISOR")
    player.do("place-bets")
    player.bet("seat-1", "small", "100")
    return player


def settle(player: Player, *nets: tuple[str, str, str]) -> dict[str, Any]:
    return player.do("settled", nets=[{"player": who, "box": box, "net": net} for who, box, net in nets])


def irregular(body: dict[str, Any]) -> list[tuple[str | None, str, str]]:
    return [(one["rule"], one["action"], one["detail"]) for one in body["irregularities"]]


def found(category: str) -> list[tuple[Any, ...]]:
    drain()
    standing = Finding.objects.filter(category=category, lapsed_at=None).order_by("pk")
    return [(one.kind, one.detail) for one in standing]


# --- Withdrawals ---


def test_5_7_a_withdrawal_one_second_late_is_refused_on_record_and_an_irregularity(player: Player, clock: Any) -> None:
    player.bet("seat-2", "big", "60")
    clock.shift(30)
    player.do("no-more-bets")
    clock.shift(1)
    late = player.do("withdraw", player="seat-1", box="small")
    assert late["refused"]["rules"] == [f"{V6}#5.7"]
    assert "no bet is withdrawn" in late["refused"]["explain"]
    clock.shift(1)
    again = player.do("withdraw", player="seat-1", box="small", stake="40")  # only the first attempt is kept
    sentence = (f"{V6}#5.7", "refuse", "seat-1 small withdrawn after no-more-bets")
    assert irregular(late) == irregular(again) == [sentence]
    assert again["bets"][0]["stake"] == "100.00"
    player.do("tumbler", tumbles=3)
    player.do("result", dice=[5, 6, 6])
    settle(player, ("seat-1", "small", "-100"), ("seat-2", "big", "60"))
    recorded = Round.objects.get()
    assert (recorded.withdrawn_at, recorded.withdrawn, recorded.nets) == (
        [NOON + 31 * SECOND, None], None, [-10000, 6000],
    )  # fmt: skip
    assert found("discrepancy") == []
    assert [detail for _, detail in found("irregularity")] == ["seat-1 small withdrawn after no-more-bets"]


def test_5_7_a_bet_withdrawn_in_time_is_on_record_and_counts_for_nothing(player: Player, clock: Any) -> None:
    clock.shift(10)
    body = player.do("withdraw", player="seat-1", box="small")
    assert (body["refused"], body["bets"], body["irregularities"]) == (None, [], [])
    player.bet("seat-1", "small", "200")  # placed again
    player.do("withdraw", player="seat-1", box="small", stake="50")  # a part of it just lowers the stake
    player.end([1, 2, 3], {("seat-1", "small"): "150"})
    recorded = Round.objects.get()
    assert (recorded.stakes, recorded.withdrawn) == ([15000, 10000], [False, True])
    assert recorded.withdrawn_at == [None, NOON + 10 * SECOND]
    assert found("discrepancy") == found("irregularity") == found("breach") == []


def test_4_7_b_division_9_refuses_a_late_withdrawal_by_its_own_rule(house: House, clock: Any) -> None:
    clock.move_to(NOON - HOUR)
    player = Player(ready_table(house, "TS-09", rulebook=DIVISION_9, layout="1"))
    clock.move_to(NOON)
    player.open()
    player.do("tumbler", tumbles=3)
    player.do("place-bets")
    player.bet("seat-1", "small", "100", house_placed=True, call_bet=True)
    player.do("no-more-bets")
    late = player.do("withdraw", player="seat-1", box="small")  # in the same instant, and told after the close
    assert late["refused"]["rules"] == [f"{DIVISION_9}#4.7(b)"]
    player.do("result", dice=[1, 2, 3])
    settle(player, ("seat-1", "small", "100"))
    recorded = Round.objects.get()
    assert (recorded.withdrawn, recorded.call, recorded.house_placed) == (None, [True], [True])
    assert recorded.withdrawn_at == [NOON + dt.timedelta(microseconds=1)]
    assert [detail for _, detail in found("irregularity")] == ["seat-1 small withdrawn after no-more-bets"]


def test_5_1_what_was_refused_before_the_close_is_known_to_have_been_in_time(player: Player, clock: Any) -> None:
    clock.shift(10)
    player.do("refuse", player="seat-1", box="small", stake="40")
    player.do("no-more-bets", at=(NOON + 9 * SECOND).isoformat())  # the terminal's clock is a second behind
    player.do("tumbler", tumbles=3)
    player.do("result", dice=[1, 2, 3])
    settle(player, ("seat-1", "small", "60"))
    recorded = Round.objects.get()
    assert (recorded.refused, recorded.late) == ([False, True], None)
    assert recorded.placed_at == [None, NOON + 9 * SECOND]


@pytest.mark.parametrize("place", [("seat-9", "big"), ("seat-1", "big"), ("seat-9", "small")])
def test_a_late_withdrawal_of_a_bet_that_is_not_there_is_a_fault_and_leaves_nothing(
    player: Player, place: tuple[str, str]
) -> None:
    player.do("no-more-bets")
    who, box = place
    code, body = player.send("withdraw", player=who, box=box)
    assert code == 400
    assert f"{who} has no bet on {box}, so there is none to withdraw" in str(body["errors"])
    assert LiveStep.objects.filter(kind="withdraw").count() == 0
    body = player.do("tumbler", tumbles=3)
    assert (body["steps"], body["irregularities"]) == (4, [])
    player.do("result", dice=[1, 2, 3])
    settle(player, ("seat-1", "small", "100"))
    assert Round.objects.get().withdrawn_at is None
    assert found("irregularity") == []


def test_a_late_bet_that_was_refused_is_not_there_to_be_withdrawn(player: Player, clock: Any) -> None:
    player.do("no-more-bets")
    clock.shift(1)
    assert player.bet("seat-2", "big", "60")["refused"]["rules"] == [f"{V6}#5.7"]
    assert player.send("withdraw", player="seat-2", box="big")[0] == 400


def test_a_bet_withdrawn_in_time_cannot_be_withdrawn_once_more_after_the_close(player: Player) -> None:
    player.do("withdraw", player="seat-1", box="small")
    player.do("no-more-bets")
    assert player.send("withdraw", player="seat-1", box="small")[0] == 400
    player.do("tumbler", tumbles=3)
    assert irregular(player.do("result", dice=[1, 2, 3])) == []


def test_a_round_on_record_with_such_a_withdrawal_from_before_is_still_shown(player: Player, house: House) -> None:
    """Earlier versions refused it by 5.7 and kept the step."""
    player.do("no-more-bets")
    live = LiveRound.objects.get()
    content = {"kind": "withdraw", "player": "seat-9", "box": "big"}
    LiveStep.objects.create(
        live_round=live, number=live.steps_taken + 1, call="old", kind="withdraw", content=content, is_refused=True,
        at=NOON, who="Terminal",
    )  # fmt: skip
    LiveRound.objects.update(steps_taken=live.steps_taken + 1)
    assert "seat-9" in see(person(house), f"liveround/{live.pk}/change/")
    assert irregular(player.do("tumbler", tumbles=3)) == []


# --- A jammed tumbler ---


@pytest.mark.parametrize(
    ("book", "layout", "rule"), [(V6, "C", "5.5.1"), (OPEN_COVER, "C", "5.5.1"), (DIVISION_9, "1", "7.1(b)")]
)
def test_a_jammed_tumbler_is_too_few_tumbles_and_voids_the_round(
    house: House, clock: Any, book: str, layout: str, rule: str
) -> None:
    clock.move_to(NOON - HOUR)
    player = Player(ready_table(house, "TS-05", rulebook=book, layout=layout))
    clock.move_to(NOON)
    player.open()
    calls = ["place-bets", "no-more-bets"]
    order = ["tumbler", *calls] if can_step(rulebook(book), "new", "tumbler") else [*calls, "tumbler"]
    for kind in order:
        body = player.do(kind, **({"tumbles": 0, "activated": True} if kind == "tumbler" else {}))
    assert (body["void"], irregular(body)) == (True, [(f"{book}#{rule}", "void", "The tumbler turned 0 times.")])
    player.do("void", rule=rule, by="PIT-SUPERVISOR")
    recorded = Round.objects.get()
    tumbler = next(event for event in recorded.events if event["kind"] == "tumbler")
    assert (recorded.status, tumbler["activated"]) == ("void", True)


# --- An interruption ---


def test_5_4_1_with_all_dice_known_the_round_is_settled_by_them(player: Player) -> None:
    player.do("no-more-bets")
    player.do("tumbler", tumbles=3)
    body = player.do("interruption", known_dice="6,1,6")
    assert (body["state"], body["dice"], body["void"]) == ("resulted", [6, 1, 6], False)
    assert body["next"] == ["result", "settled", "void"]
    assert irregular(body) == [(f"{V6}#5.4.1", "conclude", "Interrupted with dice known: 6, 1, 6.")]
    code, refused = player.send("result-amended", dice=[1, 1, 1])  # there is no result to amend yet
    assert (code, refused["rules"]) == (409, [f"{V6}#3.8"])
    settle(player, ("seat-1", "small", "100"))  # a loser is paid
    recorded = Round.objects.get()
    assert (recorded.status, recorded.dice) == ("settled", [6, 1, 6])
    assert [kind for kind, _ in found("discrepancy")] == ["paid-loser"]
    assert found("procedural") == []


def test_5_4_1_when_the_power_is_back_the_result_may_still_be_entered_and_counts(player: Player) -> None:
    player.do("no-more-bets")
    player.do("tumbler", tumbles=3)
    player.do("interruption", known_dice="6,1,6")
    body = player.do("result", dice=[1, 6, 6])
    assert (body["state"], body["dice"], body["next"]) == ("resulted", [1, 6, 6], ["result-amended", "settled", "void"])
    assert player.send("result", dice=[1, 6, 6])[0] == 409  # once is enough
    settle(player, ("seat-1", "small", "-100"))
    assert found("discrepancy") == found("procedural") == []


def test_5_4_1_dice_known_while_bets_are_open_wait_for_the_close(player: Player) -> None:
    body = player.do("interruption", known_dice="6,1,6")
    assert body["state"] == "open"
    assert player.send("settled", nets=[])[0] == 409
    body = player.do("no-more-bets")
    assert (body["state"], body["next"]) == ("resulted", ["result", "settled", "void"])


def test_5_4_2_with_no_die_known_the_round_is_void_but_not_after_the_result(player: Player) -> None:
    player.do("no-more-bets")
    player.do("tumbler", tumbles=3)
    body = player.do("interruption", known_dice="?,?,?")
    assert (body["void"], irregular(body)) == (True, [(f"{V6}#5.4.2", "void", "Interrupted with dice known: none.")])
    player.do("void", rule="5.4.2", by="PIT-SUPERVISOR")
    player.open("R-2", dealer="DEALER")
    player.do("place-bets")
    player.do("no-more-bets")
    player.do("tumbler", tumbles=3)
    player.do("result", dice=[1, 2, 3])
    body = player.do("interruption", known_dice="?,?,?")
    assert (body["void"], irregular(body)) == (False, [(f"{V6}#5.4.1", "conclude", "Interrupted after the result.")])
    settle(player)
    assert [round_.status for round_ in Round.objects.order_by("pk")] == ["void", "settled"]
    code, body = player.send("void", rule="5.4.2")  # the round is over
    assert (code, body["detail"]) == (409, "void: the round is settled; no step may follow.")
