"""Division 9, where a rule needs a table, people and rounds: what is found, kept and shown by it."""

import datetime as dt
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import DatabaseError, transaction

from audits.models import Category, Finding, Incident
from games.floor.services.dice import dice_fit, dice_inspect
from games.floor.services.tables import opening_checks_sign, table_open, table_suspend
from games.labels.boxes import box_label
from games.models import DiceInspection, DiceSet, LiveStep, OpeningCheck, Table, TableState
from tests.audits.playing import EARLIER, drain, record
from tests.audits.rules.test_rws_on_record import (
    HALF_AN_HOUR,
    assert_advice_is_shown,
    clock_events,
    found,
    round_of,
    shown,
    table_of,
)
from tests.conftest import House
from tests.games.engine import oracle
from tests.games.engine.oracle import DIVISION_9
from tests.games.floor_setup import bare_table, dice_of, open_table, ready_table, sign, sign_checks
from tests.games.live.playing import Player, person, see

SPUN_FIRST = ["-10 tumbler 3", "0 place-bets", "30 no-more-bets", "41 result 1,3,6", "80 settled"]


def test_2_0_the_page_says_what_is_left_to_division_1_and_cites_no_rule(house: House, clock: Any) -> None:
    page = shown(house, table_of(house, DIVISION_9), "other")
    assert "division 1 may cover this, but are not among the documents" in page
    kept = Incident.objects.get().advice or {}
    assert (kept["action"], kept["rules"], kept["authority"]) == ("ruling", [], "unspecified")
    assert f"{DIVISION_9}#" not in page


@pytest.mark.parametrize("layout", ["1", "2"])
def test_3_2_a_table_shows_its_wagers_and_odds_on_the_felt(house: House, layout: str) -> None:
    table = table_of(house, DIVISION_9, layout=layout)
    page = see(person(house), f"table/{table.pk}/practise/")
    for box in oracle.BOXES[layout]:
        pays = sorted({oracle.odds(DIVISION_9, box, dice) for dice in oracle.THROWS} - {0})
        assert f'aria-label="{box_label(box)}, pays {" or ".join(map(str, pays))} to 1' in page, box
    assert ('value="odd"' in page) == (layout == "2")


@pytest.mark.parametrize("serials", [["A1", "A2"], ["A1", "A2", "A3", "A4"], ["A1", "A2", "A2"]])
def test_3_4_d_a_set_of_two_or_four_dice_is_refused(house: House, clock: Any, serials: list[str]) -> None:
    """By service, page and database: a Division 9 table cannot have one."""
    table = bare_table(house, rulebook=DIVISION_9, layout="1")
    with pytest.raises(ValidationError, match="serials"):
        dice_of(house, serials=serials)
    client = person(house, "pit-manager")
    fields = {"pit": house.pits["P1"].pk, "code": "D-09", "serials": ",".join(serials), "seal": "S-1", "reason": "New"}
    answer = client.post("/admin/games/diceset/add/", fields)
    assert (answer.status_code, "serials" in answer.context["adminform"].form.errors) == (200, True)
    with pytest.raises(DatabaseError), transaction.atomic():
        DiceSet.objects.create(casino=house.casino, pit=house.pits["P1"], code="D-09", serials=serials, seal="S-1")
    assert not DiceSet.objects.exists()
    assert client.post("/admin/games/diceset/add/", fields | {"serials": "A1,A2,A3"}).status_code == 302
    dice_fit(actor=house["pit-manager"], dice_set=DiceSet.objects.get(), table=table, reason="Before opening")
    assert client.get("/api/v1/tables/TS-01/dice/").json()["serials"] == ["A1", "A2", "A3"]


