"""Shifts in which something happened: a leaning die, a full box, a dark room, cracked dice, a patron who waits."""

import datetime as dt
from collections import defaultdict
from random import Random
from typing import Any

import pytest

from audits.incidents.search import search
from audits.incidents.services.disputes import dispute_mark, dispute_raise, overdue
from audits.incidents.services.evidence import camera_add
from audits.incidents.services.incidents import IncidentReport, incident_note, incident_open, incident_step
from audits.incidents.services.log import handover_sign, handover_take, log_write
from audits.models import Finding, Incident, Notice
from audits.reconciliation.services.arrivals import arrivals_take
from audits.tasks import escalate
from games.access.gate import Denied, can, visible
from games.floor.services.dice import dice_inspect
from games.floor.services.tables import table_suspend
from games.models import DiceSet, Round, Staff, Table
from tests.audits.files import played
from tests.conftest import House
from tests.games.floor_setup import HOUR, MINUTE, NOON, SECOND, open_table, sign
from tests.games.live.playing import Player

LIMITS = sign({"big-small": (50, 3000), "single": (25, 1000)}, {"big-small": 2000})


@pytest.fixture
def table(house: House, clock: Any) -> Table:
    clock.move_to(NOON - 2 * HOUR)
    found = open_table(house, "TS-01", layout="C", limits=LIMITS)
    clock.move_to(NOON)
    return found


@pytest.fixture
def player(table: Table) -> Player:
    player = Player(table)
    assert player.open(dealer="DEALER", supervisor="PIT-SUPERVISOR")[0] == 201
    return player


def advice(incident: Incident) -> dict[str, Any]:
    assert incident.advice is not None
    found: dict[str, Any] = incident.advice
    return found


def test_5_5_2_a_cocked_die_is_voided_at_once(house: House, table: Table, player: Player, clock: Any) -> None:
    player.do("place-bets")
    player.bet("seat-1", "small", "100")
    player.bet("seat-2", "big", "60")
    player.do("no-more-bets")
    player.do("tumbler", tumbles=3)
    clock.shift(5)
    player.do("die-not-flat")  # one die leans on the wall of the dome
    supervisor = house["pit-supervisor"]
    report = IncidentReport(
        house.casino, NOON + 5 * SECOND, "die-not-flat", "One die leaned on the wall of the dome.", table=table,
        people=[("dealer", "DEALER"), ("supervisor", "PIT-SUPERVISOR"), ("patron", "seat-1")],
    )  # fmt: skip
    incident = incident_open(actor=supervisor, report=report)
    said = advice(incident)
    assert (said["action"], said["rules"], said["authority"]) == ("void", ["rws-tai-sai-v6#5.5.2"], "rule")
    assert said["steps"][0] == "Declare the round void and announce it at the table"
    clock.shift(20)
    player.do("void", rule="5.5.2", by="PIT-SUPERVISOR")
    recorded = Round.objects.get()
    assert (recorded.status, recorded.nets) == ("void", [0, 0])
    # upstairs the recording is noted, and what is known of the patron stays upstairs
    upstairs = house["surveillance"]
    camera_add(actor=upstairs, about=incident, description="The dome", camera="C-17", time_code="20:00:05")
    note = incident_note(
        actor=upstairs, incident=incident, text="Seat 1 leaned on the rail: known to us.", is_confidential=True
    )
    assert not can(supervisor, "incident.view", note)
    assert search(supervisor, "rail") == []
    assert [hit.thing for hit in search(house["compliance"], "rail")] == [note]
    closed = incident_step(actor=house["compliance"], incident=incident, to="closed", reason="Voided as the rule says")
    assert [step.after for step in closed.steps.all()] == ["open", "closed"]


def test_5_1_1_an_over_full_box_is_noticed_when_it_has_been_paid(
    house: House, table: Table, player: Player, clock: Any
) -> None:
    player.do("place-bets")
    player.bet("seat-1", "small", "3000")
    player.bet("seat-2", "small", "1500")
    player.bet("seat-3", "big", "2000")
    clock.shift(30)
    # 1, 3, 6 makes ten: small wins, and the dealer pays the whole box
    player.end([1, 3, 6], {("seat-1", "small"): "3000", ("seat-2", "small"): "1500", ("seat-3", "big"): "-2000"})
    assert player.open("R-2")[0] == 201  # the game goes on
    arrivals_take()
    breach = Finding.objects.get(kind="box-maximum")
    clock.shift(10 * MINUTE)
    report = IncidentReport(
        house.casino, NOON, "over-limit-unnoticed", "Small held 4500 at a maximum of 3000.", table=table,
        rounds=[Round.objects.get(findings=breach)], finding=breach, occurred_to=NOON + 30 * SECOND,
    )  # fmt: skip
    incident = incident_open(actor=house["surveillance"], report=report)
    said = advice(incident)
    assert (said["action"], said["rules"]) == ("pro-rate", ["rws-tai-sai-v6#5.1.1"])
    (figures,) = said["figures"]["rounds"]
    assert [(one["kind"], one["placed"], one["permitted"]) for one in figures["breaches"]] == [
        ("box-maximum", "4500.00", "3000.00"), ("differential", "2500.00", "2000.00"),
    ]  # fmt: skip
    # small may hold 3000 of 4500: two thirds of each bet stand
    assert [(one["player"], one["stands"], one["goes_back"]) for one in figures["cut"]] == [
        ("seat-1", "2000.00", "1000.00"), ("seat-2", "1000.00", "500.00"),
    ]  # fmt: skip
    overpaid = Finding.objects.filter(category="discrepancy").order_by("player")
    assert [(one.player, one.expected, one.recorded) for one in overpaid] == [
        ("seat-1", 200_000, 300_000), ("seat-2", 100_000, 150_000),
    ]  # fmt: skip
    assert (incident.finding, list(incident.rounds.values_list("round__ref", flat=True))) == (breach, ["R-1"])


