"""The life of a finding: seen by somebody, given to somebody, resolved with an outcome, confirmed by another."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.utils import timezone

from audits.findings.services.findings import (
    finding_acknowledge,
    finding_assign,
    finding_confirm,
    finding_reopen,
    finding_resolve,
    finding_return,
)
from audits.models import Finding, Severity
from games.access.services.people import staff_update
from games.history.audited_save import OvertakenError
from games.models import Denial, Table
from tests.audits.playing import UNDERPAID, Happened, drain, played, record, table_for
from tests.conftest import OPERATOR, PEOPLE, House
from tests.games.floor_setup import NOON
from tests.games.rounds.samples import bet
from tests.thresholds import in_force

DEAR = bet(stake="2500.00", net="100.00")  # 2,400 short: above the threshold of 2,000


@pytest.fixture
def finding(table: Table) -> Finding:
    """10 dollars short."""
    record(played("R-1", UNDERPAID))
    drain()
    return Finding.objects.get()


@pytest.fixture
def dear(table: Table) -> Finding:
    record(played("R-2", DEAR))
    drain()
    return Finding.objects.get(round__ref="R-2")


def resolve(house: House, finding: Finding, **changes: Any) -> Finding:
    values: dict[str, Any] = {
        "outcome": "written-off",
        "reason": "The player has left",
        "actor": house["pit-manager"],
    } | changes
    return finding_resolve(finding=finding, **values)


def history(finding: Finding) -> list[tuple[str, str]]:
    rows = finding.history.order_by("history_id")
    return [(row.history_author.partition(",")[0].partition(" ")[0], row.history_change_reason) for row in rows]


# --- Step by step ---


def test_from_open_to_confirmed_each_step_by_somebody_with_a_reason(house: House, dear: Finding) -> None:
    finding_acknowledge(actor=house["pit-supervisor"], finding=dear)
    finding_assign(actor=house["pit-manager"], finding=dear, to=house["pit-manager"], reason="I was there")
    resolve(house, dear, outcome="paid", amount=240000, reason=" Paid at the cage ")
    found = Finding.objects.get()
    assert (found.state, found.outcome, found.settled_amount, found.resolution) == (
        "resolved", "paid", 240000, "Paid at the cage",
    )  # fmt: skip
    assert (found.resolved_by, found.resolved_at, found.needs_confirmation) == (house["pit-manager"], NOON, True)
    assert found.acknowledged_by.startswith("PIT-SUPERVISOR")
    finding_confirm(actor=house["compliance"], finding=dear, reason="Receipt seen")
    found = Finding.objects.get()
    assert (found.needs_confirmation, found.confirmed_by, found.confirmed_at) == (False, house["compliance"], NOON)
    assert history(found) == [
        ("PIT-SUPERVISOR", "Seen"), ("PIT-MANAGER", "I was there"), ("PIT-MANAGER", " Paid at the cage ".strip()),
        ("COMPLIANCE", "Receipt seen"),
    ]  # fmt: skip


def test_who_resolves_an_open_finding_has_seen_it(house: House, finding: Finding) -> None:
    done = resolve(house, finding)
    assert done.acknowledged_by.startswith("PIT-MANAGER")
    assert (done.acknowledged_at, done.needs_confirmation) == (NOON, False)


@pytest.mark.parametrize(
    ("amount", "outcome", "needs"),
    [(None, "no-loss", False), (199999, "paid", False), (200000, "paid", True), (200000, "recovered", True)],
)
def test_compliance_confirms_from_a_threshold_on(
    house: House, finding: Finding, amount: int | None, outcome: str, needs: bool
) -> None:
    assert resolve(house, finding, outcome=outcome, amount=amount).needs_confirmation is needs


def test_the_difference_itself_reaches_the_threshold_too(house: House, dear: Finding) -> None:
    assert resolve(house, dear, outcome="written-off").needs_confirmation


def test_compliance_returns_what_it_does_not_agree_with(house: House, dear: Finding) -> None:
    resolve(house, dear)
    back = finding_return(actor=house["compliance"], finding=dear, reason="Ask the cage")
    assert (back.state, back.outcome, back.resolved_by, back.needs_confirmation) == ("acknowledged", "", None, False)
    assert resolve(house, dear, reason="The cage says so, too").state == "resolved"
    assert [reason for _, reason in history(dear)] == ["The player has left", "Ask the cage", "The cage says so, too"]


def test_a_mistaken_resolution_is_reopened_and_its_confirmation_with_it(house: House, dear: Finding) -> None:
    resolve(house, dear)
    finding_confirm(actor=house["compliance"], finding=dear, reason="Agreed")
    back = finding_reopen(actor=house["shift-manager"], finding=dear, reason="Another player")
    assert (back.state, back.confirmed_by, back.resolution) == ("acknowledged", None, "")
    assert dear.history.filter(confirmed_by=house["compliance"].pk).exists()


def test_nobody_confirms_what_he_resolved_himself(house: House, dear: Finding) -> None:
    """He has moved from the pit to compliance since."""
    resolve(house, dear)
    mover = house["pit-manager"]
    staff_update(
        actor=OPERATOR, staff=mover, changes={"department": "compliance", "post": "", "pit": None}, reason="Moved"
    )
    with pytest.raises(ValidationError, match="resolved himself"):
        finding_confirm(actor=house["pit-manager"], finding=dear, reason="Fine by me")
    assert Finding.objects.get().confirmed_by is None


# --- Refused ---


def test_a_second_click_finds_what_the_first_did(house: House, dear: Finding) -> None:
    steps: list[tuple[str, Any]] = [
        ("acknowledged by PIT-SUPERVISOR", lambda: finding_acknowledge(actor=house["pit-supervisor"], finding=dear)),
        ("resolved by PIT-MANAGER", lambda: resolve(house, dear)),
        ("confirmed by COMPLIANCE", lambda: finding_confirm(actor=house["compliance"], finding=dear, reason="Agreed")),
    ]  # fmt: skip
    for said, step in steps:
        step()
        before = dear.history.count()
        with pytest.raises(OvertakenError, match=f"{said} .* Nothing has changed"):
            step()
        assert dear.history.count() == before


def test_steps_out_of_turn_are_refused(house: House, finding: Finding) -> None:
    out_of_turn: list[Callable[[], Finding]] = [
        lambda: finding_confirm(actor=house["compliance"], finding=finding, reason="x"),
        lambda: finding_return(actor=house["compliance"], finding=finding, reason="x"),
        lambda: finding_reopen(actor=house["pit-manager"], finding=finding, reason="x"),
    ]
    for step in out_of_turn:
        with pytest.raises(OvertakenError):
            step()
    resolve(house, finding)  # below the threshold: nothing to confirm
    after_the_end: list[Callable[[], Finding]] = [
        *out_of_turn[:2],
        lambda: finding_acknowledge(actor=house["pit-supervisor"], finding=finding),
        lambda: finding_assign(actor=house["pit-manager"], finding=finding, to=house["pit-manager"], reason="x"),
    ]
    for step in after_the_end:
        with pytest.raises(OvertakenError):
            step()
    assert finding.history.count() == 1


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"outcome": "forgotten"}, "Choose an outcome"),
        ({"outcome": "paid"}, "Enter the amount"),
        ({"outcome": "recovered", "amount": 0}, "Enter the amount"),
        ({"outcome": "paid", "amount": -1}, "cannot be negative"),
        ({"outcome": "no-loss", "amount": 5}, "Leave the amount empty"),
        ({"reason": "  "}, "Enter a reason"),
    ],
)
def test_an_outcome_that_makes_no_sense(house: House, finding: Finding, changes: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValidationError, match=fault):
        resolve(house, finding, **changes)
    assert (Finding.objects.get().state, finding.history.count()) == ("open", 0)


def test_a_finding_is_given_to_somebody_who_may_resolve_it_or_to_nobody(house: House, finding: Finding) -> None:
    boss = house["shift-manager"]

    def give(to: Any) -> Finding:
        return finding_assign(actor=boss, finding=finding, to=to, reason="Please look")

    stranger = house.hire("PM-2", "pit-manager", pit=house.pits["P2"])
    for to in (house["pit-supervisor"], house["auditor"], stranger):
        with pytest.raises(ValidationError, match="may not resolve this finding"):
            give(to)
    with pytest.raises(ValidationError, match="This finding is not assigned"):
        give(None)
    assert give(house["pit-manager"]).assigned_to == house["pit-manager"]
    with pytest.raises(ValidationError, match="already"):
        give(house["pit-manager"])
    assert give(None).assigned_to is None


ROLES_OF = {
    "acknowledge": {"pit-supervisor", "pit-manager", "shift-manager", "casino-manager", "surveillance", "compliance"},
    "assign": {"pit-manager", "shift-manager", "casino-manager", "compliance"},
    "resolve": {"pit-manager", "shift-manager", "casino-manager"},
    "reopen": {"pit-manager", "shift-manager", "casino-manager"},
    "confirm": {"compliance"},
    "return": {"compliance"},
}


@pytest.mark.parametrize("verb", ROLES_OF)
def test_who_may(house: House, dear: Finding, verb: str) -> None:
    steps: dict[str, Callable[[Any], Finding]] = {
        "acknowledge": lambda actor: finding_acknowledge(actor=actor, finding=dear),
        "assign": lambda actor: finding_assign(actor=actor, finding=dear, to=house["pit-manager"], reason="x"),
        "resolve": lambda actor: finding_resolve(actor=actor, finding=dear, outcome="no-loss", reason="x"),
        "reopen": lambda actor: finding_reopen(actor=actor, finding=dear, reason="x"),
        "confirm": lambda actor: finding_confirm(actor=actor, finding=dear, reason="x"),
        "return": lambda actor: finding_return(actor=actor, finding=dear, reason="x"),
    }
    if verb in ("reopen", "confirm", "return"):
        resolve(house, dear)
    before = dear.history.count()
    for role in sorted(set(PEOPLE) - ROLES_OF[verb]):
        with pytest.raises(PermissionDenied):
            steps[verb](house[role])
        assert Denial.objects.filter(staff_id=house[role].pk).count() == 1
    elsewhere = house.hire("CM-2", "casino-manager" if verb in ROLES_OF["resolve"] | {"acknowledge"} else "compliance",
                           casino=house.other)  # fmt: skip
    with pytest.raises(PermissionDenied):
        steps[verb](elsewhere)
    assert dear.history.count() == before
    last = sorted(ROLES_OF[verb])[-1]
    steps[verb](house[last])
    assert dear.history.count() == before + 1


# --- How a casino weighs them ---


def test_severity_follows_the_amount_by_the_casino_s_policy(house: House, table: Table) -> None:
    in_force(house, "findings", medium_from=1000, high_from=2000, confirm_from=1500)
    record(*(played(f"R-{number}", bet(net=f"{100 - number}.00")) for number in (9, 10, 19, 20)))
    drain()
    found = Finding.objects.order_by("round__ref").values_list("round__ref", "severity", "amount")
    assert set(found) == {("R-9", 1, 900), ("R-10", 2, 1000), ("R-19", 2, 1900), ("R-20", 3, 2000)}
    assert resolve(house, Finding.objects.get(round__ref="R-19")).needs_confirmation
    assert not resolve(house, Finding.objects.get(round__ref="R-10")).needs_confirmation


def test_what_waits_for_somebody_s_word_weighs_more_than_what_is_over(table: Table) -> None:
    unfinished: list[Happened] = [("place-bets", 0, {}), ("no-more-bets", 20, {})]
    void = [*unfinished, ("void", 30, {"rule": "5.5.1"})]
    record(played("R-1", bet(), events=unfinished), played("R-2", bet(), events=void))
    drain()
    assert set(Finding.objects.values_list("kind", "severity")) == {
        ("unfinished", Severity.MEDIUM), ("void", Severity.LOW),
    }  # fmt: skip


def test_another_casino_s_policy_says_nothing_here(house: House, table: Table) -> None:
    table_for(house, "TS-02")
    in_force(house, "findings", house.other, medium_from=0, high_from=0)
    record(played("R-1", UNDERPAID))
    drain()
    assert Finding.objects.get().severity == Severity.LOW


def test_what_lapsed_waits_for_nobody(house: House, dear: Finding) -> None:
    Finding.objects.filter(pk=dear.pk).update(lapsed_by=dear.found_by, lapsed_at=timezone.now())
    steps: list[Callable[[], Finding]] = [
        lambda: finding_acknowledge(actor=house["pit-manager"], finding=dear),
        lambda: finding_resolve(actor=house["pit-manager"], finding=dear, outcome="no-loss", reason="x"),
    ]
    for step in steps:
        with pytest.raises(OvertakenError, match="no longer found"):
            step()