def test_3_4_e_iii_the_seal_of_the_dice_is_kept_and_a_broken_one_keeps_the_table_closed(
    house: House, clock: Any
) -> None:
    table = ready_table(house, rulebook=DIVISION_9, layout="1", limits=sign())
    dice = table.dice_fits.get().dice_set
    with pytest.raises(ValidationError, match="seal"):
        dice_of(house, "D-02", seal=" ")
    with pytest.raises(ValidationError, match="The seal on record is S-D-TS-01"):
        inspected(house, dice, "good", "S-9")
    inspected(house, dice, "seal-broken", "S-9", remarks="Torn at one side")
    (kept,) = DiceInspection.objects.all()
    assert (kept.result, kept.seal_found, kept.table, kept.by) == ("seal-broken", "S-9", table, house["pit-supervisor"])
    with pytest.raises(ValidationError, match="not fit for play"):
        sign_checks(house["pit-supervisor"], table)
    inspected(house, dice, "good", "S-9", new_seal="S-10")
    page = see(person(house), f"diceset/{dice.pk}/change/")
    assert [seal in page for seal in ("S-9", "S-10", "Torn at one side")] == [True] * 3
    sign_checks(house["pit-supervisor"], table)
    table_open(actor=house["pit-manager"], table=table, reason="Start of shift")
    assert DiceSet.objects.get(pk=dice.pk).seal == "S-10"


def inspected(house: House, dice: DiceSet, result: str, seal: str, **more: str) -> None:
    dice_inspect(actor=house["pit-supervisor"], dice_set=dice, result=result, seal_found=seal, **more)


def test_3_4_e_v_a_round_whose_dice_were_not_tumbled_is_found(house: House, clock: Any) -> None:
    table_of(house, DIVISION_9)
    assert found(round_of(SPUN_FIRST)) == []
    untumbled = clock_events(SPUN_FIRST[1:], HALF_AN_HOUR)
    assert found(round_of(untumbled, "R-2")) == [("no-valid-tumble", [f"{DIVISION_9}#6.1", f"{DIVISION_9}#6.6"])]


def test_4_4_a_round_that_begins_before_the_last_is_paid_is_found(house: House, clock: Any) -> None:
    table_of(house, DIVISION_9)
    second = clock_events(SPUN_FIRST, dt.timedelta(seconds=60))
    kinds = found(round_of(SPUN_FIRST), round_of(second, "R-2"))
    assert ("overlap", [f"{DIVISION_9}#4.4"]) in kinds


@pytest.mark.parametrize(
    ("facts", "action", "said"),
    [
        ({"with_chips": "yes", "in_time": "yes"}, "accept", "counts if chips come with it"),
        ({"with_chips": "no", "in_time": "yes"}, "refuse", "called out without chips is not accepted"),
        ({"with_chips": "yes", "in_time": "no"}, "refuse", "no time left to place the wager"),
        ({"with_chips": "no", "in_time": "no"}, "refuse", "no time left to place the wager"),
    ],
)
def test_4_5_a_wager_that_was_called_out_is_kept_with_its_facts_and_shown(
    house: House, clock: Any, facts: dict[str, str], action: str, said: str
) -> None:
    page = shown(house, table_of(house, DIVISION_9), "oral-wager", **facts)
    kept = Incident.objects.get()
    assert (kept.situation, kept.facts, kept.steps.get().who) == (
        "oral-wager", facts, "PIT-SUPERVISOR Person PIT-SUPERVISOR, pit supervisor",
    )  # fmt: skip
    assert ((kept.advice or {})["action"], (kept.advice or {})["rules"]) == (action, [f"{DIVISION_9}#4.5"])
    for text in (said, f"{DIVISION_9}#4.5", "with chips: {with_chips}, in time: {in_time}".format(**facts)):
        assert text in page, text


def test_4_6_the_page_says_that_the_player_answers_for_the_place_of_a_bet(house: House, clock: Any) -> None:
    assert_advice_is_shown(house, DIVISION_9, "bet-misplaced", "4.6")


def test_4_7_a_wager_made_after_the_call_is_found_and_wins_nothing(house: House, clock: Any) -> None:
    table_of(house, DIVISION_9)
    in_time, late = ((EARLIER + dt.timedelta(seconds=second)).isoformat() for second in (30, 31))
    bets = [
        {"player": "seat-1", "box": "small", "stake": "100.00", "net": "100.00", "at": in_time},
        {"player": "seat-2", "box": "small", "stake": "100.00", "net": "100.00", "at": late},
    ]
    irregular = found(round_of(SPUN_FIRST, bets=bets), category=Category.IRREGULARITY)
    assert irregular == [("refuse", [f"{DIVISION_9}#4.7"])]
    (paid,) = Finding.objects.filter(category=Category.DISCREPANCY)
    assert (paid.player, paid.expected, paid.recorded) == ("seat-2", 0, 100_00)


