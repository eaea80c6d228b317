"""The daily log: what was seen, by shift, mended only by what is added; and the handover between two shifts."""

import datetime as dt
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from audits.incidents.services.incidents import incident_step
from audits.incidents.services.log import handover_sign, handover_take, log_addendum, log_write
from audits.incidents.services.shifts import shift_add
from audits.incidents.shifts import shift_at
from audits.models import Handover, HandoverTaken, LogEntry
from games.access.gate import Denied, can, visible
from games.history.audited_save import LONGEST_TEXT
from games.models import Denial
from tests.audits.files import leaves, opened, seen
from tests.conftest import House
from tests.games.floor_setup import HOUR, MINUTE, NOON, bare_table
from tests.ledgers import ask_django, verify_chains

pytestmark = pytest.mark.usefixtures("clock")

SINGAPORE = dt.timezone(8 * HOUR)


def test_an_entry_keeps_what_was_seen_and_who_saw_it(house: House) -> None:
    entry = seen(
        house, summary="  Seat 3 counts aloud.  ", table=bare_table(house), location="Row 2", camera="C-17",
        time_code="20:00:07:12", recording="NVR 4", keep_until=dt.date(2026, 12, 15), was_monitored=True,
    )  # fmt: skip
    entry.refresh_from_db()
    assert (entry.summary, entry.pit, entry.department) == (
        "Seat 3 counts aloud.", house.pits["P1"], "surveillance",
    )  # fmt: skip
    assert entry.who == "SURVEILLANCE Person SURVEILLANCE, surveillance"
    (leaf,) = leaves("log-entry", entry.pk)
    assert leaf[0] == "2026-11-15T12:00:00Z"
    assert {"Row 2", "C-17", "20:00:07:12", "NVR 4", "2026-12-15", "Seat 3 counts aloud.", entry.who} <= {
        one for one in leaf if isinstance(one, str)
    }
    verify_chains(ask_django, [entry.table_id or 0])


@pytest.mark.parametrize(
    ("clock_shows", "day", "shift"),
    [
        ("05:59", 14, "Night"),
        ("06:00", 15, "Day"),
        ("13:59", 15, "Day"),
        ("14:00", 15, "Swing"),
        ("22:00", 15, "Night"),
    ],
)
def test_an_entry_belongs_to_the_shift_and_day_of_what_was_seen(
    house: House, clock: Any, clock_shows: str, day: int, shift: str
) -> None:
    clock.move_to(NOON + 24 * HOUR)
    at = dt.datetime.combine(dt.date(2026, 11, 15), dt.time.fromisoformat(clock_shows), SINGAPORE)
    entry = seen(house, at=at)
    assert (entry.gaming_day, entry.shift) == (dt.date(2026, 11, day), shift)


def test_a_casino_has_shifts_of_its_own_by_its_own_clock(house: House) -> None:
    for name, starts in (("Early", dt.time(8)), ("Late", dt.time(20))):
        shift_add(actor=house["compliance"], casino=house.casino, name=name, starts=starts, reason="Our own")
    at = NOON.replace(hour=0)  # 08:00 there
    assert [shift_at(house.casino, at + hours * HOUR) for hours in (-1, 0, 11, 12)] == [
        "Late",
        "Early",
        "Early",
        "Late",
    ]
    assert shift_at(house.other, at) == "Night"


