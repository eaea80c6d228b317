"""Tables: set up, checked, opened, closed, suspended and resumed; and under whose eyes they stand."""

import json
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.test import Client

from games.access.gate import can, visible
from games.floor.services.dice import dice_fit, dice_inspect, dice_remove
from games.floor.services.tables import (
    opening_checks_sign,
    table_assign,
    table_close,
    table_create,
    table_open,
    table_resume,
    table_suspend,
)
from games.floor.services.tumblers import tumbler_fit, tumbler_inspect, tumbler_remove
from games.floor.timeline import timeline
from games.limits.selectors import limits_at
from games.limits.services.proposals import limits_approve, limits_propose
from games.models import Denial, LedgerLeaf, OpeningCheck, Table, TableStep
from games.rounds.terms import terms_at
from tests.conftest import OPERATOR, House, build_house
from tests.games.engine.oracle import DIVISION_9, OPEN_COVER, V6
from tests.games.floor_setup import (
    CHECKS,
    HOUR,
    MICROSECOND,
    MINUTE,
    NOON,
    START,
    USUAL,
    bare_table,
    completed,
    dice_of,
    open_table,
    put_sign,
    ready_table,
    sign,
    sign_checks,
    tumbler_for,
)
from tests.threads import at_once

DIVISION: Any = {"rulebook": DIVISION_9, "layout": "1"}


def do(house: House, what: Any, table: Table, actor: str = "pit-manager", **values: Any) -> TableStep:
    step: TableStep = what(actor=house[actor], table=table, **{"reason": "As planned"} | values)
    return step


def notice(what: Any) -> dict[str, Any]:
    """What only a closing asks for."""
    return {"notice_given_at": NOON} if what is table_close else {}


def state(table: Table) -> str:
    return Table.objects.get(pk=table.pk).state


def steps(table: Table) -> list[str]:
    return [step.kind for step in table.steps.order_by("at", "id")]


def move(house: House, table: Table, starts_at: Any, pit: str = "P2", **changes: Any) -> bool:
    values: dict[str, Any] = {"rulebook": V6, "layout": "A", "chip_unit": "1.00", "reason": "Moved"} | changes
    return table_assign(
        actor=house["casino-manager"], table=table, pit=house.pits[pit], starts_at=starts_at, **values
    )  # fmt: skip


# --- Set up ---


def test_a_new_table_is_closed_and_stands_in_its_pit(house: House, clock: Any) -> None:
    table = bare_table(house, actor=house["casino-manager"])
    assert (table.state, table.state_since, table.pit) == ("closed", None, house.pits["P1"])
    assert table.history.get().history_author == "CASINO-MANAGER Person CASINO-MANAGER, casino manager"


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({"code": "ts-01"}, "a code of its own"),
        ({"code": "TS 02"}, "letters, digits"),
        ({"rulebook": "hoyle"}, "hoyle"),
        ({"layout": "B"}, "layout"),
        ({"chip_unit": "0"}, "chip_unit"),
        ({"chip_unit": "1.005"}, "chip_unit"),
        ({"starts_at": START.replace(year=2020)}, "is in force from 2023"),
        ({"reason": " "}, "Say why"),
    ],
)
def test_a_table_that_makes_no_sense_is_refused(house: House, clock: Any, values: dict[str, Any], fault: str) -> None:
    bare_table(house)
    with pytest.raises(ValidationError, match=fault):
        bare_table(house, **{"code": "TS-02"} | values)
    assert Table.objects.count() == 1


def test_a_table_stands_in_a_pit_of_its_own_casino(house: House) -> None:
    game: Any = {"rulebook": V6, "layout": "A", "chip_unit": "1.00", "starts_at": START, "reason": "New table"}
    with pytest.raises(ValidationError, match="not a pit of this casino"):
        table_create(actor=OPERATOR, casino=house.casino, pit=house.other_pit, code="TS-09", **game)
    with pytest.raises(PermissionDenied):
        table_create(actor=house["casino-manager"], casino=house.other, pit=house.other_pit, code="TS-09", **game)


@pytest.mark.parametrize("actor", ["pit-manager", "shift-manager", "compliance", "administrator"])
def test_who_may_not_set_tables_up_is_turned_away(house: House, actor: str) -> None:
    with pytest.raises(PermissionDenied):
        bare_table(house, actor=house[actor])
    assert Denial.objects.get(staff_id=house[actor].pk).action == "table.add"