def test_4_7_b_a_bet_withdrawn_after_the_call_stays_and_is_found(house: House, clock: Any) -> None:
    table_of(house, DIVISION_9)
    late = (EARLIER + dt.timedelta(seconds=31)).isoformat()
    bets = [{"player": "seat-1", "box": "small", "stake": "100.00", "net": "100.00", "withdrawn": late}]
    irregular = found(round_of(SPUN_FIRST, bets=bets), category=Category.IRREGULARITY)
    assert irregular == [("refuse", [f"{DIVISION_9}#4.7(b)"])]


def withdrawn_late(box: str, net: str, **more: Any) -> dict[str, Any]:
    late = (EARLIER + dt.timedelta(seconds=50)).isoformat()
    return {"player": "seat-1", "box": box, "stake": "100.00", "net": net, "withdrawn": late, **more}


def test_4_8_a_losing_bet_that_was_taken_back_is_found_and_cites_the_rule(house: House, clock: Any) -> None:
    """By the money, and as a withdrawal: both are found."""
    table_of(house, DIVISION_9)
    bets = [withdrawn_late("big", "0.00")]
    money = found(round_of(SPUN_FIRST, bets=bets), category=Category.DISCREPANCY)
    assert money == [("not-collected", [f"{DIVISION_9}#4.1(b)"])]
    (withdrawn,) = Finding.objects.filter(category=Category.IRREGULARITY)
    assert (withdrawn.kind, withdrawn.rule) == ("refuse", f"{DIVISION_9}#4.7(b)")
    assert withdrawn.rules == [f"{DIVISION_9}#4.7(b)", f"{DIVISION_9}#4.8"]


def test_4_8_a_winning_bet_that_was_to_be_taken_back_does_not_cite_it(house: House, clock: Any) -> None:
    table_of(house, DIVISION_9)
    record(round_of(SPUN_FIRST, bets=[withdrawn_late("small", "100.00")]))
    record(round_of([*SPUN_FIRST[:3], "90 void 7.1(a)"], "R-2", bets=[withdrawn_late("big", "0.00")]))
    drain()
    withdrawn = Finding.objects.filter(category=Category.IRREGULARITY, kind="refuse")
    assert [one.rules for one in withdrawn] == [[f"{DIVISION_9}#4.7(b)"]] * 2  # no bet of a void round loses


#: The paragraphs of 5.0 as the document has them, each with the check that stands for it.
CHECKS = {"5.0(a)": "power", "5.0(b)": "test-runs", "5.0(c)": "tumbler", "5.0(d)": "seal"}


@pytest.mark.parametrize("rule", CHECKS)
def test_5_0_a_table_is_not_opened_with_a_check_that_failed(house: House, clock: Any, rule: str) -> None:
    """One test a paragraph, 5.0(a) to 5.0(d)."""
    table = ready_table(house, rulebook=DIVISION_9, layout="1")
    passed = {name: number != rule for number, name in CHECKS.items()}
    made = opening_checks_sign(actor=house["pit-supervisor"], table=table, passed=passed, remarks="One failed")
    kept = OpeningCheck.objects.get(pk=made.pk)
    assert [(result["rules"], result["passed"]) for result in kept.results] == [
        ([f"{DIVISION_9}#{number}"], number != rule) for number in CHECKS
    ]
    with pytest.raises(ValidationError):
        table_open(actor=house["pit-manager"], table=table, reason="Start of shift")
    opening_checks_sign(actor=house["pit-supervisor"], table=table, passed=dict.fromkeys(CHECKS.values(), True))
    table_open(actor=house["pit-manager"], table=table, reason="Start of shift")
    assert Table.objects.get().state == TableState.OPEN


@pytest.mark.parametrize("rule", CHECKS)
def test_5_0_every_paragraph_is_answered_by_a_supervisor_before_the_table_opens(
    house: House, clock: Any, rule: str
) -> None:
    table = ready_table(house, rulebook=DIVISION_9, layout="1")
    with pytest.raises(ValidationError):  # nothing is signed
        table_open(actor=house["pit-manager"], table=table, reason="Start of shift")
    others = {name: True for number, name in CHECKS.items() if number != rule}
    with pytest.raises(ValidationError, match="Answer every check"):
        opening_checks_sign(actor=house["pit-supervisor"], table=table, passed=others)
    with pytest.raises(PermissionDenied):
        sign_checks(house["dealer"], table)
    assert not OpeningCheck.objects.exists()


