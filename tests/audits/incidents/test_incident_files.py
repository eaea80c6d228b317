"""Incident files: a number without gaps, what was reported, who may change what, and the one table of states."""

import datetime as dt
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import connection, connections, transaction
from django.utils import timezone

from audits.incidents.search import related
from audits.incidents.services.incidents import (
    can_change,
    incident_change,
    incident_note,
    incident_open,
    incident_people_add,
    incident_relate,
    incident_rounds_add,
    incident_step,
)
from audits.incidents.services.numbers import next_number
from audits.incidents.states import TRANSITIONS, find_transition
from audits.models import Incident, IncidentState, IncidentStep, NumberCounter
from games.access.gate import Denied, can, visible
from games.history.audited_save import LONGEST_TEXT, OvertakenError
from games.models import Denial, RecordingConflict
from games.rounds.services.recording import RoundConflictError
from tests.audits.files import leaves, opened, played, seen, told
from tests.conftest import House, build_house
from tests.games.engine.oracle import DIVISION_9
from tests.games.floor_setup import HOUR, MINUTE, NOON, SECOND, bare_table, ready_table
from tests.games.rounds.samples import bet
from tests.ledgers import ask_django, verify_chains
from tests.threads import at_once

# --- Numbers ---


def test_numbers_follow_each_other_in_each_casino(house: House, clock: Any) -> None:
    there = house.hire("S-ELSE", "surveillance", house.other)
    numbers = [opened(house, account=f"Quarrel {count}.").number for count in range(3)]
    assert numbers == ["IN-2026-000001", "IN-2026-000002", "IN-2026-000003"]
    assert incident_open(actor=there, report=told(house, casino=house.other)).number == "IN-2026-000001"


def test_a_year_begins_by_the_casinos_own_clock(house: House, clock: Any) -> None:
    there = house.hire("S-ELSE", "surveillance", house.other)
    midnight = dt.datetime(2026, 12, 31, 16, tzinfo=dt.UTC)  # in Singapore
    clock.move_to(midnight - SECOND)
    assert opened(house).number == "IN-2026-000001"
    clock.move_to(midnight)
    late = opened(house, occurred_from=midnight - HOUR)  # reported in the new year
    assert (late.number, late.year) == ("IN-2027-000001", 2027)
    assert incident_open(actor=there, report=told(house, casino=house.other)).number == "IN-2026-000001"


def test_the_millionth_file_of_a_year_has_a_number_too(house: House, clock: Any) -> None:
    NumberCounter.objects.create(casino=house.casino, series="IN", year=2026, last=999_999)
    assert opened(house).number == "IN-2026-1000000"


def test_a_file_that_is_not_opened_after_all_gives_its_number_back(house: House, clock: Any) -> None:
    opened(house, account="One.")
    with pytest.raises(ValidationError), transaction.atomic():
        opened(house, account="Two.", people=[("acrobat", "X")])
    with transaction.atomic():
        assert next_number("IN", house.casino, timezone.now()) == (2026, 2)
        transaction.set_rollback(True)
    assert opened(house, account="Three.").number == "IN-2026-000002"
    assert NumberCounter.objects.get().last == 2


def test_numbers_have_no_gap_where_fifty_report_at_once_and_some_fail(clone: str) -> None:
    house = build_house()
    table = bare_table(house)
    actor = house["pit-supervisor"]

    together = Barrier(50)

    def report(count: int) -> Incident | Exception:
        try:
            connection.ensure_connection()
            together.wait()
            with transaction.atomic():
                incident = incident_open(actor=actor, report=told(house, f"Quarrel {count}.", table=table))
                if count % 5 == 0:
                    raise RuntimeError
                return incident
        except Exception as error:
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(report, range(50)))
    assert [type(one) for one in answers] == [RuntimeError if count % 5 == 0 else Incident for count in range(50)]
    found = list(Incident.objects.order_by("serial").values_list("serial", "number"))
    year = Incident.objects.values_list("year", flat=True).first()
    assert found == [(serial, f"IN-{year}-{serial:06d}") for serial in range(1, 41)]
    verify_chains(ask_django, [table.pk])
    assert sum(len(leaves("incident-step", step.pk)) for step in IncidentStep.objects.all()) == 40


