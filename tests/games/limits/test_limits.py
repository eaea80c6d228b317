"""Limits: proposed by one person, approved by another, with notice to the players, and known then as known now."""

import datetime as dt
import re
from collections.abc import Sequence
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st

from games.access.gate import Operator
from games.access.models.acting_appointment import ALL_PITS
from games.access.services.acting_appointments import duty_grant
from games.engine.rules.loader import rulebook
from games.engine.signs.changes import changes, stricter
from games.engine.signs.edits import Edits
from games.engine.signs.limits import Limits, Range
from games.floor.services.casinos import casino_update
from games.floor.services.tables import table_assign, table_close, table_open, table_suspend
from games.limits.selectors import NoLimitsError, limits_at
from games.limits.services.proposals import limits_approve, limits_edit, limits_propose, limits_reject, limits_withdraw
from games.models import Denial, LimitDecision, LimitProposal, LimitSet, Staff, Table
from tests.conftest import OPERATOR, House, build_house
from tests.games.engine.oracle import DIVISION_9, V6
from tests.games.floor_setup import (
    HOUR,
    MICROSECOND,
    MINUTE,
    NOON,
    SECOND,
    START,
    USUAL,
    bare_table,
    completed,
    dropped,
    open_table,
    put_sign,
    ready_table,
    sign,
)
from tests.games.logins import logged_in
from tests.threads import at_once, meanwhile

LOWER = sign({**USUAL, "big-small": (25, 3000)})
HIGHER = sign({**USUAL, "big-small": (100, 3000)})
NOTICE = 20 * MINUTE
DECIDING: list[tuple[str, Any]] = [("limits.approve", limits_approve), ("limits.reject", limits_reject)]


def propose(house: House, *tables: Table, actor: str = "pit-manager", **changes: Any) -> LimitProposal:
    """What the signs have and these limits lack is ticked as removed, unless the test says otherwise."""
    values: dict[str, Any] = {"limits": LOWER, "reason": "Quiet night"} | changes
    values.setdefault("remove", dropped(values["limits"], *tables, at=values.get("starts_at")))
    return limits_propose(actor=house[actor], tables=tables, **values)


def approve(house: House, proposal: LimitProposal, actor: str = "shift-manager", remove: Any = None) -> list[LimitSet]:
    """With a tick for each limit that is removed, unless the test says otherwise."""
    agreed = {sign.table.code: sign.removals for sign in proposal.signs.all() if sign.removals}
    return limits_approve(
        actor=house[actor], proposal=proposal, reason="Agreed", remove=agreed if remove is None else remove
    )  # fmt: skip


def minimum(table: Table, at: dt.datetime, known_at: dt.datetime | None = None) -> int | None:
    """What the sign says for Big and Small, in dollars."""
    big_small = limits_at(table=table, at=at, known_at=known_at).limits.by_key["big-small"]
    return None if big_small.minimum is None else big_small.minimum // 100


def outcomes() -> list[str]:
    return [limit_decision.outcome for limit_decision in LimitDecision.objects.order_by("proposal")]


@pytest.fixture
def table(house: House, clock: Any) -> Table:
    """Closed, with a sign."""
    table = bare_table(house)
    put_sign(table)
    return table


# --- Proposed ---


def test_limits_are_proposed_for_one_table_with_a_reason_and_change_nothing_yet(house: House, table: Table) -> None:
    proposal = propose(house, table, reason="  Quiet night ")
    assert (proposal.state, proposal.reason, proposal.pit) == ("pending", "Quiet night", house.pits["P1"])
    assert proposal.who == "PIT-MANAGER Person PIT-MANAGER, pit manager"
    assert proposal.proposed_at == NOON
    assert minimum(table, NOON + HOUR) == 50


def test_limits_are_proposed_and_approved_for_a_whole_pit_at_once(house: House, table: Table) -> None:
    tables = [table, bare_table(house, "TS-02"), bare_table(house, "TS-03", rulebook=DIVISION_9, layout="2")]
    sets = approve(house, propose(house, *tables))
    assert {limit_set.table for limit_set in sets} == set(tables)
    assert len({limit_set.sheet_id for limit_set in sets}) == 1
    assert [minimum(table, NOON) for table in tables] == [25, 25, 25]


def test_tables_of_two_pits_need_two_proposals(house: House, table: Table) -> None:
    with pytest.raises(ValidationError, match="tables of one pit"):
        propose(house, table, bare_table(house, "TS-02", "P2"), actor="shift-manager")
    assert not LimitProposal.objects.exists()


def test_no_table_is_no_proposal(house: House) -> None:
    with pytest.raises(ValidationError, match="at least one table"):
        propose(house)


def test_what_the_sign_says_already_is_no_proposal(house: House, table: Table) -> None:
    with pytest.raises(ValidationError, match=r"already in force\. Change at least one value"):
        propose(house, table, limits=sign())
    propose(house, table, bare_table(house, "TS-02"), limits=sign())  # the other one has no sign yet


