"""The figures of a day, worked out by hand."""

from typing import Any

import pytest
from django.db import transaction

from audits.models import ClosedSummary, DayClose, Run
from audits.reconciliation.services.closing import days_to_close
from audits.reconciliation.services.runs import close_start, part_take
from audits.tasks import close_days
from games.models import Table
from games.rounds.services.recording import BOOKS_OPEN_FOR
from tests.audits.playing import (
    DAY,
    DAY_BEFORE,
    EARLIER,
    Happened,
    drain,
    everything,
    played,
    record,
    summary_of,
    table_for,
)
from tests.conftest import House, build_house
from tests.games.floor_setup import HOUR, MINUTE, SECOND
from tests.games.rounds.samples import bet
from tests.threads import at_once

VOID: list[Happened] = [("place-bets", 0, {}), ("no-more-bets", 20, {}), ("void", 30, {"rule": "5.6"})]
OPEN: list[Happened] = [("place-bets", 0, {}), ("no-more-bets", 20, {})]
DAY_ENDS = EARLIER.replace(hour=22, minute=0)  # 06:00 in Singapore


def test_a_day_by_hand(table: Table) -> None:
    late = (EARLIER + 1000 * SECOND).isoformat()
    record(
        # 1, 3, 6: Small pays 1 to 1, Big loses; 90 where 100 were due.
        played("R-1", bet(net="90.00"), bet("seat-2", "big", "50.00", net="-50.00")),
        # 4, 4, 4: every bet on Small loses (3.10). The refused one was never on the felt, the late one goes back.
        played("R-2", bet(net="-100.00"), bet("seat-2", refused=True), bet("seat-3", at=late, net="-7.00"),
               dice=(4, 4, 4)),
        played("R-3", bet(net="5.00"), events=VOID),  # 5 were not returned
        played("R-4", bet(net="1000.00"), events=OPEN),  # no result: neither turnover nor a house result
        played("R-5", bets=[]),
    )  # fmt: skip
    drain()
    one = summary_of(table)
    assert (one.rounds, one.settled, one.voids, one.unfinished, one.bets) == (5, 3, 1, 1, 7)
    assert one.turnover == 10000 + 5000 + 10000
    # Recorded: R-1 −90 + 50, R-2 100 + 7, R-3 −5. Expected: R-1 −100 + 50, R-2 100.
    assert (one.house_recorded, one.house_expected, one.difference) == (-4000 + 10700 - 500, -5000 + 10000, 1200)
    # Small and Big win on 105 of 216 throws each, and both lose on the 6 triples.
    # the house has 50 − 100 on 105 throws, 100 − 50 on 105, 150 on 6: sum 900, mean 900/216.
    # −100 on 105, 100 on 111: sum 600.
    assert one.mean_216 == (900 + 600) * 100
    assert one.theoretical == 694  # 1500/216 = 6.9444…
    # Squares: R-1 210 × 50² + 6 × 150² = 660,000, so 660,000/216 − (900/216)²; R-2 100² − (600/216)².
    # Times 216³ and in cents: 216² × Σ − 216 × sum², each × 100².
    r_1 = 216**2 * 660_000 - 216 * 900**2
    r_2 = 216**2 * 216 * 10_000 - 216 * 600**2
    assert one.variance_scaled == (r_1 + r_2) * 100**2
    assert one.deviation == pytest.approx(((r_1 + r_2) / 216**3) ** 0.5 * 100)
    assert one.kinds == {
        "discrepancy underpaid": 1, "discrepancy void-not-returned": 2, "irregularity refuse": 1,
        "irregularity unfinished": 1, "irregularity void-affected": 1,
    }  # fmt: skip
    assert (one.discrepancies, one.irregularities, one.breaches, one.procedural, one.findings) == (3, 3, 0, 0, 6)


def test_what_was_cut_off_is_turned_over_and_not_at_risk(table: Table) -> None:
    record(played("R-1", bet(stake="4000.00", net="3000.00")))  # Small holds 3,000
    drain()
    one = summary_of(table)
    assert (one.turnover, one.house_expected) == (400000, -300000)
    assert one.mean_216 == 6 * 300000  # of what counts: 111 − 105 throws


# --- The close of a day ---


def closable() -> list[tuple[str, Any]]:
    return [(casino.code, day) for casino, day in days_to_close()]


def test_books_are_closed_once_they_have_been_open_long_enough_by_the_casino_s_clock(
    house: House, table: Table, clock: Any
) -> None:
    record(played("R-1"), played("R-2", at=EARLIER - 24 * HOUR))
    drain()
    clock.move_to(DAY_ENDS + BOOKS_OPEN_FOR - SECOND)
    assert closable() == [("RWS", DAY_BEFORE)]
    clock.shift(SECOND)
    assert closable() == [("RWS", DAY_BEFORE), ("RWS", DAY)]
    close_start(casino=table.casino, day=DAY_BEFORE, who="The system")
    assert closable() == [("RWS", DAY)]


def test_a_closed_day_keeps_its_figures_and_a_late_round_changes_the_current_ones(
    house: House, table: Table, clock: Any
) -> None:
    other = table_for(house, "TS-02")
    record(played("R-1", bet(net="90.00")), played("R-2", table="TS-02"))
    drain()
    clock.move_to(DAY_ENDS + BOOKS_OPEN_FOR)
    run = close_start(casino=table.casino, day=DAY, who="The system")
    first, second = run.parts.order_by("pk")
    part_take(key=first.pk)
    assert not DayClose.objects.exists()
    part_take(key=second.pk)
    close = DayClose.objects.get()
    assert (close.casino, close.gaming_day, close.run.state) == (table.casino, DAY, "done")
    frozen = ClosedSummary.objects.get(table=table)
    assert (frozen.rounds, frozen.discrepancies, frozen.house_recorded) == (1, 1, -9000)
    assert frozen.kinds == {"discrepancy underpaid": 1}
    assert ClosedSummary.objects.get(table=other).rounds == 1
    before = everything("audits_closedsummary", "audits_dayclose")
    record(played("R-3", bet(net="80.00")))
    drain()
    close_days()
    assert summary_of(table).discrepancies == 2
    assert everything("audits_closedsummary", "audits_dayclose") == before


def test_two_closers_at_once_close_a_day_once(clone: str, clock: Any) -> None:
    table = table_for(build_house())
    record(played("R-1", bet(net="90.00")))
    drain()
    clock.move_to(DAY_ENDS + BOOKS_OPEN_FOR + MINUTE)

    def close() -> None:
        """Both know of the day before either has begun to close it."""
        days = list(days_to_close())
        with transaction.atomic():
            list(Table.objects.select_for_update().filter(pk=table.pk))
        for casino, day in days:
            close_start(casino=casino, day=day, who="The system")

    answers = at_once(close, close)
    assert sorted(type(answer).__name__ for answer in answers) == ["IntegrityError", "NoneType"]
    run = Run.objects.get(kind="close")
    for key in run.parts.values_list("pk", flat=True):
        part_take(key=key)
    assert DayClose.objects.get().run_id == run.pk
    close_days()
    assert Run.objects.filter(kind="close").count() == 1