def test_a_second_click_at_the_same_moment_is_not_a_second_file(clone: str) -> None:
    house = build_house()
    report = told(house, table=bare_table(house))
    actor = house["pit-supervisor"]
    answers = at_once(*[lambda: incident_open(actor=actor, report=report)] * 2)
    assert sorted(type(one).__name__ for one in answers) == ["Incident", "OvertakenError"]
    assert (Incident.objects.count(), NumberCounter.objects.get().last) == (1, 1)


# --- What is reported ---


def test_the_first_leaf_holds_what_was_reported(house: House, clock: Any) -> None:
    clock.move_to(NOON - HOUR)
    table = ready_table(house)
    clock.move_to(NOON)
    round_ = played(table, NOON - 2 * MINUTE, "R-1")
    incident = opened(
        house, account="A die leaned on the wall.", situation="die-not-flat", table=table, occurred_from=NOON - MINUTE,
        occurred_to=NOON, rounds=[round_], people=[("dealer", "dealer"), ("patron", "P-77")],
    )  # fmt: skip
    (step,) = incident.steps.all()
    ((number, before, after, reason, who, at, *held),) = leaves("incident-step", step.pk)
    assert (number, before, after, reason, who, at) == (
        incident.number, "", "open", "Reported", incident.who, "2026-11-15T12:00:00Z",
    )  # fmt: skip
    assert held == [
        "die-not-flat", {}, "A die leaned on the wall.", incident.advice, "2026-11-15T11:59:00Z",
        "2026-11-15T12:00:00Z", "TS-01", "rws-tai-sai-v6", [["dealer", "dealer"], ["patron", "P-77"]],
        [["floor", "R-1"]], None, None, None,
    ]  # fmt: skip
    people = {(person.part, person.reference, person.staff) for person in incident.people.all()}
    assert people == {("dealer", "dealer", house["dealer"]), ("patron", "P-77", None)}
    verify_chains(ask_django, [table.pk])


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"account": " "}, "account"),
        ({"account": "a\x00b"}, "account"),
        ({"account": "x" * (LONGEST_TEXT + 1)}, "account"),
        ({"occurred_from": NOON + 6 * MINUTE}, "occurred_from"),
        ({"occurred_from": dt.datetime(1900, 1, 1, tzinfo=dt.UTC)}, "occurred_from"),
        ({"occurred_to": NOON - SECOND}, "occurred_to"),
        ({"occurred_to": NOON + HOUR}, "occurred_to"),
        ({"situation": "earthquake"}, "situation"),
        ({"situation": "interruption"}, "situation"),
        ({"situation": "interruption", "facts": {"known_dice": "2,9,?"}}, "situation"),
        ({"situation": "other", "facts": {"weather": "fair"}}, "situation"),
        ({"people": [("witness", "x" * 201)]}, "reference"),
        ({"people": [("witness", "\x00")]}, "people"),
        ({"people": [("acrobat", "X")]}, "people"),
        ({"people": [("patron", " ")]}, "people"),
    ],
)
def test_a_report_that_makes_no_sense_says_which_part(
    house: House, clock: Any, changes: dict[str, Any], field: str
) -> None:
    for place in ({"pit": house.pits["P1"]}, {"table": bare_table(house)}):
        with pytest.raises(ValidationError) as refusal, transaction.atomic():
            opened(house, **changes, **place)
        assert list(refusal.value.message_dict) == [field]
    assert not Incident.objects.exists()


def test_a_pit_supervisor_reports_from_the_own_pit(house: House, clock: Any) -> None:
    table = bare_table(house, "TS-02", "P2")
    for place in ({"pit": None}, {"pit": house.pits["P2"]}, {"table": table}):
        with pytest.raises(Denied):
            opened(house, **place)
    assert opened(house, pit=house.pits["P1"]).advice is None
    assert opened(house, "surveillance", pit=None).pit is None