def test_a_box_set_free_of_the_limits_of_its_type_is_a_change(house: House, table: Table) -> None:
    free = sign({**USUAL, "big": (None, None)})
    (entry,) = approve(house, propose(house, table, limits=free))
    layout = rulebook(V6).layouts["A"]
    assert entry.sheet.limits().of(layout, "big") == Range()
    assert entry.sheet.limits().of(layout, "small") == Range(5000, 300000)


@pytest.mark.parametrize(
    ("limits", "fault"),
    [
        (sign({"odd-even": (5, 10)}), r"TS-01: limits from .*: boxes\.odd-even: is neither .* of layout A"),
        (sign({"bg-small": (5, 10)}), r"boxes\.bg-small"),
        (sign(differential={"odd-even": 100}), r"differential\.odd-even: layout A has no"),
        (sign(differential={"single": 100}), r"differential\.single"),
    ],
)
def test_limits_that_do_not_fit_the_layout_are_refused_with_the_key(
    house: House, table: Table, limits: Limits, fault: str
) -> None:
    with pytest.raises(ValidationError, match=fault):
        propose(house, table, limits=limits)
    assert not LimitProposal.objects.exists()


def test_limits_have_to_fit_the_layout_that_comes_while_they_are_in_force(house: House, table: Table) -> None:
    game: Any = {"rulebook": V6, "chip_unit": "1.00", "pit": house.pits["P1"], "reason": "New felt"}
    table_assign(actor=house["casino-manager"], table=table, layout="E", starts_at=NOON + HOUR, **game)
    doubles = sign({**USUAL, "double": (5, 100)})
    with pytest.raises(ValidationError, match=r"boxes\.double: .* layout E"):
        propose(house, table, limits=doubles)
    approve(house, propose(house, table, starts_at=NOON + HOUR))
    propose(house, table, limits=doubles)  # over before the other felt is laid


def test_a_layout_that_came_after_the_proposal_is_asked_again_at_the_approval(house: House, table: Table) -> None:
    proposal = propose(house, table, limits=sign({**USUAL, "double": (5, 100)}))
    table_assign(
        actor=house["casino-manager"], table=table, pit=house.pits["P1"], rulebook=V6, layout="E", chip_unit="1.00",
        starts_at=NOON + HOUR, reason="New felt",
    )  # fmt: skip
    with pytest.raises(ValidationError, match=r"boxes\.double"):
        approve(house, proposal)
    assert (proposal.state, table.limit_sets.count()) == ("pending", 1)


@pytest.mark.parametrize("reason", ["", "   "])
def test_every_step_asks_for_a_reason(house: House, table: Table, reason: str) -> None:
    with pytest.raises(ValidationError, match="Enter a reason"):
        propose(house, table, reason=reason)
    proposal = propose(house, table)
    decisions: list[tuple[str, Any]] = [
        ("shift-manager", limits_approve), ("shift-manager", limits_reject), ("pit-manager", limits_withdraw),
    ]  # fmt: skip
    for actor, decide in decisions:
        with pytest.raises(ValidationError, match="Enter a reason"):
            decide(actor=house[actor], proposal=proposal, reason=reason)
    assert outcomes() == []


@pytest.mark.parametrize(
    "actor", ["dealer", "pit-supervisor", "surveillance", "compliance", "auditor", "administrator"]
)
def test_who_may_not_propose_is_turned_away_on_record(house: House, table: Table, actor: str) -> None:
    with pytest.raises(PermissionDenied):
        propose(house, table, actor=actor)
    assert Denial.objects.get(staff_id=house[actor].pk, action="limits.propose").thing == "table TS-01"


def test_a_pit_manager_proposes_for_his_own_pit_only(house: House, table: Table) -> None:
    with pytest.raises(PermissionDenied):
        propose(house, table, bare_table(house, "TS-02", "P2"))
    assert Denial.objects.get(staff_id=house["pit-manager"].pk).thing == "table TS-02"


# --- From which moment ---


def test_limits_are_in_force_from_the_proposed_moment_and_not_before(house: House, table: Table) -> None:
    (entry,) = approve(house, propose(house, table, starts_at=NOON + HOUR))
    assert (entry.starts_at, entry.revision, entry.is_correction) == (NOON + HOUR, 0, False)
    assert minimum(table, NOON + HOUR - MICROSECOND) == 50
    assert minimum(table, NOON + HOUR) == 25
    assert limits_at(table=table, at=NOON).ends_at == NOON + HOUR


@pytest.mark.parametrize(
    ("approved", "starts"),
    [
        (NOON, NOON),
        (NOON + MICROSECOND, NOON + MINUTE),
        (NOON + 59 * SECOND, NOON + MINUTE),
        (NOON + MINUTE, NOON + MINUTE),
    ],
)
def test_as_soon_as_approved_is_the_next_whole_minute(
    house: House, table: Table, clock: Any, approved: dt.datetime, starts: dt.datetime
) -> None:
    proposal = propose(house, table)
    clock.move_to(approved)
    (entry,) = approve(house, proposal)
    assert (entry.starts_at, entry.recorded_at) == (starts, approved)


