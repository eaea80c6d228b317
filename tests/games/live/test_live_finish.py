"""A round that was left open, finished by hand: what is missing, what was paid, or void; and who may."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from games.access.gate import Denied
from games.engine.errors import InputError
from games.engine.rules.loader import rulebook
from games.live.admin.finish import SEEN
from games.live.finishing import missing
from games.live.services import live_finish, live_step
from games.models import Denial, LiveRound, LiveStep, Round, Table
from games.rounds.services.recording import RoundConflictError, round_record
from tests.conftest import OPERATOR, House
from tests.games.engine.oracle import DIVISION_9, V6
from tests.games.floor_setup import HOUR, MINUTE, NOON, ready_table
from tests.games.live.playing import Player, person, see
from tests.games.logins import logged_in
from tests.games.rounds.samples import line

RANK_AND_FILE = ("surveillance", "compliance", "auditor", "administrator", "dealer")


def finish(client: Client, live: LiveRound, **fields: Any) -> Any:
    return client.post(f"/admin/games/liveround/{live.pk}/finish/", fields, follow=True)


def nets(answer: Any) -> dict[str, str]:
    """The second step as it was filled in."""
    initial = answer.context["form"].initial
    return {name: initial[name] for name in (*SEEN, "nets", "basis") if initial[name] is not None}


def test_3_9_a_round_that_was_left_open_is_finished_in_two_steps(house: House, player: Player, clock: Any) -> None:
    live = LiveRound.objects.get()
    clock.shift(20 * MINUTE)
    client = person(house)
    assert "no more bets" in see(client, f"liveround/{live.pk}/finish/")
    answer = finish(client, live, tumbles="3", dice="3 1 1")
    second = nets(answer)
    assert second["nets"] == "seat-1 small 100.00\nseat-2 single-3 10.00"
    assert "This field is required" in finish(client, live, **second).content.decode()
    assert LiveStep.objects.count() == 3
    paid = "seat-1 small 100\nseat-2 single-3 20"  # what was really paid
    answer = finish(client, live, **second | {"nets": paid, "reason": "The terminal died"})
    assert "is settled and on record" in answer.content.decode()
    recorded = Round.objects.get()
    assert (recorded.dice, recorded.nets, recorded.channel) == ([3, 1, 1], [10000, 2000], "hand")
    assert recorded.note == "The terminal died"
    assert [step.call for step in LiveStep.objects.order_by("number")][3:] == ["hand-4", "hand-5", "hand-6", "hand-7"]
    again = finish(client, live, **second | {"reason": "Once more"})  # the second click
    assert "is over already (settled); nothing was changed" in again.content.decode()
    assert (LiveStep.objects.count(), Round.objects.count()) == (7, 1)


def test_other_dice_in_the_second_step_work_the_nets_out_anew(house: House, player: Player) -> None:
    live, client = LiveRound.objects.get(), person(house)
    second = nets(finish(client, live, tumbles="3", dice="1 1 3"))
    answer = finish(client, live, **second | {"dice": "6 6 4", "reason": "Read again"})
    assert nets(answer)["nets"] == "seat-1 small -100.00\nseat-2 single-3 -10.00"
    assert "worked out anew" in answer.content.decode()
    assert not Round.objects.exists()


def test_5_5_1_too_few_tumbles_are_pointed_out_before_anything_is_paid(house: House, player: Player) -> None:
    answer = finish(person(house), LiveRound.objects.get(), tumbles="1", dice="1 1 3")
    assert "The tumbler turned 1 times." in answer.content.decode()
    assert nets(answer)["nets"] == "seat-1 small 0.00\nseat-2 single-3 0.00"


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"dice": "1 2"}, "3 dice are needed"),
        ({"dice": "1 2 9"}, "is not a face of a die"),
        ({"dice": "a b c"}, "Write the three faces"),
        ({"dice": ""}, "Write the three faces, as in: 1 3 6; without them, void the round."),
        ({"dice": "", "known_dice": "2 ? ?"}, "without them, void the round."),
        ({"known_dice": "2 ?"}, "Write the three dice, each as 1 to 6 or ?, as in: 2 ? ?."),
        ({"activated": "on"}, "The tumbler turned; leave this empty"),
        ({"tumbles": "-1"}, "greater than or equal to 0"),
        ({"nets": "seat-1"}, "Line 1: write player, box and net"),
        ({"nets": "seat-1 small x"}, "is not an amount"),
        ({"nets": "seat-1 nowhere 1"}, "is not a box"),
        ({"nets": "seat-1 small 100"}, "seat-2 single-3 is missing"),
        ({"nets": "seat-1 small 1\nseat-2 single-3 1\nseat-9 big 1"}, "seat-9 has no bet on big"),
    ],
)
def test_what_is_wrong_is_told_on_the_form_and_nothing_changes(
    house: House, player: Player, fields: dict[str, str], fault: str
) -> None:
    live, client = LiveRound.objects.get(), person(house)
    given = {"tumbles": "3", "dice": "1 1 3"} | fields
    if "nets" in fields:
        given |= {"reason": "Died", "basis": "tumbles 3; dice [1, 1, 3]"}
    assert fault in finish(client, live, **given).content.decode().replace("&#x27;", "'")
    assert (LiveStep.objects.count(), Round.objects.count()) == (3, 0)


def test_where_the_result_is_known_only_the_nets_are_asked(house: House, player: Player) -> None:
    player.do("no-more-bets")
    player.do("tumbler", tumbles=3)
    player.do("result", dice=[1, 1, 3])
    live, client = LiveRound.objects.get(), person(house)
    answer = client.get(f"/admin/games/liveround/{live.pk}/finish/")
    assert list(answer.context["form"].fields) == ["amended", "nets", "reason", "basis"]
    values = {name: answer.context["form"].initial[name] for name in ("nets", "basis")}
    finish(client, live, **values, reason="Died")
    assert Round.objects.get().nets == [10000, 1000]


def test_3_8_a_result_that_was_entered_wrongly_is_amended_before_settlement(house: House, player: Player) -> None:
    player.do("no-more-bets")
    player.do("tumbler", tumbles=3)
    player.do("result", dice=[1, 1, 3])
    live, client = LiveRound.objects.get(), person(house)
    answer = finish(client, live, nets="seat-1 small 100\nseat-2 single-3 10", amended="4 4 9", reason="Read again")
    assert "is not a face of a die" in answer.content.decode()
    answer = finish(client, live, nets="seat-1 small 100\nseat-2 single-3 10", amended="6 4 4", reason="Read again")
    second = nets(answer)
    assert (second["amended"], second["nets"]) == ("6 4 4", "seat-1 small -100.00\nseat-2 single-3 -10.00")
    assert "Amended before settlement." in answer.content.decode()
    finish(client, live, **second, reason="Read again")
    recorded = Round.objects.get()
    assert (recorded.dice, recorded.nets) == ([6, 4, 4], [-10000, -1000])
    amended = next(event for event in recorded.events if event["kind"] == "result-amended")
    assert (amended["dice"], amended["by"]) == ([6, 4, 4], "PIT-SUPERVISOR")


def test_5_4_1_a_round_that_was_interrupted_with_all_dice_known_needs_no_result(house: House, player: Player) -> None:
    live, client = LiveRound.objects.get(), person(house)
    second = nets(finish(client, live, tumbles="3", known_dice="6 1 6", dice=""))
    assert second["nets"] == "seat-1 small -100.00\nseat-2 single-3 -10.00"
    finish(client, live, **second, reason="Power failure")
    recorded = Round.objects.get()
    assert [event["kind"] for event in recorded.events] == [
        "place-bets", "no-more-bets", "tumbler", "interruption", "settled",
    ]  # fmt: skip
    assert (recorded.status, recorded.dice, recorded.events[3]["known_dice"]) == ("settled", [6, 1, 6], "6,1,6")


def test_a_result_without_the_die_that_was_known_is_pointed_out_before_anything_is_paid(
    house: House, player: Player
) -> None:
    live, client = LiveRound.objects.get(), person(house)
    page = finish(client, live, tumbles="3", known_dice="2 ? ?", dice="1 3 6").content.decode()
    assert "Known at the interruption, and not in the result: 2." in page
    page = finish(client, live, tumbles="3", known_dice="2 ? ?", dice="1 2 6").content.decode()
    assert "not in the result" not in page


def test_5_5_1_a_jammed_tumbler_is_pointed_out_before_anything_is_paid(house: House, player: Player) -> None:
    live, client = LiveRound.objects.get(), person(house)
    answer = finish(client, live, tumbles="0", activated="on", dice="1 1 3")
    assert "rws-tai-sai-v6#5.5.1: void" in answer.content.decode()
    second = nets(answer)
    finish(client, live, **second, reason="Jammed")
    recorded = Round.objects.get()
    assert (recorded.status, recorded.events[2]["tumbles"], recorded.events[2]["activated"]) == ("void", 0, True)


def test_a_terminal_whose_clock_is_ahead_does_not_keep_the_round_open(house: House, player: Player) -> None:
    player.do("no-more-bets", at=(NOON + 4 * MINUTE).isoformat())
    live, client = LiveRound.objects.get(), person(house)
    second = nets(finish(client, live, tumbles="3", dice="1 1 3"))
    finish(client, live, **second, reason="Died")
    assert Round.objects.get().status == "settled"


def test_5_12_a_round_is_voided_by_a_rule_and_not_by_a_ruling(house: House, player: Player) -> None:
    live, client = LiveRound.objects.get(), person(house)
    address = f"/admin/games/liveround/{live.pk}/void/"
    page = client.get(address)
    offered = [rule for rule, _ in page.context["form"].fields["rule"].choices]
    assert offered == [rule for rule in rulebook(V6).voidings if rule != "5.6"]
    assert "Rule 5.6 is ordered from an incident, for all affected rounds" in page.content.decode()
    refused = client.post(address, {"rule": "5.6", "reason": "A die is chipped"})
    assert "is not one of the available choices" in refused.content.decode()
    answer = client.post(address, {"rule": "ruling", "reason": "So"})
    assert "is not one of the available choices" in answer.content.decode()
    assert "This field is required" in client.post(address, {"rule": "5.5.2"}).content.decode()
    answer = client.post(address, {"rule": "5.5.2", "reason": "Terminal fell with the dome"}, follow=True)
    assert "is void by 5.5.2" in answer.content.decode()
    assert (Round.objects.get().status, Round.objects.get().note) == ("void", "Terminal fell with the dome")
    again = client.post(address, {"rule": "5.5.2", "reason": "Again"}, follow=True)
    assert "is over already (void); nothing was changed" in again.content.decode()
    assert Round.objects.count() == 1


def test_6_1_a_round_of_division_9_that_hardly_began_is_voided_as_well(house: House, clock: Any) -> None:
    clock.move_to(NOON - HOUR)
    player = Player(ready_table(house, "TS-09", rulebook=DIVISION_9, layout="1"))
    clock.move_to(NOON)
    player.open()
    live, client = LiveRound.objects.get(), person(house)
    address = f"/admin/games/liveround/{live.pk}/void/"
    client.post(address, {"rule": "7.1(a)", "tumbles": "0", "reason": "Opened by mistake"})
    live.refresh_from_db()
    assert (live.state, live.recorded_id is not None) == ("void", True)


@pytest.mark.parametrize(
    ("book", "state", "end", "kinds"),
    [
        (V6, "new", "settled", ["place-bets", "no-more-bets", "tumbler", "result", "settled"]),
        (V6, "open", "settled", ["no-more-bets", "tumbler", "result", "settled"]),
        (V6, "open-tumbled", "settled", ["no-more-bets", "result", "settled"]),
        (V6, "tumbled", "void", ["void"]),
        (V6, "new", "void", ["place-bets", "void"]),
        (V6, "settled", "void", []),
        (DIVISION_9, "spun", "settled", ["place-bets", "no-more-bets", "result", "settled"]),
        (DIVISION_9, "new", "void", ["tumbler", "place-bets", "void"]),
        (DIVISION_9, "spun", "void", ["place-bets", "void"]),
    ],
)
def test_what_is_missing_is_in_the_rulebook_s_order(book: str, state: str, end: str, kinds: list[str]) -> None:
    assert missing(rulebook(book), state, end) == kinds


# --- Who may, and what the service keeps -----------------------------------------------------------

DOCUMENTS = [{"call": "hand-1", "kind": "void", "rule": "5.5.1"}]


@pytest.mark.parametrize("role", RANK_AND_FILE)
def test_who_may_not_finish_is_refused_on_record(house: House, player: Player, role: str) -> None:
    live = LiveRound.objects.get()
    with pytest.raises(Denied):
        live_finish(actor=house[role], key=live.pk, documents=DOCUMENTS, reason="Died")
    denial = Denial.objects.latest("at")
    assert (denial.staff_id, denial.action) == (house[role].pk, "liveround.finish")
    assert LiveStep.objects.count() == 3


def test_a_pit_supervisor_of_another_pit_is_refused_on_record(house: House, player: Player) -> None:
    live, other = LiveRound.objects.get(), house.hire("S2", "pit-supervisor", pit=house.pits["P2"])
    with pytest.raises(Denied):
        live_finish(actor=other, key=live.pk, documents=DOCUMENTS, reason="Died")
    assert Denial.objects.latest("at").staff_id == other.pk
    client = logged_in(other)
    for name in ("finish", "void"):
        assert client.post(f"/admin/games/liveround/{live.pk}/{name}/", {}).status_code == 403


def test_a_round_is_finished_with_a_reason_or_not_at_all(house: House, player: Player) -> None:
    live = LiveRound.objects.get()
    with pytest.raises(ValidationError):
        live_finish(actor=house["pit-supervisor"], key=live.pk, documents=DOCUMENTS, reason=" ")
    assert LiveStep.objects.count() == 3


@pytest.mark.parametrize("rule", ["5.6", "ruling", "rws-tai-sai-v6#5.6", "1.7", 5])
def test_5_6_no_single_round_in_play_is_voided_by_a_rule_that_reaches_further(
    house: House, player: Player, rule: Any
) -> None:
    steps = [{"call": "hand-1", "kind": "void", "rule": rule}]
    with pytest.raises(InputError, match="does not void a single round in play; choose"):
        live_finish(actor=house["pit-supervisor"], key=LiveRound.objects.get().pk, documents=steps, reason="Chipped")
    assert LiveStep.objects.count() == 3


def test_a_name_that_was_taken_meanwhile_ends_the_round_and_is_told(house: House, table: Table, player: Player) -> None:
    live = LiveRound.objects.get()
    other = {"source": "floor", "ref": "R-1", "table": table.code, "bets": [], "events": [
        {"kind": "place-bets", "at": NOON.isoformat()}, {"kind": "void", "at": NOON.isoformat(), "rule": "5.5.1"},
    ]}  # fmt: skip
    round_record(actor=OPERATOR, line=line(other), channel="api")
    client = person(house)
    answer = client.post(f"/admin/games/liveround/{live.pk}/void/", {"rule": "5.5.2", "reason": "Died"}, follow=True)
    assert "is on record with another content" in answer.content.decode()
    live.refresh_from_db()
    assert (live.state, live.recorded_id) == ("conflict", None)
    assert "its name was taken" in see(client, f"liveround/{live.pk}/change/")
    with pytest.raises(RoundConflictError):
        live_step(actor=house["pit-supervisor"], key=live.pk, action="liveround.finish",
                  document={"call": "hand-4", "kind": "void", "rule": "5.5.2", "by": "PIT-SUPERVISOR"})  # fmt: skip