def test_files_are_seen_in_their_pit_and_casino(house: House, clock: Any) -> None:
    first, second = opened(house), opened(house, "shift-manager", pit=house.pits["P2"])
    whole = opened(house, "surveillance", pit=None)
    assert set(visible(house["pit-supervisor"], Incident.objects.all())) == {first, whole}
    assert set(visible(house["surveillance"], Incident.objects.all())) == {first, second, whole}
    stranger = house.hire("C-ELSE", "compliance", house.other)
    assert not visible(stranger, Incident.objects.all()).exists()
    for role, incident in (("pit-supervisor", second), ("pit-supervisor", whole)):
        with pytest.raises(Denied):
            incident_note(actor=house[role], incident=incident, text="From next door.")
    with pytest.raises(Denied):
        incident_step(actor=stranger, incident=first, to="closed", reason="Not ours")


def test_a_file_is_raised_from_what_its_reporter_sees(house: House, clock: Any) -> None:
    clock.move_to(NOON - HOUR)
    near, far = ready_table(house), ready_table(house, "TS-02", "P2")
    clock.move_to(NOON)
    there = played(far, NOON - 2 * MINUTE, "R-2")
    with pytest.raises(RoundConflictError):
        played(far, NOON - 2 * MINUTE, "R-2", [bet("seat-1", "big", "50", net="-50")])
    conflict = RecordingConflict.objects.get()
    secret = seen(house, table=near, is_confidential=True)
    for source in ({"rounds": [there]}, {"conflict": conflict}, {"entry": secret}):
        with pytest.raises(Denied):
            opened(house, table=near, **source)
    own = seen(house, table=near)
    assert opened(house, table=near, entry=own).entry == own
    assert opened(house, "shift-manager", table=far, conflict=conflict, rounds=[there]).conflict == conflict
    elsewhere = seen(house, house_of_other(house), casino=house.other)
    inspector = house.hire("GROUP", "compliance")
    type(inspector).objects.filter(pk=inspector.pk).update(casino=None)
    inspector.refresh_from_db()
    with pytest.raises(ValidationError, match="belongs to another casino"):
        incident_open(actor=inspector, report=told(house, entry=elsewhere))


def house_of_other(house: House) -> str:
    """The role of somebody of surveillance in the other casino, for the house to give."""
    house.people["there"] = house.hire("S-ELSE", "surveillance", house.other)
    return "there"


# --- From state to state ---

STATES = list(IncidentState)


def in_state(house: House, state: IncidentState) -> Incident:
    incident = opened(house)
    Incident.objects.filter(pk=incident.pk).update(state=state)
    return incident


@pytest.mark.parametrize("before", STATES)
def test_states_follow_the_one_table(house: House, clock: Any, before: IncidentState) -> None:
    incident = in_state(house, before)
    actor = house["compliance"]
    for after in STATES:
        transition = find_transition(before, after)
        if transition is None:
            with pytest.raises(OvertakenError, match="the next state can be"):
                incident_step(actor=actor, incident=incident, to=after, reason="Because")
        elif transition.action == "incident.rule":  # no role rules yet
            with pytest.raises(Denied):
                incident_step(actor=actor, incident=incident, to=after, reason="Because")
        else:
            with transaction.atomic():
                taken = incident_step(actor=actor, incident=incident, to=after, reason=" Because ")
                assert (taken.state, taken.state_since) == (after, NOON)
                step = taken.steps.latest("pk")
                assert (step.before, step.after, step.reason, step.by) == (before, after, "Because", actor)
                assert leaves("incident-step", step.pk)[0][1:4] == [before, after, "Because"]
                Incident.objects.filter(pk=incident.pk).update(state=before)


def test_every_state_can_be_left_and_every_one_but_the_first_reached() -> None:
    assert {one.before for one in TRANSITIONS} == set(STATES)
    assert {one.after for one in TRANSITIONS} == set(STATES) - {IncidentState.OPEN}
    assert len({(one.before, one.after) for one in TRANSITIONS}) == len(TRANSITIONS)


def test_who_takes_which_step(house: House, clock: Any) -> None:
    incident = opened(house)

    def takers(before: IncidentState, after: IncidentState) -> list[str]:
        transition = find_transition(before, after)
        assert transition is not None
        return [role for role in house.people if can(house[role], transition.action, incident)]

    pit = ["pit-supervisor", "pit-manager", "shift-manager", "casino-manager"]
    assert takers(IncidentState.OPEN, IncidentState.INVESTIGATION) == [*pit, "surveillance", "compliance"]
    assert takers(IncidentState.RULED, IncidentState.CLOSED) == ["compliance"]
    assert takers(IncidentState.CLOSED, IncidentState.REOPENED) == ["compliance"]
    assert takers(IncidentState.AWAITING, IncidentState.INVESTIGATION) == [*pit[2:], "compliance"]
    with pytest.raises(Denied):
        incident_step(actor=house["casino-manager"], incident=incident, to="closed", reason="Because")
    assert incident.steps.count() == 1