def test_as_soon_as_approved_takes_a_minute_that_has_no_limits_yet(house: House, table: Table, clock: Any) -> None:
    approve(house, propose(house, table, starts_at=NOON + MINUTE))
    clock.shift(SECOND)
    (entry,) = approve(house, propose(house, table, limits=sign({**USUAL, "big-small": (10, 3000)})))
    assert (entry.starts_at, entry.revision) == (NOON + 2 * MINUTE, 0)


def test_as_soon_as_approved_gives_notice_of_the_sign_that_it_really_replaces(house: House, clock: Any) -> None:
    table = open_table(house)
    approve(house, propose(house, table, limits=sign({**USUAL, "big-small": (10, 3000)}), starts_at=NOON + MINUTE))
    clock.shift(SECOND)
    proposal = propose(house, table, limits=sign({**USUAL, "big-small": (40, 3000)}))  # less than 50, more than 10
    (entry,) = approve(house, proposal)
    assert entry.starts_at == NOON + NOTICE + MINUTE


@pytest.mark.parametrize("starts_at", [NOON, NOON - MICROSECOND, START])
def test_a_moment_that_has_passed_is_refused_unless_it_is_marked_as_a_correction(
    house: House, table: Table, starts_at: dt.datetime
) -> None:
    with pytest.raises(ValidationError, match="has passed"):
        propose(house, table, starts_at=starts_at)
    (entry,) = approve(house, propose(house, table, starts_at=starts_at, is_correction=True))
    assert entry.is_correction
    assert minimum(table, starts_at) == 25


def test_a_moment_that_passed_before_the_approval_is_refused_then(house: House, table: Table, clock: Any) -> None:
    proposal = propose(house, table, starts_at=NOON + MINUTE)
    clock.shift(MINUTE)
    with pytest.raises(ValidationError, match="has passed"):
        approve(house, proposal)
    assert proposal.state == "pending"


def test_a_correction_names_its_moment_and_there_has_to_be_something_to_correct(house: House, table: Table) -> None:
    with pytest.raises(ValidationError, match="Enter the time from which"):
        propose(house, table, is_correction=True)
    with pytest.raises(ValidationError, match="no limits to correct"):
        propose(house, table, is_correction=True, starts_at=NOON + HOUR)


def test_a_correction_reaches_back_and_both_are_on_record(house: House, table: Table, clock: Any) -> None:
    approve(house, propose(house, table, limits=HIGHER, starts_at=NOON + HOUR))
    clock.shift(2 * HOUR)
    approve(house, propose(house, table, starts_at=NOON + HOUR / 2, is_correction=True))
    moments = [NOON, NOON + HOUR / 2, NOON + HOUR - MICROSECOND, NOON + HOUR]
    assert [minimum(table, at) for at in moments] == [50, 25, 25, 100]  # it ends where the next one begins
    assert [minimum(table, at, known_at=NOON + HOUR) for at in moments] == [50, 50, 50, 100]


def test_the_same_moment_again_needs_the_mark_and_becomes_the_next_revision(house: House, table: Table) -> None:
    at = NOON + HOUR
    (first,) = approve(house, propose(house, table, starts_at=at))
    with pytest.raises(ValidationError, match=r"TS-01 already has limits from 2026-11-15T21:00:00\+08:00.*SHIFT-MAN"):
        propose(house, table, limits=HIGHER, starts_at=at)
    (second,) = approve(house, propose(house, table, limits=HIGHER, starts_at=at, is_correction=True))
    (third,) = approve(house, propose(house, table, limits=sign(), starts_at=at, is_correction=True))
    assert [limit_set.revision for limit_set in (first, second, third)] == [0, 1, 2]
    assert [limit_set.is_correction for limit_set in (first, second, third)] == [False, True, True]
    assert set(table.limit_sets.filter(starts_at=at)) == {first, second, third}
    assert limits_at(table=table, at=at).limit_set == third


def test_limits_from_a_file_are_corrected_alike_and_stay_on_record(house: House, table: Table) -> None:
    (entry,) = approve(house, propose(house, table, starts_at=START, is_correction=True))
    assert entry.revision == 1
    assert [(limit_set.origin, limit_set.who) for limit_set in table.limit_sets.order_by("revision")] == [
        ("file", "Operator of the machine"),
        ("proposal", "SHIFT-MANAGER Person SHIFT-MANAGER, shift manager"),
    ]