def test_another_game_ends_the_last_one_and_the_same_again_changes_nothing(house: House, clock: Any) -> None:
    table = bare_table(house)
    assert move(house, table, NOON + HOUR, "P1", layout="C")
    assert not move(house, table, NOON + HOUR, "P1", layout="C")
    later, first = table.assignments.order_by("-during")
    assert (first.during.upper, later.during.lower, later.during.upper) == (NOON + HOUR, NOON + HOUR, None)
    assert [row.history_change_reason for row in first.history.all()] == ["Moved", "New table"]
    with pytest.raises(ValidationError, match="another assignment from 2026-11-15T21:00:00"):
        move(house, table, NOON + HOUR, "P1", layout="E")


def test_a_game_between_two_others_is_fitted_in(house: House, clock: Any) -> None:
    table = bare_table(house)
    move(house, table, NOON + 2 * HOUR, "P1", layout="E")
    move(house, table, NOON + HOUR, "P1", layout="C")
    moments = [NOON, NOON + HOUR - MICROSECOND, NOON + HOUR, NOON + 2 * HOUR - MICROSECOND, NOON + 2 * HOUR]
    layouts = [assignment.layout for at in moments if (assignment := terms_at(table, at).assignment)]
    assert layouts == ["A", "A", "C", "C", "E"]
    assert terms_at(table, START - MICROSECOND).assignment is None


def test_a_game_that_the_sign_does_not_fit_is_refused(house: House, clock: Any) -> None:
    table = bare_table(house)
    put_sign(table, sign({**USUAL, "double": (5, 100)}))
    with pytest.raises(ValidationError, match=r"boxes\.double: .* layout E"):
        move(house, table, NOON + HOUR, "P1", layout="E")
    assert table.assignments.count() == 1


# --- What opening takes ---


def test_a_table_is_opened_by_the_pit_manager_and_that_is_on_record(house: House, clock: Any) -> None:
    table = ready_table(house)
    step = do(house, table_open, table, reason=" Start of shift ")
    assert (step.kind, step.at, step.reason, step.rules) == ("open", NOON, "Start of shift", [])
    assert (step.by, step.who) == (house["pit-manager"], "PIT-MANAGER Person PIT-MANAGER, pit manager")
    assert (state(table), Table.objects.get(pk=table.pk).state_since) == ("open", NOON)


def test_without_a_game_in_force_it_stays_closed(house: House, clock: Any) -> None:
    table = bare_table(house, starts_at=NOON + MINUTE)
    put_sign(table, completed(table, sign()), starts_at=NOON)
    dice_fit(actor=house["pit-manager"], dice_set=dice_of(house), table=table, reason="New")
    with pytest.raises(ValidationError, match="no rulebook and layout in force now"):
        do(house, table_open, table)
    clock.shift(MINUTE)
    do(house, table_open, table)


def test_3_3_without_limits_in_force_it_stays_closed(house: House, clock: Any) -> None:
    table = bare_table(house)
    dice_fit(actor=house["pit-manager"], dice_set=dice_of(house), table=table, reason="New")
    put_sign(table, completed(table, sign()), starts_at=NOON + MINUTE)
    with pytest.raises(ValidationError, match=r"no limits in force \(rws-tai-sai-v6#3\.3\); have some approved"):
        do(house, table_open, table)
    clock.shift(MINUTE)
    do(house, table_open, table)


def test_3_3_with_an_incomplete_sign_it_stays_closed_and_all_that_is_missing_is_named(house: House, clock: Any) -> None:
    table = bare_table(house)
    keys = dict.fromkeys(("big-small", "domino", "double", "triple", "any-triple", "single"), (10, 100))
    put_sign(table, sign({**keys, "total": (10, 100), "total-4": (None, 50)}))
    with pytest.raises(ValidationError) as told:
        do(house, table_open, table)
    assert told.value.messages == [
        "The sign of TS-01 is incomplete (rws-tai-sai-v6#3.3). It lacks: Big and Small (differential), "
        "Total (minimum; 4). Have these limits approved first.",
        "TS-01 has no dice; fit a dice set first.",
    ]
    assert (state(table), steps(table)) == ("closed", [])


def test_division_9_needs_minimum_and_maximum_and_no_differential(house: House, clock: Any) -> None:
    table = bare_table(house, **DIVISION)
    put_sign(table, sign({"big-small": (10, 100)}))
    with pytest.raises(ValidationError) as told:
        do(house, table_open, table)
    sentence, dice, tumbler, checks = told.value.messages
    assert sentence.startswith("The sign of TS-01 is incomplete. It lacks: Single die (minimum and maximum), Total")
    assert "Differential" not in sentence
    assert "Big and Small" not in sentence
    assert (dice, tumbler, checks) == (
        "TS-01 has no dice; fit a dice set first.",
        "TS-01 has no tumbler on record; fit one first.",
        "TS-01 has not passed its opening checks since it closed; sign them first.",
    )