def test_6_1_a_tumbler_that_runs_after_the_call_for_bets_is_found(house: House, clock: Any) -> None:
    table_of(house, DIVISION_9)
    late = ["0 place-bets", "10 tumbler 3", *SPUN_FIRST[2:]]
    assert ("tumbler-out-of-order", [f"{DIVISION_9}#6.1", f"{DIVISION_9}#6.6"]) in found(round_of(late))


@pytest.mark.parametrize(
    ("box", "net", "kind"),
    [("big", "0.00", "not-collected"), ("big", "100.00", "paid-loser"), ("small", "0.00", "unpaid-winner")],
)
def test_6_5_a_loser_that_was_not_collected_and_a_winner_that_was_not_paid_are_found(
    house: House, clock: Any, box: str, net: str, kind: str
) -> None:
    table_of(house, DIVISION_9)
    bets = [{"player": "seat-1", "box": box, "stake": "100.00", "net": net}]
    assert [one for one, _ in found(round_of(SPUN_FIRST, bets=bets), category=Category.DISCREPANCY)] == [kind]


def test_6_5_a_settlement_before_the_result_is_found(house: House, clock: Any) -> None:
    table_of(house, DIVISION_9)
    events = ["-10 tumbler 3", "0 place-bets", "30 no-more-bets", "40 settled", "41 result 1,3,6"]
    assert ("settled-before-result", [f"{DIVISION_9}#6.5"]) in found(round_of(events))


def test_6_6_a_second_spin_is_found(house: House, clock: Any) -> None:
    table_of(house, DIVISION_9)
    again = [*SPUN_FIRST[:3], "35 tumbler 3", *SPUN_FIRST[3:]]
    assert found(round_of(again)) == [("tumbler-out-of-order", [f"{DIVISION_9}#6.1", f"{DIVISION_9}#6.6"])]


def test_6_6_nobody_but_the_terminal_of_the_table_enters_a_result(house: House, clock: Any) -> None:
    clock.move_to(EARLIER - HALF_AN_HOUR)
    table = open_table(house, rulebook=DIVISION_9, layout="1")
    stranger = Player(bare_table(house, "TS-02", rulebook=DIVISION_9, layout="1"), name="Of another table")
    clock.move_to(EARLIER)
    own = Player(table)
    assert own.open()[0] == 201
    for kind, fields in (("tumbler", {"tumbles": 3}), ("place-bets", {}), ("no-more-bets", {})):
        own.do(kind, **fields)
    stranger.key = own.key
    assert stranger.send("result", dice=[1, 3, 6])[0] in (403, 404)
    assert LiveStep.objects.count() == 3
    assert own.do("result", dice=[1, 3, 6])["dice"] == [1, 3, 6]


def test_7_2_a_result_that_nobody_with_authority_amended_is_found(house: House, clock: Any) -> None:
    table_of(house, DIVISION_9)
    amended = [*SPUN_FIRST[:4], "50 result-amended 1,3,6 by DEALER", SPUN_FIRST[4]]
    assert found(round_of(amended)) == [("amendment-without-authority", [f"{DIVISION_9}#7.2"])]


def test_7_3_the_page_says_that_the_dice_count_and_the_table_is_suspended(house: House, clock: Any) -> None:
    assert_advice_is_shown(house, DIVISION_9, "lights-wrong", "7.3")


def test_7_4_a_round_at_a_suspended_table_is_found(house: House, clock: Any) -> None:
    clock.move_to(EARLIER - 4 * HALF_AN_HOUR)
    table = ready_table(house, rulebook=DIVISION_9, layout="1")
    opening_checks_sign(actor=house["pit-supervisor"], table=table, passed=dict.fromkeys(CHECKS.values(), True))
    table_open(actor=house["pit-manager"], table=table, reason="Start of shift")
    clock.move_to(EARLIER - HALF_AN_HOUR)
    table_suspend(actor=house["pit-manager"], table=table, reason="Two areas do not light")
    clock.move_to(EARLIER + HALF_AN_HOUR)
    assert ("table-suspended", [f"{DIVISION_9}#7.4"]) in found(round_of(SPUN_FIRST))


def test_7_5_the_page_says_that_a_display_is_not_answered_for(house: House, clock: Any) -> None:
    assert_advice_is_shown(house, DIVISION_9, "display-wrong", "7.5")