def test_what_was_known_then_is_not_what_is_known_now(house: House, table: Table, clock: Any) -> None:
    clock.shift(HOUR)
    approve(house, propose(house, table, starts_at=NOON, is_correction=True))
    approved = NOON + HOUR
    assert minimum(table, NOON + MINUTE, known_at=approved - MICROSECOND) == 50
    assert minimum(table, NOON + MINUTE, known_at=approved) == 25
    assert minimum(table, NOON + MINUTE) == 25
    with pytest.raises(NoLimitsError, match="none are on record"):
        limits_at(table=table, at=NOON, known_at=START)  # the file was loaded later
    with pytest.raises(NoLimitsError, match="the first are in force from 2026-01-01T08:00:00"):
        limits_at(table=table, at=START - MICROSECOND)


# --- Decided ---


def test_an_approval_keeps_who_proposed_who_approved_and_why(house: House, table: Table) -> None:
    proposal = propose(house, table)
    (entry,) = approve(house, proposal)
    assert (entry.proposed_by, entry.approved_by) == (house["pit-manager"], house["shift-manager"])
    assert (entry.origin, entry.source) == ("proposal", "Quiet night")
    assert (proposal.decision.reason, proposal.decision.at) == ("Agreed", NOON)


def test_a_rejected_proposal_stays_on_record_and_changes_nothing(house: House, table: Table) -> None:
    proposal = propose(house, table)
    limits_reject(actor=house["shift-manager"], proposal=proposal, reason="Too low")
    assert (proposal.state, proposal.decision.reason) == ("rejected", "Too low")
    assert LimitProposal.objects.count() == 1
    assert table.limit_sets.count() == 1


def test_who_proposed_takes_it_back_and_nobody_else_does(house: House, table: Table) -> None:
    proposal = propose(house, table)
    for actor in ("shift-manager", "casino-manager"):
        with pytest.raises(PermissionDenied):
            limits_withdraw(actor=house[actor], proposal=proposal, reason="Not needed")
        assert Denial.objects.filter(staff_id=house[actor].pk, action="limits.withdraw").count() == 1
    limits_withdraw(actor=house["pit-manager"], proposal=proposal, reason="Not needed")
    assert (proposal.state, proposal.decision.decided_by) == ("withdrawn", house["pit-manager"])


@pytest.mark.parametrize("first", [limits_approve, limits_reject, limits_withdraw])
@pytest.mark.parametrize("second", [limits_approve, limits_reject, limits_withdraw])
def test_a_decision_is_made_once_and_the_second_is_told_who_was_first(
    house: House, table: Table, first: Any, second: Any
) -> None:
    proposal = propose(house, table)

    def decide(how: Any) -> None:
        actor = "pit-manager" if how is limits_withdraw else "casino-manager"
        how(actor=house[actor], proposal=LimitProposal.objects.get(), reason="Now")

    decide(first)
    sets = table.limit_sets.count()
    with pytest.raises(
        ValidationError, match=rf"was {proposal.state} by .*-MANAGER .* at 2026.* \(Now\)\. Nothing was"
    ):
        decide(second)
    assert (LimitDecision.objects.count(), table.limit_sets.count()) == (1, sets)


def test_other_proposals_for_the_same_table_and_moment_are_superseded_on_record(house: House, table: Table) -> None:
    second = bare_table(house, "TS-02")
    at = NOON + HOUR
    wide = propose(house, table, second, starts_at=at)
    one = propose(house, table, limits=HIGHER, starts_at=at)
    elsewhere = propose(house, second, limits=HIGHER, starts_at=at)
    later = propose(house, table, limits=HIGHER, starts_at=at + MINUTE)
    soon = propose(house, table, limits=HIGHER)
    approve(house, one)
    assert [proposal.state for proposal in (wide, one, elsewhere, later, soon)] == [
        "superseded", "approved", "pending", "pending", "pending",
    ]  # fmt: skip
    assert wide.decision.reason.startswith(
        f"Proposal no. {one.pk}, RWS P1 was approved and changes the same limits from the same moment: TS-01 boxes."
    )
    assert not second.limit_sets.exists()


def test_other_proposals_as_soon_as_approved_are_superseded_too(house: House, table: Table) -> None:
    first, second, dated = (
        propose(house, table),
        propose(house, table, limits=HIGHER),
        propose(house, table, starts_at=NOON + HOUR),
    )
    approve(house, second)
    assert [proposal.state for proposal in (first, second, dated)] == ["superseded", "approved", "pending"]


def test_a_proposal_for_another_figure_or_table_is_not_superseded(house: House, table: Table) -> None:
    second = bare_table(house, "TS-02")
    put_sign(second)
    single = Edits({("single", "max"): 200000})
    small, other = Edits({("big-small", "max"): 400000}), Edits({("big-small", "max"): 500000})

    def edit(at: Table, edits: Edits) -> LimitProposal:
        return limits_edit(actor=house["pit-manager"], edits={at: edits}, reason="Weekend")

    first, same, figure, elsewhere = edit(table, small), edit(table, other), edit(table, single), edit(second, small)
    client = logged_in(house["shift-manager"])
    page = client.get(f"/admin/games/limitproposal/{first.pk}/approve/").content.decode()
    assert f"proposal no. {same.pk}</a>" in page
    assert "TS-01 boxes.big-small.max" in page
    assert f"proposal no. {figure.pk}</a>" not in page
    approve(house, first)
    states = [proposal.state for proposal in (first, same, figure, elsewhere)]
    assert states == ["approved", "superseded", "pending", "pending"]
    with pytest.raises(ValidationError, match="Approving this proposal would undo that"):
        approve(house, figure)
    approve(house, elsewhere)