def test_with_a_tumbler_that_failed_it_stays_closed(house: House, clock: Any) -> None:
    table = ready_table(house)
    tumbler_inspect(
        actor=house["pit-supervisor"], tumbler=table.tumbler_fits.get().tumbler, result="faulty", lock_found="",
        remarks="It sticks",
    )  # fmt: skip
    with pytest.raises(ValidationError, match="The tumbler T-TS-01 at TS-01 is not fit for play; remove it and fit"):
        do(house, table_open, table)


def test_5_0_checks_of_another_tumbler_do_not_count(house: House, clock: Any) -> None:
    table = ready_table(house, **DIVISION)
    signed = sign_checks(house["pit-supervisor"], table)
    assert signed.tumbler == table.tumbler_fits.get().tumbler
    clock.shift(MINUTE)
    tumbler_remove(actor=house["pit-manager"], table=table, reason="Noisy")
    tumbler_fit(actor=house["pit-manager"], tumbler=tumbler_for(house), table=table, reason="Another")
    with pytest.raises(ValidationError, match="sign them first"):
        do(house, table_open, table)


def test_division_9_cites_no_rule_for_limits_where_it_has_none(house: House, clock: Any) -> None:
    table = bare_table(house, **DIVISION)
    with pytest.raises(ValidationError, match="has no limits in force; have some approved"):
        do(house, table_open, table)


def test_without_dice_it_stays_closed(house: House, clock: Any) -> None:
    table = bare_table(house)
    put_sign(table)
    with pytest.raises(ValidationError, match="TS-01 has no dice; fit a dice set first"):
        do(house, table_open, table)


def test_with_dice_that_failed_it_stays_closed(house: House, clock: Any) -> None:
    table = ready_table(house)
    dice_inspect(
        actor=house["pit-supervisor"], dice_set=table.dice_fits.get().dice_set, result="damaged", seal_found="",
        remarks="A chipped corner",
    )  # fmt: skip
    with pytest.raises(ValidationError, match="is not fit for play; take it out"):
        do(house, table_open, table)
    assert (state(table), steps(table)) == ("closed", [])


@pytest.mark.parametrize("rulebook", [V6, OPEN_COVER])
def test_the_rws_rules_ask_for_no_checks(house: House, clock: Any, rulebook: str) -> None:
    table = ready_table(house, rulebook=rulebook)
    assert do(house, table_open, table).check_signed is None


def test_5_0_division_9_opens_after_signed_checks_only(house: House, clock: Any) -> None:
    table = ready_table(house, **DIVISION)
    with pytest.raises(ValidationError, match="has not passed its opening checks since it closed; sign them first"):
        do(house, table_open, table)
    signed = sign_checks(house["pit-supervisor"], table)
    assert (signed.passed, signed.by, signed.at) == (True, house["pit-supervisor"], NOON)
    assert [(result["check"], result["rules"], result["passed"]) for result in signed.results] == [
        ("power", ["division-9-2008#5.0(a)"], True),
        ("test-runs", ["division-9-2008#5.0(b)"], True),
        ("tumbler", ["division-9-2008#5.0(c)"], True),
        ("seal", ["division-9-2008#5.0(d)"], True),
    ]
    assert do(house, table_open, table).check_signed == signed


def test_5_0_a_failed_check_needs_remarks_and_keeps_the_table_closed(house: House, clock: Any) -> None:
    table = ready_table(house, **DIVISION)
    with pytest.raises(ValidationError, match="Say what was found: tumbler did not pass"):
        sign_checks(house["pit-supervisor"], table, tumbler=False, remarks="  ")
    assert not OpeningCheck.objects.exists()
    failed = sign_checks(house["pit-supervisor"], table, tumbler=False, remarks="It sticks")
    assert (failed.passed, failed.remarks) == (False, "It sticks")
    with pytest.raises(ValidationError, match=r"did not pass its opening checks \(It sticks\); mend it"):
        do(house, table_open, table)
    clock.shift(MINUTE)
    sign_checks(house["pit-supervisor"], table)
    do(house, table_open, table)


def test_5_0_a_later_failure_outweighs_earlier_checks_that_passed(house: House, clock: Any) -> None:
    table = ready_table(house, **DIVISION)
    sign_checks(house["pit-supervisor"], table)
    sign_checks(house["pit-supervisor"], table, power=False, remarks="No light")  # in the same moment
    with pytest.raises(ValidationError, match="No light"):
        do(house, table_open, table)