def test_5_4_1_a_power_failure_leaves_one_die_readable(house: House, table: Table, player: Player, clock: Any) -> None:
    player.do("place-bets")
    player.bet("seat-1", "single-2", "100")
    player.bet("seat-2", "triple-5", "25")
    player.bet("seat-3", "small", "100")
    player.do("no-more-bets")
    player.do("tumbler", tumbles=3)
    clock.shift(4)
    player.do("interruption", known_dice="2,?,?")
    supervisor, boss = house["pit-supervisor"], house["shift-manager"]
    table_suspend(actor=boss, table=table, reason="No power in the pit")
    report = IncidentReport(
        house.casino, NOON + 4 * SECOND, "interruption", "The lights went out; one die shows a two.", table=table,
        facts={"known_dice": "2,?,?"}, people=[("witness", "DEALER")],
    )  # fmt: skip
    incident = incident_open(actor=supervisor, report=report)
    said = advice(incident)
    assert (said["action"], said["rules"]) == ("conclude", ["rws-tai-sai-v6#5.4.1"])
    boxes = said["figures"]
    assert (boxes["won"], "triple-5" in boxes["lost"], "small" in boxes["open"]) == (["single-2"], True, True)
    assert boxes["open_rules"] == ["rws-tai-sai-v6#5.14"]
    asked = incident_step(actor=supervisor, incident=incident, to="awaiting-ruling", reason="Seat 3 lies on small")
    with pytest.raises(Denied):
        incident_step(actor=supervisor, incident=asked, to="ruled", reason="It is mine to say")
    # the shift ends before anybody has ruled: it goes over to the next one
    clock.shift(HOUR)
    handover = handover_sign(actor=supervisor, casino=house.casino, watch="TS-01 waits for a ruling")
    assert handover.open_incidents == [[incident.number, "awaiting-ruling"]]
    handover_take(actor=house["pit-manager"], handover=handover)
    back = incident_step(actor=boss, incident=asked, to="under-investigation", reason="Who read the die?")
    assert back.steps.count() == 3


# --- Cracked dice at 23:10 ---

LAST_GOOD = dt.datetime(2026, 11, 15, 13, 30, tzinfo=dt.UTC)  # 21:30 in Singapore
FOUND = dt.datetime(2026, 11, 15, 15, 10, tzinfo=dt.UTC)  # 23:10
VOID = [("place-bets", {}), ("no-more-bets", {}), ("die-not-flat", {}), ("void", {"rule": "5.5.2"})]


def paid(box: str, stake: int, throw: list[int]) -> int:
    """In cents, counted by hand: big and small at evens but on a triple, a single by how many dice show it."""
    if box.startswith("single-"):
        count = throw.count(int(box[-1]))
        return stake * {1: 1, 2: 2, 3: 12}[count] if count else -stake
    is_triple, total = len(set(throw)) == 1, sum(throw)
    wins = not is_triple and ((total >= 11) if box == "big" else (total <= 10))
    return stake if wins else -stake


def play_a_round(dice: Random, table: Table, number: int, at: dt.datetime) -> dict[str, int]:
    """What each player won or lost. Every tenth round is void; somebody's last bet is refused now and then."""
    throw = [dice.randint(1, 6) for _ in range(3)]
    won: dict[str, int] = defaultdict(int)
    bets: list[dict[str, Any]] = []
    for seat in dice.sample(range(1, 8), 4):
        box, stake = dice.choice(["big", "small", "single-3", "single-5"]), dice.randint(5_000, 20_000)
        net = paid(box, stake, throw)
        bets.append({"player": f"seat-{seat}", "box": box, "stake": money(stake), "net": money(net)})
        won[f"seat-{seat}"] += net
    if number % 7 == 3:
        bets.append({"player": "seat-9", "box": "big", "stake": "100.00", "refused": True})
    if number % 10 == 5:
        played(table, at, f"R-{number:03}", [bet | {"net": "0"} for bet in bets], kinds=VOID)
        return {}
    events = [
        ("place-bets", {}), ("no-more-bets", {}), ("tumbler", {"tumbles": 3}), ("result", {"dice": throw}),
        ("settled", {}),
    ]  # fmt: skip
    played(table, at, f"R-{number:03}", bets, kinds=events)
    return won


