"""Findings, runs and summaries: plain SQL as `app` breaks no rule of theirs and changes nothing that was found."""

import re
from typing import Any

import pytest
from django.db import connection

from audits.findings.services.escalation import findings_escalate, notices_mail
from audits.findings.services.findings import finding_confirm, finding_resolve
from audits.models import Finding
from audits.reconciliation.services.runs import close_start, part_take
from games.database.role_grants import table_grants
from games.models import Table
from tests.audits.playing import DAY, UNDERPAID, day_run, drain, played, record
from tests.conftest import House
from tests.games.floor.test_table_constraints import columns, denied, refused
from tests.games.floor_setup import HOUR
from tests.games.rounds.samples import bet

#: Tried where there is a round in play: test_out_of_play.
ELSEWHERE = ("finding_once_a_live_round",)
TABLES = (
    "audits_closedsummary", "audits_dayclose", "audits_daysummary", "audits_escalation", "audits_finding",
    "audits_notice", "audits_noticemail", "audits_run", "audits_runpart",
)  # fmt: skip

#: What is tried: a copy of a row with something different; and the constraint that says no.
COPIES: list[tuple[str, dict[str, str], str]] = [
    ("finding", {}, "finding_once"),
    ("finding", {"key": "'x'", "category": "'rumour'"}, "finding_category_known"),
    ("finding", {"key": "'x'", "severity": "4"}, "finding_severity_known"),
    ("finding", {"key": "'x'", "ordinal": "-1"}, "audits_finding_ordinal_check"),
    ("finding", {"key": "'x'", "round_id": "NULL"}, "finding_of_a_round"),
    ("finding", {"key": "'x'", "position": "-1"}, "audits_finding_position_check"),
    ("finding", {"key": "'x'", "severity": "-1"}, "(audits_finding_severity_check|finding_severity_known)"),
    ("run", {"kind": "'whim'"}, "run_kind_known"),
    ("run", {"state": "'tired'"}, "run_state_known"),
    ("run", {"kind": "'day'", "gaming_day": "NULL"}, "run_has_a_day"),
    ("run", {"kind": "'day'", "casino_id": "NULL"}, "run_has_a_day"),
    ("run", {}, "run_closes_a_day_once"),  # the last run of the fixture is a close
    ("runpart", {}, "run_part_once"),
    ("daysummary", {}, "summary_once_a_day"),
    ("dayclose", {}, "(day_closed_once|audits_dayclose_run_id_key)"),
    ("dayclose", {"gaming_day": "'2026-01-01'"}, "audits_dayclose_run_id_key"),
    ("dayclose", {"run_id": "{run}"}, "day_closed_once"),
    ("closedsummary", {}, "closed_summary_once"),
    ("escalation", {}, "escalated_once_a_level"),
    ("noticemail", {}, "mailed_once"),
]
RESOLVED = "state = 'resolved', outcome = 'paid', resolution = 'x', resolved_at = now(), resolved_by_id = {manager}"
CHANGES = [
    ("UPDATE audits_finding SET lapsed_at = now()", "finding_lapsed_in_a_run"),
    ("UPDATE audits_finding SET lapsed_by_id = found_by_id", "finding_lapsed_in_a_run"),
    ("UPDATE audits_finding SET state = 'resolved'", "finding_resolved_by_somebody"),
    ("UPDATE audits_finding SET state = 'forgotten'", "finding_resolved_by_somebody"),
    ("UPDATE audits_finding SET outcome = 'paid'", "finding_resolved_by_somebody"),
    (f"UPDATE audits_finding SET {RESOLVED.replace(chr(39) + 'x' + chr(39), chr(39) * 2)}",
     "finding_resolved_by_somebody"),
    (f"UPDATE audits_finding SET {RESOLVED}, confirmed_by_id = {{manager}}", "finding_confirmed_by_another"),
    ("UPDATE audits_finding SET confirmed_by_id = {manager}", "finding_confirmed_by_another"),
    ("UPDATE audits_finding SET needs_confirmation = true", "finding_confirmation_is_of_a_resolution"),
    (f"UPDATE audits_finding SET {RESOLVED}, needs_confirmation = true, confirmed_by_id = {{compliance}}",
     "finding_confirmation_is_of_a_resolution"),
]  # fmt: skip
#: Of numbers that Django keeps at or above 0.
COUNTS = r"audits_(closedsummary|daysummary|run|runpart|escalation|finding)_\w+_check"