@pytest.mark.parametrize("answers", [CHECKS[:3], (*CHECKS, "weather"), ()])
def test_5_0_every_check_is_answered_and_no_other(house: House, clock: Any, answers: tuple[str, ...]) -> None:
    table = ready_table(house, **DIVISION)
    with pytest.raises(ValidationError, match="Answer every check"):
        opening_checks_sign(actor=house["pit-supervisor"], table=table, passed=dict.fromkeys(answers, True))


def test_5_0_checks_are_signed_anew_after_each_closing(house: House, clock: Any) -> None:
    table = open_table(house, **DIVISION)
    clock.shift(HOUR)
    do(house, table_close, table, notice_given_at=NOON + MINUTE)
    clock.shift(MINUTE)
    with pytest.raises(ValidationError, match="since it closed"):
        do(house, table_open, table)
    sign_checks(house["pit-supervisor"], table)
    do(house, table_open, table)
    assert steps(table) == ["open", "close", "open"]


def test_5_0_checks_of_other_dice_do_not_count(house: House, clock: Any) -> None:
    table = ready_table(house, **DIVISION)
    sign_checks(house["pit-supervisor"], table)
    clock.shift(MINUTE)
    first = dice_remove(actor=house["pit-manager"], table=table, reason="Worn").dice_set
    dice_fit(actor=house["pit-manager"], dice_set=dice_of(house), table=table, reason="New ones")
    with pytest.raises(ValidationError, match="sign them first"):
        do(house, table_open, table)
    clock.shift(MINUTE)
    dice_remove(actor=house["pit-manager"], table=table, reason="Back again")
    dice_fit(actor=house["pit-manager"], dice_set=first, table=table, reason="The first ones")
    with pytest.raises(ValidationError, match="sign them first"):  # they were out of the dome since
        do(house, table_open, table)


def test_5_0_checks_need_dice_under_the_dome(house: House, clock: Any) -> None:
    table = bare_table(house, **DIVISION)
    with pytest.raises(ValidationError, match="has no dice"):
        sign_checks(house["pit-supervisor"], table)


def test_5_0_checks_of_half_a_day_ago_do_not_count(house: House, clock: Any) -> None:
    table = ready_table(house, **DIVISION)
    sign_checks(house["pit-supervisor"], table)
    clock.move_to(NOON + 12 * HOUR + MICROSECOND)
    with pytest.raises(ValidationError, match="sign them first"):
        do(house, table_open, table)
    clock.move_to(NOON + 12 * HOUR)
    do(house, table_open, table)


def test_5_0_checks_under_another_rulebook_do_not_count(house: House, clock: Any) -> None:
    table = ready_table(house)
    opening_checks_sign(actor=house["pit-supervisor"], table=table, passed={})  # RWS has none to answer
    move(house, table, NOON + MINUTE, "P1", **DIVISION)
    clock.shift(MINUTE)
    with pytest.raises(ValidationError, match="sign them first"):
        do(house, table_open, table)


def test_checks_are_signed_at_a_closed_table(house: House, clock: Any) -> None:
    table = open_table(house, **DIVISION)
    with pytest.raises(ValidationError, match="TS-01 is open; checks are signed before a table opens"):
        sign_checks(house["pit-supervisor"], table)


# --- Who ---


@pytest.mark.parametrize(
    ("what", "values"),
    [(table_open, {}), (table_close, {"notice_given_at": NOON}), (table_suspend, {}), (table_resume, {})],
)
@pytest.mark.parametrize(
    "actor", ["dealer", "pit-supervisor", "surveillance", "compliance", "auditor", "administrator"]
)
def test_a_supervisor_may_check_and_only_a_manager_opens_and_closes(
    house: House, clock: Any, what: Any, values: dict[str, Any], actor: str
) -> None:
    table = ready_table(house)
    with pytest.raises(PermissionDenied):
        do(house, what, table, actor, **values)
    action = what.__name__.replace("_", ".")
    assert Denial.objects.get(staff_id=house[actor].pk).action == action
    assert steps(table) == []


@pytest.mark.parametrize("actor", ["pit-manager", "shift-manager", "casino-manager"])
def test_managers_open(house: House, clock: Any, actor: str) -> None:
    do(house, table_open, ready_table(house), actor)


@pytest.mark.parametrize("actor", ["dealer", "surveillance", "compliance", "auditor", "administrator"])
def test_people_who_are_not_at_work_in_the_pit_sign_no_checks(house: House, clock: Any, actor: str) -> None:
    table = ready_table(house, **DIVISION)
    with pytest.raises(PermissionDenied):
        sign_checks(house[actor], table)
    assert not OpeningCheck.objects.exists()