def money(cents: int) -> str:
    return f"{'-' if cents < 0 else ''}{abs(cents) // 100}.{abs(cents) % 100:02}"


def test_5_6_cracked_dice_are_found_at_23_10_with_forty_rounds_behind_them(
    house: House, table: Table, clock: Any
) -> None:
    dice, manager = Random(2310), house["pit-manager"]
    dice_set = DiceSet.objects.get(code="D-TS-01")
    clock.move_to(LAST_GOOD)
    dice_inspect(actor=manager, dice_set=dice_set, result="good", seal_found=dice_set.seal)
    clock.move_to(FOUND)
    for number in range(5):  # before the inspection: these stand
        play_a_round(dice, table, 900 + number, LAST_GOOD - (10 - number) * MINUTE)
    lost: dict[str, int] = defaultdict(int)
    for number in range(40):
        for player, net in play_a_round(dice, table, number, LAST_GOOD + (number + 1) * 2 * MINUTE).items():
            lost[player] -= net
    table_suspend(actor=house["shift-manager"], table=table, reason="A crack in a die")
    dice_inspect(
        actor=manager, dice_set=dice_set, result="damaged", seal_found=dice_set.seal, remarks="A crack through the six"
    )
    entry = log_write(
        actor=house["surveillance"], casino=house.casino, table=table, at=FOUND, summary="A crack through the six.",
        camera="C-17", time_code="23:10:00", was_monitored=True,
    )  # fmt: skip
    report = IncidentReport(house.casino, FOUND, "dice-damaged", "A crack through the six.", table=table, entry=entry)
    incident = incident_open(actor=house["surveillance"], report=report)
    said = advice(incident)
    assert (said["action"], said["rules"]) == ("void-affected", ["rws-tai-sai-v6#5.6"])
    figures = said["figures"]
    assert [one["ref"] for one in figures["rounds"]] == [f"R-{number:03}" for number in range(40)]
    assert [one["status"] for one in figures["rounds"]].count("void") == 4
    assert (figures["count"], figures["last_good"]) == (40, "2026-11-15T21:30:00+08:00")
    assert {one["player"]: one["refund"] for one in figures["players"]} == {
        player: money(cents) for player, cents in lost.items()
    }
    assert figures["total"] == money(sum(lost.values()))
    # not one round is touched by that: the advice names them, and people void them
    assert Round.objects.filter(status="settled").count() == 41


def test_a_dispute_runs_out_of_time(house: House, table: Table, clock: Any, mailoutbox: list[Any]) -> None:
    Staff.objects.filter(pk=house["compliance"].pk).update(email="compliance@casino.example")
    supervisor = house["pit-supervisor"]
    report = IncidentReport(
        house.casino, NOON, "late-bet", "Seat 4 says that the bet lay in time.", table=table,
        people=[("patron", "seat-4")],
    )  # fmt: skip
    incident = incident_open(actor=supervisor, report=report)
    assert advice(incident)["rules"] == ["rws-tai-sai-v6#5.7"]
    dispute = dispute_raise(
        actor=supervisor, incident=incident, patron="seat-4", raised_at=NOON, reason="Does not accept the refusal"
    )
    clock.shift(2 * HOUR)
    dispute_mark(
        actor=supervisor, dispute=dispute, mark="patron_told_at", at=NOON + HOUR, reason="Told at the table, in writing"
    )
    # and nobody calls the inspector
    clock.move_to(NOON + dt.timedelta(days=7) - SECOND)
    escalate()
    assert (list(overdue()), mailoutbox) == ([], [])
    clock.shift(SECOND)
    escalate()
    assert list(overdue()) == [dispute]
    (notice,) = visible(house["compliance"], Notice.objects.all())
    assert f"{incident}: due at 2026-11-22T20:00:00+08:00" in notice.text
    (mail,) = mailoutbox
    assert (mail.to, mail.subject) == (["compliance@casino.example"], "Disputes at RWS are overdue")
    clock.shift(HOUR)
    escalate()  # by the clock, again and again: told once
    assert (Notice.objects.count(), len(mailoutbox)) == (1, 1)
    dispute_mark(
        actor=house["compliance"], dispute=dispute, mark="notified_at", at=NOON + dt.timedelta(days=7, hours=1),
        reason="Called the inspector, an hour late",
    )  # fmt: skip
    assert list(overdue()) == []
