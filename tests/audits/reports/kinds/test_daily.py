"""Daily results: by table, pit and casino; day, month and year to date; and where a table's days count."""

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audits.models import DaySummary
from audits.reports.kinds.daily import Daily
from games.access.gate import capacities
from games.access.services.people import staff_update
from games.floor.services.casinos import casino_update
from games.floor.services.tables import table_assign, table_create
from games.models import Round, Table
from tests.audits.playing import BORDER, DAY, DAY_BEFORE, drain, played, record, summary_of, table_for
from tests.audits.reports.asking import asked_by
from tests.audits.reports.columns import asked_in_post, named
from tests.conftest import OPERATOR, House
from tests.games.engine.oracle import OPEN_COVER, V6
from tests.games.floor_setup import HOUR, MINUTE, NOON, SECOND, START, completed, put_sign, sign
from tests.games.rounds.samples import bet

ONE_DAY = dt.timedelta(days=1)
PLACE = ("gaming_day", "span", "level", "pit", "table")
FIGURES = ("rounds", "bets", "turnover", "house_recorded", "house_expected", "theoretical", "sigma", "hold")
SPANS = ("day", "month to date", "year to date")
WON, LOST = bet(net="100.00"), bet("seat-2", "big", "50.00", net="-50.00")


def moved(house: House, table: Table, at: dt.datetime, pit: str = "P2", **changes: Any) -> None:
    values: dict[str, Any] = {"rulebook": V6, "layout": "C", "chip_unit": "1.00", "reason": "Moved"} | changes
    table_assign(actor=OPERATOR, table=table, pit=house.pits[pit], starts_at=at, **values)


def report(house: House, first: dt.date = DAY, last: dt.date = DAY, **more: Any) -> Daily:
    return Daily(asked_by(house["compliance"], first, last, **more))


def sigma(*summaries: DaySummary) -> int:
    return round(math.sqrt(sum(summary.variance_scaled for summary in summaries) / 216**3))


def test_a_day_with_one_round_to_the_cell(house: House, table: Table) -> None:
    record(played("R-1", bet(net="90.00"), LOST))  # on 1, 3, 6 Small wins 100: 10 too little was paid
    drain()
    # The house has 50 − 100 on 105 throws, 100 − 50 on 105, 150 on the 6 triples: 900 / 216 = 4.17.
    cells = (1, 2, 15000, -4000, -5000, 417, sigma(summary_of(table)), Decimal("-26.67"), 1, 0, 0, 0, 0, 0)
    assert named(report(house)) == [
        (DAY, span, *place, *cells)
        for span in SPANS
        for place in (("table", "RWS", "P1", "TS-01"), ("pit", "RWS", "P1", None), ("casino", "RWS", None, None))
    ]


def test_tables_then_pits_then_the_casino_day_by_day_and_to_date_at_the_end(house: House, table: Table) -> None:
    table_for(house, "TS-02")
    table_for(house, "TS-00", pit="P2")
    record(played("R-1"), played("R-2", table="TS-02"), played("R-3", table="TS-00"))
    record(played("R-4", at=NOON - ONE_DAY), played("R-5", at=NOON - 20 * ONE_DAY))
    drain()
    places = [("table", "P2", "TS-00"), ("table", "P1", "TS-01"), ("table", "P1", "TS-02"),
              ("pit", "P1", None), ("pit", "P2", None), ("casino", None, None)]  # fmt: skip
    alone = [("table", "P1", "TS-01"), ("pit", "P1", None), ("casino", None, None)]
    whole = report(house, DAY_BEFORE, DAY)
    assert named(whole, *PLACE) == [
        *((DAY_BEFORE, "day", *place) for place in alone),
        *((DAY, span, *place) for span in SPANS for place in places),
    ]
    to_date = {(row[1], row[2], row[5]): row[6] for row in whole.rows()}
    assert [to_date[span, "table", "TS-01"] for span in SPANS] == [1, 2, 3]  # 26 October is another month
    assert [to_date[span, "casino", None] for span in SPANS] == [3, 4, 5]
    assert whole.totals() is None


def test_sigma_is_the_root_of_summed_variances_and_the_theoretical_result_is_rounded_once(
    house: House, table: Table
) -> None:
    other = table_for(house, "TS-02")
    record(played("R-1", WON), played("R-2", bet(stake="70.00", net="70.00"), table="TS-02"))
    drain()
    *tables, pit, casino = named(report(house), *FIGURES)[:4]
    both = (summary_of(table), summary_of(other))
    assert [row[6] for row in tables] == [round(one.deviation) for one in both]
    assert pit == casino
    assert pit[6] == sigma(*both) < sum(row[6] for row in tables)
    assert pit[5] == round(sum(one.mean_216 for one in both) / 216)
    assert pit[:5] == (2, 2, 17000, -17000, -17000)
    assert pit[7] == Decimal("-100.00")