def test_a_table_of_another_pit_is_refused_on_record(house: House, clock: Any) -> None:
    table = ready_table(house, pit="P2", **DIVISION)
    with pytest.raises(PermissionDenied):
        sign_checks(house["pit-supervisor"], table)
    with pytest.raises(PermissionDenied):
        do(house, table_open, table)
    denials = Denial.objects.filter(staff_id__in=[house["pit-supervisor"].pk, house["pit-manager"].pk])
    assert {(denial.action, denial.thing) for denial in denials} == {
        ("table.check", "table TS-01"),
        ("table.open", "table TS-01"),
    }
    assert steps(table) == []


def test_a_manager_of_another_casino_does_nothing_here(house: House, clock: Any) -> None:
    table = ready_table(house)
    stranger = house.hire("X1", "casino-manager", casino=house.other)
    with pytest.raises(PermissionDenied):
        table_open(actor=stranger, table=table, reason="Mine")


def test_a_table_that_moves_comes_under_the_other_pits_people_exactly_then(house: House, clock: Any) -> None:
    table = ready_table(house)
    moves_at = NOON + HOUR
    move(house, table, moves_at)
    house.people["other"] = house.hire("M2", "pit-manager", pit=house.pits["P2"])
    for moment, at_home, away in [
        (moves_at - MICROSECOND, "pit-manager", "other"),
        (moves_at, "other", "pit-manager"),
    ]:
        clock.move_to(moment)
        assert can(house[at_home], "table.open", table)
        assert not can(house[away], "table.open", table)
        assert list(visible(house[at_home], Table.objects.all())) == [table]
        assert not visible(house[away], Table.objects.all())
        with pytest.raises(PermissionDenied):
            do(house, table_open, table, away)
    do(house, table_open, table, "other")
    assert limits_at(table=table, at=moves_at).assignment == table.assignments.get(pit=house.pits["P2"])


def test_a_table_that_has_not_begun_is_seen_by_the_pit_where_it_will_stand(house: House, clock: Any) -> None:
    table = bare_table(house, starts_at=NOON + HOUR)
    assert list(visible(house["pit-supervisor"], Table.objects.all())) == [table]


# --- Closing, suspending, resuming ---


def test_closing_keeps_when_notice_was_given(house: House, clock: Any) -> None:
    table = open_table(house)
    clock.shift(HOUR)
    step = do(house, table_close, table, notice_given_at=NOON + HOUR - 10 * MINUTE)
    assert (step.kind, step.notice_given_at, step.at) == ("close", NOON + 50 * MINUTE, NOON + HOUR)
    assert (state(table), Table.objects.get(pk=table.pk).state_since) == ("closed", NOON + HOUR)


def test_closing_waits_until_notice_is_given(house: House, clock: Any) -> None:
    table = open_table(house)
    with pytest.raises(ValidationError, match="still to come"):
        do(house, table_close, table, notice_given_at=NOON + MICROSECOND)
    do(house, table_close, table, notice_given_at=NOON)


def test_notice_was_given_while_the_table_was_open(house: House, clock: Any) -> None:
    table = open_table(house)
    clock.shift(MINUTE)
    with pytest.raises(ValidationError, match="was not open yet"):
        do(house, table_close, table, notice_given_at=NOON - MICROSECOND)
    do(house, table_suspend, table)
    with pytest.raises(ValidationError, match="was not open yet"):
        do(house, table_close, table, notice_given_at=NOON - MICROSECOND)


def test_notice_given_before_an_interruption_still_counts(house: House, clock: Any) -> None:
    table = open_table(house)
    clock.shift(HOUR)
    do(house, table_suspend, table)
    clock.shift(MINUTE)
    do(house, table_resume, table)
    clock.shift(MINUTE)
    do(house, table_close, table, notice_given_at=NOON + 50 * MINUTE)
    assert steps(table) == ["open", "suspend", "resume", "close"]


def test_7_4_division_9_is_cited_for_a_suspension(house: House, clock: Any) -> None:
    table = open_table(house, **DIVISION)
    assert do(house, table_suspend, table, reason="Tumbler broken").rules == ["division-9-2008#7.4"]
    assert state(table) == "suspended"


REMEDY = {"rectified": "A fuse was replaced", "rectified_by": "Technician of the maker", "checked_by": "pit-supervisor"}


