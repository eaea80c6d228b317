"""Checks of our own: bets before betting began, rounds over one another, tables that were not in play."""

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from audits.findings.labels import KINDS, PROCEDURES
from audits.findings.models.policy import PROCEDURAL_SEVERITY
from audits.models import Category, Finding, Severity
from games.access.models.acting_appointment import ALL_PITS
from games.access.services.acting_appointments import duty_grant
from games.access.services.people import staff_update
from games.engine.play.findings import VERSION
from games.engine.rules.loader import PROCEDURAL
from games.floor.services.tables import table_close, table_open, table_resume, table_suspend
from games.models import Round, Table
from tests.audits.decided import incident_about, ruled
from tests.audits.playing import (
    BORDER,
    DAY_BEFORE,
    EARLIER,
    RIGHT,
    Happened,
    day_run,
    drain,
    kinds,
    played,
    record,
    summary_of,
)
from tests.conftest import OPERATOR, House
from tests.games.floor_setup import HOUR, MINUTE, NOON, SECOND, bare_table, put_sign, ready_table, sign
from tests.games.rounds.samples import bet
from tests.thresholds import approved, in_force

AT, DAY = NOON - HOUR, dt.timedelta(days=1)


def test_a_bet_before_betting_began(table: Table) -> None:
    early = bet("seat-2", "big", "60.00", net="-60.00", at=(AT - SECOND).isoformat())
    at_the_call = bet("seat-3", "big", "60.00", net="-60.00", at=AT.isoformat())
    record(played("R-1", RIGHT, early, at_the_call, at=AT))
    drain()
    found = Finding.objects.get()
    assert (found.category, found.kind, found.position, found.player, found.boxes) == (
        "procedural", "early-bet", 1, "seat-2", ["big"],
    )  # fmt: skip
    summary = summary_of(table)
    assert (summary.procedural, summary.discrepancies, summary.breaches, summary.irregularities) == (1, 0, 0, 0)


def test_a_bet_that_was_refused_or_withdrawn_in_time_is_no_early_bet(table: Table) -> None:
    before = (AT - SECOND).isoformat()
    refused = bet("seat-2", "big", "60.00", at=before, refused=True)
    withdrawn = bet("seat-3", "big", "60.00", at=before, withdrawn=AT.isoformat())
    record(played("R-1", RIGHT, refused, withdrawn, at=AT))
    drain()
    assert kinds(table) == []


@pytest.mark.parametrize(
    "later", [{"kind": "result-amended", "dice": [1, 3, 5], "by": "S11"}, {"kind": "void", "rule": "5.6"}]
)
def test_1_7_what_is_put_right_after_settlement_makes_no_later_round_overlap(
    table: Table, later: dict[str, Any]
) -> None:
    first = played("R-1", at=AT)
    first["events"].append({**later, "at": (AT + 20 * MINUTE).isoformat()})
    record(first, played("R-2", at=AT + 5 * MINUTE))
    drain()
    assert "overlap" not in {kind for _, kind in kinds(table)}


def test_a_round_that_lasts_for_hours_overlaps_all_that_began_meanwhile(table: Table) -> None:
    record(played("R-1", at=AT - 9 * HOUR, lasts=8 * 3600), played("R-2", at=AT - 2 * HOUR))
    drain()
    assert kinds(table) == [("R-2", "overlap")]


@pytest.mark.parametrize("first", ["R-1", "R-2"])
def test_two_rounds_over_one_another_whichever_arrives_first(table: Table, first: str) -> None:
    rounds = {"R-1": played("R-1", at=AT, lasts=100), "R-2": played("R-2", at=AT + 90 * SECOND)}
    record(rounds.pop(first))
    drain()
    assert kinds(table) == []
    record(*rounds.values())
    drain()
    assert kinds(table) == [("R-2", "overlap")]
    assert Finding.objects.get().detail == "Began while R-1 (floor) was still on."
    before = list(Finding.objects.values_list("pk", "found_by"))
    day_run(table)
    assert list(Finding.objects.values_list("pk", "found_by")) == before


def test_a_round_that_begins_as_the_last_ends_overlaps_nothing(table: Table) -> None:
    record(played("R-1", at=AT, lasts=60), played("R-2", at=AT + 60 * SECOND))
    drain()
    assert kinds(table) == []


def test_of_two_that_begin_together_the_second_by_name_overlaps(table: Table) -> None:
    record(played("R-2", at=AT), played("R-1", at=AT))
    drain()
    assert kinds(table) == [("R-2", "overlap")]


def test_rounds_of_two_gaming_days_over_one_another(table: Table) -> None:
    record(played("R-1", at=BORDER - 30 * SECOND), played("R-2", at=BORDER + 20 * SECOND))
    drain()
    assert kinds(table) == [("R-2", "overlap")]
    assert summary_of(table).procedural == 1
    assert summary_of(table, DAY_BEFORE).procedural == 0