def test_a_table_that_moved_counts_where_it_was_when_the_day_began(house: House, table: Table, clock: Any) -> None:
    clock.move_to(NOON + ONE_DAY)
    record(played("R-1", at=BORDER - HOUR), played("R-2", at=BORDER + HOUR))
    moved(house, table, BORDER + 2 * HOUR)  # in the middle of the 15th
    record(played("R-3", at=BORDER + 3 * HOUR), played("R-4", at=BORDER + 25 * HOUR))
    drain()
    rows = named(report(house, DAY_BEFORE, DAY + ONE_DAY), *PLACE, "rounds")
    pits = [(day, pit, rounds) for day, span, level, pit, _, rounds in rows if (span, level) == ("day", "pit")]
    assert pits == [(DAY_BEFORE, "P1", 1), (DAY, "P1", 2), (DAY + ONE_DAY, "P2", 1)]
    to_date = [(level, pit, rounds) for _, span, level, pit, _, rounds in rows if span == "month to date"]
    assert to_date == [("table", "P1, P2", 4), ("pit", "P1", 3), ("pit", "P2", 1), ("casino", None, 4)]


def test_a_move_at_the_first_moment_of_a_day_counts_for_that_day(house: House, table: Table) -> None:
    record(played("R-1", at=BORDER - HOUR))
    moved(house, table, BORDER)
    record(played("R-2", at=BORDER + HOUR))
    drain()
    rows = named(report(house, DAY_BEFORE, DAY), *PLACE)
    assert [row[3] for row in rows if row[1:3] == ("day", "pit")] == ["P1", "P2"]


def test_a_table_that_was_re_ruled_in_mid_day_has_one_row_for_the_whole_day(house: House, table: Table) -> None:
    record(played("R-1", at=BORDER + HOUR))
    moved(house, table, BORDER + 2 * HOUR, "P1", rulebook=OPEN_COVER)
    record(played("R-2", at=BORDER + 3 * HOUR))
    drain()
    assert set(Round.objects.values_list("assignment__rulebook", flat=True)) == {V6, OPEN_COVER}
    cells = (DAY, "day", "table", "P1", "TS-01", 2, 20000, -20000, -20000)
    assert named(report(house), *PLACE, "rounds", "turnover", "house_recorded", "house_expected")[0] == cells


def test_a_table_set_up_during_a_day_counts_where_it_was_set_up(house: House, clock: None) -> None:
    table = table_create(
        actor=OPERATOR, casino=house.casino, pit=house.pits["P2"], code="TS-09", rulebook=V6, layout="C",
        chip_unit="1.00", starts_at=BORDER + HOUR, reason="New",
    )  # fmt: skip
    put_sign(table, completed(table, sign()), BORDER + HOUR)
    record(played("R-1", at=BORDER + 2 * HOUR, table="TS-09"))
    drain()
    assert [row[3] for row in named(report(house), *PLACE)[:3]] == ["P2", "P2", None]


def test_a_round_belongs_to_the_gaming_day_in_which_it_began(house: House, table: Table) -> None:
    record(played("R-1", at=BORDER - SECOND), played("R-2", at=BORDER + MINUTE))
    drain()
    for day in (DAY_BEFORE, DAY):
        assert named(report(house, day, day), "gaming_day", "span", "rounds")[0] == (day, "day", 1)


def test_a_night_with_a_clock_change(house: House, clock: Any) -> None:
    """In London the clocks go back on 25 October 2026: the gaming day of the 24th has 25 hours."""
    table = table_create(
        actor=OPERATOR, casino=house.other, pit=house.other_pit, code="L-1", rulebook=V6, layout="C", chip_unit="1.00",
        starts_at=START, reason="New",
    )  # fmt: skip
    put_sign(table, completed(table, sign()))
    six = dt.datetime(2026, 10, 25, 6, tzinfo=dt.UTC)  # 06:00 in London, in winter time again
    saturday = dt.date(2026, 10, 24)
    record(played("R-1", at=six - ONE_DAY - HOUR, table="L-1"), played("R-2", at=six - MINUTE, table="L-1"))
    record(played("R-3", at=six, table="L-1"))
    drain()
    reader = house.hire("LONDON", "compliance", casino=house.other)
    rows = named(Daily(asked_by(reader, saturday, saturday + ONE_DAY)), "gaming_day", "span", "level", "rounds")
    days = [(day, rounds) for day, span, level, rounds in rows if (span, level) == ("day", "table")]
    assert days == [(saturday, 2), (saturday + ONE_DAY, 1)]


