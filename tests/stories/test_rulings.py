"""Shifts in which somebody had to decide: a dispute and what stands since, a second thought, cracked dice, a slip."""

import datetime as dt
from collections import defaultdict
from random import Random
from typing import Any

import pytest

from audits.incidents.services.disputes import dispute_raise, dispute_resolve
from audits.incidents.services.incidents import incident_step
from audits.models import ClosedSummary, Consequence, Correction, DaySummary, Finding, Incident, Notice, Ruling
from audits.reconciliation.services.arrivals import arrivals_take
from audits.reconciliation.services.runs import close_start, part_take
from audits.rulings.services.corrective_actions import (  # fmt: skip
    Basis,
    affected_void,
    consequence_execute,
    marks_of,
    repayment_mark,
    table_suspend_for,
)
from audits.rulings.services.rulings import ruling_make, ruling_supersede
from games.access.gate import Denied
from games.engine.dice import Throw
from games.engine.rules.loader import rulebook
from games.engine.settlement import settle
from games.engine.signs.limits import Bet
from games.floor.services.dice import dice_inspect
from games.models import DiceSet, Round, Table
from games.rounds.terms import terms_at
from games.settlement_policies.services import Setting
from tests.audits.decided import REASON, draft, executed, incident_about, ruled, settled_as, standing
from tests.audits.files import played
from tests.conftest import House
from tests.games.engine.oracle import V6
from tests.games.floor_setup import HOUR, MINUTE, NOON, open_table, sign
from tests.games.rounds.samples import bet

LIMITS = sign({"big-small": (50, 3000), "single": (25, 1000)})
DAY = dt.timedelta(days=1)


@pytest.fixture
def table(house: House, clock: Any) -> Table:
    clock.move_to(NOON - 2 * HOUR)
    found = open_table(house, "TS-01", layout="C", limits=LIMITS)
    clock.move_to(NOON)
    return found


def discrepancies(round_: Round) -> list[tuple[int | None, int | None]]:
    found = Finding.objects.filter(round=round_, category="discrepancy", lapsed_at=None).order_by("position")
    return list(found.values_list("expected", "recorded"))


def two_on_small(table: Table, at: dt.datetime, ref: str, nets: tuple[str, str]) -> Round:
    """4,500 on a box that may hold 3,000, of which 50 at the minimum; 1, 3, 6 makes small win."""
    bets = [bet("seat-1", "small", "4450", net=nets[0]), bet("seat-2", "small", "50", net=nets[1])]
    return played(table, at, ref, bets)


#: In cents, what the two win: by the document's words, and where the larger bet fills the box.
PROPORTIONAL, FILLED = (296_600, 5_000), (295_000, 5_000)


def test_5_1_2_a_dispute_ends_in_a_standing_interpretation_and_the_next_day_follows_it(
    house: House, table: Table, clock: Any
) -> None:
    first = two_on_small(table, NOON, "R-1", ("2966", "50"))
    arrivals_take()
    assert discrepancies(first) == []
    # the larger player says that the box then holds more than it may, and that the next time nobody should be cut less
    incident = incident_about(
        house, table, first, situation="over-limit-unnoticed", account="Seat 1 disputes how the box was cut.",
        people=[("patron", "seat-1")],
    )  # fmt: skip
    dispute = dispute_raise(
        actor=house["pit-supervisor"], incident=incident, patron="seat-1", raised_at=NOON, reason="Not accepted"
    )
    clock.shift(HOUR)
    with pytest.raises(Denied):
        ruled(house, incident, "pit-manager")
    ruling = ruling_make(
        actor=house["shift-manager"], incident=incident,
        draft=standing(
            question="Does a box that holds bets at the minimum end above what it may hold?",
            decision="No: the larger bets give way until it holds what it may.", effective_from=NOON + 6 * HOUR,
            setting=Setting("filled"), rules=[f"{V6}#5.1.1", f"{V6}#5.1.2"],
        ),
    )  # fmt: skip
    dispute_resolve(actor=house["compliance"], dispute=dispute, reason=f"Told of {ruling}")
    incident_step(actor=house["compliance"], incident=incident, to="closed", reason="Ruled and told")
    # later the same evening nothing has changed yet
    clock.move_to(NOON + 5 * HOUR)
    same_day = two_on_small(table, NOON + 4 * HOUR, "R-2", ("2966", "50"))
    # the next day the box ends at what it may hold; who pays as before is found, and told by which ruling
    clock.move_to(NOON + DAY)
    right = two_on_small(table, NOON + 23 * HOUR, "R-3", ("2950", "50"))
    wrong = two_on_small(table, NOON + 23 * HOUR + MINUTE, "R-4", ("2966", "50"))
    arrivals_take()
    assert (discrepancies(first), discrepancies(same_day), discrepancies(right)) == ([], [], [])
    assert discrepancies(wrong) == [(FILLED[0], PROPORTIONAL[0])]
    finding = Finding.objects.get(round=wrong, category="discrepancy")
    assert finding.rules[-2:] == [f"{V6}#5.1.1", ruling.number]
    assert ruling.incident.number == incident.number