# --- What is not taken ---


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"at": NOON + 6 * MINUTE}, "at"),
        ({"at": dt.datetime(1900, 1, 1, tzinfo=dt.UTC)}, "at"),
        ({"at": dt.datetime(1, 1, 1, tzinfo=SINGAPORE)}, "at"),
        ({"at": dt.datetime(9999, 12, 31, 23, tzinfo=dt.timezone(-8 * HOUR))}, "at"),
        ({"at": NOON.replace(tzinfo=None)}, "at"),
        ({"summary": "  "}, "summary"),
        ({"summary": "a\x00b"}, "summary"),
        ({"summary": "a\ud800b"}, "summary"),
        ({"summary": "x" * (LONGEST_TEXT + 1)}, "summary"),
        ({"location": "\x00"}, "location"),
        ({"camera": "C" * 61}, "camera"),
        ({"time_code": "\x00"}, "time_code"),
    ],
)
def test_an_entry_that_cannot_be_kept_says_which_part(house: House, changes: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        seen(house, **changes)
    assert list(refusal.value.message_dict) == [field]
    assert not LogEntry.objects.exists()


def test_the_longest_text_of_different_words_is_kept_and_found(house: House) -> None:
    words = " ".join(str(number) for number in range(4400))[:LONGEST_TEXT]
    assert len(seen(house, summary=words).summary) > LONGEST_TEXT * 0.8


def test_a_place_is_one_place(house: House) -> None:
    table = bare_table(house)
    places: list[dict[str, Any]] = [
        {"casino": house.other, "table": table}, {"casino": house.casino, "pit": house.other_pit},
        {"casino": house.casino, "pit": house.pits["P2"], "table": table},
    ]  # fmt: skip
    for wrong in places:
        with pytest.raises((ValidationError, Denied)):
            seen(house, **wrong)
    assert not LogEntry.objects.exists()


def test_a_pit_supervisor_writes_of_the_own_pit_and_reads_of_the_whole_house(house: House) -> None:
    table = bare_table(house, "TS-02", "P2")
    own = seen(house, "pit-supervisor", pit=house.pits["P1"])
    places: list[dict[str, Any]] = [{}, {"pit": house.pits["P2"]}, {"table": table}]
    for elsewhere in places:
        with pytest.raises(Denied):
            seen(house, "pit-supervisor", **elsewhere)
    of_house, of_other_pit = seen(house), seen(house, table=table)
    assert set(visible(house["pit-supervisor"], LogEntry.objects.all())) == {own, of_house}
    assert set(visible(house["shift-manager"], LogEntry.objects.all())) == {own, of_house, of_other_pit}
    assert not visible(house.hire("S-ELSE", "surveillance", house.other), LogEntry.objects.all()).exists()


@pytest.mark.parametrize("role", ["dealer", "compliance", "auditor", "administrator"])
def test_others_write_no_entries(house: House, role: str) -> None:
    with pytest.raises(Denied):
        seen(house, role)
    assert Denial.objects.get(staff=house[role]).action == "logentry.add"


# --- Addenda ---


def test_a_slip_is_mended_beside_the_entry_which_stays(house: House, clock: Any) -> None:
    entry = seen(house, "pit-supervisor", "Spilt tea at seat 4.", pit=house.pits["P1"])
    clock.shift(HOUR)
    addendum = log_addendum(actor=house["pit-manager"], entry=entry, summary="It was seat 5.")
    entry.refresh_from_db()
    assert (entry.summary, list(entry.addenda.all())) == ("Spilt tea at seat 4.", [addendum])
    assert (addendum.at, addendum.recorded_at) == (NOON, NOON + HOUR)
    with pytest.raises(ValidationError, match="not to another addendum"):
        log_addendum(actor=house["pit-manager"], entry=addendum, summary="Seat 6.")


def test_the_pit_adds_nothing_to_an_entry_of_surveillance(house: House) -> None:
    entry = seen(house, pit=house.pits["P1"])
    with pytest.raises(ValidationError, match="an entry of surveillance; write a new entry of your own"):
        log_addendum(actor=house["pit-supervisor"], entry=entry, summary="It was not so.")


def test_what_is_added_to_a_confidential_entry_is_confidential(house: House) -> None:
    entry = seen(house, is_confidential=True)
    assert log_addendum(actor=house["surveillance"], entry=entry, summary="Again.").is_confidential
    with pytest.raises(ValidationError, match="so its addendum must be"):
        seen(house, addendum_to=entry)
    with pytest.raises(Denied):
        seen(house, "shift-manager", addendum_to=entry)


def test_only_surveillance_writes_confidential_entries(house: House) -> None:
    with pytest.raises(Denied):
        seen(house, "casino-manager", is_confidential=True)


# --- Handover ---


def signed(house: House, role: str = "pit-supervisor", **more: Any) -> Handover:
    return handover_sign(actor=house[role], casino=house.casino, watch="Seat 3", **more)


def test_a_handover_holds_what_is_open_at_that_moment(house: House) -> None:
    first, second = opened(house, account="One."), opened(house, account="Two.")
    opened(house, "shift-manager", "Elsewhere.", pit=house.pits["P2"])
    incident_step(actor=house["compliance"], incident=second, to="closed", reason="Nothing in it")
    handover = signed(house)
    assert handover.open_incidents == [[first.number, "open"]]
    assert (handover.shift, handover.pit, handover.who) == (
        "Swing", house.pits["P1"], "PIT-SUPERVISOR Person PIT-SUPERVISOR, pit supervisor",
    )  # fmt: skip
    incident_step(actor=house["compliance"], incident=first, to="closed", reason="Nothing in it")
    assert Handover.objects.get().open_incidents == [[first.number, "open"]]
    ((day, shift, department, incidents, findings, watch, who, at),) = leaves("handover", handover.pk)
    assert (day, shift, department, incidents, findings, watch, who, at) == (
        "2026-11-15", "Swing", "pit", [[first.number, "open"]], 0, "Seat 3", handover.who, "2026-11-15T12:00:00Z",
    )  # fmt: skip


def test_a_shift_is_handed_over_by_two_and_once(house: House) -> None:
    handover = signed(house)
    with pytest.raises(ValidationError, match="signed this handover off yourself"):
        handover_take(actor=house["pit-supervisor"], handover=handover)
    with pytest.raises(ValidationError, match="a handover of pit"):
        handover_take(actor=house["surveillance"], handover=handover)
    with pytest.raises(Denied):
        handover_take(actor=house.hire("S-2", "pit-supervisor", pit=house.pits["P2"]), handover=handover)
    taken = handover_take(actor=house["pit-manager"], handover=handover, remarks="Seat 3 has left.")
    for late in ("pit-manager", "shift-manager"):  # a second click, and somebody else
        with pytest.raises(ValidationError, match=r"signed by PIT-MANAGER .* at 2026-11-15T20:00:00\+08:00"):
            handover_take(actor=house[late], handover=handover)
    assert HandoverTaken.objects.get() == taken
    assert len(leaves("handover-taken", taken.pk)) == 1


def test_a_handover_says_something_that_can_be_kept(house: House) -> None:
    for watch in ("  ", "\x00", "x" * (LONGEST_TEXT + 1)):
        with pytest.raises(ValidationError):
            handover_sign(actor=house["pit-supervisor"], casino=house.casino, watch=watch)
    handover = signed(house)
    with pytest.raises(ValidationError):
        handover_take(actor=house["pit-manager"], handover=handover, remarks="\x00")
    assert not HandoverTaken.objects.exists()


def test_a_confidential_handover_is_of_surveillance_alone(house: House) -> None:
    handover = signed(house, "surveillance", is_confidential=True)
    with pytest.raises(Denied):
        signed(house, "shift-manager", is_confidential=True)
    assert [role for role in house.people if can(house[role], "handover.view", handover)] == [
        "surveillance", "compliance", "auditor",
    ]  # fmt: skip


def test_nobody_signs_for_another_house(house: House) -> None:
    with pytest.raises(Denied):
        handover_sign(actor=house["shift-manager"], casino=house.other, watch="Everything")
    with pytest.raises(Denied):
        log_write(actor=house["surveillance"], casino=house.other, at=timezone.now(), summary="Far away.")
