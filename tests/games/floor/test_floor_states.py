"""Table states in a floor file: opened, closed, suspended and resumed as the file states it, with every check."""

import datetime as dt
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied

from audits.models import Finding, Severity
from games.floor.floor_file import read_floor
from games.floor.services.floor_file import floor_load
from games.floor.timeline import timeline
from games.models import Denial, LedgerLeaf, Table, TableStep
from tests.audits.playing import drain, played, record
from tests.conftest import OPERATOR, House
from tests.games.floor_setup import MINUTE, NOON
from tests.games.floors import CASINO, EXAMPLE, LIMITS, STAFF, TABLE, edited, fault, faults, load, on_record

#: The contract's table under Division 9, with a dealer beside its supervisor; and the day of the rounds.
D9 = edited(CASINO + TABLE, ("rws-tai-sai-v6", "division-9-2008"), ('"C"', '"2"')) + STAFF + edited(
    STAFF, ("S11", "D11"), ("pit-supervisor", "dealer")
)  # fmt: skip
CITED = "division-9-2008#"


def state(state: str, at: str, *lines: str, table: str = "TS-01") -> str:
    """An entry at a time of 15 November by the casino's clock."""
    keys = [f'table = "{table}"', f'state = "{state}"', f"from = 2026-11-15T{at}:00+08:00", *lines]
    return "\n[[state]]\n" + "\n".join(keys) + "\n"


OPENED = state("open", "10:00", 'opening_checks_by = "s11"')
CLOSED = state("closed", "18:00", "notice_given_at = 2026-11-15T17:50:00+08:00", 'reason = "Quiet"')
SUSPENDED = state("suspended", "18:00", 'reason = "Areas do not light up"')
REMEDY = ('rectified = "A fuse was replaced"', 'rectified_by = "Maker"', 'checked_by = "S11"')
AGAIN = state("open", "19:00", *REMEDY)


@pytest.fixture
def path(db: None, clock: Any, tmp_path: Path) -> Path:
    return tmp_path / "floor.toml"


def steps() -> list[tuple[str, str]]:
    found = TableStep.objects.order_by("at")
    return [(step.kind, step.at.astimezone(dt.timezone(dt.timedelta(hours=8))).strftime("%H:%M")) for step in found]


def test_a_day_of_a_table_is_on_record_with_the_file_as_its_origin(path: Path) -> None:
    said = load(
        path, D9 + OPENED + SUSPENDED + AGAIN + state("closed", "19:30", "notice_given_at = 2026-11-15T11:20:00Z")
    )
    assert said == f"{path}: casinos 1, tables 1, limits 0, staff 2, states 4; 9 new or changed."
    assert steps() == [("open", "10:00"), ("suspend", "18:00"), ("resume", "19:00"), ("close", "19:30")]
    opened, suspended, resumed, closed = TableStep.objects.order_by("at")
    assert (opened.by, opened.who, opened.source, opened.reason) == (
        None, "Operator of the machine", "floor.toml", "Loaded from floor.toml",
    )  # fmt: skip
    assert (opened.checks_of, str(opened.checks_by)) == ("division-9-2008", "S11 Supervisor 11")
    assert (suspended.cause, suspended.rules, suspended.reason) == (
        "malfunction", [f"{CITED}7.4"], "Areas do not light up",
    )  # fmt: skip
    assert (resumed.rules, resumed.rectified, resumed.rectified_by) == (
        [f"{CITED}7.4"], "A fuse was replaced", "Maker",
    )  # fmt: skip
    assert closed.notice_given_at == closed.at - 10 * MINUTE
    table = Table.objects.get()
    assert (table.state, table.state_since) == ("closed", closed.at)
    assert list(table.history.order_by("history_id").values_list("state", flat=True)) == [
        "closed", "open", "suspended", "open", "closed",
    ]  # fmt: skip
    assert LedgerLeaf.objects.filter(kind="table").count() == 4
    shown = [(event.what, event.why) for event in timeline(table) if event.kind == "table"]
    assert ("Opened", "Loaded from floor.toml. File floor.toml. Opening checks by S11 Supervisor 11.") in shown