def test_a_ruling_is_superseded_after_a_week_and_both_periods_are_settled_rightly(
    house: House, table: Table, clock: Any
) -> None:
    first = ruling_make(
        actor=house["shift-manager"], incident=incident_about(house, table), draft=standing(setting=Setting("filled"))
    )
    clock.move_to(NOON + 3 * DAY)
    in_the_week = two_on_small(table, NOON + 3 * DAY - HOUR, "WEEK", ("2950", "50"))
    arrivals_take()
    clock.move_to(NOON + 7 * DAY)
    second = ruling_supersede(
        actor=house["casino-manager"], ruling=first,
        draft=standing(decision="Every bet in proportion after all.", setting=Setting("proportional")),
    )  # fmt: skip
    clock.move_to(NOON + 8 * DAY)
    after_it = two_on_small(table, NOON + 8 * DAY - HOUR, "AFTER", ("2966", "50"))
    late = two_on_small(table, NOON + 3 * DAY - 2 * HOUR, "LATE", ("2950", "50"))  # arrives now, was played then
    arrivals_take()
    for one in (in_the_week, after_it, late):
        assert discrepancies(one) == []
    assert terms_at(table, NOON + 3 * DAY).policy.rulings == (first.number,)
    assert terms_at(table, NOON + 8 * DAY).policy.rulings == (second.number,)
    first.refresh_from_db()
    assert (first.decision, first.replaced_by) == ("The patron is paid.", second)  # and stays as it was made


def random_rounds(table: Table, count: int) -> list[Round]:
    """Settled as they should be, but every eighth, in which a winner was paid double."""
    random, book = Random(40), rulebook(V6)
    rounds = []
    for number in range(count):
        dice = (random.randint(1, 6), random.randint(1, 6), random.randint(1, 6))
        placed = [
            Bet(f"seat-{seat}", random.choice(["small", "big", "single-1", "single-6", "total-10", "any-triple"]),
                random.randint(50, 500) * 100)
            for seat in range(1, 6)
        ]  # fmt: skip
        done = settle(book, book.layouts["C"], Throw(dice), placed, limits=LIMITS)
        bets = [
            bet(one.bet.player, one.bet.box, f"{one.bet.stake / 100:.2f}",
                net=f"{one.net * (2 if number % 8 == 0 and one.net > 0 else 1) / 100:.2f}")
            for one in done.bets
        ]  # fmt: skip
        kinds = [
            ("place-bets", {}), ("no-more-bets", {}), ("tumbler", {"tumbles": 3}), ("result", {"dice": list(dice)}),
            ("settled", {}),
        ]  # fmt: skip
        rounds.append(played(table, NOON + number * 4 * MINUTE, f"R-{number:02}", bets, kinds=kinds))
    return rounds