def test_a_step_has_a_reason_and_a_second_click_changes_nothing(house: House, clock: Any) -> None:
    incident = opened(house)
    for reason in (" ", "\x00", "x" * (LONGEST_TEXT + 1)):
        with pytest.raises(ValidationError):
            incident_step(actor=house["compliance"], incident=incident, to="closed", reason=reason)
    incident_step(actor=house["compliance"], incident=incident, to="closed", reason="Nothing in it")
    with pytest.raises(OvertakenError, match="is closed; the next state can be reopened"):
        incident_step(actor=house["compliance"], incident=incident, to="closed", reason="Nothing in it")
    assert incident.steps.count() == 2


# --- What is changed and added ---


def test_a_slip_is_mended_and_what_stood_there_stays_in_the_history(house: House, clock: Any) -> None:
    incident = opened(house, table=bare_table(house), situation="late-bet")
    changed = incident_change(
        actor=house["pit-supervisor"], incident=incident, reason="Wrong seat", changes={"account": "It was seat 4."}
    )
    changed.refresh_from_db()
    assert (changed.account, changed.advice) == ("It was seat 4.", incident.advice)
    newest, first = changed.history.all()
    assert (first.account, newest.history_change_reason) == ("A quarrel at seat 3.", "Wrong seat")
    ((number, said, reason, who, _),) = leaves("incident-change", newest.pk)
    assert (number, said, reason) == (incident.number, {"account": "It was seat 4."}, "Wrong seat")
    assert who == "PIT-SUPERVISOR Person PIT-SUPERVISOR, pit supervisor"


def test_the_rulebook_follows_the_table_and_the_moment_but_the_advice_stays(house: House, clock: Any) -> None:
    table = bare_table(house)
    other = bare_table(house, "TS-09", rulebook=DIVISION_9, layout="1")
    incident = opened(house, table=table, situation="dice-damaged")
    changed = incident_change(
        actor=house["pit-supervisor"], incident=incident, reason="Wrong table", changes={"table": other}
    )
    changed.refresh_from_db()
    assert (changed.table, changed.rulebook) == (other, DIVISION_9)
    assert (changed.advice or {})["rulebook"] == "rws-tai-sai-v6"


@pytest.mark.parametrize(
    "name", ["state", "advice", "number", "reported_at", "casino", "department", "serial", "zebra"]
)
def test_what_was_reported_and_the_state_are_not_changed_that_way(house: House, clock: Any, name: str) -> None:
    incident = opened(house)
    with pytest.raises(ValidationError, match=f"{name}: this does not change"):
        incident_change(actor=house["compliance"], incident=incident, changes={name: "closed"}, reason="Because")


@pytest.mark.parametrize(
    "changes",
    [
        {"account": ""}, {"account": "\x00"}, {"occurred_from": NOON + HOUR}, {"occurred_to": NOON - HOUR},
        {"situation": "earthquake"}, {"situation": "interruption"}, {"facts": {"weather": "fair"}},
    ],
)  # fmt: skip
def test_a_change_makes_as_much_sense_as_a_report(house: House, clock: Any, changes: dict[str, Any]) -> None:
    incident = opened(house)
    with pytest.raises(ValidationError):
        incident_change(actor=house["compliance"], incident=incident, changes=changes, reason="Because")
    assert incident.history.count() == 1


def test_a_file_is_not_moved_to_where_the_actor_does_not_reach(house: House, clock: Any) -> None:
    incident = opened(house)
    for changes in ({"table": bare_table(house, "TS-02", "P2")}, {"pit": house.pits["P2"]}, {"pit": None}):
        with pytest.raises(Denied):
            incident_change(actor=house["pit-supervisor"], incident=incident, changes=changes, reason="Because")
    with pytest.raises(ValidationError):
        incident_change(
            actor=house["compliance"], incident=incident, changes={"pit": house.other_pit}, reason="Because"
        )