@pytest.mark.parametrize("order", [1, -1])
def test_states_count_by_their_time_and_a_second_load_changes_nothing(path: Path, order: int) -> None:
    entries = [OPENED, SUSPENDED, AGAIN][::order]
    load(path, D9 + "".join(entries))
    assert steps() == [("open", "10:00"), ("suspend", "18:00"), ("resume", "19:00")]
    before = on_record()
    assert load(path, D9 + "".join(entries)).endswith("nothing has changed.")
    assert load(path.with_name("other.toml"), D9 + "".join([*entries, OPENED])).endswith("nothing has changed.")
    assert on_record() == before


def test_states_that_are_on_record_stay_so_once_rounds_are(path: Path) -> None:
    text = EXAMPLE + state("open", "10:00") + state("suspended", "18:00", 'cause = "other"')
    load(path, text)
    record(played("R-1", at=NOON - 90 * MINUTE))
    assert load(path, text).endswith("nothing has changed.")
    last = "2026-11-15T18:30:00+08:00"
    assert fault(path, text + state("open", "18:20")) == (
        f"state TS-01 from 2026-11-15 18:20:00+08:00: from: TS-01 has a round on record that began at {last}; begin "
        "after it."
    )


def test_rounds_at_a_table_that_a_file_closes_or_suspends_are_found(path: Path) -> None:
    load(path, EXAMPLE + state("open", "10:00") + CLOSED + state("open", "19:00") + state("suspended", "19:30"))
    record(*(played(f"R-{number}", at=NOON - before * MINUTE) for number, before in enumerate((130, 90, 45, 5), 1)))
    drain()
    found = Finding.objects.filter(kind__startswith="table-").order_by("round_started_at")
    assert [
        (finding.round_ref, finding.kind, finding.rules, finding.severity, finding.detail) for finding in found
    ] == [
        ("R-2", "table-closed", [], Severity.HIGH, "The table was closed from 2026-11-15 18:00+08:00."),
        ("R-4", "table-suspended", [], Severity.HIGH, "The table was suspended from 2026-11-15 19:30+08:00."),
    ]


@pytest.mark.parametrize(("checks", "count"), [('opening_checks_by = "S11"', 0), ("", 1)])
def test_5_0_a_division_9_table_is_open_with_its_checks_only(path: Path, checks: str, count: int) -> None:
    load(path, D9 + state("open", "10:00", checks))
    record(played("R-1", at=NOON - 5 * MINUTE))
    drain()
    found = Finding.objects.filter(kind="table-closed")
    assert [(finding.rules, finding.detail) for finding in found] == [
        ([f"{CITED}5.0"], "The table was opened at 2026-11-15 10:00+08:00 without the signed opening checks of this "
         "rulebook."),
    ] * count  # fmt: skip


WHERE = "state TS-01 from 2026-11-15 18:00:00+08:00"


