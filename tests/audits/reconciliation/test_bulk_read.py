"""Rounds that come in columns are those that the ORM reads one by one."""

import datetime as dt
import sys
from typing import Any

import numpy as np
import pytest

from audits.reconciliation import bulk_read
from audits.reconciliation.bulk_read import BY_ENGINE, EARLY, IRREGULAR, RARE, STATUS, TIMED, Arrays, Bools, rounds_of
from audits.reconciliation.postgres_time import EPOCH, MICROSECOND, microseconds, moment_of
from games.engine.rules.loader import rulebook
from games.models import Casino, Outbox, Round, Table
from tests.audits.playing import BORDER, DAY, EARLIER, RIGHT, Happened, drain, played, record
from tests.games.floor_setup import MICROSECOND as SHORT
from tests.games.floor_setup import NOON, SECOND
from tests.games.rounds.samples import bet


@pytest.fixture(params=["as kept", "array_send"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways in which arrays come: the second one where no superuser has made the function."""
    if request.param == "array_send":
        monkeypatch.setattr(bulk_read, "arrays_here", lambda: Arrays("array_send"))
    return str(request.param)


HUGE = "1000000000000.00"  # the largest amount that is taken


def cut(table: Table, **which: Any) -> dict[int, dict[str, Any]]:
    """Every round of the day as it was cut, by its key."""
    found: dict[int, dict[str, Any]] = {}
    for block in rounds_of(table, DAY, **which):
        ends = np.cumsum(block.sizes)
        for place, key in enumerate(block.ids.tolist()):
            bets = slice(int(ends[place] - block.sizes[place]), int(ends[place]))
            assert key not in found
            found[key] = {
                "started_at": moment_of(block.started_at[place]), "ended_at": moment_of(block.ended_at[place]),
                "assignment": int(block.assignments[place]), "throw": int(block.throws[place]),
                "status": int(block.flags[place] & STATUS), "stakes": block.stakes[bets].tolist(),
                "nets": block.nets[bets].tolist(), "boxes": block.boxes[bets].tolist(),
                "counts": truths(block.counts, bets), "compared": truths(block.compared, bets),
                "flags": int(block.flags[place]), "crew": int(block.crews[place]),
            }  # fmt: skip
    return found


def truths(column: Bools | None, bets: slice) -> list[bool]:
    return [True] * (bets.stop - bets.start) if column is None else list(column[bets].tolist())


def read_by_orm(round_: Round) -> dict[str, Any]:
    count = len(round_.players)
    late, refused, withdrawn = (flags or [False] * count for flags in (round_.late, round_.refused, round_.withdrawn))
    dice = round_.dice
    return {
        "started_at": round_.started_at, "ended_at": round_.ended_at, "assignment": round_.assignment_id,
        "throw": (dice[0] - 1) * 36 + (dice[1] - 1) * 6 + dice[2] - 1 if dice else -1,
        "status": ["settled", "void", "unfinished"].index(round_.status), "stakes": round_.stakes, "nets": round_.nets,
        "boxes": round_.boxes,
        "counts": [not any(out) for out in zip(late, refused, withdrawn, strict=True)],
        "crew": (round_.dealer_staff_id or (2**31 - 1 if round_.dealer else 0)) * 2**32
        + (round_.supervisor_staff_id or (2**31 - 1 if round_.supervisor else 0)),
        "compared": round_.nets_given or [True] * count,
    }  # fmt: skip


def assert_equal(table: Table) -> dict[str, int]:
    """Both readings agree; returns the flags of each round."""
    found = cut(table)
    rounds = list(Round.objects.filter(table=table, gaming_day=DAY))
    assert set(found) == {round_.pk for round_ in rounds}
    flags = {round_.ref: found[round_.pk].pop("flags") for round_ in rounds}
    for round_ in rounds:
        assert found[round_.pk] == read_by_orm(round_), round_.ref
    return flags


@pytest.fixture
def oddities(table: Table) -> Table:
    in_time, late, too_late = ((EARLIER + second * SECOND).isoformat() for second in (60, 1200, 1960))
    unfinished: list[Happened] = [("place-bets", 0, {}), ("no-more-bets", 20, {})]
    void: list[Happened] = [*unfinished, ("void", 30, {"rule": "5.6"})]
    without_tumbler: list[Happened] = [*unfinished, ("result", 30, {"dice": [6, 6, 6]}), ("settled", 40, {})]
    few: list[Happened] = [*without_tumbler, ("tumbler", 22, {"tumbles": 2})]  # read in order of time
    record(
        played("plain-1"), played("plain-2", RIGHT, bet("seat-2", "big", HUGE, net=f"-{HUGE}"), dice=(6, 6, 6)),
        played("none-3", bets=[]), played("none-4", bets=[], events=unfinished),
        played("late-5", RIGHT, bet("seat-2", at=late, net="0.00")), played("refused-6", bet(refused=True)),
        played("open-7", bet(), bet("seat-2", net="-0.01"), events=unfinished),
        played("void-8", bet("seat-2"), bet("seat-3", stake=HUGE, net=HUGE), events=void),
        played("all-9", bet(refused=True, at=late), bet("seat-2", at=late), bet("seat-3"), events=void),
        played("early-10", bet(net="100.00", at=(EARLIER - SECOND).isoformat())),
        played("few-11", events=few), played("short-12", events=without_tumbler),
        played("moment-13", at=BORDER + SHORT),
        played("back-15", bet(withdrawn=in_time), bet("seat-2", net="9.00"), dealer="DEALER", supervisor="X"),
        played("back-16", bet(withdrawn=too_late, net="100.00"), supervisor="PIT-SUPERVISOR"),
        played("power-17", events=[*unfinished, ("interruption", 30, {"known_dice": "2,?,?"})]),
        played("every-14", *(bet(f"seat-{code}", code, "25.00", net="1.00") for code in boxes_of_c())),
    )  # fmt: skip
    return table


def boxes_of_c() -> list[str]:
    return list(rulebook("rws-tai-sai-v6").layouts["C"].boxes)


def test_every_kind_of_round_is_read_as_it_is_on_record(oddities: Table) -> None:
    flags = assert_equal(oddities)
    assert {ref for ref, one in flags.items() if one & RARE} == {
        "late-5", "refused-6", "open-7", "void-8", "all-9", "back-15",
    }  # fmt: skip
    assert {ref for ref, one in flags.items() if one & TIMED} == {"late-5", "all-9", "back-15", "back-16"}
    assert {ref for ref, one in flags.items() if one & BY_ENGINE} == {"power-17"}
    assert {ref for ref, one in flags.items() if one & EARLY} == {"early-10"}
    assert {ref for ref, one in flags.items() if one & IRREGULAR} == {
        "none-4", "open-7", "void-8", "all-9", "few-11", "short-12", "power-17",
    }  # fmt: skip


@pytest.mark.parametrize(("zone", "hour"), [("Pacific/Auckland", 0), ("Pacific/Honolulu", 23)])
def test_a_day_that_began_at_another_hour_when_it_was_played_is_read_whole(
    oddities: Table, zone: str, hour: int
) -> None:
    Casino.objects.filter(pk=oddities.casino_id).update(timezone=zone, gaming_day_starts=dt.time(hour))
    assert_equal(Table.objects.get(pk=oddities.pk))


@pytest.mark.parametrize("size", [1, 300, 1000])
def test_blocks_that_end_anywhere_lose_nothing(oddities: Table, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(bulk_read, "BLOCK", size)
    assert_equal(oddities)
    drain()  # and figures and findings come of them, block by block


def test_a_round_of_ten_thousand_bets(table: Table) -> None:
    many = [bet(f"seat-{number}", stake=f"{number + 1}.01", net=f"-{number}.99") for number in range(10_000)]
    record(played("R-1", *many), played("R-2", *many[:9_999], bet("seat-x", refused=True)))
    assert_equal(table)


def test_only_what_waits_is_read_where_that_is_asked_for(table: Table) -> None:
    record(played("R-1"), played("R-2"))
    drain()
    (third,) = record(played("R-3"))
    record(played("R-9", at=BORDER - SECOND))  # of another day
    assert list(cut(table, only_waiting=True)) == [third]
    assert len(cut(table)) == 3
    assert Outbox.objects.count() == 2


def test_no_round_at_all(table: Table) -> None:
    assert cut(table) == {}


def test_an_embedded_server_sends_arrays_as_it_keeps_them(
    table: Table, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    if way == "as kept":
        found = bulk_read.arrays_here()
        assert (found.function, found.order) == (bulk_read.ARRAY_BYTES, "<" if sys.byteorder == "little" else ">")
    monkeypatch.setattr(bulk_read, "ARRAY_BYTES", "never_made")
    assert bulk_read._ask_for_arrays() == Arrays("array_send")


def test_a_server_of_the_other_byte_order_is_understood() -> None:
    assert Arrays(bulk_read.ARRAY_BYTES, ">").elements(b"\x00\x01\x02\x00", "i2").tolist() == [1, 512]
    assert Arrays(bulk_read.ARRAY_BYTES, "<").elements(b"\x00\x01\x02\x00", "i2").tolist() == [256, 2]


def test_times_are_kept_to_the_microsecond() -> None:
    for moment in (EPOCH, NOON + SHORT, dt.datetime(2999, 12, 31, 23, 59, 59, 999999, tzinfo=dt.UTC)):
        assert moment_of(microseconds(moment)) == moment
    assert MICROSECOND == SHORT
