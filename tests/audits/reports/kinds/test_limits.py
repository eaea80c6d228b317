"""The report of limits: every sign in force in the period, who decided, and tables that moved or were re-ruled."""

import datetime as dt
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audits.reports.kinds.limits import LimitsInForce
from games.engine.signs.limits import Limits
from games.floor.services.tables import table_assign, table_create
from games.limits.services.proposals import limits_approve, limits_propose
from games.models import LimitSet, Table
from tests.audits.playing import BORDER, DAY
from tests.audits.reports.asking import asked_by
from tests.audits.reports.columns import asked_in_post, named
from tests.conftest import OPERATOR, House
from tests.games.engine.oracle import OPEN_COVER, V6
from tests.games.floor_setup import HOUR, MINUTE, NOON, START, bare_table, dropped, put_sign, sign

ONE_DAY = dt.timedelta(days=1)
ENDS = BORDER + ONE_DAY  # of the gaming day
RULES, OPEN_RULES = "Tai Sai (RWS), Game Rules, version 6", "Tai Sai (Open Cover) (RWS), Game Rules, version 5"
PROPOSER, APPROVER = "PIT-MANAGER Person PIT-MANAGER, pit manager", "SHIFT-MANAGER Person SHIFT-MANAGER, shift manager"
LOADED = (None, None, None, None, None, "File", "floor.toml, loaded by Operator of the machine", False)
PLAIN = sign({"big-small": (50, 3000)})
SHOWN = ("table", "pit", "layout", "bet", "minimum", "from", "to")


@pytest.fixture
def table(house: House, clock: Any) -> Table:
    return signed(house)


def signed(house: House, code: str = "TS-01", limits: Limits = PLAIN, **game: Any) -> Table:
    table = bare_table(house, code, **game)
    put_sign(table, limits)
    return table


def assigned(house: House, table: Table, at: dt.datetime, pit: str = "P1", **changes: Any) -> None:
    values: dict[str, Any] = {"rulebook": V6, "layout": "A", "chip_unit": "1.00", "reason": "Changed"} | changes
    table_assign(actor=OPERATOR, table=table, pit=house.pits[pit], starts_at=at, **values)


def changed(house: House, table: Table, limits: Limits, **more: Any) -> LimitSet:
    remove = dropped(limits, table, at=more.get("starts_at"))
    proposal = limits_propose(
        actor=house["pit-manager"], tables=[table], limits=limits, reason="Busy night", remove=remove, **more
    )
    (found,) = limits_approve(actor=house["shift-manager"], proposal=proposal, reason="Agreed", remove=remove)
    return found


def report(house: House, first: dt.date = DAY, last: dt.date = DAY, **more: Any) -> LimitsInForce:
    return LimitsInForce(asked_by(house["compliance"], first, last, **more))


def test_a_sign_from_a_file_to_the_cell_in_the_order_of_the_pay_table(house: House, clock: Any) -> None:
    limits = sign(
        {"total": (20, 500), "single": (25, 1000), "total-4": (10, 100), "small": (50, 3000), "big": (50, 2000)},
        {"big-small": 1500},
    )
    signed(house, limits=limits)
    place, always = ("TS-01", "P1", RULES, "A"), (START, None)
    assert named(report(house)) == [
        (*place, "Big/Small", None, None, 150000, *always, *LOADED),
        (*place, "Big", 5000, 200000, None, *always, *LOADED),
        (*place, "Small", 5000, 300000, None, *always, *LOADED),
        (*place, "Single", 2500, 100000, None, *always, *LOADED),
        (*place, "Total", 2000, 50000, None, *always, *LOADED),
        (*place, "Total 4", 1000, 10000, None, *always, *LOADED),
    ]


def test_minimum_maximum_and_differential_of_a_bet_type_are_one_row(house: House, clock: Any) -> None:
    signed(house, limits=sign({"big-small": (50, 3000)}, {"big-small": 1500}))
    assert named(report(house), "bet", "minimum", "maximum", "differential") == [("Big/Small", 5000, 300000, 150000)]


def test_an_approved_change_says_who_when_and_with_how_much_notice(house: House, table: Table) -> None:
    since = NOON + 45 * MINUTE
    changed(house, table, sign({"big-small": (100, 3000)}), starts_at=since)
    before, after = named(report(house))
    assert before[8:10] == (START, since)
    assert after == (
        "TS-01", "P1", RULES, "A", "Big/Small", 10000, 300000, None, since, None, PROPOSER, NOON, APPROVER, NOON,
        45, "Proposal", "Busy night", False,
    )  # fmt: skip


def test_a_correction_is_marked_and_what_it_corrects_was_never_in_force(house: House, table: Table) -> None:
    changed(house, table, sign({"big-small": (75, 3000)}), starts_at=START, is_correction=True)
    changed(house, table, sign({"big-small": (80, 3000)}), starts_at=NOON - HOUR, is_correction=True)
    rows = named(report(house), "minimum", "from", "to", "notice_minutes", "origin", "is_correction")
    assert rows == [
        (7500, START, NOON - HOUR, None, "Proposal", True),
        (8000, NOON - HOUR, None, None, "Proposal", True),
    ]