def test_no_pit_employee_changes_what_surveillance_reported_but_may_add_to_it(house: House, clock: Any) -> None:
    incident = opened(house, "surveillance", pit=house.pits["P1"])
    assert incident.department == "surveillance"
    for role in ("pit-supervisor", "pit-manager", "shift-manager", "casino-manager"):
        with pytest.raises(Denied):
            incident_change(actor=house[role], incident=incident, changes={"account": "Nothing."}, reason="Because")
        assert Denial.objects.get(staff=house[role]).action == "incident.change"
        assert not can_change(house[role], incident)
        incident_note(actor=house[role], incident=incident, text="We saw it otherwise.")
    for role in ("surveillance", "compliance"):
        assert can_change(house[role], incident)
    incident_change(actor=house["surveillance"], incident=incident, changes={"account": "More."}, reason="Seen again")


def test_a_closed_file_takes_notes_alone(house: House, clock: Any) -> None:
    incident = opened(house)
    stale = Incident.objects.get(pk=incident.pk)
    actor = house["compliance"]
    incident_step(actor=actor, incident=incident, to="closed", reason="Nothing in it")
    with pytest.raises(ValidationError, match="reopen it first"):
        incident_change(actor=actor, incident=stale, changes={"account": "More."}, reason="Because")
    with pytest.raises(ValidationError, match="reopen it first"):
        incident_people_add(actor=actor, incident=stale, people=[("witness", "W-1")])
    with pytest.raises(ValidationError, match="reopen it first"):
        incident_rounds_add(actor=actor, incident=stale, rounds=[])
    note = incident_note(actor=actor, incident=stale, text="A witness has called.")
    assert leaves("incident-note", note.pk)[0][:3] == [incident.number, "A witness has called.", False]


def test_notes_say_something_that_can_be_kept(house: House, clock: Any) -> None:
    incident = opened(house)
    for text in (" ", "\x00", "x" * (LONGEST_TEXT + 1)):
        with pytest.raises(ValidationError):
            incident_note(actor=house["compliance"], incident=incident, text=text)
    assert not incident.notes.exists()


def test_people_and_rounds_are_added_once_each(house: House, clock: Any) -> None:
    clock.move_to(NOON - HOUR)
    table, far = ready_table(house), ready_table(house, "TS-02", "P2")
    clock.move_to(NOON)
    incident = opened(house, table=table)
    near, there = played(table, NOON - 2 * MINUTE, "R-1"), played(far, NOON - 2 * MINUTE, "R-2")
    actor = house["pit-supervisor"]
    for _ in range(2):
        incident_people_add(actor=actor, incident=incident, people=[("witness", "dealer"), ("patron", "P-77")])
        incident_rounds_add(actor=actor, incident=incident, rounds=[near])
    assert (incident.people.count(), incident.rounds.count()) == (2, 1)
    with pytest.raises(Denied):
        incident_rounds_add(actor=actor, incident=incident, rounds=[near, there])


def test_staff_of_another_casino_are_not_linked(house: House, clock: Any) -> None:
    house.hire("D-ELSE", "dealer", house.other, house.other_pit)
    incident = opened(house, people=[("dealer", "D-ELSE"), ("supervisor", "Pit-Supervisor")])
    assert {(person.reference, person.staff) for person in incident.people.all()} == {
        ("D-ELSE", None), ("Pit-Supervisor", house["pit-supervisor"]),
    }  # fmt: skip


def test_related_files_show_on_both_sides(house: House, clock: Any) -> None:
    one, other = opened(house, account="One."), opened(house, account="Two.")
    actor = house["pit-supervisor"]
    link = incident_relate(actor=actor, incident=other, other=one, reason="The same patron")
    assert incident_relate(actor=actor, incident=one, other=other, reason="Again") == link
    assert (related(one), related(other)) == ([(other, link)], [(one, link)])
    with pytest.raises(ValidationError, match="cannot be related to itself"):
        incident_relate(actor=actor, incident=one, other=one, reason="The same")
    there = opened(house, "shift-manager", pit=house.pits["P2"])
    with pytest.raises(Denied):
        incident_relate(actor=actor, incident=one, other=there, reason="The same patron")