def test_5_6_cracked_dice_and_forty_settled_rounds_behind_them(house: House, table: Table, clock: Any) -> None:
    clock.move_to(NOON + 3 * HOUR + 10 * MINUTE)  # 23:10
    rounds = random_rounds(table, 40)
    arrivals_take()
    assert Finding.objects.filter(category="discrepancy", lapsed_at=None).exists()
    dice_set = DiceSet.objects.get(fits__table=table)
    dice_inspect(
        actor=house["pit-supervisor"], dice_set=dice_set, result="damaged", seal_found="S-D-TS-01", remarks="A crack"
    )
    incident = incident_about(
        house, table, situation="dice-damaged", account="A die is cracked.", role="pit-supervisor"
    )
    said = incident.advice or {}
    assert (said["action"], said["figures"]["count"]) == ("void-affected", 40)
    table_suspend_for(actor=house["pit-manager"], basis=Basis(incident), reason="Cracked dice")
    order = affected_void(actor=house["shift-manager"], basis=Basis(incident, rule="5.6"), reason="A crack in a die")
    assert order.needs_second
    assert not Correction.objects.exists()
    consequence_execute(actor=house["casino-manager"], consequence=order, reason="Seen with my own eyes")
    due: dict[str, int] = defaultdict(int)
    for round_ in rounds:
        for player, net in zip(round_.players, round_.nets, strict=True):
            due[player] -= net
    listed = {repayment.player: repayment.amount for repayment in order.repayments.all()}
    assert listed == {player: amount for player, amount in due.items() if amount}
    shown = {one["player"]: one["refund"] for one in said["figures"]["players"]}
    assert {player: f"{amount / 100:.2f}" for player, amount in due.items()} == shown  # as it was advised
    for repayment in order.repayments.all():
        for what in ("told", "paid"):
            repayment_mark(actor=house["pit-manager"], repayment=repayment, what=what)
        assert marks_of(repayment) == {"told": True, "paid": True}
    arrivals_take()
    assert not Finding.objects.filter(category="discrepancy", lapsed_at=None).exists()
    summary = DaySummary.objects.get(table=table)
    figures = (summary.rounds, summary.settled, summary.voids, summary.turnover, summary.house_recorded)
    assert figures == (40, 0, 40, 0, 0)
    assert (summary.house_expected, summary.theoretical, summary.discrepancies) == (0, 0, 0)
    assert Round.objects.get(ref="R-01").status == "settled"  # the record itself is as it was


def test_a_correction_of_a_correction_after_the_day_was_closed(house: House, table: Table, clock: Any) -> None:
    one = played(
        table, NOON - MINUTE, "R-1", [bet("seat-1", "small", "100", net="100"), bet("seat-2", "big", "60", net="-60")]
    )
    arrivals_take()
    clock.move_to(NOON + 2 * DAY)
    close = close_start(casino=house.casino, day=one.gaming_day, who="The system")
    for part in close.parts.all():
        part_take(key=part.pk)
    incident = incident_about(house, table, one, account="The camera shows 6, 6, 5.", situation="error-noticed-later")
    ruling = ruled(house, incident, decision="The round is settled by 6, 6, 5.")
    first = settled_as(house, ruling, one, dice=[6, 6, 5])
    better = ruling_supersede(
        actor=house["casino-manager"], ruling=ruling, draft=draft(decision="The recording was of another table.")
    )
    house.people["third"] = house.hire("M-3", "shift-manager")
    with pytest.raises(Denied, match="decided on"):
        settled_as(house, better, one, dice=[1, 3, 6])  # the casino manager ruled, and does not execute
    second = executed(house, Consequence.objects.get(decision=None), "third")
    arrivals_take()
    assert [row.deltas for row in Correction.objects.order_by("ordinal")] == [[-20_000, 12_000], [20_000, -12_000]]
    sums: dict[str, int] = defaultdict(int)
    for order in (first, second):
        for row in order.repayments.all():
            sums[row.player] += row.amount
    assert dict(sums) == {"seat-1": 0, "seat-2": 0}
    now, closed = DaySummary.objects.get(table=table), ClosedSummary.objects.get(table=table)
    assert now.house_recorded == now.house_expected == closed.house_recorded == -4_000
    assert discrepancies(one) == []
    assert [row.kind for row in Consequence.objects.all()] == ["settlement", "settlement"]
    assert Incident.objects.get(pk=incident.pk).rulings.count() == 2
    assert [row.consequence_notice.consequence for row in Notice.objects.order_by("pk")] == [first, second]
    assert REASON in {row.reason for row in Consequence.objects.all()}
    assert Ruling.objects.filter(replaced_by=None).get() == better