def test_3_3_the_approver_is_warned_of_an_incomplete_sign_at_an_open_table(house: House, clock: Any) -> None:
    table = open_table(house)
    limits = table.limit_sets.get().sheet.limits()
    change = Edits({("single", "min"): None})
    proposal = limits_edit(
        actor=house["pit-manager"], edits={table: change}, reason="No minimum", remove={"TS-01": ["boxes.single.min"]}
    )
    assert limits.by_key["single"].minimum
    client = logged_in(house["shift-manager"])
    page = client.get(f"/admin/games/limitproposal/{proposal.pk}/approve/").content.decode()
    assert "TS-01 is open, and its sign would be incomplete (Tai Sai v6 · Rule 3.3)" in page


# --- Who approves ---


def test_who_proposed_does_not_approve_even_as_shift_manager_and_the_attempt_is_on_record(
    house: House, table: Table
) -> None:
    proposal = propose(house, table, actor="shift-manager")
    for action, decide in DECIDING:
        with pytest.raises(PermissionDenied, match="The attempt is on record"):
            decide(actor=house["shift-manager"], proposal=proposal, reason="Mine")
        denial = Denial.objects.get(staff_id=house["shift-manager"].pk, action=action)
        assert denial.thing == f"limit proposal no. {proposal.pk}, RWS P1"
    assert proposal.state == "pending"
    approve(house, proposal, "casino-manager")


def test_1_5_who_proposed_as_pit_manager_does_not_approve_as_acting_shift_manager(house: House, table: Table) -> None:
    proposal = propose(house, table)
    act(house, "pit-manager", NOON, NOON + HOUR)
    with pytest.raises(PermissionDenied):
        approve(house, proposal, "pit-manager")
    assert proposal.state == "pending"


@pytest.mark.parametrize(
    "actor",
    ["dealer", "pit-supervisor", "pit-manager", "surveillance", "compliance", "auditor", "administrator"],
)
def test_only_a_shift_manager_or_above_decides(house: House, table: Table, actor: str) -> None:
    proposal = propose(house, table, actor="casino-manager")
    for action, decide in DECIDING:
        with pytest.raises(PermissionDenied):
            decide(actor=house[actor], proposal=proposal, reason="I would")
        assert Denial.objects.filter(staff_id=house[actor].pk, action=action).count() == 1
    assert (proposal.state, table.limit_sets.count()) == ("pending", 1)


def test_the_operator_of_the_machine_proposes_and_decides_nothing(house: House, table: Table) -> None:
    operator: Any = Operator()
    with pytest.raises(PermissionDenied):
        limits_propose(actor=operator, tables=[table], limits=LOWER, reason="Quiet night")
    proposal = propose(house, table)
    with pytest.raises(PermissionDenied):
        limits_approve(actor=operator, proposal=proposal, reason="Agreed")


def test_a_shift_manager_of_another_casino_decides_nothing_here(house: House, table: Table) -> None:
    stranger = house.hire("X1", "shift-manager", casino=house.other)
    proposal = propose(house, table)
    with pytest.raises(PermissionDenied):
        limits_approve(actor=stranger, proposal=proposal, reason="Agreed")
    assert Denial.objects.get(staff_id=stranger.pk).action == "limits.approve"


def act(house: House, who: str, starts_at: dt.datetime, ends_at: dt.datetime, pit: str | None = None) -> None:
    duty_grant(
        actor=house["casino-manager"], staff=house[who], post="shift-manager", casino=house.casino,
        pit=house.pits[pit] if pit else ALL_PITS, starts_at=starts_at, ends_at=ends_at, reason="Stands in",
    )  # fmt: skip


def test_1_5_an_acting_shift_manager_approves_on_duty_and_not_a_minute_later(
    house: House, table: Table, clock: Any
) -> None:
    act(house, "pit-supervisor", NOON, NOON + HOUR)
    on_duty, too_late = propose(house, table), propose(house, table, starts_at=NOON + 3 * HOUR)
    actor = house["pit-supervisor"]
    (entry,) = limits_approve(actor=actor, proposal=on_duty, reason="Agreed")
    assert entry.who == "PIT-SUPERVISOR Person PIT-SUPERVISOR, acting shift manager"
    clock.move_to(NOON + HOUR + MINUTE)
    with pytest.raises(PermissionDenied):
        limits_approve(actor=actor, proposal=too_late, reason="Agreed")
    assert Denial.objects.get(staff_id=actor.pk).who == "PIT-SUPERVISOR Person PIT-SUPERVISOR, pit supervisor"