def test_the_period_is_the_gaming_day_from_its_first_moment_until_the_next_one(house: House, table: Table) -> None:
    for number, moment in enumerate((BORDER, ENDS - MINUTE, ENDS), start=1):
        put_sign(table, sign({"big-small": (50 + number, 3000)}), moment)
    rows = named(report(house), "minimum", "from", "to")
    assert rows == [(5100, BORDER, ENDS - MINUTE), (5200, ENDS - MINUTE, ENDS)]  # neither what ended nor what begins


def test_a_table_that_moved_in_mid_period_has_its_sign_once_for_each_pit(house: House, table: Table) -> None:
    assigned(house, table, NOON, "P2")
    put_sign(table, sign({"big-small": (60, 3000)}), NOON + HOUR)
    assert named(report(house), *SHOWN) == [
        ("TS-01", "P1", "A", "Big/Small", 5000, START, NOON),
        ("TS-01", "P2", "A", "Big/Small", 5000, NOON, NOON + HOUR),
        ("TS-01", "P2", "A", "Big/Small", 6000, NOON + HOUR, None),
    ]


def test_a_table_that_was_re_ruled_in_mid_period_has_its_sign_under_both_rules(house: House, table: Table) -> None:
    assigned(house, table, NOON - HOUR, rulebook=OPEN_COVER, layout="C")
    assert named(report(house), "rulebook", "layout", "from", "to") == [
        (RULES, "A", START, NOON - HOUR),
        (OPEN_RULES, "C", NOON - HOUR, None),
    ]
    assert named(report(house, DAY + ONE_DAY, DAY + ONE_DAY), "rulebook") == [(OPEN_RULES,)]


def test_tables_in_order_and_neither_another_casino_nor_another_pit(house: House, table: Table) -> None:
    signed(house, "TS-03", pit="P2")
    signed(house, "TS-00")
    foreign = table_create(
        actor=OPERATOR, casino=house.other, pit=house.other_pit, code="L-1", rulebook=V6, layout="A", chip_unit="1.00",
        starts_at=START, reason="New",
    )  # fmt: skip
    put_sign(foreign, PLAIN)
    assert named(report(house), "table") == [("TS-00",), ("TS-01",), ("TS-03",)]
    assert named(report(house, table=table), "table") == [("TS-01",)]
    own = asked_in_post(house["pit-manager"], DAY, DAY)
    assert named(LimitsInForce(own), "table") == [("TS-00",), ("TS-01",)]


def test_a_pit_manager_sees_a_table_that_came_from_another_pit_since_it_came(house: House, clock: Any) -> None:
    table = signed(house, pit="P2")
    assigned(house, table, NOON - HOUR, "P1")
    own = asked_in_post(house["pit-manager"], DAY, DAY)
    assert named(LimitsInForce(own), *SHOWN) == [("TS-01", "P1", "A", "Big/Small", 5000, NOON - HOUR, None)]


def test_a_day_on_which_the_clocks_change_has_its_own_length(house: House, clock: Any) -> None:
    """In London the clocks go back on 25 October 2026: the gaming day of the 24th ends at 06:00 UTC, not at 05:00."""
    table = table_create(
        actor=OPERATOR, casino=house.other, pit=house.other_pit, code="L-1", rulebook=V6, layout="A", chip_unit="1.00",
        starts_at=START, reason="New",
    )  # fmt: skip
    five = dt.datetime(2026, 10, 25, 5, tzinfo=dt.UTC)
    put_sign(table, sign({"big-small": (50, 3000)}), five + 30 * MINUTE)
    put_sign(table, sign({"big-small": (60, 3000)}), five + HOUR)
    reader = house.hire("LONDON", "compliance", casino=house.other)
    saturday = dt.date(2026, 10, 24)
    assert named(LimitsInForce(asked_by(reader, saturday, saturday)), "minimum") == [(5000,)]
    sunday = saturday + ONE_DAY
    assert named(LimitsInForce(asked_by(reader, sunday, sunday)), "minimum") == [(6000,)]


def test_nil(house: House, table: Table) -> None:
    nil = report(house, dt.date(2025, 12, 1), dt.date(2025, 12, 30))
    assert named(nil) == []
    assert nil.nil() == "No limits were in force in the period."
    assert nil.totals() is None


def test_the_number_of_queries_does_not_depend_on_the_signs(house: House, table: Table) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as seen:
            assert list(report(house).rows())
        return len(seen)

    few = queries()
    for number in range(2, 7):
        other = signed(house, f"TS-0{number}")
        put_sign(other, sign({"big-small": (60, 3000), "single": (25, 1000)}), NOON)
        assigned(house, other, NOON + HOUR, "P2")
    assert queries() == few