def test_a_third_round_that_lasts_longer_is_the_one_that_was_still_on(table: Table) -> None:
    record(played("R-1", at=AT, lasts=70), played("R-3", at=AT + 60 * SECOND))
    drain()
    old = Finding.objects.get()
    record(played("R-2", at=AT + SECOND, lasts=300))
    drain()
    old.refresh_from_db()
    assert old.is_lapsed
    standing = Finding.objects.filter(lapsed_at=None).order_by("round__ref")
    assert [(one.round_ref, one.detail) for one in standing] == [
        ("R-2", "Began while R-1 (floor) was still on."), ("R-3", "Began while R-2 (floor) was still on."),
    ]  # fmt: skip


def test_a_round_at_a_table_that_was_closed_or_suspended(house: House, clock: Any) -> None:
    clock.move_to(NOON - 9 * HOUR)
    table = ready_table(house, layout="C")
    boss = house["shift-manager"]
    steps: list[Callable[[], Any]] = [
        lambda: table_open(actor=boss, table=table, reason="Start of shift"),
        lambda: table_suspend(actor=boss, table=table, reason="A spilled drink"),
        lambda: table_resume(actor=boss, table=table, reason="Dry again"),
        lambda: table_close(actor=boss, table=table, notice_given_at=NOON - 3 * HOUR, reason="Quiet"),
    ]
    for number, step in enumerate(steps):
        clock.move_to(NOON + (number - 5) * HOUR)
        step()
    clock.move_to(NOON)
    # before the first step nothing is known; at the very moment of a step it counts already
    record(*(played(f"R-{number}", at=NOON + (number - 5) * HOUR + 30 * MINUTE) for number in range(-1, 4)))
    record(played("R-9", at=NOON - 4 * HOUR))
    drain()
    assert kinds(table) == [("R-1", "table-suspended"), ("R-3", "table-closed"), ("R-9", "table-suspended")]
    assert {finding.detail for finding in Finding.objects.filter(kind="table-closed")} == {
        "The table was closed from 2026-11-15 18:00+08:00."
    }
    assert (summary_of(table).procedural, summary_of(table).irregularities) == (3, 0)


def test_every_check_has_a_name_a_page_text_and_a_severity() -> None:
    by_ruling = {"above-rules", "below-rules"}
    assert set(KINDS[Category.PROCEDURAL]) == set(PROCEDURES) - by_ruling == set(PROCEDURAL_SEVERITY) == set(PROCEDURAL)


def test_a_casino_says_how_severe_a_check_is(house: House, table: Table) -> None:
    without_tumble: list[Happened] = [
        ("place-bets", 0, {}), ("no-more-bets", 30, {}), ("result", 40, {"dice": [1, 3, 6]}), ("settled", 60, {}),
    ]  # fmt: skip
    record(played("R-1", events=without_tumble))
    drain()
    in_force(house, "findings", procedural={"no-valid-tumble": 1})
    record(played("R-2", events=without_tumble))
    drain()
    found = Finding.objects.order_by("round_started_at").values_list("kind", "severity")
    assert list(found) == [("no-valid-tumble", Severity.HIGH), ("no-valid-tumble", Severity.LOW)]
    with pytest.raises(ValidationError, match="is not a kind of procedural finding"):
        in_force(house, "findings", procedural={"poker": 1})


def test_1_5_someone_acting_as_supervisor_is_in_that_post_and_not_a_moment_longer(
    house: House, table: Table, clock: Any
) -> None:
    clock.move_to(EARLIER)
    duty_grant(
        actor=house["shift-manager"], staff=house["dealer"], post="pit-supervisor", casino=house.casino,
        pit=house.pits["P1"], starts_at=EARLIER + 3 * MINUTE, ends_at=EARLIER + 6 * MINUTE, reason="Illness",
    )  # fmt: skip
    clock.move_to(NOON)
    record(*(played(f"R-{number}", supervisor="DEALER") for number in (1, 2, 3)))
    drain()
    assert kinds(table) == [("R-1", "wrong-post"), ("R-3", "wrong-post")]


def appointed(house: House, **changes: Any) -> None:
    values: dict[str, Any] = {
        "actor": house["casino-manager"], "staff": house["dealer"], "post": "pit-supervisor", "casino": house.casino,
        "pit": ALL_PITS, "starts_at": EARLIER, "ends_at": NOON, "reason": "Illness",
    } | changes  # fmt: skip
    duty_grant(**values)


@pytest.mark.parametrize(("pit", "found"), [("P1", []), ("P2", [("R-1", "wrong-post")])])
def test_1_5_someone_acts_only_in_the_pit_of_the_appointment(
    house: House, table: Table, clock: Any, pit: str, found: list[tuple[str, str]]
) -> None:
    clock.move_to(EARLIER)
    appointed(house, pit=house.pits[pit])
    clock.move_to(NOON)
    record(played("R-1", supervisor="DEALER"))
    drain()
    assert kinds(table) == found