def test_1_5_a_shift_manager_acting_in_one_pit_decides_there_only(house: House, table: Table) -> None:
    act(house, "pit-supervisor", NOON, NOON + HOUR, pit="P2")
    elsewhere = bare_table(house, "TS-02", "P2")
    approve(house, propose(house, elsewhere, actor="shift-manager"), "pit-supervisor")
    with pytest.raises(PermissionDenied):
        approve(house, propose(house, table), "pit-supervisor")


def test_a_shift_manager_of_one_pit_does_not_decide_on_a_table_that_has_left_it(
    house: House, table: Table, clock: Any
) -> None:
    act(house, "pit-supervisor", NOON, NOON + 3 * HOUR, pit="P1")
    proposal = propose(house, table)
    table_assign(
        actor=house["casino-manager"], table=table, pit=house.pits["P2"], rulebook=V6, layout="A", chip_unit="1.00",
        starts_at=NOON + HOUR, reason="Moved",
    )  # fmt: skip
    clock.move_to(NOON + HOUR)
    with pytest.raises(PermissionDenied):
        approve(house, proposal, "pit-supervisor")
    assert Denial.objects.get(staff_id=house["pit-supervisor"].pk).thing == "table TS-01"


# --- Notice to the players ---

STRICTER = [
    ("a minimum rises", {"big-small": (51, 3000), "single": (25, 1000)}, {"big-small": 1000}),
    ("a maximum falls", {"big-small": (50, 2999), "single": (25, 1000)}, {"big-small": 1000}),
    ("a differential falls", USUAL, {"big-small": 999}),
    ("a maximum where there was none", {**USUAL, "total": (None, 500)}, {"big-small": 1000}),
    ("a minimum where there was none", {**USUAL, "total": (5, None)}, {"big-small": 1000}),
    ("one box of a type", {**USUAL, "small": (51, 3000)}, {"big-small": 1000}),
    ("one stricter among many relaxed", {"big-small": (10, 9000), "single": (26, None)}, {}),
]
RELAXED = [
    ("a minimum falls", {"big-small": (49, 3000), "single": (25, 1000)}, {"big-small": 1000}),
    ("a maximum rises", {"big-small": (50, 3001), "single": (25, 1000)}, {"big-small": 1000}),
    ("a differential rises", USUAL, {"big-small": 1001}),
    ("no differential any more", USUAL, {}),
    ("no limits on single dice any more", {"big-small": (50, 3000)}, {"big-small": 1000}),
    ("a minimum of nothing", {**USUAL, "total": (0, None)}, {"big-small": 1000}),
    ("the type's line box by box", {"big": (50, 3000), "small": (50, 3000), "single": (25, 1000)}, {"big-small": 1000}),
    ("a box without limits", {**USUAL, "big": (None, None)}, {"big-small": 1000}),
]


@pytest.fixture
def in_play(house: House, clock: Any) -> Table:
    """Open, with a differential."""
    return open_table(house, limits=sign(differential={"big-small": 1000}))


def proposed(house: House, table: Table, boxes: Any, differential: Any, **changes: Any) -> LimitProposal:
    return propose(house, table, limits=sign(boxes, differential), **changes)


@pytest.mark.parametrize(("what", "boxes", "differential"), STRICTER)
def test_stricter_limits_need_notice(house: House, in_play: Table, what: str, boxes: Any, differential: Any) -> None:
    with pytest.raises(ValidationError, match=r"need 20 minutes' notice: from 2026-11-15T20:20:00\+08:00 at the earl"):
        approve(house, proposed(house, in_play, boxes, differential, starts_at=NOON + NOTICE - SECOND))
    (entry,) = approve(house, proposed(house, in_play, boxes, differential, starts_at=NOON + NOTICE))
    assert entry.starts_at == NOON + NOTICE


@pytest.mark.parametrize(("what", "boxes", "differential"), RELAXED)
def test_relaxed_limits_need_none(house: House, in_play: Table, what: str, boxes: Any, differential: Any) -> None:
    (entry,) = approve(house, proposed(house, in_play, boxes, differential, starts_at=NOON + MICROSECOND))
    assert entry.starts_at == NOON + MICROSECOND


def test_stricter_limits_as_soon_as_approved_begin_at_the_end_of_the_notice(
    house: House, in_play: Table, clock: Any
) -> None:
    proposal = propose(house, in_play, limits=HIGHER)
    clock.shift(SECOND)
    (entry,) = approve(house, proposal)
    assert entry.starts_at == NOON + NOTICE + MINUTE


def test_the_refusal_names_the_next_whole_minute_after_the_notice(house: House, in_play: Table, clock: Any) -> None:
    proposal = propose(house, in_play, limits=HIGHER, starts_at=NOON + NOTICE)
    clock.shift(SECOND)
    with pytest.raises(ValidationError, match=r"from 2026-11-15T20:21:00\+08:00 at the earliest"):
        approve(house, proposal)
    assert proposal.state == "pending"


