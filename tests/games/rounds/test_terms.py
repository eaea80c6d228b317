"""What applies at a table at a moment: each part, at the turn of each, as known now and as known then."""

import datetime as dt
from typing import Any

import pytest

from games.engine.rules.loader import rulebook
from games.engine.signs.limits import Limits
from games.floor.moments import gaming_day
from games.floor.services.dice import dice_fit, dice_remove
from games.floor.services.tables import table_assign, table_close, table_open, table_resume, table_suspend
from games.limits.selectors import limits_at
from games.models import SettlementPolicy, Table
from games.rounds.terms import NoGameError, TermsCache, TermsHistory, terms_at
from games.settlement_policies.selectors import Policy
from tests.conftest import OPERATOR, House
from tests.games.engine.oracle import DIVISION_9, OPEN_COVER, V6
from tests.games.floor_setup import (
    HOUR,
    MICROSECOND,
    MINUTE,
    NOON,
    START,
    bare_table,
    dice_of,
    open_table,
    put_sign,
    ready_table,
    sign,
)

LIMITS = 5  # queries: limit sets with lines and Differentials, the assignment, the policies


@pytest.fixture
def table(house: House, clock: Any) -> Table:
    """Open since eleven, with a sign and dice."""
    clock.move_to(NOON - HOUR)
    found = open_table(house, limits=sign({"big-small": (50, 3000)}, {"big-small": 2000}))
    clock.move_to(NOON)
    return found


def move(house: House, table: Table, starts_at: dt.datetime, **game: Any) -> None:
    values: Any = {"rulebook": V6, "layout": "A", "chip_unit": "1.00", "pit": house.pits["P1"], "reason": "Moved"}
    table_assign(actor=OPERATOR, table=table, starts_at=starts_at, **values | game)


def policy(house: House, starts_at: dt.datetime, ruling: str = "R-1", **setting: Any) -> SettlementPolicy:
    values: Any = {"rulebook": V6, "casino": house.casino, "who": "Test"}
    return SettlementPolicy.objects.create(starts_at=starts_at, ruling=ruling, **values | setting)


# --- Each part ---


def test_all_that_applies_at_an_open_table(house: House, table: Table) -> None:
    terms = terms_at(table, NOON)
    assert (terms.table, terms.moment, terms.known_at) == (table, NOON, None)
    assert terms.assignment == table.assignments.get()
    assert (terms.book, terms.layout) == (rulebook(V6), rulebook(V6).layouts["A"])
    assert terms.limit_set == table.limit_sets.get()
    assert terms.limit_set.sheet.limits(100) == terms.limits
    assert (terms.limits.by_key["big-small"].maximum, terms.limits.differential["big-small"]) == (300_000, 200_000)
    assert (terms.chip_unit, terms.policy) == (100, Policy())
    assert terms.dice == table.dice_fits.get()
    assert terms.tumbler == table.tumbler_fits.get()
    assert (terms.state, terms.unavailable_in_play) == ("open", None)
    assert terms.gaming_day == dt.date(2026, 11, 15) == gaming_day(house.casino, NOON)