@pytest.mark.parametrize(
    ("text", "where", "remedy"),
    [
        (state("shut", "10:00"), "state TS-01 from 2026-11-15 10:00:00+08:00: state", "choose closed, open"),
        ('\n[[state]]\ntable = "TS-01"\nstate = "open"\n', "state TS-01: from", "is missing; it is needed."),
        ("\n[[state]]\nstate = 'open'\nfrom = 2026-11-15T10:00:00Z\n",
         "state no. 1 from 2026-11-15 10:00:00+00:00: table", "is missing; it is needed."),
        (state("open", "10:00", "mood = 'good'"), "state TS-01 from 2026-11-15 10:00:00+08:00: mood",
         "is not a known key; the keys are table, state, from"),
        (state("open", "10:00", table="TS-9"), "state TS-9 from 2026-11-15 10:00:00+08:00: table",
         "there is no table TS-9; add it as [[table]], or check its code."),
        (state("open", "10:00", 'cause = "other"'), "state TS-01 from 2026-11-15 10:00:00+08:00: cause",
         "only a table that is suspended has it; leave it out."),
        (OPENED + state("suspended", "18:00", 'cause = "rain"'), f"{WHERE}: cause", "choose malfunction"),
        (OPENED + state("suspended", "18:00", 'opening_checks_by = "S11"'), f"{WHERE}: opening_checks_by",
         "only a table that is open has it"),
        (OPENED + state("closed", "18:00"), f"{WHERE}: notice_given_at", "enter when players were told"),
        (OPENED + state("closed", "18:00", "notice_given_at = 2026-11-15T18:00:01+08:00"), f"{WHERE}: notice_given_at",
         "is later than the closing; check both times."),
        (SUSPENDED, f"{WHERE}: state", "TS-01 has no opening on record before this time; begin with an entry that"),
        (OPENED + state("open", "18:00"), f"{WHERE}: state",
         "TS-01 is recorded as open since 2026-11-15T10:00:00+08:00; leave this entry out."),
        (OPENED + CLOSED + state("suspended", "19:00"), "state TS-01 from 2026-11-15 19:00:00+08:00: state",
         "only an open table can be suspended, so open it first."),
        (OPENED + SUSPENDED + CLOSED, f"{WHERE}: from", "choose another time, or keep that step."),
        (state("open", "21:00"), "state TS-01 from 2026-11-15 21:00:00+08:00: from",
         "This time is in the future; load the state after it."),
        (state("open", "10:00", 'opening_checks_by = "S99"'),
         "state TS-01 from 2026-11-15 10:00:00+08:00: opening_checks_by",
         "There is no staff number S99 at this casino; check the number."),
        (state("open", "10:00", 'opening_checks_by = "D11"'),
         "state TS-01 from 2026-11-15 10:00:00+08:00: opening_checks_by", "name a pit supervisor or above."),
        (OPENED + SUSPENDED + state("open", "19:00", *REMEDY, 'opening_checks_by = "S11"'),
         "state TS-01 from 2026-11-15 19:00:00+08:00: opening_checks_by", "was suspended, not closed; leave it out."),
        (OPENED + SUSPENDED + state("open", "19:00", *REMEDY[1:]),
         "state TS-01 from 2026-11-15 19:00:00+08:00: rectified",
         "Enter what was rectified, or which procedures were introduced. TS-01 was suspended by "
         "Division 9 (2008) · Rule 7.4."),
        (OPENED + SUSPENDED + state("open", "19:00", *REMEDY[:2], 'checked_by = "S99"'),
         "state TS-01 from 2026-11-15 19:00:00+08:00: checked_by", "There is no staff number S99 at this casino"),
    ],
)  # fmt: skip
def test_a_wrong_state(path: Path, text: str, where: str, remedy: str) -> None:
    line = fault(path, D9 + text)
    assert line.startswith(f"{where}: "), line
    assert remedy in line


def test_before_the_table_has_a_game_it_has_no_state(path: Path) -> None:
    early = edited(state("open", "10:00"), ("2026-11-15", "2026-10-15"))
    assert fault(path, D9 + early).endswith(
        "from: TS-01 has no rulebook and layout in force at that moment; begin when it has."
    )


def test_a_rulebook_without_checks_has_no_one_who_made_them(path: Path) -> None:
    assert fault(path, EXAMPLE + OPENED).endswith("opening_checks_by: Tai Sai v6 has no opening checks; leave it out.")


def test_after_a_faulty_state_the_rest_of_the_file_is_still_checked(path: Path) -> None:
    wrong = edited(LIMITS, ('["TS-01"]', '["TS-77"]'))
    found = faults(path, D9 + wrong + SUSPENDED + AGAIN)
    assert [line.split(":")[0] for line in found] == ["limits TS-77", "state TS-01 from 2026-11-15 18"]


def test_a_state_behind_a_step_that_was_taken_here_is_refused(path: Path) -> None:
    load(path, D9 + OPENED + CLOSED)
    (line,) = faults(path, D9 + OPENED + CLOSED + state("open", "12:00"))
    assert line.endswith("from: TS-01 is recorded as closed since 2026-11-15T18:00:00+08:00; begin after that.")
    (line,) = faults(path, D9 + OPENED + edited(CLOSED, ("Quiet", "Noisy")))
    assert line.endswith(
        "from: TS-01 has another step at 2026-11-15T18:00:00+08:00, Close (Quiet), recorded by Operator of the "
        "machine; choose another time, or keep that step."
    )


def test_only_the_operator_of_the_machine_loads_states(house: House, clock: Any) -> None:
    text = edited(CASINO, ('"RWS"', f'"{house.casino.code}"'))
    known = read_floor((text + edited(TABLE, ('"RWS"', f'"{house.casino.code}"'))).encode())
    floor_load(actor=OPERATOR, floor=known, source="floor.toml")
    with pytest.raises(PermissionDenied):
        floor_load(actor=house["shift-manager"], floor=read_floor(state("open", "10:00").encode()), source="floor.toml")
    assert not TableStep.objects.exists()
    assert Denial.objects.filter(action="tablestate.load").exists()