def test_7_4_a_table_is_resumed_with_what_was_rectified_by_whom_and_who_checked_it(house: House, clock: Any) -> None:
    table = open_table(house, **DIVISION)
    do(house, table_suspend, table, reason="Tumbler broken")
    clock.shift(MINUTE)
    step = do(house, table_resume, table, reason="Works again", **REMEDY)
    assert (step.rectified, step.rectified_by, step.checked_by, step.rules) == (
        "A fuse was replaced", "Technician of the maker", house["pit-supervisor"], ["division-9-2008#7.4"],
    )  # fmt: skip
    leaf = LedgerLeaf.objects.filter(kind="table", subject=step.pk).get()
    assert json.loads(bytes(leaf.content))[-3:] == ["A fuse was replaced", "Technician of the maker", "PIT-SUPERVISOR"]
    (event,) = (one for one in timeline(table) if one.what.startswith("Resumed"))
    assert event.why == (
        "Works again. Rectified: A fuse was replaced. By Technician of the maker, checked by "
        "PIT-SUPERVISOR Person PIT-SUPERVISOR."
    )


@pytest.mark.parametrize("name", list(REMEDY))
@pytest.mark.parametrize("value", ["", "  "])
def test_7_4_without_a_remedy_it_stays_suspended(house: House, clock: Any, name: str, value: str) -> None:
    table = open_table(house, **DIVISION)
    do(house, table_suspend, table)
    with pytest.raises(ValidationError, match=r"TS-01 was suspended by division-9-2008#7\.4") as told:
        do(house, table_resume, table, **REMEDY | {name: value})
    assert list(told.value.error_dict) == [name]
    assert state(table) == "suspended"


@pytest.mark.parametrize("number", ["S999", "ELSEWHERE"])
def test_7_4_who_checked_it_is_on_the_staff_of_the_casino(house: House, clock: Any, number: str) -> None:
    house.hire("ELSEWHERE", "pit-supervisor", casino=house.other)
    table = open_table(house, **DIVISION)
    do(house, table_suspend, table)
    with pytest.raises(ValidationError, match=f"no staff number {number} at this casino; check the number"):
        do(house, table_resume, table, **REMEDY | {"checked_by": number})


def test_7_4_closing_and_opening_is_no_remedy(house: House, clock: Any) -> None:
    table = open_table(house, **DIVISION)
    do(house, table_suspend, table, reason="Tumbler broken")
    clock.shift(MINUTE)
    do(house, table_close, table, notice_given_at=NOON)
    clock.shift(MINUTE)
    sign_checks(house["pit-supervisor"], table)
    with pytest.raises(ValidationError, match=r"TS-01 was suspended by division-9-2008#7\.4") as told:
        do(house, table_open, table)
    assert set(told.value.error_dict) == set(REMEDY)
    step = do(house, table_open, table, **REMEDY)
    assert (step.rules, step.rectified) == (["division-9-2008#7.4"], "A fuse was replaced")
    clock.shift(MINUTE)
    do(house, table_close, table, notice_given_at=NOON + 2 * MINUTE)
    clock.shift(MINUTE)
    sign_checks(house["pit-supervisor"], table)
    assert do(house, table_open, table).rules == []  # the remedy is on record


def test_7_4_the_page_that_opens_a_table_asks_for_the_remedy(house: House, clock: Any, client: Client) -> None:
    table = open_table(house, **DIVISION)
    do(house, table_suspend, table, reason="Tumbler broken")
    clock.shift(MINUTE)
    do(house, table_close, table, notice_given_at=NOON)
    clock.shift(MINUTE)
    sign_checks(house["pit-supervisor"], table)
    client.force_login(house["shift-manager"])
    page = f"/admin/games/table/{table.pk}/open/"
    assert "Required by division-9-2008#7.4" in client.get(page).content.decode()
    client.post(page, {"reason": "Start"})
    assert state(table) == "closed"
    client.post(page, {"reason": "Start"} | REMEDY)
    assert state(table) == "open"
    assert "Opened at" in client.get(f"/admin/games/table/{table.pk}/change/").content.decode()


def test_5_0_the_tumbler_is_fitted_at_opening_and_the_same_at_resuming(house: House, clock: Any) -> None:
    table = open_table(house, **DIVISION)
    manager = house["shift-manager"]
    do(house, table_suspend, table, cause="other")
    clock.shift(MINUTE)
    tumbler_remove(actor=manager, table=table, reason="It sticks")
    with pytest.raises(ValidationError, match="TS-01 has no tumbler on record; fit one first"):
        do(house, table_resume, table)
    tumbler_fit(actor=manager, tumbler=tumbler_for(house, "T-NEW"), table=table, reason="New")
    with pytest.raises(ValidationError, match="The tumbler of TS-01 was changed; close it, and open it after"):
        do(house, table_resume, table)
    do(house, table_close, table, notice_given_at=NOON)
    clock.shift(MINUTE)
    sign_checks(house["pit-supervisor"], table)
    clock.shift(MINUTE)
    tumbler_remove(actor=manager, table=table, reason="It sticks")
    with pytest.raises(ValidationError, match="TS-01 has no tumbler on record; fit one first"):
        do(house, table_open, table)