def test_another_casino_and_another_pit_are_absent(house: House, table: Table) -> None:
    table_for(house, "TS-02", pit="P2")
    foreign = table_create(
        actor=OPERATOR, casino=house.other, pit=house.other_pit, code="L-1", rulebook=V6, layout="C", chip_unit="1.00",
        starts_at=START, reason="New",
    )  # fmt: skip
    put_sign(foreign, completed(foreign, sign()))
    record(played("R-1"), played("R-2", table="TS-02"), played("R-3", table="L-1"))
    drain()
    assert {row[3] for row in report(house).rows()} == {"RWS"}
    of_pit = Daily(asked_in_post(house["pit-manager"], DAY, DAY))
    own = [("table", "P1", "TS-01"), ("pit", "P1", None)]
    assert named(of_pit, *PLACE) == [(DAY, span, *place) for span in SPANS for place in own]
    assert len(of_pit.notes()) == 2
    assert [chart.title for chart in of_pit.charts()] == [
        "RWS P1: result by gaming day, with the theoretical result ± 2σ"
    ]
    one = report(house, table=Table.objects.get(code="TS-02"))
    assert named(one, *PLACE) == [(DAY, span, "table", "P2", "TS-02") for span in SPANS]


def test_a_pit_has_only_the_days_that_count_for_it(house: House, table: Table) -> None:
    record(played("R-1", at=BORDER - HOUR))
    moved(house, table, BORDER)
    record(played("R-2", at=BORDER + HOUR))
    drain()
    gone = Daily(asked_in_post(house["pit-manager"], DAY_BEFORE, DAY))
    assert list(gone.rows()) == []  # the table is in the other pit now
    manager = house.hire("PM-2", "pit-manager", pit=house.pits["P2"])
    assert capacities(manager)[0].pit_id == house.pits["P2"].pk
    rows = named(Daily(asked_in_post(manager, DAY_BEFORE, DAY)), *PLACE, "rounds")
    assert rows == [
        (DAY, span, *place, 1) for span in SPANS for place in (("table", "P2", "TS-01"), ("pit", "P2", None))
    ]


def test_people_of_every_casino_have_each_casino_for_itself(house: House, table: Table) -> None:
    foreign = table_create(
        actor=OPERATOR, casino=house.other, pit=house.other_pit, code="L-1", rulebook=V6, layout="C", chip_unit="1.00",
        starts_at=START, reason="New",
    )  # fmt: skip
    put_sign(foreign, completed(foreign, sign()))
    record(played("R-1"), played("R-2", table="L-1"))
    drain()
    casino_update(actor=OPERATOR, casino=house.other, changes={"currency": "GBP"}, reason="In London")
    group = house.hire("GROUP", "compliance")
    staff_update(actor=OPERATOR, staff=group, changes={"casino": None}, reason="Group")
    group.refresh_from_db()
    whole = Daily(asked_by(group, DAY, DAY))
    rows = named(whole, "casino", "span", "level", "rounds")
    assert [row for row in rows if row[1:3] == ("day", "casino")] == [
        ("ELSE", "day", "casino", 1), ("RWS", "day", "casino", 1)
    ]  # fmt: skip
    assert [chart.unit for chart in whole.charts()] == ["GBP", "SGD"]


def test_a_period_without_rounds_is_nil_whatever_came_before(house: House, table: Table) -> None:
    record(played("R-1", at=NOON - 2 * ONE_DAY))
    drain()
    nil = report(house)
    assert list(nil.counted_rows()) == []
    assert nil.nil() == "No rounds were played in the period."


def test_charts_show_a_month_of_results_and_findings_by_kind_and_table(house: House, table: Table) -> None:
    other = table_for(house, "TS-02")
    record(played("R-1", bet(net="90.00")), played("R-2", bet(net="110.00")), played("R-3", bet(net="80.00")))
    record(played("R-4", bet(net="90.00"), table="TS-02"), played("R-5", at=NOON - 30 * ONE_DAY))
    record(played("R-6", bet(net="1.00"), at=NOON - 31 * ONE_DAY))
    drain()
    results, kinds, tables = report(house).charts()
    assert (len(results.labels), results.labels[0], results.labels[-1], results.unit) == (31, "16 Oct", "15 Nov", "SGD")
    assert (results.line[0], results.line[1], results.line[-1]) == (-100.0, 0.0, -370.0)
    middle, wide = (
        (summary_of(table).mean_216 + summary_of(other).mean_216) / 216,
        sigma(*DaySummary.objects.filter(gaming_day=DAY)),
    )
    assert results.low[-1] == pytest.approx((round(middle) - 2 * wide) / 100)
    assert results.high[-1] == pytest.approx((round(middle) + 2 * wide) / 100)
    assert (kinds.labels, kinds.bars) == (("Discrepancy: Underpaid", "Discrepancy: Overpaid"), (3, 1))
    assert (tables.labels, tables.bars) == (("TS-01", "TS-02"), (3, 1))


def test_the_number_of_queries_depends_on_nothing(house: House, table: Table) -> None:
    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as seen:
            assert list(report(house, DAY_BEFORE, DAY).rows())
        return len(seen)

    record(played("R-1"))
    drain()
    few = queries()
    for number in range(2, 8):
        table_for(house, f"TS-0{number}", pit="P1" if number % 2 else "P2")
        record(
            played(f"R-{number}", table=f"TS-0{number}"),
            played(f"R-9{number}", table=f"TS-0{number}", at=NOON - ONE_DAY),
        )
    drain()
    assert queries() == few