@pytest.fixture
def rows(house: House, table: Table, clock: Any) -> dict[str, int]:
    """A row in each of the tables."""
    person = house["pit-manager"]
    type(person).objects.filter(pk=person.pk).update(email="manager@example.com")
    record(played("R-1", UNDERPAID))
    drain()
    clock.shift(30 * HOUR)
    findings_escalate()
    notices_mail()
    run = day_run(table)
    close = close_start(casino=house.casino, day=DAY, who="The system")
    part_take(key=close.parts.get().pk)
    return {
        "manager": person.pk, "compliance": house["compliance"].pk, "other": house.other.pk, "run": run.pk,
    }  # fmt: skip


def test_no_row_that_makes_no_sense_is_added(rows: dict[str, int]) -> None:
    for model, different, constraint in COPIES:
        taken = {name: different.get(name, name) for name in columns(f"audits_{model}") if name != "id"}
        statement = (
            f"INSERT INTO audits_{model} ({', '.join(taken)}) "
            f"SELECT {', '.join(taken.values())} FROM audits_{model} ORDER BY id DESC LIMIT 1"
        )
        refused(statement.format(**rows), constraint)


def test_no_row_is_changed_into_one_that_makes_no_sense(rows: dict[str, int]) -> None:
    for statement, constraint in CHANGES:
        refused(statement.format(**rows), constraint)


def test_every_constraint_of_these_tables_is_tried(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT conname FROM pg_constraint WHERE conrelid::regclass::text = ANY(%(tables)s) "
            "AND contype IN ('c', 'u', 'x') UNION "
            "SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid::regclass::text = ANY(%(tables)s) "
            "AND indisunique AND NOT indisprimary",
            {"tables": list(TABLES)},
        )
        found = {name for (name,) in cursor.fetchall()}
    tried = {
        *(constraint for _, _, constraint in COPIES),
        *(constraint for _, constraint in CHANGES),
        COUNTS,
        *ELSEWHERE,
    }
    assert {name for name in found if not any(re.fullmatch(one, name) for one in tried)} == set()


def test_what_was_found_is_neither_changed_nor_taken_away(rows: dict[str, int]) -> None:
    may_change = table_grants()["audits_finding"].update
    for column in columns("audits_finding"):
        if column not in may_change:
            denied(f"UPDATE audits_finding SET {column} = {column}")
    denied("DELETE FROM audits_finding")
    denied("TRUNCATE audits_finding")
    with connection.cursor() as cursor:
        for column in may_change:
            cursor.execute(f"UPDATE audits_finding SET {column} = {column}")
            assert cursor.rowcount == 1


def test_a_closed_day_and_what_people_were_told_stay_as_they_are(rows: dict[str, int]) -> None:
    for table in ("closedsummary", "dayclose", "escalation", "notice", "noticemail"):
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT count(*) FROM audits_{table}")
            assert cursor.fetchone()[0] > 0
        denied(f"UPDATE audits_{table} SET {columns(f'audits_{table}')[1]} = NULL")
        denied(f"DELETE FROM audits_{table}")


def test_a_finding_past_its_service_is_refused(house: House, table: Table) -> None:
    record(played("R-1", bet(net="90.00")))
    drain()
    finding = Finding.objects.get()
    finding.state = "acknowledged"
    with pytest.raises(RuntimeError, match="through its service"):
        finding.save(update_fields=["state"])


def test_the_histories_of_both_people_are_kept(house: House, table: Table) -> None:
    record(played("R-1", bet(stake="2500.00", net="1.00")))
    drain()
    finding = Finding.objects.get()
    finding_resolve(actor=house["pit-manager"], finding=finding, outcome="no-loss", reason="x")
    finding_confirm(actor=house["compliance"], finding=finding, reason="y")
    assert [one.history_user_id for one in finding.history.order_by("history_id")] == [
        house["pit-manager"].pk, house["compliance"].pk,
    ]  # fmt: skip