def test_an_rws_table_without_a_tumbler_on_record_opens(house: House, clock: Any) -> None:
    table = ready_table(house)
    clock.shift(MINUTE)
    tumbler_remove(actor=house["shift-manager"], table=table, reason="Not registered")
    do(house, table_open, table)


def test_3_3_a_table_is_not_resumed_with_an_incomplete_sign_and_its_page_says_so(
    house: House, clock: Any, client: Client
) -> None:
    table = open_table(house)
    do(house, table_suspend, table)
    put_sign(table, sign(), NOON + MINUTE)
    clock.shift(2 * MINUTE)
    with pytest.raises(ValidationError, match=r"The sign of TS-01 is incomplete \(rws-tai-sai-v6#3\.3\)"):
        do(house, table_resume, table)
    client.force_login(house["shift-manager"])
    assert "The sign of TS-01 is incomplete" in client.get(f"/admin/games/table/{table.pk}/change/").content.decode()


def test_another_game_waits_until_an_open_table_is_closed(house: House, clock: Any, client: Client) -> None:
    table = open_table(house)
    clock.shift(MINUTE)
    with pytest.raises(ValidationError, match=r"TS-01 is open with .*; close it first, or choose a later moment"):
        move(house, table, NOON + MINUTE, pit="P1", layout="B")
    assert move(house, table, NOON + MINUTE, pit="P1", chip_unit="5.00")  # the game is the same
    client.force_login(house["casino-manager"])
    values = {"pit": house.pits["P1"].pk, "rulebook": DIVISION_9, "layout": "2", "chip_unit": "1.00",
              "starts_at": "2026-11-15 21:00", "reason": "Another game"}  # fmt: skip
    page = client.post(f"/admin/games/table/{table.pk}/assign/", values, follow=True).content.decode()
    assert "It needs opening again then" in page
    clock.move_to(NOON + 2 * HOUR)
    client.force_login(house["casino-manager"])  # the first session was idle for too long
    page = client.get(f"/admin/games/table/{table.pk}/change/").content.decode()
    assert "TS-01 was not opened with the checks of division-9-2008" in page


def test_a_table_without_any_step_shows_that_no_opening_is_on_record(house: House, clock: Any, client: Client) -> None:
    table = ready_table(house)
    client.force_login(house["shift-manager"])
    pages = ("/admin/games/table/", f"/admin/games/table/{table.pk}/change/")
    assert all("no opening on record" in client.get(page).content.decode() for page in pages)
    shown = client.get("/api/v1/tables/TS-01/").json()
    assert (shown["state"], shown["opening_on_record"], shown["since"]) == ("closed", False, None)
    do(house, table_open, table)
    clock.shift(MINUTE)
    do(house, table_close, table, notice_given_at=NOON)
    assert not any("no opening on record" in client.get(page).content.decode() for page in pages)
    assert client.get("/api/v1/tables/TS-01/").json()["opening_on_record"] is True


def test_a_suspension_for_another_reason_cites_nothing_and_is_resumed_with_a_reason(house: House, clock: Any) -> None:
    table = open_table(house, **DIVISION)
    step = do(house, table_suspend, table, reason="A spilled drink", cause="other")
    assert (step.cause, step.rules) == ("other", [])
    resumed = do(house, table_resume, table, reason="Dry again")
    assert (resumed.rules, resumed.checked_by) == ([], None)
    with pytest.raises(ValidationError, match="Choose why play stops: malfunction or other"):
        do(house, table_suspend, table, cause="weather")


@pytest.mark.parametrize("rulebook", [V6, OPEN_COVER])
def test_the_rws_rules_say_nothing_of_suspensions(house: House, clock: Any, rulebook: str) -> None:
    table = ready_table(house, rulebook=rulebook)
    do(house, table_open, table)
    assert do(house, table_suspend, table).rules == []


def test_a_suspended_table_is_resumed_or_closed(house: House, clock: Any) -> None:
    table = open_table(house)
    do(house, table_suspend, table)
    do(house, table_resume, table)
    assert state(table) == "open"
    do(house, table_suspend, table)
    do(house, table_close, table, notice_given_at=NOON)
    assert state(table) == "closed"