def test_a_closed_table_needs_no_notice(house: House, in_play: Table) -> None:
    table_close(actor=house["pit-manager"], table=in_play, notice_given_at=NOON, reason="Quiet")
    (entry,) = approve(house, propose(house, in_play, limits=HIGHER, starts_at=NOON + SECOND))
    assert entry.starts_at == NOON + SECOND


def test_a_suspended_table_does(house: House, in_play: Table) -> None:
    table_suspend(actor=house["pit-manager"], table=in_play, reason="Dome broken")
    with pytest.raises(ValidationError, match="notice"):
        approve(house, propose(house, in_play, limits=HIGHER, starts_at=NOON + SECOND))


def test_one_open_table_of_a_pit_is_enough(house: House, in_play: Table) -> None:
    closed = bare_table(house, "TS-02")
    with pytest.raises(ValidationError, match="notice"):
        approve(house, propose(house, closed, in_play, limits=HIGHER, starts_at=NOON + SECOND))
    assert not closed.limit_sets.exists()


def test_the_casino_says_how_long_the_notice_is(house: House, in_play: Table) -> None:
    casino_update(actor=OPERATOR, casino=house.casino, changes={"notice_minutes": 5}, reason="House rule")
    with pytest.raises(ValidationError, match="need 5 minutes' notice"):
        approve(house, propose(house, in_play, limits=HIGHER, starts_at=NOON + 5 * MINUTE - SECOND))
    approve(house, propose(house, in_play, limits=HIGHER, starts_at=NOON + 5 * MINUTE))


def test_notice_is_measured_against_the_sign_of_that_moment(house: House, in_play: Table) -> None:
    approve(house, propose(house, in_play, limits=HIGHER, starts_at=NOON + HOUR))
    middle = sign({**USUAL, "big-small": (75, 3000)}, {})
    with pytest.raises(ValidationError, match="notice"):
        approve(house, propose(house, in_play, limits=middle, starts_at=NOON + SECOND))
    casino_update(actor=OPERATOR, casino=house.casino, changes={"notice_minutes": 120}, reason="House rule")
    approve(house, propose(house, in_play, limits=middle, starts_at=NOON + HOUR + SECOND))  # 100 before, 75 then


def test_a_correction_that_states_what_the_sign_said_needs_no_notice(house: House, in_play: Table) -> None:
    (entry,) = approve(house, propose(house, in_play, limits=HIGHER, starts_at=NOON - HOUR, is_correction=True))
    assert entry.is_correction


# --- What is stricter ---

LAYOUT = rulebook(V6).layouts["A"]
AMOUNTS = st.none() | st.integers(0, 4)
KEYS = st.sampled_from(["big-small", "big", "small", "single", "single-3", "triple", "any-triple"])
SIGNS = st.builds(
    Limits,
    st.dictionaries(KEYS, st.builds(Range, AMOUNTS, AMOUNTS), max_size=6),
    st.dictionaries(st.just("big-small"), st.integers(0, 4)),
)


def figures(limits: Limits) -> list[tuple[str, int]]:
    """Every figure of every box, the looser the higher: independent of how the sign is written."""
    most = 99
    found = []
    for box in LAYOUT.boxes:
        line = limits.by_key[box] if box in limits.by_key else limits.by_key.get(LAYOUT.boxes[box].type, Range())
        found.append((f"{box} min", -(line.minimum or 0)))
        found.append((f"{box} max", most if line.maximum is None else line.maximum))
    return [*found, ("differential", limits.differential.get("big-small", most))]


@settings(max_examples=300, deadline=None)
@given(old=SIGNS, new=SIGNS)
def test_something_is_stricter_if_and_only_if_a_box_allows_less(old: Limits, new: Limits) -> None:
    tighter = {name for (name, before), (_, after) in zip(figures(old), figures(new), strict=True) if after < before}
    found = {f"{change.key} {change.figure}".replace("big-small differential", "differential")
             for change in stricter(LAYOUT, old, new)}  # fmt: skip
    assert found == tighter


@settings(max_examples=100, deadline=None)
@given(old=SIGNS, new=SIGNS)
def test_what_is_stricter_one_way_is_relaxed_the_other_way(old: Limits, new: Limits) -> None:
    assert stricter(LAYOUT, old, old) == []
    there = {(change.key, change.figure) for change in stricter(LAYOUT, old, new)}
    back = {(change.key, change.figure) for change in stricter(LAYOUT, new, old)}
    assert not there & back


@settings(max_examples=100, deadline=None)
@given(old=SIGNS, new=SIGNS)
def test_the_lines_that_change_are_those_written_differently(old: Limits, new: Limits) -> None:
    found = {(change.key, change.figure) for change in changes(old, new)}
    lines = [(key, old.by_key.get(key, Range()), new.by_key.get(key, Range())) for key in {*old.by_key, *new.by_key}]
    assert found == {
        *((key, "min") for key, before, after in lines if before.minimum != after.minimum),
        *((key, "max") for key, before, after in lines if before.maximum != after.maximum),
        *(("big-small", "differential") for _ in "1" if old.differential != new.differential),
    }