def test_1_5_people_above_deal_and_supervise_where_they_are_assigned_to_it(
    house: House, table: Table, clock: Any
) -> None:
    clock.move_to(EARLIER)
    appointed(house, staff=house["pit-supervisor"], post="dealer", starts_at=EARLIER + 3 * MINUTE)
    appointed(house, staff=house["pit-manager"], post="pit-supervisor", starts_at=EARLIER + 3 * MINUTE)
    clock.move_to(NOON)
    record(*(played(f"R-{number}", dealer="PIT-SUPERVISOR", supervisor="PIT-MANAGER") for number in (1, 2)))
    drain()
    assert kinds(table) == [("R-1", "wrong-post"), ("R-1", "wrong-post")]


def test_1_5_people_of_other_departments_count_while_the_casino_allows_it(
    house: House, table: Table, clock: Any
) -> None:
    """Allowed on one gaming day, and no longer from the next one on."""
    clock.move_to(NOON - 4 * DAY)
    in_force(house, "acting", acting_other_departments=True)
    starts_at = NOON - 2 * DAY
    clock.move_to(starts_at)
    appointed(house, staff=house["surveillance"], starts_at=starts_at, ends_at=starts_at + 20 * DAY)
    approved(house, "acting", acting_other_departments=False)
    clock.move_to(NOON)
    record(
        played("R-1", at=starts_at + HOUR, supervisor="SURVEILLANCE"),
        played("R-2", at=NOON - HOUR, supervisor="SURVEILLANCE"),
    )
    drain()
    assert kinds(table) == [("R-2", "wrong-post")]


def test_a_dealer_who_was_promoted_was_a_dealer_before(house: House, table: Table, clock: Any) -> None:
    clock.move_to(EARLIER - HOUR)
    person = house.hire("D7", "dealer")
    clock.move_to(EARLIER + 3 * MINUTE)
    staff_update(actor=OPERATOR, staff=person, changes={"post": "pit-supervisor"}, reason="Promoted")
    clock.move_to(NOON)
    record(played("R-1", dealer="D7"), played("R-2", dealer="D7"), played("R-3", supervisor="d7"))
    drain()
    assert kinds(table) == [("R-2", "wrong-post")]


def test_someone_who_is_added_later_was_on_record_after_all(house: House, table: Table) -> None:
    record(played("R-1", dealer="D8"))
    drain()
    assert kinds(table) == [("R-1", "unknown-staff")]
    house.hire("D8", "dealer")
    day_run(table)
    assert kinds(table) == []


@pytest.mark.parametrize("order", [("R-1", "R-2"), ("R-2", "R-1")])
def test_3_3_an_incomplete_sign_is_found_once_a_gaming_day_at_its_first_such_bet(
    house: House, clock: Any, order: tuple[str, str]
) -> None:
    table = bare_table(house, layout="C")
    put_sign(table, sign())
    record(played("R-0", bet(box="single-1", net="100.00")))  # the sign is complete for this one
    for ref in order:
        record(played(ref))
        drain()
    assert kinds(table) == [("R-1", "sign-incomplete")]
    day_run(table)
    assert kinds(table) == [("R-1", "sign-incomplete")]
    assert "a differential for big-small" in Finding.objects.get(lapsed_at=None).detail


def test_a_ruling_on_record_gives_a_void_its_authority_once_it_is_there(house: House, table: Table) -> None:
    voided: list[Happened] = [
        ("place-bets", 0, {}), ("no-more-bets", 30, {}), ("void", 50, {"rule": "ruling", "by": "SHIFT-MANAGER"}),
    ]  # fmt: skip
    (key,) = record(played("R-1", bet(), events=voided))
    drain()
    assert ("R-1", "void-without-authority") in kinds(table)
    ruled(house, incident_about(house, table, Round.objects.get(pk=key)))
    day_run(table)
    assert kinds(table) == [("R-1", "ruling")]


def test_a_round_of_an_older_engine_is_read_anew_and_its_findings_keep_their_version(
    house: House, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Version 1 took a void after settlement for a void; the record keeps that status for ever."""
    late_void: list[Happened] = [
        ("place-bets", 0, {}), ("no-more-bets", 30, {}), ("tumbler", 33, {"tumbles": 3}),
        ("result", 40, {"dice": [1, 3, 6]}), ("settled", 60, {}), ("void", 70, {"rule": "5.5.2"}),
    ]  # fmt: skip
    with monkeypatch.context() as old:
        old.setattr("games.rounds.preparation.status_of", lambda *pattern: "void")
        old.setattr("audits.reconciliation.store.VERSION", "1")
        record(played("R-1", bet(net="0.00"), events=late_void))
        drain()
    assert Round.objects.get().status == "void"
    before = dict(Finding.objects.values_list("kind", "engine"))
    assert before == {"unpaid-winner": "1", "ruling": "1", "void-after-settlement": "1"}
    run = day_run(table)
    assert run.engine == VERSION
    assert dict(Finding.objects.values_list("kind", "engine")) == before
    assert (summary_of(table).settled, summary_of(table).voids) == (1, 0)