def test_what_is_not_asked_is_not_read(table: Table, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        terms = terms_at(table, NOON)
    for part, queries in (("assignment", 1), ("book", 0), ("layout", 0), ("dice", 1), ("limits", LIMITS - 1)):
        with django_assert_num_queries(queries):
            getattr(terms, part)
    with django_assert_num_queries(LIMITS):
        assert terms_at(table, NOON).limits == terms.limits


def test_many_moments_are_read_once(table: Table, django_assert_num_queries: Any) -> None:
    history = TermsHistory(table)
    parts = ("assignment", "limits", "dice", "tumbler", "state", "gaming_day")
    first = history.at(NOON)
    for part in parts:
        getattr(first, part)
    with django_assert_num_queries(0):
        for moment in (START - HOUR, START, NOON - 2 * HOUR, NOON, NOON + HOUR):
            terms = history.at(moment)
            for part in parts:
                getattr(terms, part)


def test_before_the_first_game_nothing_applies(table: Table) -> None:
    terms = terms_at(table, START - MICROSECOND)
    assert (terms.assignment, terms.limit_set, terms.limits, terms.chip_unit) == (None, None, Limits(), 1)
    assert (terms.policy, terms.dice, terms.tumbler, terms.state) == (Policy(), None, None, None)
    for part in ("book", "layout", "unavailable_in_play"):
        with pytest.raises(NoGameError, match="TS-01 had no rulebook and layout at 2026-01-01T07:59:59"):
            getattr(terms, part)
    assert terms_at(table, START).assignment == table.assignments.get()


def test_a_table_without_a_sign_has_no_limits_and_its_chip_unit(house: House, clock: Any) -> None:
    terms = terms_at(bare_table(house, chip_unit="5.00"), NOON)
    assert (terms.limit_set, terms.limits) == (None, Limits(chip_unit=500))


# --- From one moment to the next ---


def test_a_table_that_was_moved_has_another_game_from_that_moment_on(house: House, clock: Any) -> None:
    table = bare_table(house)
    move(house, table, NOON + HOUR, rulebook=DIVISION_9, layout="1", chip_unit="0.50", pit=house.pits["P2"])
    before, after = (terms_at(table, at) for at in (NOON + HOUR - MICROSECOND, NOON + HOUR))
    assert (before.book.id, before.layout.code, before.chip_unit) == (V6, "A", 100)
    assert (after.book.id, after.layout.code, after.chip_unit) == (DIVISION_9, "1", 50)
    pits = [terms.assignment.pit if terms.assignment else None for terms in (before, after)]
    assert pits == [house.pits["P1"], house.pits["P2"]]


def test_limits_apply_until_the_next_ones_take_over(house: House, clock: Any) -> None:
    table = bare_table(house)
    first, second = put_sign(table), put_sign(table, sign({"single": (5, 100)}), starts_at=NOON)
    moments = (START - MICROSECOND, START, NOON - MICROSECOND, NOON)
    history = TermsHistory(table)
    assert [history.at(at).limit_set for at in moments] == [None, first, first, second]
    assert [terms_at(table, at).limit_set for at in moments] == [None, first, first, second]
    period = history.at(START).limit_period
    assert (period and period.ends_at) == NOON


def test_dice_that_were_taken_out_apply_no_more(house: House, clock: Any) -> None:
    table = ready_table(house)
    clock.move_to(NOON + HOUR)
    dice_remove(actor=house["shift-manager"], table=table, reason="Inspection")
    clock.move_to(NOON + 2 * HOUR)
    dice_fit(actor=house["shift-manager"], table=table, dice_set=dice_of(house, "D-02"), reason="Next set")
    moments = (NOON - MICROSECOND, NOON, NOON + HOUR - MICROSECOND, NOON + HOUR, NOON + 2 * HOUR)
    history = TermsHistory(table)
    for read in (history.at, lambda at: terms_at(table, at)):
        codes = [fit.dice_set.code if (fit := read(at).dice) else None for at in moments]
        assert codes == [None, "D-TS-01", "D-TS-01", None, "D-02"]


def test_the_state_is_that_after_the_last_step(house: House, clock: Any) -> None:
    table, boss = ready_table(house), house["shift-manager"]
    closing = {"notice_given_at": NOON + 2 * MINUTE}
    steps: list[Any] = [(table_open, {}), (table_suspend, {}), (table_resume, {}), (table_close, closing)]
    for step, said in steps:
        clock.shift(MINUTE)
        step(actor=boss, table=table, reason="Shift", **said)
    moments = [NOON + number * MINUTE for number in range(6)]
    assert [terms_at(table, at).state for at in moments] == [None, "open", "suspended", "open", "closed", "closed"]
    reasons = [found.kind if (found := terms_at(table, at).unavailable_in_play) else None for at in moments]
    assert reasons == [None, None, "table-suspended", None, "table-closed", "table-closed"]


def test_a_gaming_day_begins_at_the_casinos_hour(house: House, table: Table) -> None:
    turn = dt.datetime(2026, 11, 15, 22, tzinfo=dt.UTC)  # 06:00 in Singapore
    history = TermsHistory(table)
    assert [history.at(at).gaming_day.day for at in (turn - MICROSECOND, turn, NOON)] == [15, 16, 15]


# --- Settlement policies ---


def test_a_policy_takes_the_place_of_the_chip_unit_and_of_the_documents_way(house: House, table: Table) -> None:
    policy(house, NOON, rounding=2500, excess="filled")
    before, after = terms_at(table, NOON - MICROSECOND), terms_at(table, NOON)
    assert (before.limits.chip_unit, before.policy.excess, before.policy.rulings) == (100, None, ())
    assert (after.limits.chip_unit, after.policy.excess, after.policy.rulings) == (2500, "filled", ("R-1",))
    assert (after.chip_unit, after.limits.by_key) == (100, before.limits.by_key)


def test_a_policy_is_for_one_rulebook_of_one_casino(house: House, table: Table) -> None:
    policy(house, NOON, rounding=2500, casino=house.other)
    policy(house, NOON, rounding=5000, rulebook=OPEN_COVER)
    terms = terms_at(table, NOON)
    assert terms.policy.rulings == ()
    assert (terms.limits.chip_unit, terms.policy_of(OPEN_COVER).rounding) == (100, 5000)


# --- As known then ---


def test_what_was_recorded_later_was_not_known_then(house: House, clock: Any) -> None:
    table = bare_table(house)
    first = put_sign(table)
    clock.shift(HOUR)
    move(house, table, NOON + MINUTE, layout="C")
    second = put_sign(table, sign({"single": (5, 100)}), starts_at=NOON + MINUTE)
    policy(house, NOON + MINUTE, rounding=2500)
    at, known = NOON + 2 * MINUTE, NOON + HOUR
    then, now = terms_at(table, at, known - MICROSECOND), terms_at(table, at, known)
    assert (then.layout.code, then.limit_set, then.limits.chip_unit) == ("A", first, 100)
    assert (now.layout.code, now.limit_set, now.limits.chip_unit) == ("C", second, 2500)
    assert (then.known_at, now.known_at) == (known - MICROSECOND, known)
    assert terms_at(table, at).limits == now.limits
    assert terms_at(table, at, START).assignment is None  # the table was loaded later


def test_a_policy_that_was_replaced_later_was_in_force_as_known_then(house: House, table: Table, clock: Any) -> None:
    replaced = policy(house, NOON, rounding=2500)
    clock.shift(HOUR)
    policy(house, NOON + MINUTE, "R-2", rounding=5000, replaces=replaced)
    at = NOON + 2 * MINUTE
    then, now = terms_at(table, at, NOON + MINUTE), terms_at(table, at)
    assert (then.policy.rounding, then.policy.rulings) == (2500, ("R-1",))
    assert (now.policy.rounding, now.policy.rulings) == (5000, ("R-2",))


def test_the_sign_of_a_table_and_its_terms_are_one(table: Table) -> None:
    sign_at, terms = limits_at(table=table, at=NOON, known_at=NOON), terms_at(table, NOON, NOON)
    assert (sign_at.limit_set, sign_at.assignment) == (terms.limit_set, terms.assignment)
    assert sign_at.limits == terms.limits


# --- What a round keeps ---


def test_limits_that_were_never_in_force_with_a_pinned_game_do_not_apply(house: House, clock: Any) -> None:
    """They are for another layout, which may have other boxes."""
    table = bare_table(house)
    put_sign(table)
    move(house, table, NOON, rulebook=DIVISION_9, layout="1")
    later = put_sign(table, sign({"single": (5, 100)}), starts_at=NOON)
    history = TermsHistory(table)
    first, second = table.assignments.order_by("during")
    assert history.under(first, NOON).limits == Limits(chip_unit=100)
    assert (history.under(first, NOON).book.id, history.under(first, NOON).limit_set) == (V6, None)
    assert (history.under(second, NOON).book.id, history.under(second, NOON).limit_set) == (DIVISION_9, later)
    assert history.under(second, START).limit_set is None


def test_a_round_is_pinned_to_what_applies_when_it_begins(
    house: House, clock: Any, django_assert_num_queries: Any
) -> None:
    """At every turn of game, limits, dice and gaming day, in any order of the rounds."""
    table = ready_table(house)
    put_sign(table, sign({"single": (5, 100)}), starts_at=NOON + 3 * HOUR)
    move(house, table, NOON + 4 * HOUR, layout="C")
    clock.move_to(NOON + 2 * HOUR)
    dice_remove(actor=house["shift-manager"], table=table, reason="Inspection")
    turns = [START, NOON, *(NOON + hours * HOUR for hours in (2, 3, 4, 10, 34))]
    moments = [moment for turn in turns for moment in (turn - MICROSECOND, turn, turn + MINUTE)]
    shared = TermsCache().table("TS-01")
    assert shared is not None
    for moment in [*moments, *reversed(moments), *moments[::5], *moments[::3]]:
        pins, terms = shared.pins_at(moment), terms_at(table, moment)
        if terms.assignment is None:
            assert (pins, moment < START) == (None, True)
            continue
        assert pins is not None
        assert (pins.assignment_id, pins.book, pins.layout) == (terms.assignment.pk, terms.book, terms.layout)
        assert pins.limit_set_id == (terms.limit_set.pk if terms.limit_set else None)
        assert pins.dice_set_id == (terms.dice.dice_set_id if terms.dice else None)
        assert (pins.gaming_day, pins.day_ends > moment) == (terms.gaming_day, True)
        assert len(pins.boxes) == len(terms.layout.boxes)
    with django_assert_num_queries(0):
        assert shared.pins_at(NOON) is shared.pins_at(NOON + HOUR)