def test_a_table_is_not_resumed_with_dice_that_failed(house: House, clock: Any) -> None:
    table = open_table(house)
    do(house, table_suspend, table)
    dice_inspect(
        actor=house["pit-supervisor"], dice_set=table.dice_fits.get().dice_set, result="seal-broken", seal_found="",
        remarks="Torn",
    )  # fmt: skip
    with pytest.raises(ValidationError, match="not fit for play"):
        do(house, table_resume, table)
    assert state(table) == "suspended"


@pytest.mark.parametrize(
    ("before", "what", "fault"),
    [
        ((), table_close, "TS-01 is closed; that takes a table that is open or suspended"),
        ((), table_suspend, "TS-01 is closed; that takes a table that is open"),
        ((), table_resume, "TS-01 is closed; that takes a table that is suspended"),
        ((table_open,), table_open, r"is open since 2026-11-15T20:00:00\+08:00; that takes a table that is closed"),
        ((table_open,), table_resume, "is open since .*; that takes a table that is suspended"),
        ((table_open, table_suspend), table_suspend, "is suspended since .*; that takes a table that is open"),
        ((table_open, table_suspend), table_open, "is suspended since .*; that takes a table that is closed"),
        ((table_open, table_close), table_close, "is closed since .*; that takes a table that is open or suspended"),
    ],
)
def test_the_wrong_order_and_a_second_click_change_nothing_and_are_told(
    house: House, clock: Any, before: tuple[Any, ...], what: Any, fault: str
) -> None:
    table = ready_table(house)

    def go(one: Any) -> None:
        do(house, one, table, **notice(one))

    for one in before:
        go(one)
    history = table.history.count()
    with pytest.raises(ValidationError, match=fault):
        go(what)
    assert (len(steps(table)), table.history.count()) == (len(before), history)


@pytest.mark.parametrize("what", [table_open, table_close, table_suspend, table_resume])
def test_every_step_asks_why(house: House, clock: Any, what: Any) -> None:
    table = ready_table(house) if what is table_open else open_table(house)
    if what is table_resume:
        do(house, table_suspend, table)
    before = (state(table), steps(table))
    with pytest.raises(ValidationError, match="Say why"):
        do(house, what, table, reason=" ", **notice(what))
    assert (state(table), steps(table)) == before


def test_the_history_tells_who_when_why_old_and_new(house: House, clock: Any) -> None:
    table = ready_table(house)
    clock.shift(MINUTE)
    do(house, table_open, table, reason="Start of shift")
    now, before = table.history.all()
    assert (now.history_user, now.history_date) == (house["pit-manager"], NOON + MINUTE)
    assert now.history_author == "PIT-MANAGER Person PIT-MANAGER, pit manager"
    assert now.history_change_reason == "Start of shift"
    assert {(change.field, change.old, change.new) for change in now.diff_against(before).changes} == {
        ("state", "closed", "open"),
        ("state_since", None, NOON + MINUTE),
    }


def test_limits_approved_for_a_table_let_it_open(house: House, clock: Any) -> None:
    table = bare_table(house)
    dice_fit(actor=house["pit-manager"], dice_set=dice_of(house), table=table, reason="New")
    limits = completed(table, sign())
    proposal = limits_propose(actor=house["pit-manager"], tables=[table], limits=limits, reason="First sign")
    with pytest.raises(ValidationError, match="no limits in force"):
        do(house, table_open, table)
    limits_approve(actor=house["shift-manager"], proposal=proposal, reason="Agreed")
    do(house, table_open, table)


def test_a_table_opened_twice_at_once_is_opened_once(clone: str) -> None:
    house = build_house()
    table = ready_table(house)
    answers = at_once(*(lambda: do(house, table_open, Table.objects.get(pk=table.pk)) for _ in range(2)))
    (told,) = (answer for answer in answers if isinstance(answer, Exception))
    assert isinstance(told, ValidationError)
    assert "TS-01 is open since" in told.messages[0]
    assert (steps(table), table.history.count()) == (["open"], 2)


def test_5_0_other_dice_in_a_suspended_table_mean_another_opening(house: House, clock: Any) -> None:
    table = open_table(house, rulebook=DIVISION_9, layout="2")
    manager = house["shift-manager"]
    table_suspend(actor=manager, table=table, reason="Cracked die")
    clock.shift(MINUTE)
    dice_remove(actor=manager, table=table, reason="Cracked die")
    dice_fit(actor=manager, dice_set=dice_of(house, "D-NEW"), table=table, reason="New dice")
    with pytest.raises(ValidationError, match="were changed; close it, and open it after its checks"):
        table_resume(actor=manager, table=table, reason="New dice")