# --- At once ---


@pytest.fixture
def busy(clone: str) -> tuple[House, Table, Table]:
    """Two tables of a pit in a database in which transactions are real."""
    house = build_house()
    return house, bare_table(house), bare_table(house, "TS-02")


def deciding(house: House, proposal: LimitProposal, actor: str = "shift-manager", how: Any = limits_approve) -> Any:
    """The decision as a request of its own would make it."""
    person, key = house.people[actor].pk, proposal.pk

    def decide() -> Any:
        return how(
            actor=Staff.objects.get(pk=person), proposal=LimitProposal.objects.get(pk=key), reason="Agreed"
        )  # fmt: skip

    return decide


def one_stands(answers: Sequence[Any]) -> str:
    """One succeeded; what the other was told."""
    told = [answer for answer in answers if isinstance(answer, ValidationError)]
    assert len(told) == len(answers) - 1, answers
    assert not [answer for answer in answers if isinstance(answer, Exception) and answer not in told], answers
    (message,) = told[0].messages
    return str(message)


@pytest.mark.parametrize("dated", [True, False], ids=["same moment", "as soon as approved"])
def test_of_two_proposals_approved_at_once_one_stands_and_the_other_is_told(
    busy: tuple[House, Table, Table], dated: bool
) -> None:
    house, table, _ = busy
    at = timezone.now() + HOUR if dated else None
    proposals = [propose(house, table, limits=limits, starts_at=at) for limits in (LOWER, HIGHER)]
    told = one_stands(
        at_once(deciding(house, proposals[0]), deciding(house, proposals[1], "casino-manager")),
    )
    assert re.search(r"This proposal was superseded by .*-MANAGER .*\. Nothing was changed", told)
    assert table.limit_sets.count() == 1
    assert sorted(outcomes()) == ["approved", "superseded"]


@pytest.mark.parametrize("turned", [False, True])
def test_a_whole_pit_and_one_of_its_tables_approved_at_once_wait_for_each_other_in_one_order(
    busy: tuple[House, Table, Table], turned: bool
) -> None:
    house, first, second = busy
    for minutes in (62, 61, 60):  # each before the last, where there is no sign yet
        at = timezone.now() + minutes * MINUTE
        wide = propose(house, *([second, first] if turned else [first, second]), starts_at=at)
        single = propose(house, second if turned else first, limits=HIGHER, starts_at=at)
        again = propose(house, *([first, second] if turned else [second, first]), limits=HIGHER, starts_at=at)
        told = one_stands(at_once(*(deciding(house, proposal) for proposal in (wide, single, again))))
        assert "was superseded by" in told
    assert LimitSet.objects.values("table", "starts_at").distinct().count() == LimitSet.objects.count()


def test_a_proposal_approved_twice_at_once_is_approved_once(busy: tuple[House, Table, Table]) -> None:
    house, table, _ = busy
    proposal = propose(house, table)
    told = one_stands(at_once(deciding(house, proposal), deciding(house, proposal, "casino-manager")))
    assert "was approved by" in told
    assert (outcomes(), table.limit_sets.count()) == (["approved"], 1)


@pytest.mark.parametrize("other", [limits_reject, limits_withdraw])
def test_a_proposal_approved_and_turned_down_at_once_has_one_decision(
    busy: tuple[House, Table, Table], other: Any
) -> None:
    house, table, _ = busy
    proposal = propose(house, table)
    actor = "pit-manager" if other is limits_withdraw else "casino-manager"
    told = one_stands(at_once(deciding(house, proposal), deciding(house, proposal, actor, other)))
    (outcome,) = outcomes()
    assert f"was {outcome} by" in told
    assert table.limit_sets.count() == (1 if outcome == "approved" else 0)


def test_two_approvals_that_supersede_the_same_proposal_at_once_both_stand(busy: tuple[House, Table, Table]) -> None:
    house, first, second = busy
    at = timezone.now() + HOUR
    wide = propose(house, first, second, starts_at=at)
    left, right = (propose(house, moment, limits=HIGHER, starts_at=at) for moment in (first, second))
    with meanwhile(deciding(house, right, "casino-manager")) as answer:
        deciding(house, left)()
    assert [proposal.table for proposal in answer.result(60)] == [second]
    assert LimitDecision.objects.get(proposal=wide).decided_by == house["shift-manager"]
    assert sorted(outcomes()) == ["approved", "approved", "superseded"]


def test_a_table_that_opens_while_stricter_limits_are_approved_has_its_notice(clone: str) -> None:
    house = build_house()
    table = ready_table(house)
    proposal = propose(house, table, limits=completed(table, HIGHER))
    with meanwhile(deciding(house, proposal)) as answer:
        table_open(actor=house["pit-manager"], table=table, reason="Start of shift")
    (entry,) = answer.result(60)
    assert entry.starts_at - entry.recorded_at >= NOTICE
